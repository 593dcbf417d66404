package codec

import (
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/percent"
)

// notUnit is set for the bytes that need a check: ASCII other than URL code
// points, '%', and non-ASCII bytes
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

// urlUnits records a validation error for each code point in in[start:end] that
// is not a URL unit.
func (p *parser) urlUnits(c Component, start, end int) {
	for i := start; i < end; {
		if !notUnit[p.in[i]] {
			i++
			continue
		}
		text := p.in[i:end]
		if text[0] == '%' {
			if !isTriplet(text) {
				p.mark(FlagInvalidURLUnit, i, c, p.unitAction(c, text[0]))
			}
			i++
			continue
		}
		r, size := utf8.DecodeRune(text)
		if !isURLCodePoint(r, size) {
			p.mark(FlagInvalidURLUnit, i, c, p.unitAction(c, text[0]))
		}
		i += size
	}
}

// isURLCodePoint reports whether r is a URL code point. r must not be ASCII
// that notUnit excludes. A size of 1 means ASCII or a byte that is not valid
// UTF-8.
func isURLCodePoint(r rune, size int) bool {
	return size > 1 && r >= 0xA0 && r <= 0x10FFFD && !(r >= 0xFDD0 && r <= 0xFDEF) && r&0xFFFE != 0xFFFE
}

// unitAction returns what the parser does with a raw byte of component c.
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
		return ActionEncoded
	}
	return ActionKept
}
