package purell

// A set says where a byte may stand unescaped. The first three are the sets of
// purell's output, the others those of net/url.
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
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '%' {
			if i+2 >= len(text) || !isHex(text[i+1]) || !isHex(text[i+2]) {
				return dst, false
			}
			c = unhex(text[i+1])<<4 | unhex(text[i+2])
			i += 2
		}
		dst = append(dst, c)
	}
	return dst, true
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

// unhex returns the value of a hex digit.
func unhex(c byte) byte { return 9*(c>>6) + c&15 }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
