package idna2003

import (
	"cmp"
	"slices"

	"github.com/urlfold/urlfold/codec/internal/nfc"
	"github.com/urlfold/urlfold/codec/internal/table"
)

// AppendNFKC appends text in Normalization Form KC of Unicode 14, the version
// of Python 3.11.
func AppendNFKC(dst, text []rune) []rune { return appendNormal(dst, text, &tables().decomposed) }

// AppendNFC is AppendNFKC for Normalization Form C.
func AppendNFC(dst, text []rune) []rune { return appendNormal(dst, text, &tables().canonical) }

// appendNormal appends text, decomposed by maps and composed (UAX 15). The
// first map that contains a code point decides about it. Combining classes
// and composites come from Unicode 14 even for nameprep, as in Python's
// ucd_3_2_0.
func appendNormal(dst, text []rune, maps ...*table.TextMap) []rune {
	start := len(dst)
	for _, r := range text {
		dst = appendDecomposed(dst, r, maps)
	}
	return dst[:start+nfc.Compose(dst[start:], classOf, composite)]
}

func appendDecomposed(dst []rune, r rune, maps []*table.TextMap) []rune {
	if dst, ok := nfc.AppendSyllable(dst, r); ok {
		return dst
	}
	for _, m := range maps {
		if i, found := slices.BinarySearch(m.Keys, r); found {
			return append(dst, []rune(m.Text(i))...)
		}
	}
	return append(dst, r)
}

func classOf(r rune) uint8 {
	if r < 0x300 {
		return 0
	}
	class, _ := table.Find(tables().combining, r)
	return class
}

// composite returns the primary composite of two code points that are not
// Hangul.
func composite(a, b rune) (rune, bool) {
	composed := tables().composed
	i, found := slices.BinarySearchFunc(composed, pair{first: a, second: b}, func(c, d pair) int {
		return cmp.Or(cmp.Compare(c.first, d.first), cmp.Compare(c.second, d.second))
	})
	if !found {
		return 0, false
	}
	return composed[i].composite, true
}
