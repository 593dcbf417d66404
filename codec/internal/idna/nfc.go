package idna

import (
	"slices"

	"github.com/urlfold/urlfold/codec/internal/nfc"
)

// firstCombining is the first code point that is not in NFC in every context.
// Lower code points have no combining class and do not compose with preceding
// ones.
const firstCombining = 0x300

// quickNFC reports whether s is certainly in NFC: UAX 15, section 9. If it
// returns false, s may still be in NFC.
func quickNFC(s []rune) bool {
	last := uint8(0)
	for _, r := range s {
		if r < firstCombining {
			last = 0
			continue
		}
		p := propsOf(r)
		if p.flags&(composes|excludedNFC) != 0 || p.ccc != 0 && p.ccc < last {
			return false
		}
		last = p.ccc
	}
	return true
}

// isNFC reports whether s is in NFC. It allocates if s is longer than
// scratchLen.
func isNFC(s []rune) bool {
	var buf [scratchLen]rune
	return slices.Equal(s, appendNFC(buf[:0], s))
}

// AppendNFC appends the Normalization Form C of s (UAX 15, section 1.2), and
// reports whether it differs from s. dst and s must not overlap.
func AppendNFC(dst, s []rune) (out []rune, changed bool) {
	if quickNFC(s) {
		return append(dst, s...), false
	}
	start := len(dst)
	dst = appendNFC(dst, s)
	return dst, !slices.Equal(dst[start:], s)
}

// appendNFC appends the Normalization Form C of s. dst and s must not overlap.
func appendNFC(dst, s []rune) []rune {
	start := len(dst)
	for _, r := range s {
		dst = appendDecomposition(dst, r)
	}
	return dst[:start+nfc.Compose(dst[start:], classOf, composePair)]
}

// classOf returns the combining class of r.
func classOf(r rune) uint8 { return propsOf(r).ccc }

// appendDecomposition appends the full canonical decomposition of r.
func appendDecomposition(dst []rune, r rune) []rune {
	if dst, ok := nfc.AppendSyllable(dst, r); ok {
		return dst
	}
	if propsOf(r).flags&decomposes == 0 {
		return append(dst, r)
	}
	entry := decompositions.At(decompositions.Search(uint64(r) << 32))
	for _, to := range decompText[entry>>16&0xFFFF : entry&0xFFFF] {
		dst = append(dst, to)
	}
	return dst
}

// composePair returns the primary composite of two characters that are not
// Hangul, if there is one.
func composePair(first, second rune) (rune, bool) {
	if propsOf(second).flags&composes == 0 {
		return 0, false
	}
	both := uint64(first)<<42 | uint64(second)<<21
	if i := pairs.Search(both); i < pairs.Len() && pairs.At(i)>>21 == both>>21 {
		return rune(pairs.At(i) & (1<<21 - 1)), true
	}
	return 0, false
}
