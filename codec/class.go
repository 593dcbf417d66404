package codec

import "github.com/urlfold/urlfold/codec/percent"

// class says of each byte in which components of a clean URL it may stand. It is
// computed once from the tables of package percent, so the fast path and the
// full parser cannot disagree about a byte.
var class = makeClass()

const (
	hostByte   = 1 << iota // may stand raw in a reg-name, RFC 3986 §3.2.2
	cleanHost              // lower-case LDH or '.': normal in any host
	cleanPath              // pchar, but neither '/' nor '%'
	cleanQuery             // pchar, '/' and '?', but not ';' (which may end "&amp;")
	cleanFrag              // pchar, '/' and '?'
	ldhByte                // letter, digit, hyphen, dot
)

func makeClass() (t [256]uint8) {
	for i := range t {
		c := byte(i)
		ldh := isAlpha(c) || isDigit(c) || c == '-' || c == '.'
		t[i] = uint8(b2i(!percent.RFC3986Host.Has(c) && c != '%')*hostByte |
			b2i(ldh && !isUpper(c))*cleanHost |
			b2i(!percent.RFC3986Path.Has(c) && c != '%' && c != '/')*cleanPath |
			b2i(!percent.RFC3986Query.Has(c) && c != '%' && c != ';')*cleanQuery |
			b2i(!percent.RFC3986Fragment.Has(c) && c != '%')*cleanFrag |
			b2i(ldh)*ldhByte)
	}
	return t
}
