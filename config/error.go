package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/urlfold/urlfold/internal/ground/suggest"
)

// An Error is an error in a file.
type Error struct {
	File         string // as the caller named it
	Line, Column int    // from 1; Column counts characters; both 0 if the position is unknown
	Reason       string

	err error
}

// Error returns the position and the reason: "shop.yaml:3:7: duplicate key \"url\"".
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Reason
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Reason)
}

// Unwrap returns the cause of e, or nil. Its text may contain values that e
// omits.
func (e *Error) Unwrap() error { return e.err }

// joined sorts the errors by position and joins them. It returns nil for none.
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

// fileReason returns why a file cannot be read, without the name of the file.
func fileReason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return clean("cannot read file: " + err.Error())
}

// clean returns an error text of another package on one line. It replaces a
// text that contains a URL, because URLs may contain passwords.
func clean(reason string) string {
	reason = strings.ReplaceAll(reason, "\n", "; ")
	if found := strings.Contains(reason, "://"); found {
		return notShown
	}
	return reason
}

// notShown replaces a reason that contains a URL.
const notShown = "invalid value (not shown: it may contain a secret)"

// noSuch returns the reason for a name that is not among names: what, followed
// by the nearest name or, if none is near, all of them. It does not repeat
// name, which may be a secret in the wrong place.
func noSuch(what string, names []string, name string) string {
	if near := suggest.Nearest(names, name); near != "" {
		return fmt.Sprintf("%s (did you mean %q?)", what, near)
	}
	return fmt.Sprintf("%s (must be one of: %s)", what, strings.Join(names, ", "))
}

// unknown returns "unknown key \"name\"" for the kind "key".
func unknown(kind, name string) string { return named("unknown "+kind, name) }

// named returns what and the quoted name. It leaves out a text that does not
// have the form of a name, because it may be a URL with a password.
func named(what, name string) string {
	if !isName(name) {
		return what
	}
	return what + " " + strconv.Quote(name)
}

// noSuchFlag returns the reason for an unknown flag. There are too many flags
// to list them.
func noSuchFlag(names []string, name string) string {
	what := unknown("flag", name)
	if near := suggest.Nearest(names, name); near != "" {
		return fmt.Sprintf("%s (did you mean %q?)", what, near)
	}
	return what + " (see 'urlfold help flags' for a list)"
}

// isName reports whether s has the form of a name. Names are never URLs, so
// they may appear in output, versions and errors.
func isName(s string) bool {
	for _, c := range []byte(s) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

// nameRule is the reason for a name that isName rejects.
const nameRule = "invalid name: must be 1 to 64 letters, digits, '-', '_' or '.'"
