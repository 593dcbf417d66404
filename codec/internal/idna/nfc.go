package idna

import (
	"cmp"
	"slices"
)

// Hangul syllables are composed and decomposed arithmetically: The Unicode
// Standard, section 3.12.
const (
	hangulS      = 0xAC00
	hangulL      = 0x1100
	hangulV      = 0x1161
	hangulT      = 0x11A7
	hangulLCount = 19
	hangulVCount = 21
	hangulTCount = 28
	hangulSCount = hangulLCount * hangulVCount * hangulTCount
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
	reorder(dst[start:])
	return dst[:start+compose(dst[start:])]
}

// appendDecomposition appends the full canonical decomposition of r.
func appendDecomposition(dst []rune, r rune) []rune {
	if s := r - hangulS; s >= 0 && s < hangulSCount {
		dst = append(dst, hangulL+s/(hangulVCount*hangulTCount), hangulV+s/hangulTCount%hangulVCount)
		if t := s % hangulTCount; t > 0 {
			dst = append(dst, hangulT+t)
		}
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

// reorder sorts each run of characters with a nonzero combining class by that
// class: the canonical ordering. The sort is stable, and its time grows with the
// length of the run only, so that a label can consist of combining marks alone.
func reorder(s []rune) {
	for i := 0; i < len(s); {
		if propsOf(s[i]).ccc == 0 {
			i++
			continue
		}
		start := i
		for i < len(s) && propsOf(s[i]).ccc != 0 {
			i++
		}
		if run := s[start:i]; len(run) < longRun {
			slices.SortStableFunc(run, func(a, b rune) int { return cmp.Compare(propsOf(a).ccc, propsOf(b).ccc) })
		} else {
			sortLong(run)
		}
	}
}

// longRun is the length of a run from which sortLong takes less time than a sort by
// comparison.
const longRun = 256

// sortLong sorts a run by counting, in time that grows with its length only.
func sortLong(run []rune) {
	var next [256]int // where the next character of each class goes
	for _, r := range run {
		next[propsOf(r).ccc]++
	}
	at := 0
	for class, n := range next {
		next[class], at = at, at+n
	}
	for _, r := range slices.Clone(run) {
		class := propsOf(r).ccc
		run[next[class]] = r
		next[class]++
	}
}

// compose applies canonical composition to s in place and returns its new
// length.
func compose(s []rune) int {
	out, starter := 0, -1
	last := uint8(0) // combining class of s[out-1], unless that is the starter
	for _, r := range s {
		ccc := propsOf(r).ccc
		if starter >= 0 && (out-1 == starter || last < ccc) {
			if c, ok := composePair(s[starter], r); ok {
				s[starter] = c
				continue
			}
		}
		if ccc == 0 {
			starter = out
		}
		last = ccc
		s[out] = r
		out++
	}
	return out
}

// composePair returns the primary composite of two characters, if there is one.
func composePair(first, second rune) (rune, bool) {
	if propsOf(second).flags&composes == 0 {
		return 0, false
	}
	if l, v := first-hangulL, second-hangulV; l >= 0 && l < hangulLCount && v >= 0 && v < hangulVCount {
		return hangulS + (l*hangulVCount+v)*hangulTCount, true
	}
	if s, t := first-hangulS, second-hangulT; s >= 0 && s < hangulSCount && s%hangulTCount == 0 && t > 0 && t < hangulTCount {
		return first + t, true
	}
	both := uint64(first)<<42 | uint64(second)<<21
	if i := pairs.Search(both); i < pairs.Len() && pairs.At(i)>>21 == both>>21 {
		return rune(pairs.At(i) & (1<<21 - 1)), true
	}
	return 0, false
}
