package keydiff

import (
	"bytes"
	"cmp"
	"slices"
	"sync"

	"github.com/urlfold/urlfold/codec"
)

// This file holds what is remembered of the input: for each pair of a key under
// A and a key under B how many URLs have it, and one of them. The URLs of one key
// are a group. Pairs that share a key hang together:
//
//	A1 ─ B1     the same URLs: unchanged
//	A2 ┐
//	A3 ┴ B2     a merge
//	A4 ┬ B3     a split
//	   └ B4

// maxExampleBytes is how much text of URLs is remembered. Beyond that, pairs are
// counted without an example.
const maxExampleBytes = 256 << 20

// An example is a URL as it stood in a record.
type example struct {
	url  string
	norm string // its normal form under A or B, if the URL has no scheme
}

// less is the order in which examples are preferred: it does not depend on the
// order in which workers come by.
func (e *example) less(o *example) bool {
	return cmp.Or(cmp.Compare(len(e.url), len(o.url)), cmp.Compare(e.url, o.url), cmp.Compare(e.norm, o.norm)) < 0
}

// A pair is the URLs with one key under A and one under B.
type pair struct {
	a, b codec.Key
	urls int64
	example
}

// The sides of a rejection.
const (
	rejectedByA = iota
	rejectedByB
	rejectedByBoth
	numRejections
)

// A rejection is the URLs that a side cannot parse.
type rejection struct {
	urls     int64
	examples []example // the first of them in the order of example.less
}

// A graph is all pairs, and what was rejected. It may be used by several
// goroutines until it is judged.
type graph struct {
	mu       sync.Mutex
	index    map[[2]codec.Key]int32 // of pairs
	pairs    []pair
	rejected [numRejections]rejection
	records  int64 // that are not of the format, or too long
	keep     int   // examples of a rejection
	room     int64 // for the text of examples, in bytes
	crowded  bool  // there was no room for one
}

func newGraph(examples int) *graph {
	return &graph{index: map[[2]codec.Key]int32{}, keep: examples, room: maxExampleBytes}
}

// add counts a URL with two keys. Nothing of the texts is kept. The lock is the
// caller's.
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

// exampleOf copies what has to be remembered of a URL.
func exampleOf(url, norm []byte) example {
	e := example{url: string(url)}
	if bytes.IndexByte(url, ':') < 0 {
		e.norm = string(norm)
	}
	return e
}

// reject counts a URL that a side rejects. The lock is the caller's.
func (g *graph) reject(side int, url, norm []byte) {
	r := &g.rejected[side]
	r.urls++
	e := exampleOf(url, norm)
	i, found := slices.BinarySearchFunc(r.examples, e, func(a, b example) int {
		switch {
		case a.less(&b):
			return -1
		case b.less(&a):
			return 1
		}
		return 0
	})
	if found || i >= g.keep || len(url) > maxRejectExample {
		return
	}
	r.examples = slices.Insert(r.examples, i, e)
	r.examples = r.examples[:min(len(r.examples), g.keep)]
}

// maxRejectExample is the longest URL that is shown as a reject: most of the
// longer ones are rejected for their length.
const maxRejectExample = 4 << 10

// A judgment is what a change of rules does to the groups.
type judgment struct {
	urls             int64 // with both keys
	groupsA, groupsB int
	unchanged        int // groups with the same URLs under A and B
	rekeyed          int // and those of them with another key
	merges, splits   effect
}

// An effect is the groups that a side has merged, or that it splits.
type effect struct {
	count  int     // of groups that were made of several, or that become several
	parts  int     // of groups that they were made of, or become
	urls   int64   // in them
	groups []group // those with the most URLs
}

// A group is one of them, with its parts.
type group struct {
	key   codec.Key
	urls  int64
	count int    // of parts
	parts []pair // those with the most URLs
}

// judge finds the merges and splits, and the top of each with up to examples
// parts. It changes the order of the pairs: g is not for adding any more.
func (g *graph) judge(top, examples int) *judgment {
	j := &judgment{}
	lone := make(map[[2]codec.Key]struct{}) // pairs that are all of a group of A
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

// group counts the groups by one key, and collects those of several pairs. It
// calls alone for the pairs that are a group.
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

// insertTop inserts a group into the list of the top ones. What it keeps is a
// copy, since the pairs will be sorted again.
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
