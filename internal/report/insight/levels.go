package insight

import "slices"

// NumLevels is the number of levels of a report: URLs as they were written, their
// normal forms, and the keys K0 to K3.
const NumLevels = 6

// A spelling is a distinct URL with its hashes at all levels, the highest first. Levels
// nest: the hash at one level decides the hashes at all higher levels.
type spelling [NumLevels]uint64

// levels counts distinct hashes at each level for a sample of URLs: those whose
// hash at the last level has its lowest bits clear. All spellings of a page are
// in the sample or none is, so the differences between the levels count whole
// pages. While there are few pages, the sample is complete, and the counts are
// exact. So the result does not depend on the order of the URLs.
type levels struct {
	bits uint       // bits of the hash that must be clear
	list []spelling // may contain repetitions until compact removes them
}

// maxSpellings is the largest size of the sample: 50 MB.
const maxSpellings = 1 << 20

// add adds a spelling.
func (l *levels) add(s *spelling) {
	switch n := len(l.list); {
	case n == maxSpellings*5/4:
		l.compact()
	case n == cap(l.list):
		l.list = slices.Grow(l.list, n+1) // append would leave much more garbage
	}
	if l.has(s) {
		l.list = append(l.list, *s)
	}
}

// has reports whether a sample of the bits of l contains s.
func (l *levels) has(s *spelling) bool { return s[0]&(1<<l.bits-1) == 0 }

// compact sorts the spellings, removes repetitions, and halves the sample until it is
// small enough.
func (l *levels) compact() {
	slices.SortFunc(l.list, func(a, b spelling) int { return slices.Compare(a[:], b[:]) })
	l.list = slices.Compact(l.list)
	for len(l.list) > maxSpellings {
		l.keep(l.bits + 1)
	}
}

// keep removes what a sample of the given bits does not contain.
func (l *levels) keep(bits uint) {
	l.bits = bits
	l.list = slices.DeleteFunc(l.list, func(s spelling) bool { return !l.has(&s) })
}

// merge adds the spellings of o, which must not be used afterwards.
func (l *levels) merge(o *levels) {
	if len(l.list) == 0 && l.bits <= o.bits {
		*l = *o
		return
	}
	l.keep(max(l.bits, o.bits))
	for i := range o.list {
		l.add(&o.list[i])
	}
}

// distinct returns the number of distinct hashes at each level. They are
// estimates unless exact is set.
func (l *levels) distinct() (n [NumLevels]int64, exact bool) {
	l.compact()
	for i := range l.list {
		for k := range n {
			if h := NumLevels - 1 - k; i > 0 && l.list[i][h] == l.list[i-1][h] {
				break // the higher levels are the same, too
			}
			n[k] += 1 << l.bits
		}
	}
	return n, l.bits == 0
}

// LevelNames returns the names of the levels.
func LevelNames() [NumLevels]string {
	return [NumLevels]string{"written", "normal form", "syntax", "equivalent", "fetch", "page"}
}
