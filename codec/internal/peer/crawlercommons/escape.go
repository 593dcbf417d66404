package crawlercommons

import (
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/internal/ascii"
)

// A set is a class of characters.
type set uint8

const (
	unreserved  set = 1 << iota // RFC 3986, decoded if escaped
	escapedChar                 // always escaped
	uric                        // java.net.URI: reserved and unreserved of RFC 2396
	pathChar                    // java.net.URI: in a path
	regName                     // java.net.URI: in an authority that is no server
	userChar                    // java.net.URI: in userinfo
	schemeChar                  // java.net.URI: in a scheme
	scopeChar                   // java.net.URI: in the scope of an IPv6 address
)

// sets has the sets of characters that each byte belongs to.
var sets = func() (t [256]set) {
	add := func(s set, chars string) {
		for i := range len(chars) {
			t[chars[i]] |= s
		}
	}
	const mark = "-_.!~*'()"
	add(unreserved, ascii.Alnum+"-._~")
	add(uric, ascii.Alnum+mark+";/?:@&=+$,[]")
	add(pathChar, ascii.Alnum+mark+":@&=+$,;/")
	add(regName, ascii.Alnum+mark+"$,;:@&=+")
	add(userChar, ascii.Alnum+mark+";:&=+$,")
	add(schemeChar, ascii.Alnum+"+-.")
	add(scopeChar, ascii.Alnum+"_.")
	add(escapedChar, "\"#<>[]^`{|}\x7f ")
	for c := range 0x20 {
		t[c] |= escapedChar
	}
	return t
}()

// appendEscaped appends text, decoded as UTF-8, with everything escaped that is
// not ASCII or never valid in a URL, and each '%' that starts no escape.
func appendEscaped(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c >= utf8.RuneSelf:
			r, size := decodeRune(text[i:])
			var buf [utf8.UTFMax]byte
			for _, c := range buf[:utf8.EncodeRune(buf[:], r)] {
				dst = ascii.AppendEscape(dst, c)
			}
			i += size
			continue
		case sets[c]&escapedChar != 0, c == '%' && !ascii.IsEscape(text[i:]):
			dst = ascii.AppendEscape(dst, c)
		default:
			dst = append(dst, c)
		}
		i++
	}
	return dst
}

// appendDecoded appends text with the escapes of unreserved characters decoded
// and the others in upper case.
func appendDecoded(dst, text []byte) []byte {
	for len(text) > 0 {
		c, n := ascii.Unescape(text)
		if n == 1 || sets[c]&unreserved != 0 {
			dst = append(dst, c)
		} else {
			dst = ascii.AppendEscape(dst, c)
		}
		text = text[n:]
	}
	return dst
}

// decodeRune decodes the first character of text, which starts with a byte that
// is not ASCII, as Java does: a malformed sequence is U+FFFD, and extends as
// far as it could start a valid one. The three bytes of a surrogate are one
// U+FFFD.
func decodeRune(text []byte) (r rune, size int) {
	r, size = utf8.DecodeRune(text)
	if r != utf8.RuneError || size != 1 {
		return r, size
	}
	continues := func(i int) bool { return i < len(text) && text[i]&0xc0 == 0x80 }
	switch c := text[0]; {
	case c < 0xe0 || c > 0xf4 || !continues(1):
		return utf8.RuneError, 1
	case c == 0xe0 && text[1] < 0xa0, c == 0xf0 && text[1] < 0x90, c == 0xf4 && text[1] > 0x8f:
		return utf8.RuneError, 1
	case !continues(2):
		return utf8.RuneError, 2
	}
	return utf8.RuneError, 3
}
