package insight

import "maps"

// NumLevels is the number of levels of a report: URLs as they were written, their
// normal forms, and the keys K0 to K3.
const NumLevels = 6

// A spelling is a distinct URL with its hashes at all levels. Levels nest: the
// hash at one level decides the hashes at all higher ones.
type spelling [NumLevels]uint64

// levels counts distinct hashes at each level for a sample of URLs: those whose
// hash at the last level has its lowest bits clear. All spellings of a page are
// in the sample or none is, so the differences between the levels count whole
// pages. While there are few pages, the sample is complete, and the counts are
// exact. So the result does not depend on the order of the URLs.
type levels struct {
	bits uint // of the hash that must be clear
	sets [NumLevels]map[uint64]uint64
}

// maxSpellings is the largest size of the sample: some 100 MB.
const maxSpellings = 1 << 20

func newLevels() *levels {
	l := &levels{}
	for i := range l.sets {
		l.sets[i] = map[uint64]uint64{}
	}
	return l
}

// add adds a spelling.
func (l *levels) add(s *spelling) {
	page := s[NumLevels-1]
	if page&(1<<l.bits-1) != 0 {
		return
	}
	for i, h := range s {
		if _, known := l.sets[i][h]; known {
			break // the higher levels are the same, too
		}
		l.sets[i][h] = page
	}
	l.shrink()
}

// shrink halves the sample until it is small enough.
func (l *levels) shrink() {
	for len(l.sets[0]) > maxSpellings {
		l.keep(l.bits + 1)
	}
}

// keep removes what a sample of the given bits does not contain.
func (l *levels) keep(bits uint) {
	l.bits = bits
	for _, set := range l.sets {
		for h, page := range set {
			if page&(1<<bits-1) != 0 {
				delete(set, h)
			}
		}
	}
}

// merge adds the spellings of o, which must not be used afterwards.
func (l *levels) merge(o *levels) {
	bits := max(l.bits, o.bits)
	l.keep(bits)
	o.keep(bits)
	for i, set := range o.sets {
		maps.Copy(l.sets[i], set)
	}
	l.shrink()
}

// distinct returns the number of distinct hashes at each level. They are
// estimates unless exact is set.
func (l *levels) distinct() (n [NumLevels]int64, exact bool) {
	for i, set := range l.sets {
		n[i] = int64(len(set)) << l.bits
	}
	return n, l.bits == 0
}

// LevelNames returns the names of the levels.
func LevelNames() [NumLevels]string {
	return [NumLevels]string{"written", "normal form", "syntax", "equivalent", "fetch", "page"}
}
