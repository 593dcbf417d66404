package percent

import "unicode/utf8"

// WellFormed is the result of [Sequence] for a sequence without defects. No defect
// has this Kind.
const WellFormed = Kind(numKinds) // Not covered by the stability page.

// Sequence checks the sequence of escaped UTF-8 that starts with the escape at
// src[i], which must be of a byte from 80 to FF. It returns the number n of
// escapes in the sequence and its defect, or WellFormed.
//
// A sequence consists of a lead byte and the continuation bytes in the adjacent
// escapes, up to the number that the lead byte requires. A continuation byte
// without a lead byte is a sequence too. An ill-formed sequence is therefore
// one defect, even where a decoder that replaces maximal subparts would write
// several U+FFFD (%ED%A0%80).
//
// A sequence is complete if it has as many continuation bytes as its lead byte
// requires. Only a complete sequence can be overlong or a surrogate: %C0%AF is
// an overlong '/', which a lenient decoder accepts, whereas the %C1 before
// "lvarez" is Latin-1 and has no meaning in UTF-8. A raw byte never belongs to
// a sequence of escapes. Not covered by the stability page.
func Sequence(src []byte, i int) (n int, k Kind) {
	lead := tripletByte(src, i)
	if n := plainSequence(src, i, lead); n > 0 {
		return n, WellFormed
	}
	b := [6]byte{lead}
	want := sequenceLen(b[0])
	for n = 1; n < want; n++ {
		if i += 3; !isContinuation(src, i) {
			break
		}
		b[n] = tripletByte(src, i)
	}
	return n, verdict(b[:n])
}

// plainSequence returns the number of escapes in a sequence of two or three
// bytes whose lead byte allows any continuation bytes and no noncharacter (RFC
// 3629 §4), which is the most common case. It returns 0 if the sequence needs
// the full check.
func plainSequence(src []byte, i int, lead byte) int {
	switch {
	case lead < 0xC2 || lead == 0xE0 || lead == 0xED || lead >= 0xEF || !isContinuation(src, i+3):
		return 0
	case lead < 0xE0:
		return 2
	case isContinuation(src, i+6):
		return 3
	}
	return 0
}

// isContinuation reports whether an escape of a byte from 80 to BF starts at
// src[i]. i may be beyond the end of src.
func isContinuation(src []byte, i int) bool {
	return i+2 < len(src) && src[i] == '%' && isTriplet(src, i) && tripletByte(src, i)&0xC0 == 0x80
}

// sequenceLen returns the length of a sequence with the lead byte c, in the
// original encoding of up to six bytes.
func sequenceLen(c byte) int {
	switch {
	case c < 0xC0 || c >= 0xFE:
		return 1
	case c < 0xE0:
		return 2
	case c < 0xF0:
		return 3
	case c < 0xF8:
		return 4
	case c < 0xFC:
		return 5
	}
	return 6
}

// verdict returns the defect of the sequence b, which may be incomplete, by RFC
// 3629 §3 and §4, or WellFormed.
func verdict(b []byte) Kind {
	if len(b) < sequenceLen(b[0]) {
		return kindBadUTF8
	}
	switch lead := b[0]; {
	case lead == 0xC0 || lead == 0xC1:
		return kindOverlongUTF8
	case lead == 0xE0 && b[1] < 0xA0 || lead == 0xF0 && b[1] < 0x90:
		return kindOverlongUTF8
	case lead == 0xED && b[1] >= 0xA0:
		return kindSurrogateUTF8
	}
	r, size := utf8.DecodeRune(b)
	switch {
	case size != len(b) || r == utf8.RuneError && size == 1:
		return kindBadUTF8
	case r&0xFFFE == 0xFFFE || 0xFDD0 <= r && r <= 0xFDEF:
		return kindNoncharacter
	}
	return WellFormed
}

// utf8Validator checks whether the bytes pushed to it are valid UTF-8. The zero
// value is ready for use.
type utf8Validator struct {
	buf [utf8.UTFMax]byte
	n   int
	bad bool
}

func (v *utf8Validator) push(b byte) {
	if v.bad {
		return
	}
	v.buf[v.n] = b
	v.n++
	if !utf8.FullRune(v.buf[:v.n]) {
		return
	}
	r, size := utf8.DecodeRune(v.buf[:v.n])
	v.bad = r == utf8.RuneError && size == 1
	v.n = 0
}

// valid reports whether the bytes pushed are valid and end with a whole
// character.
func (v *utf8Validator) valid() bool { return !v.bad && v.n == 0 }
