// Package python reproduces parts of Python 3.11's standard library.
package python

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/internal/ascii"
	"github.com/urlfold/urlfold/codec/internal/idna2003"
	"github.com/urlfold/urlfold/codec/internal/ip"
)

// AppendLower appends UTF-8 text as str.lower returns it.
func AppendLower(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			dst = append(dst, ascii.Lower(c))
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		switch {
		case r == '\u0130':
			dst = append(dst, "i\u0307"...)
		case r == '\u03A3' && isFinalSigma(text, i, i+n):
			dst = utf8.AppendRune(dst, '\u03C2')
		default:
			dst = utf8.AppendRune(dst, unicode.ToLower(r))
		}
		i += n
	}
	return dst
}

// isFinalSigma reports whether text[start:end] is at the end of a word: a cased
// letter precedes it and none follows, skipping the characters that case
// ignores (Unicode, table 3-17).
func isFinalSigma(text []byte, start, end int) bool {
	before := false
	for start > 0 {
		r, n := utf8.DecodeLastRune(text[:start])
		start -= n
		if !isCaseIgnorable(r) {
			before = isCased(r)
			break
		}
	}
	if !before {
		return false
	}
	for end < len(text) {
		r, n := utf8.DecodeRune(text[end:])
		end += n
		if !isCaseIgnorable(r) {
			return !isCased(r)
		}
	}
	return true
}

func isCased(r rune) bool {
	return unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r) || unicode.Is(unicode.Other_Lowercase, r) || unicode.Is(unicode.Other_Uppercase, r)
}

func isCaseIgnorable(r rune) bool {
	switch r {
	case '\'', '.', ':', '\u00B7', '\u0387', '\u055F', '\u05F4', '\u2018', '\u2019', '\u2024', '\u2027', '\uFE13', '\uFE52', '\uFE55', '\uFF07', '\uFF0E', '\uFF1A':
		return true
	}
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}

// AppendIDNA appends text, which is UTF-8, as text.encode("idna") returns it.
// It returns false if that raises UnicodeError.
func AppendIDNA(dst []byte, text []rune) ([]byte, bool) {
	start := len(dst)
	plain := ascii.Only(text)
	for first := true; len(text) > 0; first = false {
		n := 0
		for n < len(text) && text[n] != '.' && (plain || !idna2003.IsDot(text[n])) {
			n++
		}
		if !first {
			dst = append(dst, '.')
		}
		var ok bool
		if dst, ok = idna2003.AppendASCII(dst, text[:n]); !ok {
			return dst[:start], false
		}
		if n == len(text) {
			break
		}
		if text = text[n+1:]; len(text) == 0 {
			dst = append(dst, '.')
		}
	}
	return dst, true
}

// An IPv6 is an address of ipaddress.IPv6Address.
type IPv6 struct {
	Groups [8]uint16
	Scope  []byte // after '%'; a slice of the text that was parsed
}

// ParseIPv6 parses an address as ipaddress.IPv6Address does.
func ParseIPv6(text []byte) (a IPv6, ok bool) {
	text, scope, scoped := bytes.Cut(text, []byte{'%'})
	if scoped && len(scope) == 0 || bytes.ContainsAny(scope, "%/") {
		return a, false
	}
	a.Scope = scope
	a.Groups, ok = ip.ParseV6(text)
	return a, ok
}

// AppendTo appends the address as str(IPv6Address) returns it: in the form of
// RFC 5952, but never with an IPv4 address at the end.
func (a *IPv6) AppendTo(dst []byte) []byte {
	dst = ip.AppendV6(dst, a.Groups)
	if len(a.Scope) > 0 {
		dst = append(append(dst, '%'), a.Scope...)
	}
	return dst
}
