package compress

import "fmt"

// An indexPlan cuts a file at the places of an index. It skips the places that
// the reader has passed.
type indexPlan struct {
	index  *Index
	next   int // place at which the next segment begins
	known  int // places before this one are compared with the file
	missed int // number of places in sequence at which no block was seen to begin
}

// Sizes of an ahead with an index. The places in files of gztool are 10 MiB of
// text apart.
const (
	indexOutput = 12 << 20
	indexInput  = 16 << 20
)

// indexSizes returns the sizes for an index: enough for a segment from each
// place to the next one, but not more.
func indexSizes(x *Index, sizes aheadSizes) aheadSizes {
	var longest int64
	for i := 1; i < len(x.places); i++ {
		longest = max(longest, x.places[i].out-x.places[i-1].out)
	}
	sizes.output = int(min(indexOutput, max(longest, 1<<20)+1<<20))
	sizes.most--
	if sizes.output > indexOutput/2 { // keep the memory of all segments bounded
		sizes.most, sizes.gap = sizes.most-1, min(sizes.gap, 1)
	}
	return sizes
}

// segment implements [plan].
func (p *indexPlan) segment(a *ahead) *segment {
	for ; p.index.reason == "" && p.next < len(p.index.places); p.next++ {
		from, end := &p.index.places[p.next], int64(1<<62)
		to := from.bit/8 + indexInput
		if p.next+1 < len(p.index.places) {
			end = p.index.places[p.next+1].bit
			to = min(to, end/8+1)
		}
		if from.bit < a.passed*8 || from.bit/8 < a.start {
			continue
		}
		if from.bit/8-a.passed > indexInput {
			return nil
		}
		for a.loaded < to && a.load() {
		}
		a.pass(from.bit / 8)
		if a.loaded <= from.bit/8 {
			return nil
		}
		window, err := p.index.window(from)
		if err != nil {
			p.index.reason = fmt.Sprintf("access point %d: %v", p.next, err)
			return nil
		}
		p.next++
		return &segment{from: from.bit / 8, to: to, atBit: true, bit: from.bit, window: window, target: end}
	}
	return nil
}

// maxMissed is the number of places in sequence that may be at blocks which the
// reader has not seen, because empty blocks come before them.
const maxMissed = 2

// compare compares the places between two neighboring ends of blocks. The
// reader has reached the later end, at bit. If no block begins at any of more
// than maxMissed consecutive places, compare sets the reason why the index does
// not match.
func (p *indexPlan) compare(before, bit int64) {
	places := p.index.places
	for ; p.known < len(places) && places[p.known].bit <= bit; p.known++ {
		switch b := places[p.known].bit; {
		case b == bit:
			p.missed = 0
		case b > before:
			p.missed++
		}
		if p.missed > maxMissed && p.index.reason == "" {
			p.index.reason = fmt.Sprintf("no block begins at access point %d", p.known)
		}
	}
}
