package params

import (
	"errors"
	"math/bits"
)

// maxPositions is the maximum number of positions of a pattern after
// repetitions are expanded.
const maxPositions = 512

var errTooLong = errors.New("unsupported pattern: too long")

// posSet is a set of positions. A position is a place in a pattern that matches
// one byte.
type posSet [maxPositions / 64]uint64

func (s *posSet) add(p int) { s[p>>6] |= 1 << (p & 63) }

func (s *posSet) union(o *posSet) {
	for i := range s {
		s[i] |= o[i]
	}
}

// automaton matches a text against a pattern in one pass (Glushkov's
// construction). Its state is the set of positions that may have matched the
// last byte. It is immutable.
type automaton struct {
	empty       bool       // matches the empty text
	words       int        // words of a posSet in use
	first, last posSet     // positions that a text can start and end at
	follow      []posSet   // for each position, the positions that can follow it
	class       [256]uint8 // for each byte, its class; no position distinguishes bytes of a class
	reads       []posSet   // for each class, the positions that match it
}

// match reports whether the whole text matches.
func (a *automaton) match(text []byte) bool {
	if len(text) == 0 {
		return a.empty
	}
	next := a.first
	var state posSet
	for i, c := range text {
		if i > 0 {
			next = posSet{}
			for w := range a.words {
				for m := state[w]; m != 0; m &= m - 1 {
					f := &a.follow[w<<6|bits.TrailingZeros64(m)]
					for v := range a.words {
						next[v] |= f[v]
					}
				}
			}
		}
		r := &a.reads[a.class[c]]
		var live uint64
		for w := range a.words {
			state[w] = next[w] & r[w]
			live |= state[w]
		}
		if live == 0 {
			return false
		}
	}
	for w := range a.words {
		if state[w]&a.last[w] != 0 {
			return true
		}
	}
	return false
}

// fragment is a part of a pattern while its automaton is built.
type fragment struct {
	empty       bool
	first, last posSet
}

// A builder builds an automaton.
type builder struct {
	sets   []byteSet // for each position, the bytes that it matches
	follow []posSet
}

// newAutomaton returns the automaton for n. The error can only be errTooLong.
func newAutomaton(n *node) (*automaton, error) {
	if size(n) > maxPositions {
		return nil, errTooLong
	}
	var b builder
	f := b.build(n)
	a := &automaton{empty: f.empty, first: f.first, last: f.last, follow: b.follow, words: (len(b.sets) + 63) / 64}
	for c := range 256 {
		var reads posSet
		for p := range b.sets {
			if b.sets[p].has(byte(c)) {
				reads.add(p)
			}
		}
		k := 0
		for k < len(a.reads) && a.reads[k] != reads {
			k++
		}
		if k == len(a.reads) {
			a.reads = append(a.reads, reads)
		}
		a.class[c] = uint8(k)
	}
	return a, nil
}

// size returns the number of positions of n, but at most maxPositions+1. It
// counts 1 for a node without positions, because expanding repetitions of it
// takes time too.
func size(n *node) int {
	total := 0
	for _, sub := range n.subs {
		total = min(total+size(sub), maxPositions+1)
	}
	if n.kind == nodeRepeat {
		total *= max(n.min, n.max, 1)
	}
	return min(max(total, 1), maxPositions+1)
}

func (b *builder) build(n *node) fragment {
	switch n.kind {
	case nodeByte:
		return b.position(n.set)
	case nodeConcat:
		f := fragment{empty: true}
		for _, sub := range n.subs {
			f = b.join(f, b.build(sub))
		}
		return f
	case nodeAlt:
		var f fragment
		for _, sub := range n.subs {
			g := b.build(sub)
			f.empty = f.empty || g.empty
			f.first.union(&g.first)
			f.last.union(&g.last)
		}
		return f
	default:
		return b.repeat(n)
	}
}

func (b *builder) position(set byteSet) (f fragment) {
	f.first.add(len(b.sets))
	f.last.add(len(b.sets))
	b.sets = append(b.sets, set)
	b.follow = append(b.follow, posSet{})
	return f
}

// join appends g to f.
func (b *builder) join(f, g fragment) fragment {
	b.link(&f.last, &g.first)
	if f.empty {
		f.first.union(&g.first)
	}
	if g.empty {
		g.last.union(&f.last)
	}
	return fragment{f.empty && g.empty, f.first, g.last}
}

// link lets every position of to follow every position of from.
func (b *builder) link(from, to *posSet) {
	for p := range b.sets {
		if from[p>>6]>>(p&63)&1 != 0 {
			b.follow[p].union(to)
		}
	}
}

// repeat expands a repetition: x{2,4} becomes x x (x (x)?)?, and x{2,} becomes
// x x+.
func (b *builder) repeat(n *node) fragment {
	f := fragment{empty: true}
	if n.max == 0 {
		return f
	}
	for range n.min - 1 {
		f = b.join(f, b.build(n.subs[0]))
	}
	tail := b.build(n.subs[0])
	if n.max < 0 {
		b.link(&tail.last, &tail.first)
	}
	for range n.max - max(n.min, 1) {
		g := b.build(n.subs[0])
		g.empty = true
		tail = b.join(tail, g)
	}
	if n.min == 0 {
		tail.empty = true
	}
	return b.join(f, tail)
}

// maxSpellings is the maximum number of texts that a pattern is expanded to.
const maxSpellings = 64

// spellings returns all texts that match n, in lower case. ok is false if there
// are too many.
func spellings(n *node) (texts []string, ok bool) {
	switch n.kind {
	case nodeByte:
		for c := range 256 {
			if b := byte(c); n.set.has(b) && lower(b) == b {
				texts = append(texts, string([]byte{b}))
			}
		}
	case nodeConcat:
		texts = []string{""}
		for _, sub := range n.subs {
			if texts, ok = product(texts, sub); !ok {
				return nil, false
			}
		}
	case nodeAlt:
		for _, sub := range n.subs {
			more, ok := spellings(sub)
			if !ok {
				return nil, false
			}
			texts = append(texts, more...)
		}
	case nodeRepeat:
		return repeatedSpellings(n)
	}
	return texts, len(texts) <= maxSpellings
}

// product returns each text followed by each spelling of n.
func product(texts []string, n *node) (out []string, ok bool) {
	more, ok := spellings(n)
	if !ok || len(texts)*len(more) > maxSpellings {
		return nil, false
	}
	for _, a := range texts {
		for _, b := range more {
			out = append(out, a+b)
		}
	}
	return out, true
}

func repeatedSpellings(n *node) (texts []string, ok bool) {
	if n.max < 0 || n.max > maxSpellings {
		return nil, false
	}
	power := []string{""}
	for i := range n.max + 1 {
		if i >= n.min {
			texts = append(texts, power...)
		}
		if i == n.max || len(texts) > maxSpellings {
			break
		}
		if power, ok = product(power, n.subs[0]); !ok {
			return nil, false
		}
	}
	return texts, len(texts) <= maxSpellings
}

// literalPrefix returns the lower-case prefix of all texts that match n.
// Letters of n must match both cases.
func literalPrefix(n *node) string {
	var prefix []byte
	for _, sub := range n.subs {
		c, single := onlyByte(sub)
		if n.kind != nodeConcat || !single {
			break
		}
		prefix = append(prefix, c)
	}
	return string(prefix)
}

// onlyByte returns the byte that n matches, in lower case, if it matches only
// one.
func onlyByte(n *node) (c byte, ok bool) {
	texts, few := spellings(n)
	if n.kind != nodeByte || !few || len(texts) != 1 {
		return 0, false
	}
	return texts[0][0], true
}
