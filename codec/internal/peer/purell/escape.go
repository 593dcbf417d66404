package purell

import (
	"github.com/urlfold/urlfold/codec/internal/ascii"
)

// A set says where a byte may stand unescaped. The first three apply to
// purell's output, the others to net/url.
type set uint8

const (
	inPath     set = 1 << iota // path: unreserved and reserved without ? and #
	inFragment                 // fragment: unreserved and reserved without #
	inUser                     // userinfo, by net/url and after purell's corrections
	inValue                    // a value that url.QueryEscape has encoded, before a space is '+'
	inHost                     // what a host may contain
	validUser                  // what net/url accepts as userinfo
)

// sets has the sets of each byte.
var sets = func() (t [256]set) {
	add := func(s set, chars string) {
		for i := range len(chars) {
			t[chars[i]] |= s
		}
	}
	add(inPath|inFragment|inUser|inValue|inHost, ascii.Alnum+"-._~")
	add(inPath|inFragment, ":/[]@!$&'()*+,;=")
	add(inFragment, "?")
	add(inValue, " ")
	add(inUser, "$&+,;=!'()*")
	add(inHost, `!$&'()*+,;=:[]<>"`)
	add(validUser, ascii.Alnum+"-._:~!$&'()*+,;=%@")
	return t
}()

// appendEscaped appends text and escapes the bytes outside the set.
func appendEscaped(dst, text []byte, in set) []byte {
	for _, c := range text {
		if sets[c]&in != 0 {
			dst = append(dst, c)
		} else {
			dst = ascii.AppendEscape(dst, c)
		}
	}
	return dst
}

// appendUnescaped appends text with its escapes decoded and, if plus is set, each '+' as a
// space. It fails if a '%' is not followed by two hex digits.
func appendUnescaped(dst, text []byte, plus bool) ([]byte, bool) {
	for len(text) > 0 {
		c, n := ascii.Unescape(text)
		switch {
		case text[0] == '%' && n == 1:
			return dst, false
		case text[0] == '+' && plus:
			c = ' '
		}
		dst, text = append(dst, c), text[n:]
	}
	return dst, true
}
