package purell

import "github.com/urlfold/urlfold/codec/internal/ascii"

// The bytes that may stand unescaped: the first three in purell's output, the others in
// what net/url accepts.
var (
	inPath     = ascii.SetOf(ascii.Unreserved + ":/[]@!$&'()*+,;=")  // unreserved and reserved without ? and #
	inFragment = ascii.SetOf(ascii.Unreserved + ":/[]@!$&'()*+,;=?") // unreserved and reserved without #
	inUser     = ascii.SetOf(ascii.Unreserved + "$&+,;=!'()*")       // by net/url and after purell's corrections
	inHost     = ascii.SetOf(ascii.Unreserved + `!$&'()*+,;=:[]<>"`)
	validUser  = ascii.SetOf(ascii.Unreserved + ":!$&'()*+,;=%@")
)

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
