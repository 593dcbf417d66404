package crawlercommons

import (
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/internal/ascii"
)

const mark = "-_.!~*'()"

// The sets of characters.
var (
	unreserved  = ascii.SetOf(ascii.Unreserved)                    // RFC 3986, decoded if escaped
	escapedChar = ascii.SetOf("\"#<>[]^`{|}\x7f ")                 // always escaped, as controls are
	uric        = ascii.SetOf(ascii.Alnum + mark + ";/?:@&=+$,[]") // java.net.URI: reserved and unreserved of RFC 2396
	pathChar    = ascii.SetOf(ascii.Alnum + mark + ":@&=+$,;/")    // java.net.URI: in a path
	regName     = ascii.SetOf(ascii.Alnum + mark + "$,;:@&=+")     // java.net.URI: in an authority that is not HOST:PORT
	userChar    = ascii.SetOf(ascii.Alnum + mark + ";:&=+$,")      // java.net.URI: in userinfo
	schemeChar  = ascii.SetOf(ascii.Alnum + "+-.")                 // java.net.URI: in a scheme
	scopeChar   = ascii.SetOf(ascii.Alnum + "_.")                  // java.net.URI: in the scope of an IPv6 address
)

// appendEscaped appends text, decoded as UTF-8. It escapes the characters that
// are not ASCII or never valid in a URL, and each '%' that starts no escape.
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
		case c < ' ', escapedChar[c], c == '%' && !ascii.IsEscape(text[i:]):
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
		if n == 1 || unreserved[c] {
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
