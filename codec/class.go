package codec

import "github.com/urlfold/urlfold/codec/percent"

// class gives, for each byte, the components of a clean URL that may contain
// it. It is computed from the tables of package percent, so the fast path and
// the full parsers cannot disagree about a byte.
var class = makeClass()

const (
	hostByte   = 1 << iota // allowed raw in a reg-name, RFC 3986 §3.2.2
	cleanHost              // lower-case letter, digit, '-' or '.': in normal form in any host
	cleanPath              // pchar or '/', but not '.', which may be a dot segment
	cleanQuery             // pchar, '/' and '?', but not ';' (which may end "&amp;") nor "'" (which browsers escape)
	cleanFrag              // pchar, '/' and '?'
	ldhByte                // letter, digit, hyphen, dot
	pauseByte              // '.' or '-'
	nameByte               // ASCII other than the forbidden domain code points
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

// dirt gives, for each byte, the reasons why a component that contains the byte
// may need work. ORed over the bytes of a component, the bits show which checks
// the component does not need.
var dirt = makeDirt()

const (
	dirtUserinfo  = 1 << iota // not allowed raw in userinfo
	dirtHost                  // not allowed raw in a reg-name
	dirtPath                  // not allowed raw in a path
	dirtQuery                 // not allowed raw in a query or fragment; both forbid the same bytes
	dirtPercent               // '%'
	dirtDot                   // '.'
	dirtSemicolon             // ';'
	dirtNotLDH                // not a letter, digit, hyphen or dot
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

// dirtOf returns the bits of all bytes of text, ORed.
func dirtOf(text []byte) (d uint8) {
	for _, c := range text {
		d |= dirt[c]
	}
	return d
}

// dirtRaw holds, for each component, the bit that dirt sets for bytes not
// allowed raw in that component.
var dirtRaw = [numComponents]uint8{
	Username: dirtUserinfo, Password: dirtUserinfo, Host: dirtHost, Path: dirtPath, Query: dirtQuery, Fragment: dirtQuery,
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
