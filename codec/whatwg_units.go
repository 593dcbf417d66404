package codec

import (
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/percent"
)

// notUnit is set for the bytes that need a look: ASCII that is no URL code
// point, '%', and what is not ASCII
// (https://url.spec.whatwg.org/#url-code-points).
var notUnit = func() (t [256]bool) {
	for i := range t {
		c := byte(i)
		t[i] = !isAlpha(c) && !isDigit(c)
	}
	for _, c := range []byte("!$&'()*+,-./:;=?@_~") {
		t[c] = false
	}
	return t
}()

// urlUnits marks what is no URL unit in in[start:end], code point by code point.
func (p *parser) urlUnits(c Component, start, end int) {
	for i := start; i < end; {
		if !notUnit[p.in[i]] {
			i++
			continue
		}
		text := p.in[i:end]
		if text[0] == '%' {
			if !isTriplet(text) {
				p.mark(InvalidURLUnit, i, c, p.unitAction(c, text[0]))
			}
			i++
			continue
		}
		r, size := utf8.DecodeRune(text)
		if !isURLCodePoint(r, size) {
			p.mark(InvalidURLUnit, i, c, p.unitAction(c, text[0]))
		}
		i += size
	}
}

// isURLCodePoint reports whether r, which is no ASCII letter or digit and none of
// the marks that are URL code points, is one. A size of 1 stands for ASCII and
// for bytes that are no UTF-8.
func isURLCodePoint(r rune, size int) bool {
	return size > 1 && r >= 0xA0 && r <= 0x10FFFD && !(r >= 0xFDD0 && r <= 0xFDEF) && r&0xFFFE != 0xFFFE
}

// unitAction says what the parser does with a raw byte of component c.
func (p *parser) unitAction(c Component, b byte) Action {
	set := percent.WHATWGFragment
	switch {
	case c == Host || p.opaque && c == Path:
		set = percent.WHATWGC0
	case c == Path:
		set = percent.WHATWGPath
	case c == Query && p.special():
		set = percent.WHATWGSpecialQuery
	case c == Query:
		set = percent.WHATWGQuery
	}
	if set.Has(b) {
		return Encoded
	}
	return Kept
}
