package codec

import (
	"strconv"
	"strings"
)

// A NameError reports an unknown name.
type NameError struct {
	What string // the kind of thing that the name should denote: "rule", "level"
	Name string
	Near string // a known name that is similar, or ""; only for profiles
}

// Error returns the kind and the quoted name: `unknown rule "esc-uper"`. If Near
// is set, it follows: `unknown profile "equi" (did you mean "equiv"?)`.
func (e *NameError) Error() string {
	text := "unknown " + e.What + " " + strconv.Quote(e.Name)
	if e.Near != "" {
		text += " (did you mean " + strconv.Quote(e.Near) + "?)"
	}
	return text
}

// parseName returns the value with the given name, where names[v] is the name
// of value v.
func parseName[T ~uint8](what, name string, names []string) (T, error) {
	for i, n := range names {
		if n == name && name != "" {
			return T(i), nil
		}
	}
	return 0, &NameError{What: what, Name: name}
}

// parseNames adds the values with the names in text, which are separated by commas, to an
// empty set. It ignores empty names.
func parseNames[T, Set any](text string, parse func(string) (T, error), with func(Set, T) Set) (Set, error) {
	var s, none Set
	for name := range strings.SplitSeq(text, ",") {
		if name == "" {
			continue
		}
		v, err := parse(name)
		if err != nil {
			return none, err
		}
		s = with(s, v)
	}
	return s, nil
}

// nameOf returns the name of v, or "unknown".
func nameOf[T ~uint8](v T, names []string) string {
	if int(v) < len(names) {
		return names[v]
	}
	return "unknown"
}

// textOf implements MarshalText for a value with a name.
func textOf(what, name string) ([]byte, error) {
	if name == "unknown" {
		return nil, &NameError{What: what, Name: name}
	}
	return []byte(name), nil
}

// setName implements UnmarshalText for a value with a name.
func setName[T any](v *T, text []byte, parse func(string) (T, error)) error {
	parsed, err := parse(string(text))
	if err == nil {
		*v = parsed
	}
	return err
}

// setNamed is setName for a value with one of names.
func setNamed[T ~uint8](v *T, text []byte, what string, names []string) error {
	return setName(v, text, func(name string) (T, error) { return parseName[T](what, name, names) })
}

// The named types are marshaled as their names in YAML and JSON.

// MarshalText implements encoding.TextMarshaler. The text of LevelDefault is
// empty.
func (lv Level) MarshalText() ([]byte, error) { return textOf("level", lv.String()) }

// UnmarshalText implements encoding.TextUnmarshaler. The error is a *NameError.
func (lv *Level) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*lv = LevelDefault
		return nil
	}
	return setName(lv, text, ParseLevel)
}

// MarshalText implements encoding.TextMarshaler.
func (h Hash) MarshalText() ([]byte, error) { return textOf("hash", h.String()) }

// UnmarshalText implements encoding.TextUnmarshaler. The error is a *NameError.
func (h *Hash) UnmarshalText(text []byte) error { return setNamed(h, text, "hash", hashNames) }

// MarshalText implements encoding.TextMarshaler.
func (f KeyForm) MarshalText() ([]byte, error) { return textOf("key form", f.String()) }

// UnmarshalText implements encoding.TextUnmarshaler. The error is a *NameError.
func (f *KeyForm) UnmarshalText(text []byte) error {
	return setNamed(f, text, "key form", keyFormNames)
}

// MarshalText implements encoding.TextMarshaler.
func (std Standard) MarshalText() ([]byte, error) { return textOf("standard", std.String()) }

// UnmarshalText implements encoding.TextUnmarshaler. The error is a *NameError.
func (std *Standard) UnmarshalText(text []byte) error {
	return setNamed(std, text, "standard", standardNames)
}

// MarshalText implements encoding.TextMarshaler.
func (r Rule) MarshalText() ([]byte, error) { return textOf("rule", r.String()) }

// UnmarshalText implements encoding.TextUnmarshaler. The error is a *NameError.
func (r *Rule) UnmarshalText(text []byte) error { return setName(r, text, ParseRule) }

// MarshalText implements encoding.TextMarshaler.
func (f Flag) MarshalText() ([]byte, error) { return textOf("flag", f.String()) }

// UnmarshalText implements encoding.TextUnmarshaler. The error is a *NameError.
func (f *Flag) UnmarshalText(text []byte) error { return setName(f, text, ParseFlag) }

// MarshalText implements encoding.TextMarshaler.
func (c Change) MarshalText() ([]byte, error) { return textOf("change", c.String()) }

// UnmarshalText implements encoding.TextUnmarshaler. The error is a *NameError.
func (c *Change) UnmarshalText(text []byte) error { return setNamed(c, text, "change", changeNames) }

// MarshalText implements encoding.TextMarshaler: names separated by commas.
func (s Rules) MarshalText() ([]byte, error) { return s.AppendTo(nil), nil }

// UnmarshalText implements encoding.TextUnmarshaler. The error is a *NameError.
func (s *Rules) UnmarshalText(text []byte) error { return setName(s, text, ParseRules) }

// MarshalText implements encoding.TextMarshaler: names separated by commas.
func (s Flags) MarshalText() ([]byte, error) { return s.AppendTo(nil), nil }

// UnmarshalText implements encoding.TextUnmarshaler. It ignores empty names. The error is a
// *NameError about the first unknown name.
func (s *Flags) UnmarshalText(text []byte) error {
	return setName(s, text, func(names string) (Flags, error) { return parseNames(names, ParseFlag, Flags.With) })
}

// MarshalText implements encoding.TextMarshaler.
func (a Action) MarshalText() ([]byte, error) { return textOf("action", a.String()) }

// UnmarshalText implements encoding.TextUnmarshaler. The error is a *NameError.
func (a *Action) UnmarshalText(text []byte) error { return setNamed(a, text, "action", actionNames) }

// MarshalText implements encoding.TextMarshaler.
func (c Component) MarshalText() ([]byte, error) { return textOf("component", c.String()) }

// UnmarshalText implements encoding.TextUnmarshaler. The error is a *NameError.
func (c *Component) UnmarshalText(text []byte) error {
	return setNamed(c, text, "component", componentNames)
}

// MarshalText implements encoding.TextMarshaler: the result of Name.
func (e Error) MarshalText() ([]byte, error) { return textOf("error", e.Name()) }

// UnmarshalText implements encoding.TextUnmarshaler. The error is a *NameError.
func (e *Error) UnmarshalText(text []byte) error {
	if string(text) == "ok" {
		*e = 0
		return nil
	}
	return setNamed(e, text, "error", errorNames[:])
}

// hostNames are the names of the kinds of host, in their order.
var hostNames = []string{"none", "reg-name", "ipv4", "ipv6", "ipvfuture", "bad-literal", "opaque"}

// String returns the name of the kind, such as "reg-name", or "unknown".
func (k HostKind) String() string { return nameOf(k, hostNames) }

// MarshalText implements encoding.TextMarshaler.
func (k HostKind) MarshalText() ([]byte, error) { return textOf("host kind", k.String()) }

// UnmarshalText implements encoding.TextUnmarshaler. The error is a *NameError.
func (k *HostKind) UnmarshalText(text []byte) error { return setNamed(k, text, "host kind", hostNames) }
