package codec

import "fmt"

// Check returns an error unless the offsets of u are in order, lie within b,
// and have the right delimiters between them, so that components and delimiters
// together make up b. It is meant for tests and fuzzing. The error names
// components and offsets, never their text. Not covered by the stability page.
func (u *URL) Check(b []byte) error {
	at := 0
	eat := func(s string) bool {
		if at+len(s) > len(b) || string(b[at:at+len(s)]) != s {
			return false
		}
		at += len(s)
		return true
	}
	step := func(c Component, before, after string) error {
		s := u.Span(c)
		if !u.Has(c) {
			if s != (Span{}) {
				return fmt.Errorf("codec: absent %v has a span", c)
			}
			return nil
		}
		if !eat(before) || int(s.Start) != at {
			return fmt.Errorf("codec: %v does not start at offset %d", c, at)
		}
		if s.End < s.Start || int(s.End) > len(b) {
			return fmt.Errorf("codec: %v ends at offset %d, before its start or after the end of the URL", c, s.End)
		}
		at = int(s.End)
		if !eat(after) {
			return fmt.Errorf("codec: %v is not followed by its delimiter", c)
		}
		return nil
	}
	slashes, afterUser := "", "@"
	if u.HasAuthority() {
		slashes = "//"
	}
	if u.Has(Password) {
		afterUser = ""
	}
	if u.HasAuthority() != u.Has(Host) {
		return fmt.Errorf("codec: only one of host and authority is present")
	}
	for _, s := range []struct {
		c             Component
		before, after string
	}{
		{Scheme, "", ":" + slashes}, {Username, "", afterUser}, {Password, ":", "@"}, {Host, "", ""},
		{Port, ":", ""}, {Path, "", ""}, {Query, "?", ""}, {Fragment, "#", ""},
	} {
		if s.c == Username && !u.Has(Scheme) && !eat(slashes) {
			return fmt.Errorf("codec: missing slashes before the authority")
		}
		if err := step(s.c, s.before, s.after); err != nil {
			return err
		}
	}
	if at != len(b) {
		return fmt.Errorf("codec: the components end at offset %d, the text at %d", at, len(b))
	}
	return nil
}
