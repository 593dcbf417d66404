package purell

import "github.com/urlfold/urlfold/codec/internal/ascii"

// A set says where a byte may stand unescaped. The first three apply to
// purell's output, the others to net/url.
type set uint8

const (
	inPath     set = 1 << iota // path: unreserved and reserved without ? and #
	inFragment                 // fragment: unreserved and reserved without #
	inUser                     // userinfo, by net/url and after purell's corrections
	inValue                    // a value that url.QueryEscape has encoded
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
	const alnum = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	add(inPath|inFragment|inUser|inValue|inHost, alnum+"-._~")
	add(inPath|inFragment, ":/[]@!$&'()*+,;=")
	add(inFragment, "?")
	add(inUser, "$&+,;=!'()*")
	add(inHost, `!$&'()*+,;=:[]<>"`)
	add(validUser, alnum+"-._:~!$&'()*+,;=%@")
	return t
}()

const upperHex = "0123456789ABCDEF"

// appendEscaped appends text and escapes the bytes outside the set.
func appendEscaped(dst, text []byte, in set) []byte {
	for _, c := range text {
		if sets[c]&in != 0 {
			dst = append(dst, c)
		} else {
			dst = append(dst, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return dst
}

// appendUnescaped appends text with its escapes decoded. It fails if a '%' is
// not followed by two hex digits.
func appendUnescaped(dst, text []byte) ([]byte, bool) {
	for i := 0; i < len(text); {
		c, n, ok := unescaped(text[i:])
		if !ok {
			return dst, false
		}
		dst = append(dst, c)
		i += n
	}
	return dst, true
}

// unescaped returns the first byte of text, decoded, and how many bytes encode
// it.
func unescaped(text []byte) (c byte, n int, ok bool) {
	switch {
	case text[0] != '%':
		return text[0], 1, true
	case !ascii.IsEscape(text):
		return 0, 0, false
	}
	return ascii.Unhex(text[1])<<4 | ascii.Unhex(text[2]), 3, true
}
