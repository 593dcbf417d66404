// Package iri converts normal forms to IRIs for display (RFC 3987 §3.2). The
// result identifies the same resource as the normal form, but is not a key.
package iri

import (
	"bytes"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/internal/ascii"
	"github.com/urlfold/urlfold/codec/internal/idna"
)

// Append appends the display form of norm, a normal form with the components u,
// and returns the extended slice. dst and norm must not overlap.
//
// Escapes of UTF-8 become the characters that they encode if an IRI may contain
// them: ucschar (RFC 3987 §2.2) and, in a query, iprivate. Other escapes stay:
// of invalid UTF-8, of ASCII, and of characters that are invisible or change
// the order of others: white space, bidi controls and other default-ignorable
// characters (§4.1). Characters are not composed (§5.3.2.2).
// In hosts of http, https, ws, wss, ftp and file URLs, A-labels become U-labels
// where that is safe; see [idna.AppendUnicode]. IP literals stay.
//
// Normalizing the result by WHATWG gives the same K1 as norm. By RFC 3986 it does so
// too, except for hosts with U-labels: RFC 3986 does not cover IDNA, so a U-label and
// its A-label are different names.
func Append(dst, norm []byte, u *codec.URL) []byte {
	if bytes.IndexByte(norm, '%') < 0 && !bytes.Contains(norm, aceMark) {
		return append(dst, norm...)
	}
	at := uint32(0)
	for c := range codec.Fragment + 1 {
		if !u.Has(c) {
			continue
		}
		span := u.Span(c)
		dst = append(dst, norm[at:span.Start]...)
		if c == codec.Host {
			dst = appendDisplayHost(dst, norm, u)
		} else {
			dst = appendDisplay(dst, span.In(norm), c == codec.Query)
		}
		at = span.End
	}
	return append(dst, norm[at:]...)
}

// aceMark occurs in every A-label.
var aceMark = []byte("--")

// appendDisplayHost appends the host of norm. A host with escapes gets no
// U-labels: package idna would see only the unescaped part and could not judge
// the whole.
func appendDisplayHost(dst, norm []byte, u *codec.URL) []byte {
	host := u.Bytes(norm, codec.Host)
	switch {
	case len(host) > 0 && host[0] == '[':
		return append(dst, host...)
	case bytes.IndexByte(host, '%') >= 0 || !hasDomains(u.Bytes(norm, codec.Scheme)):
		return appendDisplay(dst, host, false)
	}
	return idna.AppendUnicode(dst, host)
}

// hasDomains reports whether the hosts of a scheme are domains, as in the
// special schemes of the URL Standard (§3.1).
func hasDomains(scheme []byte) bool {
	switch string(scheme) {
	case "http", "https", "ws", "wss", "ftp", "file":
		return true
	}
	return false
}

// appendDisplay appends text with escapes replaced by characters, including
// private ones if private is set.
func appendDisplay(dst, text []byte, private bool) []byte {
	for {
		i := bytes.IndexByte(text, '%')
		if i < 0 {
			return append(dst, text...)
		}
		dst = append(dst, text[:i]...)
		text = text[i:]
		r, n := decodeEscaped(text)
		switch {
		case n > 0 && isShown(r, private):
			dst = utf8.AppendRune(dst, r)
		case n == 0:
			n = 1
			fallthrough
		default:
			dst = append(dst, text[:n]...)
		}
		text = text[n:]
	}
}

// decodeEscaped returns the character whose escaped UTF-8 is at the start of
// text, and the number of bytes that its escapes occupy, or 0 if the escapes
// are not valid UTF-8. text starts with '%'.
func decodeEscaped(text []byte) (r rune, n int) {
	var b [utf8.UTFMax]byte
	for n < len(b) && ascii.IsEscape(text[3*n:]) {
		b[n], _ = ascii.Unescape(text[3*n:])
		n++
	}
	r, size := utf8.DecodeRune(b[:n])
	if size == 0 || r == utf8.RuneError && size == 1 {
		return 0, 0
	}
	return r, 3 * size
}

// isShown reports whether r is allowed in an IRI and visible there: it is
// ucschar, or iprivate if private is set, and not hidden.
func isShown(r rune, private bool) bool {
	switch {
	case r < 0xA0:
		return false
	case r <= 0xD7FF, 0xF900 <= r && r <= 0xFDCF, 0xFDF0 <= r && r <= 0xFFEF:
		return !isHidden(r)
	case r < 0xE000:
		return false // surrogates
	case r <= 0xF8FF, 0xF0000 <= r:
		return private && r&0xFFFE != 0xFFFE
	case r < 0x10000, 0xE0000 <= r && r < 0xE1000:
		return false // noncharacters, specials; tags and variation selectors
	}
	return r&0xFFFE != 0xFFFE && !isHidden(r)
}

// hidden holds the ranges of ucschar that are Default_Ignorable_Code_Point or
// White_Space in Unicode 17, in ascending order. It includes all bidi controls:
// U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069.
var hidden = [...]struct{ first, last rune }{
	{0x00A0, 0x00A0},   // no-break space
	{0x00AD, 0x00AD},   // soft hyphen
	{0x034F, 0x034F},   // combining grapheme joiner
	{0x061C, 0x061C},   // Arabic letter mark
	{0x115F, 0x1160},   // Hangul fillers
	{0x1680, 0x1680},   // Ogham space mark
	{0x17B4, 0x17B5},   // Khmer inherent vowels
	{0x180B, 0x180F},   // Mongolian variation selectors and vowel separator
	{0x2000, 0x200F},   // spaces, joiners, directional marks
	{0x2028, 0x202F},   // line and paragraph separators, embeddings, narrow space
	{0x205F, 0x206F},   // mathematical space, word joiner, isolates
	{0x3000, 0x3000},   // ideographic space
	{0x3164, 0x3164},   // Hangul filler
	{0xFE00, 0xFE0F},   // variation selectors
	{0xFEFF, 0xFEFF},   // byte order mark
	{0xFFA0, 0xFFA0},   // halfwidth Hangul filler
	{0x1BCA0, 0x1BCA3}, // shorthand format controls
	{0x1D173, 0x1D17A}, // musical format controls
}

func isHidden(r rune) bool {
	for i := range hidden {
		if r <= hidden[i].last {
			return r >= hidden[i].first
		}
	}
	return false
}
