package config

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
)

// An Env gives a configuration access to environment variables and other files.
// The zero Env has neither. Not covered by the stability page.
type Env struct {
	Lookup    func(name string) (string, bool)  // looks up an environment variable
	ReadFile  func(name string) ([]byte, error) // reads a file; relative names have already been joined to the directory of the configuration
	ReadValue func(name string) ([]byte, error) // the same for a file in ${file:PATH}
}

// OS returns an Env with the environment and the files of the process. It reads
// at most 8 MiB of a file, and at most 64 KiB of a regular file for
// ${file:PATH}. Not covered by the stability page.
func OS() Env {
	return Env{
		Lookup:    os.LookupEnv,
		ReadFile:  func(name string) ([]byte, error) { return readFile(name, maxList) },
		ReadValue: readValue,
	}
}

// readValue reads up to maxValue+1 bytes of a regular file. It does not open any
// other file, because a FIFO without a writer would wait for ever.
func readValue(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		return nil, err
	}
	return readFile(name, maxValue)
}

// An expander expands references in scalars:
//
//	${NAME}           an environment variable, which must be set
//	${NAME:-default}  the same, or the default if it is unset or empty
//	${NAME:?text}     the same, or an error with the text if it is unset or empty
//	${file:PATH}      the content of a file without its last line end
//	$${               a literal ${
//
// Values are not expanded recursively. Expansion happens after parsing, so a
// value never changes the structure of the document.
type expander struct {
	env    Env
	dir    string            // directory of the configuration
	files  map[string]string // contents of the files read
	values []expansion       // expanded values that errors must not repeat
}

// An expansion is the value of a reference in the scalar at a position. Any value
// may be a secret.
type expansion struct {
	value, reference string
	file             bool // the value is the content of a file, so it is probably a secret: no error in any place may repeat it
	at               position
}

// A position is the line and column of a scalar.
type position struct{ line, column int }

// expand returns s, the scalar at a position, with its references expanded, or
// the reason why that is not possible.
func (x *expander) expand(s string, at position) (out string, reason string) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "${")
		if !found {
			return b.String() + s, ""
		}
		if escaped, ok := strings.CutSuffix(before, "$"); ok {
			b.WriteString(escaped + "${")
			s = rest
			continue
		}
		inner, after, closed := strings.Cut(rest, "}")
		if !closed {
			return "", "missing } after ${ (write $${ for a literal ${)"
		}
		value, reason := x.value(inner, at)
		if reason != "" {
			return "", reason
		}
		b.WriteString(before + value)
		s = after
	}
}

// value returns the value of the expression between ${ and }.
func (x *expander) value(inner string, at position) (value, reason string) {
	name, isFile := strings.CutPrefix(inner, "file:")
	if isFile {
		value, reason = x.file(name)
	} else {
		value, reason = x.variable(inner)
		inner, _, _ = strings.Cut(inner, ":")
	}
	x.values = append(x.values, expansion{value, "${" + inner + "}", isFile, at})
	return value, reason
}

func (x *expander) variable(inner string) (value, reason string) {
	name, or, hasDefault := strings.Cut(inner, ":-")
	text, demands := "", false
	if !hasDefault {
		name, text, demands = strings.Cut(inner, ":?")
	}
	if !isVariable(name) {
		return "", "invalid reference: must be ${NAME}, ${NAME:-default}, ${NAME:?text} or ${file:PATH} (write $${ for a literal ${)"
	}
	set := false
	if x.env.Lookup != nil {
		value, set = x.env.Lookup(name)
	}
	switch {
	case hasDefault && value == "":
		return or, ""
	case demands && value == "":
		return "", clean("environment variable " + name + ": " + text)
	case !set:
		return "", "environment variable " + name + " is not set (write ${" + name + ":-default} for a default)"
	}
	return value, ""
}

// isVariable reports whether s has the form of the name of an environment
// variable.
func isVariable(s string) bool {
	return isName(s) && !strings.ContainsAny(s, "-.") && (s[0] < '0' || s[0] > '9')
}

// maxValue is the maximum size of a file that a scalar refers to, in bytes.
const maxValue = 64 << 10

func (x *expander) file(name string) (value, reason string) {
	if value, ok := x.files[name]; ok {
		return value, ""
	}
	switch {
	case name == "":
		return "", "missing file name after file:"
	case x.env.ReadValue == nil:
		return "", "cannot read files in this context"
	}
	data, err := x.env.ReadValue(x.join(name))
	switch {
	case err != nil:
		return "", fileReason(err)
	case len(data) > maxValue:
		return "", "file is larger than 64 KiB"
	}
	value = strings.TrimSuffix(string(data), "\n")
	value = strings.TrimSuffix(value, "\r")
	if x.files == nil {
		x.files = map[string]string{}
	}
	x.files[name] = value
	return value, ""
}

// join resolves a relative name against the directory of the configuration.
func (x *expander) join(name string) string { return below(x.dir, name) }

// open reads a file named in the configuration.
func (x *expander) open(name string) ([]byte, error) { return x.env.ReadFile(x.join(name)) }

// scrub replaces expanded values in the text of an error by their references.
// If the text then still shares a part with the value of a file, or with a
// value of the scalar that the error is about, scrub replaces the whole text,
// because an error about an expression may quote any part of the value. Values
// of up to three bytes occur in any text and are not worth hiding.
func (x *expander) scrub(reason string, at position) string {
	if x == nil {
		return reason
	}
	longest := func(a, b expansion) int { return len(b.value) - len(a.value) }
	list := slices.SortedStableFunc(slices.Values(x.values), longest)
	left := reason // reason without its references
	for _, v := range list {
		if len(v.value) <= 3 {
			break
		}
		quoted := strings.Trim(strconv.Quote(v.value), `"`)
		for _, text := range []string{v.value, quoted} {
			if !strings.Contains(v.reference, text) {
				reason = strings.ReplaceAll(reason, text, v.reference)
			}
		}
		left = strings.ReplaceAll(reason, v.reference, "")
	}
	for _, v := range list {
		if (v.file || v.at == at) && share(left, v.value) {
			return "invalid value of " + v.reference + " (not shown: it may contain a secret)"
		}
	}
	return reason
}

// shared is the least length of a part of a value that an error does not
// contain by chance.
const shared = 6

// share reports whether text holds a part of value that may reveal it.
func share(text, value string) bool {
	size := min(shared, len(value))
	if size <= 3 {
		return false
	}
	parts := map[string]bool{}
	for i := 0; i+size <= len(text); i++ {
		parts[text[i:i+size]] = true
	}
	for i := 0; i+size <= len(value); i++ {
		if parts[value[i:i+size]] {
			return true
		}
	}
	return false
}
