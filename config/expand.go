package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// An Env gives a configuration access to environment variables and other files.
// The zero Env has neither.
type Env struct {
	Lookup   func(name string) (string, bool)  // looks up an environment variable
	ReadFile func(name string) ([]byte, error) // reads a file; relative names have already been joined to the directory of the configuration
}

// OS returns an Env with the environment and the files of the process. It reads
// at most 64 MiB of a file.
func OS() Env {
	return Env{
		Lookup:   os.LookupEnv,
		ReadFile: func(name string) ([]byte, error) { return readFile(name, maxList) },
	}
}

// An expander expands references in scalars:
//
//	${NAME}           an environment variable, which must be set
//	${NAME:-default}  the same, or the default if it is unset or empty
//	${file:PATH}      the content of a file without its last line end
//	$${               a literal ${
//
// Values are not expanded recursively. Expansion happens after parsing, so a
// value never changes the structure of the document.
type expander struct {
	env     Env
	dir     string            // directory of the configuration
	files   map[string]string // contents of the files read
	last    []string          // values of the variables in the last expanded scalar
	secrets []string          // values that errors must not repeat
}

// expand returns s with its references expanded, or the reason why it cannot.
func (x *expander) expand(s string) (out string, reason string) {
	var b strings.Builder
	x.last = x.last[:0]
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
		value, reason := x.value(inner)
		if reason != "" {
			return "", reason
		}
		b.WriteString(before + value)
		s = after
	}
}

// value returns the value of the expression between ${ and }. The contents of a
// file are always a secret: that is how secrets are mounted.
func (x *expander) value(inner string) (value, reason string) {
	if name, ok := strings.CutPrefix(inner, "file:"); ok {
		value, reason = x.file(name)
		x.secrets = append(x.secrets, value)
		return value, reason
	}
	value, reason = x.variable(inner)
	x.last = append(x.last, value)
	return value, reason
}

// hide marks the variables in the last expanded scalar as secrets.
func (x *expander) hide() { x.secrets = append(x.secrets, x.last...) }

func (x *expander) variable(inner string) (value, reason string) {
	name, or, hasDefault := strings.Cut(inner, ":-")
	if !isVariable(name) {
		return "", "invalid reference: must be ${NAME}, ${NAME:-default} or ${file:PATH} (write $${ for a literal ${)"
	}
	set := false
	if x.env.Lookup != nil {
		value, set = x.env.Lookup(name)
	}
	switch {
	case hasDefault && value == "":
		return or, ""
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
	case x.env.ReadFile == nil:
		return "", "cannot read files in this context"
	}
	data, err := x.env.ReadFile(x.join(name))
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
func (x *expander) join(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(x.dir, name)
}

// open reads a file named in the configuration.
func (x *expander) open(name string) ([]byte, error) { return x.env.ReadFile(x.join(name)) }

// scrub replaces the secrets in the text of an error by ***. It skips values of
// up to three bytes, which occur in any text and are not worth hiding.
func (x *expander) scrub(reason string) string {
	if x == nil {
		return reason
	}
	longest := func(a, b string) int { return len(b) - len(a) }
	for _, v := range slices.SortedStableFunc(slices.Values(x.secrets), longest) {
		if len(v) > 3 {
			reason = strings.ReplaceAll(reason, v, "***")
		}
	}
	return reason
}
