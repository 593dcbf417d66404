package params

import (
	"slices"
	"sort"
	"strings"
)

// none means that there is no rule.
const none = int(^uint(0) >> 1)

// pattern is a rule that matches more names than can be enumerated.
type pattern struct {
	prefix string // lower-case prefix of the names
	auto   *automaton
	rule   int
}

// matches reports whether the rule matches the name. A prefix rule has no
// automaton.
func (p *pattern) matches(name []byte) bool {
	return hasPrefixFold(name, p.prefix) && (p.auto == nil || p.auto.match(name))
}

// exactName is a name with the rules for it, in ascending order.
type exactName struct {
	name  string
	rules []int
}

// index finds the rules of one action by name. It first checks the first byte
// and the length of a name, which rejects most parameters of most queries.
type index struct {
	lengths  [256]uint32 // by first byte in either case: bit min(length, 31) for each exact name
	exactAt  [257]uint32 // by lower-case first byte: index of its first name
	exact    []exactName // sorted by name
	prefixAt [257]uint32 // by lower-case first byte: index of its first pattern
	prefixed []pattern   // sorted by first byte, then rule
}

// names collects the entries of an index.
type names struct {
	exact    map[string][]int
	prefixed []pattern
}

func (ns *names) addExact(name string, rule int) {
	name = lowerASCII(name)
	if have := ns.exact[name]; len(have) == 0 || have[len(have)-1] != rule {
		ns.exact[name] = append(have, rule)
	}
}

// build returns the index.
func (ns *names) build() (ix index) {
	for name, rules := range ns.exact {
		ix.exact = append(ix.exact, exactName{name, rules})
	}
	slices.SortFunc(ix.exact, func(a, b exactName) int { return strings.Compare(a.name, b.name) })
	for _, e := range ix.exact {
		bit := uint32(1) << min(len(e.name), 31)
		ix.lengths[e.name[0]] |= bit
		if c := e.name[0]; 'a' <= c && c <= 'z' {
			ix.lengths[c-32] |= bit
		}
	}
	ix.prefixed = ns.prefixed
	slices.SortStableFunc(ix.prefixed, func(a, b pattern) int { return int(a.prefix[0]) - int(b.prefix[0]) })
	for c := range 257 {
		ix.exactAt[c] = uint32(sort.Search(len(ix.exact), func(i int) bool { return int(ix.exact[i].name[0]) >= c }))
		ix.prefixAt[c] = uint32(sort.Search(len(ix.prefixed), func(i int) bool { return int(ix.prefixed[i].prefix[0]) >= c }))
	}
	return ix
}

// rules returns the rules of an exact name.
func (ix *index) rules(name []byte) []int {
	if len(name) == 0 || ix.lengths[name[0]]>>min(len(name), 31)&1 == 0 {
		return nil
	}
	c := lower(name[0])
	lo, hi := ix.exactAt[c], ix.exactAt[int(c)+1]
	for lo < hi {
		mid := (lo + hi) / 2
		switch d := compareFold(name, ix.exact[mid].name); {
		case d == 0:
			return ix.exact[mid].rules
		case d < 0:
			hi = mid
		default:
			lo = mid + 1
		}
	}
	return nil
}

// patterns returns the patterns that start with the first byte of name.
func (ix *index) patterns(name []byte) []pattern {
	if len(name) == 0 {
		return nil
	}
	c := lower(name[0])
	return ix.prefixed[ix.prefixAt[c]:ix.prefixAt[int(c)+1]]
}
