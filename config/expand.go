package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// An Env is what a configuration may look at outside of its file. The zero Env
// has no variables and no files.
type Env struct {
	Lookup   func(name string) (string, bool)  // a variable of the environment
	ReadFile func(name string) ([]byte, error) // a file; relative names are made relative to the folder of the configuration before
}

// OS returns the environment of the process and its files, of which it reads 64
// MiB at most.
func OS() Env {
	return Env{
		Lookup:   os.LookupEnv,
		ReadFile: func(name string) ([]byte, error) { return readFile(name, maxList) },
	}
}

// An expander puts values into scalars:
//
//	${NAME}           the variable of the environment; it must be set
//	${NAME:-default}  the same, or the default if it is unset or empty
//	${file:PATH}      the content of a file without its last line end
//	$${               stands for ${
//
// Nothing in a value is expanded again, and since the file has been parsed
// before, a value stays the one scalar that it is in, whatever is in it.
type expander struct {
	env     Env
	dir     string            // of the configuration
	files   map[string]string // contents that were read
	last    []string          // values of variables in the scalar that was expanded last
	secrets []string          // values that no error repeats
}

// expand returns s with its values, or the reason why there are none.
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
			return "", "the ${ has no }; write $${ for a ${ that stays"
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

// hide makes secrets of the variables in the scalar that was expanded last.
func (x *expander) hide() { x.secrets = append(x.secrets, x.last...) }

func (x *expander) variable(inner string) (value, reason string) {
	name, or, hasDefault := strings.Cut(inner, ":-")
	if !isVariable(name) {
		return "", "between ${ and } stands NAME, NAME:-default or file:PATH; write $${ for a ${ that stays"
	}
	set := false
	if x.env.Lookup != nil {
		value, set = x.env.Lookup(name)
	}
	switch {
	case hasDefault && value == "":
		return or, ""
	case !set:
		return "", "the variable " + name + " is not set, and has no default"
	}
	return value, ""
}

// isVariable reports whether s can be the name of a variable of the environment.
func isVariable(s string) bool {
	return isName(s) && !strings.ContainsAny(s, "-.") && (s[0] < '0' || s[0] > '9')
}

// maxValue is the longest file that is put into a scalar, in bytes.
const maxValue = 64 << 10

func (x *expander) file(name string) (value, reason string) {
	if value, ok := x.files[name]; ok {
		return value, ""
	}
	switch {
	case name == "":
		return "", "file: is followed by the name of a file"
	case x.env.ReadFile == nil:
		return "", "no files can be read here"
	}
	data, err := x.env.ReadFile(x.join(name))
	switch {
	case err != nil:
		return "", "the file " + fileReason(err)
	case len(data) > maxValue:
		return "", "the file is longer than 64 KiB"
	}
	value = strings.TrimSuffix(string(data), "\n")
	value = strings.TrimSuffix(value, "\r")
	if x.files == nil {
		x.files = map[string]string{}
	}
	x.files[name] = value
	return value, ""
}

// join makes a name relative to the folder of the configuration.
func (x *expander) join(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(x.dir, name)
}

// open reads a file that the configuration names.
func (x *expander) open(name string) ([]byte, error) { return x.env.ReadFile(x.join(name)) }

// scrub takes the secrets out of the text of an error. Those of one to three bytes
// hide nothing, and are in every text.
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
