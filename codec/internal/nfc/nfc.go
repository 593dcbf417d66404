// Package nfc orders and composes text for the normalization forms of
// Unicode (UAX 15, section 1.2). The callers supply the tables of their
// version of Unicode.
package nfc

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

// AppendSyllable appends the decomposition of r, and reports whether it is a Hangul
// syllable.
func AppendSyllable(dst []rune, r rune) ([]rune, bool) {
	s := r - hangulS
	if s < 0 || s >= hangulSCount {
		return dst, false
	}
	dst = append(dst, hangulL+s/(hangulVCount*hangulTCount), hangulV+s/hangulTCount%hangulVCount)
	if t := s % hangulTCount; t > 0 {
		dst = append(dst, hangulT+t)
	}
	return dst, true
}

// Compose composes s, which is decomposed, in place and returns its new length.
// class returns the combining class of a character, and pair the primary
// composite of two characters that are not Hangul, if there is one.
func Compose(s []rune, class func(rune) uint8, pair func(first, second rune) (rune, bool)) int {
	reorder(s, class)
	out, starter := 0, -1
	last := uint8(0) // combining class of s[out-1], unless that is the starter
	for _, r := range s {
		ccc := class(r)
		if starter >= 0 && (out-1 == starter || last < ccc) {
			c, ok := composeSyllable(s[starter], r)
			if !ok {
				c, ok = pair(s[starter], r)
			}
			if ok {
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

// composeSyllable returns the Hangul syllable of two characters, if there is one.
func composeSyllable(first, second rune) (rune, bool) {
	if l, v := first-hangulL, second-hangulV; l >= 0 && l < hangulLCount && v >= 0 && v < hangulVCount {
		return hangulS + (l*hangulVCount+v)*hangulTCount, true
	}
	s, t := first-hangulS, second-hangulT
	return first + t, s >= 0 && s < hangulSCount && s%hangulTCount == 0 && t > 0 && t < hangulTCount
}

// reorder sorts each run of characters with a nonzero combining class by that
// class: the canonical ordering. The sort is stable, and its time grows with the
// length of the run only, so that a label can consist of combining marks alone.
func reorder(s []rune, class func(rune) uint8) {
	for i := 0; i < len(s); {
		if class(s[i]) == 0 {
			i++
			continue
		}
		start := i
		for i < len(s) && class(s[i]) != 0 {
			i++
		}
		if run := s[start:i]; len(run) < longRun {
			slices.SortStableFunc(run, func(a, b rune) int { return cmp.Compare(class(a), class(b)) })
		} else {
			sortLong(run, class)
		}
	}
}

// longRun is the length of a run from which sortLong takes less time than a sort by
// comparison.
const longRun = 256

// sortLong sorts a run by counting, in time that grows with its length only.
func sortLong(run []rune, class func(rune) uint8) {
	var next [256]int // where the next character of each class goes
	for _, r := range run {
		next[class(r)]++
	}
	at := 0
	for c, n := range next {
		next[c], at = at, at+n
	}
	for _, r := range slices.Clone(run) {
		c := class(r)
		run[next[c]] = r
		next[c]++
	}
}
