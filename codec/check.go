package codec

import "fmt"

// Check returns an error unless the offsets of u are in order, lie within b, and
// have the right delimiters between them, so that components and delimiters
// together give b back. It is for tests and fuzzing. The error names components
// and offsets, never their text.
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
		if !eat(before) || int(s.Start) != at || s.End < s.Start || int(s.End) > len(b) {
			return fmt.Errorf("codec: %v does not follow at %d", c, at)
		}
		at = int(s.End)
		if !eat(after) {
			return fmt.Errorf("codec: %v has no delimiter behind it", c)
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
		return fmt.Errorf("codec: host and authority disagree")
	}
	for _, s := range []struct {
		c             Component
		before, after string
	}{
		{Scheme, "", ":" + slashes}, {Username, "", afterUser}, {Password, ":", "@"}, {Host, "", ""},
		{Port, ":", ""}, {Path, "", ""}, {Query, "?", ""}, {Fragment, "#", ""},
	} {
		if s.c == Username && !u.Has(Scheme) && !eat(slashes) {
			return fmt.Errorf("codec: no slashes in front of the authority")
		}
		if err := step(s.c, s.before, s.after); err != nil {
			return err
		}
	}
	if at != len(b) {
		return fmt.Errorf("codec: the components end at %d, the bytes at %d", at, len(b))
	}
	return nil
}
