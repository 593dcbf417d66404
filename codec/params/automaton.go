package params

import (
	"math/bits"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

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
	reads       []posSet   // for each class, the positions that match its bytes
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

// add makes g an alternative of f.
func (f *fragment) add(g fragment) {
	f.empty = f.empty || g.empty
	f.first.union(&g.first)
	f.last.union(&g.last)
}

// A builder builds an automaton.
type builder struct {
	matches []func(c byte) bool // for each position, whether it matches a byte
	follow  []posSet
}

// newAutomaton returns the automaton for a tree of parsePattern. If open is set, any
// text may follow a match.
func newAutomaton(tree *syntax.Regexp, open bool) *automaton {
	var b builder
	f := b.build(tree)
	if open {
		f = b.join(f, b.repeat(b.position(anyByte)))
	}
	return b.automaton(f)
}

// newGlob returns the automaton for a rule's path that is not a pattern, see ListRule. It
// has at most len(path) positions, and path at most maxPositions bytes.
func newGlob(path string) *automaton {
	var b builder
	f := fragment{empty: true}
	rest, isFolder := strings.CutSuffix(path, "/**")
	for ; rest != ""; rest = rest[1:] {
		switch c := rest[0]; {
		case c != '*':
			f = b.join(f, b.literal(rest[:1]))
		case strings.HasPrefix(rest, "**"):
			f = b.join(f, b.repeat(b.position(anyByte)))
			rest = rest[1:]
		default:
			f = b.join(f, b.repeat(b.position(func(c byte) bool { return c != '/' })))
		}
	}
	if isFolder {
		below := b.join(b.literal("/"), b.repeat(b.position(anyByte)))
		below.empty = true
		f = b.join(f, below)
	}
	return b.automaton(f)
}

func anyByte(byte) bool { return true }

// automaton returns the automaton for the whole pattern f.
func (b *builder) automaton(f fragment) *automaton {
	a := &automaton{empty: f.empty, first: f.first, last: f.last, follow: b.follow, words: (len(b.follow) + 63) / 64}
	for c := range 256 {
		var reads posSet
		for p, matches := range b.matches {
			if matches(byte(c)) {
				reads.add(p)
			}
		}
		k := slices.Index(a.reads, reads)
		if k < 0 {
			k = len(a.reads)
			a.reads = append(a.reads, reads)
		}
		a.class[c] = uint8(k)
	}
	return a
}

func (b *builder) build(re *syntax.Regexp) (f fragment) {
	switch re.Op {
	case syntax.OpNoMatch:
	case syntax.OpLiteral:
		f.empty = true
		for _, r := range re.Rune {
			f = b.join(f, b.character(r))
		}
	case syntax.OpCharClass:
		f = b.position(func(c byte) bool { return inClass(re.Rune, c) })
		for r := range nonASCII(re.Rune) {
			f.add(b.literal(string(r)))
		}
	case syntax.OpAnyChar:
		f = b.position(anyByte)
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			f.add(b.build(sub))
		}
	case syntax.OpStar:
		f = b.repeat(b.build(re.Sub[0]))
	case syntax.OpPlus:
		f = b.build(re.Sub[0])
		b.link(&f.last, &f.first)
	default: // OpEmptyMatch, OpQuest, OpCapture, OpConcat
		f.empty = true
		for _, sub := range re.Sub {
			f = b.join(f, b.build(sub))
		}
		f.empty = f.empty || re.Op == syntax.OpQuest
	}
	return f
}

// character returns the fragment for a character in each case.
func (b *builder) character(r rune) (f fragment) {
	if r < utf8.RuneSelf {
		return b.position(func(c byte) bool { return lower(c) == lower(byte(r)) })
	}
	for _, text := range cases(r) {
		f.add(b.literal(text))
	}
	return f
}

// literal returns the fragment for exactly this text.
func (b *builder) literal(text string) fragment {
	f := fragment{empty: true}
	for i := range len(text) {
		f = b.join(f, b.position(func(c byte) bool { return c == text[i] }))
	}
	return f
}

func (b *builder) position(matches func(c byte) bool) (f fragment) {
	f.first.add(len(b.follow))
	f.last.add(len(b.follow))
	b.matches = append(b.matches, matches)
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

// repeat lets f match any number of times.
func (b *builder) repeat(f fragment) fragment {
	b.link(&f.last, &f.first)
	f.empty = true
	return f
}

// link lets every position of to follow every position of from.
func (b *builder) link(from, to *posSet) {
	for p := range b.follow {
		if from[p>>6]>>(p&63)&1 != 0 {
			b.follow[p].union(to)
		}
	}
}

// maxSpellings is the maximum number of texts that a pattern is expanded to.
const maxSpellings = 64

// spellings returns all texts that a tree of parsePattern matches, in lower case, or
// nil if there are too many.
func spellings(re *syntax.Regexp) (texts []string) {
	switch re.Op {
	case syntax.OpCharClass:
		if isComplement(re.Rune) {
			return nil
		}
		for c := range byte(utf8.RuneSelf) {
			if lower(c) == c && inClass(re.Rune, c) {
				texts = append(texts, string(rune(c)))
			}
		}
		for r := range nonASCII(re.Rune) {
			texts = append(texts, string(r))
		}
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			more := spellings(sub)
			if more == nil {
				return nil
			}
			texts = append(texts, more...)
		}
	case syntax.OpLiteral:
		texts = []string{""}
		for _, r := range re.Rune {
			texts = product(texts, cases(r))
		}
	case syntax.OpEmptyMatch, syntax.OpQuest, syntax.OpCapture, syntax.OpConcat:
		texts = []string{""}
		for _, sub := range re.Sub {
			texts = product(texts, spellings(sub))
		}
		if re.Op == syntax.OpQuest && texts != nil {
			texts = append([]string{""}, texts...)
		}
	}
	if len(texts) > maxSpellings {
		return nil
	}
	return texts
}

// product returns each text of a followed by each of b, or nil if there are too many.
func product(a, b []string) (texts []string) {
	if len(a)*len(b) > maxSpellings {
		return nil
	}
	for _, start := range a {
		for _, end := range b {
			texts = append(texts, start+end)
		}
	}
	return texts
}

// literalPrefix returns the lower-case prefix of all texts that a tree of parsePattern
// matches, up to a character that has several cases.
func literalPrefix(tree *syntax.Regexp) (prefix string) {
	parts := []*syntax.Regexp{tree}
	if tree.Op == syntax.OpConcat {
		parts = tree.Sub
	}
	for _, part := range parts {
		if part.Op != syntax.OpLiteral {
			break
		}
		for _, r := range part.Rune {
			if len(cases(r)) > 1 {
				return prefix
			}
			prefix += cases(r)[0]
		}
	}
	return prefix
}
