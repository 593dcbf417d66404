package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/internal/suggest"
)

// An Error is one mistake in a file.
type Error struct {
	File         string // as the caller named it
	Line, Column int    // from 1; Column counts characters; both 0 if the mistake has no place
	Reason       string

	err error
}

// Error returns place and reason: "shop.yaml:3:7: there is no such key".
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Reason
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Reason)
}

// Unwrap returns the error that is behind e, if there is one. Its text may hold
// what e leaves out.
func (e *Error) Unwrap() error { return e.err }

// joined returns the mistakes in the order of the file as one error, or nil.
func joined(list []*Error) error {
	slices.SortStableFunc(list, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	errs := make([]error, len(list))
	for i, e := range list {
		errs[i] = e
	}
	return errors.Join(errs...)
}

// fileReason says why a file cannot be read, without its name.
func fileReason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return clean("cannot be read: " + err.Error())
}

// clean returns a text of another package for one line of an error. Nothing in
// it may look like a URL: URLs hold passwords.
func clean(reason string) string {
	reason = strings.ReplaceAll(reason, "\n", "; ")
	if found := strings.Contains(reason, "://"); found {
		return notShown
	}
	return reason
}

// notShown stands for a reason that would repeat a URL.
const notShown = "invalid value (not shown: it may contain a secret)"

// noSuch says that there is no name like this, and which there are.
func noSuch(what string, names []string, name string) string {
	if near := suggest.Nearest(names, name); near != "" {
		return fmt.Sprintf("there is no such %s; did you mean %s?", what, near)
	}
	return fmt.Sprintf("there is no such %s; there are %s", what, strings.Join(names, ", "))
}

// noSuchFlag says that there is no flag like this. There are too many to name them.
func noSuchFlag(names []string, name string) string {
	if near := suggest.Nearest(names, name); near != "" {
		return "there is no such flag; did you mean " + near + "?"
	}
	return "there is no such flag; docs/reference/flags.md lists them, and so does 'urlfold flags'"
}

// isName reports whether s looks like a name, and so not like a URL, and may go
// into output, versions and errors.
func isName(s string) bool {
	for _, c := range []byte(s) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

// nameRule says what isName asks for.
const nameRule = "a name is of 1 to 64 letters, digits, '-', '_' and '.'"
