package keydiff

import (
	"bytes"
	"cmp"
	"slices"
	"sync"

	"github.com/urlfold/urlfold/codec"
)

// This file implements the graph of keys. For each pair of a key under A and a
// key under B, it stores the number of URLs and one example. The URLs with the
// same key form a group. Pairs that share a key are connected:
//
//	A1 ─ B1     the same URLs: unchanged
//	A2 ┐
//	A3 ┴ B2     a merge
//	A4 ┬ B3     a split
//	   └ B4

// maxExampleBytes is the maximum total size of examples. Further pairs are
// counted without an example.
const maxExampleBytes = 256 << 20

// An example is a URL as it appeared in a record.
type example struct {
	url  string
	norm string // its normal form under A or B, if the URL has no scheme
}

// compare orders examples by preference: shorter examples first. The order
// makes the result independent of the scheduling of workers.
func (e *example) compare(o *example) int {
	return cmp.Or(cmp.Compare(len(e.url), len(o.url)), cmp.Compare(e.url, o.url), cmp.Compare(e.norm, o.norm))
}

// A pair counts the URLs with a given key under A and a given key under B.
type pair struct {
	a, b codec.Key
	urls int64
	example
}

// The profiles that reject a URL.
const (
	rejectedByA = iota
	rejectedByB
	rejectedByBoth
	numRejections
)

// A rejection counts the URLs that a profile rejects.
type rejection struct {
	urls     int64
	examples []example // the first examples in the order of example.compare
}

// A graph holds all pairs and rejections. Users lock it until judge is called.
type graph struct {
	sync.Mutex
	index    map[[2]codec.Key]int32 // index of pairs
	pairs    []pair
	rejected [numRejections]rejection
	records  int64 // records that do not match the format or are too long
	keep     int   // maximum number of examples of a rejection
	room     int64 // bytes left for examples
	crowded  bool  // an example did not fit
}

func newGraph(examples int) *graph {
	return &graph{index: map[[2]codec.Key]int32{}, keep: examples, room: maxExampleBytes}
}

// add counts a URL with its two keys.
func (g *graph) add(a, b codec.Key, url, norm []byte) {
	i, ok := g.index[[2]codec.Key{a, b}]
	if !ok {
		i = int32(len(g.pairs))
		g.index[[2]codec.Key{a, b}] = i
		g.pairs = append(g.pairs, pair{a: a, b: b})
	}
	p := &g.pairs[i]
	p.urls++
	if p.urls > 1 && (len(url) > len(p.url) || len(url) == len(p.url) && string(url) >= p.url) {
		return
	}
	e := exampleOf(url, norm)
	need := int64(len(e.url) + len(e.norm) - len(p.url) - len(p.norm))
	if need > g.room {
		g.crowded = true
		return
	}
	g.room -= need
	p.example = e
}

// exampleOf returns an example that holds copies of the texts.
func exampleOf(url, norm []byte) example {
	e := example{url: string(url)}
	if bytes.IndexByte(url, ':') < 0 {
		e.norm = string(norm)
	}
	return e
}

// bad counts a record without a URL.
func (g *graph) bad() { g.records++ }

// reject counts a URL that a profile rejects.
func (g *graph) reject(side int, url, norm []byte) {
	r := &g.rejected[side]
	r.urls++
	e := exampleOf(url, norm)
	i, found := slices.BinarySearchFunc(r.examples, e, func(a, b example) int { return a.compare(&b) })
	if found || i >= g.keep || len(url) > maxRejectExample {
		return
	}
	r.examples = slices.Insert(r.examples, i, e)
	r.examples = r.examples[:min(len(r.examples), g.keep)]
}

// maxRejectExample is the maximum length of a rejected URL that serves as an
// example, in bytes. Most longer URLs are rejected because of their length.
const maxRejectExample = 4 << 10

// A judgment is the effect of a change of rules on the groups.
type judgment struct {
	urls             int64 // URLs with both keys
	groupsA, groupsB int
	unchanged        int // groups with the same URLs under A and B
	rekeyed          int // unchanged groups with a different key
	merges, splits   effect
}

// An effect summarizes the merged or the split groups.
type effect struct {
	count  int     // number of merged or split groups
	parts  int     // number of groups before the merges or after the splits
	urls   int64   // URLs in these groups
	groups []group // the groups with the most URLs
}

// A group is a merged or split group with its parts.
type group struct {
	key   codec.Key
	urls  int64
	count int    // number of parts
	parts []pair // the parts with the most URLs
}

// judge returns the merges and splits, with the top groups of each and up to
// examples parts of a group. It reorders the pairs, so nothing must be added to
// g afterwards.
func (g *graph) judge(top, examples int) *judgment {
	j := &judgment{}
	lone := make(map[[2]codec.Key]struct{}) // pairs that are complete groups of A
	keyA := func(p *pair) codec.Key { return p.a }
	keyB := func(p *pair) codec.Key { return p.b }
	j.groupsA, j.splits = g.group(keyA, keyB, top, examples, func(p *pair) { lone[[2]codec.Key{p.a, p.b}] = struct{}{} })
	j.groupsB, j.merges = g.group(keyB, keyA, top, examples, func(p *pair) {
		if _, ok := lone[[2]codec.Key{p.a, p.b}]; !ok {
			return
		}
		j.unchanged++
		if p.a != p.b {
			j.rekeyed++
		}
	})
	for i := range g.pairs {
		j.urls += g.pairs[i].urls
	}
	return j
}

// group counts the groups by one of the keys and collects the groups with
// several pairs. It calls alone for each pair that is a group by itself.
func (g *graph) group(key, other func(*pair) codec.Key, top, examples int, alone func(*pair)) (groups int, e effect) {
	slices.SortFunc(g.pairs, func(x, y pair) int {
		return cmp.Or(key(&x).Compare(key(&y)), cmp.Compare(y.urls, x.urls), other(&x).Compare(other(&y)))
	})
	for start := 0; start < len(g.pairs); groups++ {
		end, urls := start, int64(0)
		for end < len(g.pairs) && key(&g.pairs[end]) == key(&g.pairs[start]) {
			urls += g.pairs[end].urls
			end++
		}
		if end-start == 1 {
			alone(&g.pairs[start])
		} else {
			e.count++
			e.parts += end - start
			e.urls += urls
			e.groups = insertTop(e.groups, top, group{key: key(&g.pairs[start]), urls: urls, count: end - start,
				parts: g.pairs[start : start+min(end-start, examples)]})
		}
		start = end
	}
	return groups, e
}

// insertTop inserts a group into the list of the top groups. It copies the
// parts, because the pairs will be sorted again.
func insertTop(list []group, top int, one group) []group {
	i, _ := slices.BinarySearchFunc(list, one, func(a, b group) int {
		return cmp.Or(cmp.Compare(b.urls, a.urls), a.key.Compare(b.key))
	})
	if i >= top {
		return list
	}
	one.parts = slices.Clone(one.parts)
	list = slices.Insert(list, i, one)
	return list[:min(len(list), top)]
}
