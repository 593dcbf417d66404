package codec

import "github.com/urlfold/urlfold/codec/percent"

// class says of each byte in which components of a clean URL it may stand. It is
// computed once from the tables of package percent, so the fast path and the
// full parser cannot disagree about a byte.
var class = makeClass()

const (
	hostByte   = 1 << iota // may stand raw in a reg-name, RFC 3986 §3.2.2
	cleanHost              // lower-case LDH or '.': normal in any host
	cleanPath              // pchar or '/', but not '.', which may be a dot segment
	cleanQuery             // pchar, '/' and '?', but not ';' (which may end "&amp;") nor "'" (which browsers escape)
	cleanFrag              // pchar, '/' and '?'
	ldhByte                // letter, digit, hyphen, dot
	pauseByte              // '.' or '-'
	nameByte               // ASCII that is no forbidden domain code point
)

func makeClass() (t [256]uint16) {
	for i := range t {
		c := byte(i)
		ldh := isAlpha(c) || isDigit(c) || c == '-' || c == '.'
		t[i] = uint16(b2i(!percent.RFC3986Host.Has(c) && c != '%')*hostByte |
			b2i(ldh && !isUpper(c))*cleanHost |
			b2i(!percent.RFC3986Path.Has(c) && c != '%' && c != '.')*cleanPath |
			b2i(!percent.RFC3986Query.Has(c) && c != '%' && c != ';' && c != '\'')*cleanQuery |
			b2i(!percent.RFC3986Fragment.Has(c) && c != '%')*cleanFrag |
			b2i(ldh)*ldhByte | b2i(c == '.' || c == '-')*pauseByte |
			b2i(c < 0x80 && !forbiddenDomain[c])*nameByte)
	}
	return t
}

// dirt says of each byte what it can mean for the component that it stands in.
// One pass over a component, or-ing these bits, tells which rules have nothing
// to do there.
var dirt = makeDirt()

const (
	dirtUserinfo  = 1 << iota // may not stand raw in userinfo
	dirtHost                  // may not stand raw in a reg-name
	dirtPath                  // may not stand raw in a path
	dirtQuery                 // may not stand raw in a query or fragment: the same bytes
	dirtPercent               // '%'
	dirtDot                   // '.'
	dirtSemicolon             // ';'
	dirtNotLDH                // neither letter, digit, hyphen nor dot
)

func makeDirt() (t [256]uint8) {
	for i := range t {
		c := byte(i)
		t[i] = uint8(b2i(percent.RFC3986Userinfo.Has(c))*dirtUserinfo |
			b2i(percent.RFC3986Host.Has(c))*dirtHost |
			b2i(percent.RFC3986Path.Has(c))*dirtPath |
			b2i(percent.RFC3986Query.Has(c))*dirtQuery |
			b2i(c == '%')*dirtPercent | b2i(c == '.')*dirtDot | b2i(c == ';')*dirtSemicolon |
			b2i(class[c]&ldhByte == 0)*dirtNotLDH)
	}
	return t
}

// dirtOf returns all the bits of the bytes of text.
func dirtOf(text []byte) (d uint8) {
	for _, c := range text {
		d |= dirt[c]
	}
	return d
}

// dirtRaw is the bit of the bytes that may not stand raw in a component.
var dirtRaw = [numComponents]uint8{
	Username: dirtUserinfo, Password: dirtUserinfo, Host: dirtHost, Path: dirtPath, Query: dirtQuery, Fragment: dirtQuery,
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
