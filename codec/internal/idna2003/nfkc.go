package idna2003

import (
	"cmp"
	"slices"

	"github.com/urlfold/urlfold/codec/internal/table"
)

// AppendNFKC appends text in Normalization Form KC of Unicode 14, the version
// of Python 3.11.
func AppendNFKC(dst, text []rune) []rune { return appendNormal(dst, text, &tables().decomposed) }

// AppendNFC is AppendNFKC for Normalization Form C.
func AppendNFC(dst, text []rune) []rune { return appendNormal(dst, text, &tables().canonical) }

// appendNormal appends text, decomposed by maps and composed (UAX 15). The
// first map with a code point counts. Combining classes and composites come
// from Unicode 14 even for nameprep, as in Python's ucd_3_2_0.
func appendNormal(dst, text []rune, maps ...*table.TextMap) []rune {
	start := len(dst)
	for _, r := range text {
		dst = appendDecomposed(dst, r, maps)
	}
	reorder(dst[start:])
	return dst[:start+compose(dst[start:])]
}

// Hangul syllables are decomposed and composed by arithmetic (Unicode, section
// 3.12).
const (
	hangulL, hangulV, hangulT, hangulS = 0x1100, 0x1161, 0x11A7, 0xAC00
	countL, countV, countT             = 19, 21, 28
	countS                             = countL * countV * countT
)

func appendDecomposed(dst []rune, r rune, maps []*table.TextMap) []rune {
	if s := r - hangulS; 0 <= s && s < countS {
		dst = append(dst, hangulL+s/(countV*countT), hangulV+s%(countV*countT)/countT)
		if s%countT > 0 {
			dst = append(dst, hangulT+s%countT)
		}
		return dst
	}
	for _, m := range maps {
		if i, found := slices.BinarySearch(m.Keys, r); found {
			return append(dst, []rune(m.Text(i))...)
		}
	}
	return append(dst, r)
}

// reorder sorts each run of combining characters by class. A host of nothing
// but accents is one run, so the time must not be quadratic.
func reorder(text []rune) {
	byClass := func(a, b rune) int { return int(classOf(a)) - int(classOf(b)) }
	for len(text) > 0 {
		n := 0
		for n < len(text) && classOf(text[n]) > 0 {
			n++
		}
		if run := text[:n]; !slices.IsSortedFunc(run, byClass) {
			slices.SortStableFunc(run, byClass)
		}
		text = text[min(n+1, len(text)):]
	}
}

func classOf(r rune) uint8 {
	if r < 0x300 {
		return 0
	}
	class, _ := table.Find(tables().combining, r)
	return class
}

// compose composes text in place and returns its length.
func compose(text []rune) int {
	starter, last, n := -1, uint8(0), 0
	for _, r := range text {
		class := classOf(r)
		if starter >= 0 && (n == starter+1 || last != 0 && last < class) {
			if c, ok := composite(text[starter], r); ok {
				text[starter] = c
				continue
			}
		}
		if class == 0 {
			starter = n
		}
		last = class
		text[n] = r
		n++
	}
	return n
}

// composite returns the primary composite of two code points.
func composite(a, b rune) (rune, bool) {
	if l, v := a-hangulL, b-hangulV; 0 <= l && l < countL && 0 <= v && v < countV {
		return hangulS + (l*countV+v)*countT, true
	}
	if s, t := a-hangulS, b-hangulT; 0 <= s && s < countS && s%countT == 0 && 0 < t && t < countT {
		return a + t, true
	}
	composed := tables().composed
	i, found := slices.BinarySearchFunc(composed, pair{first: a, second: b}, func(c, d pair) int {
		return cmp.Or(cmp.Compare(c.first, d.first), cmp.Compare(c.second, d.second))
	})
	if !found {
		return 0, false
	}
	return composed[i].composite, true
}
