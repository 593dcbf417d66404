package codec

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/percent"
)

// A ladder is the work space of climb.
type ladder struct {
	Normalizer
	res  Result
	last []byte // the URL after the rules applied up to now
	next []byte
}

// climb finds the rules that changed a URL in the slowest way: it normalizes
// the URL without any rule, then with one more rule at a time, except those
// that drop components. It serves where hits has no shorter way. With RFC 3986,
// src is the resolved target; r supplies its work space.
func (n *Normalizer) climb(base *baseURL, src []byte, r *Result) (hits ruleSet) {
	l := new(ladder)
	l.Normalizer = *n
	l.table = nil
	l.last = append(l.last[:0], src...)
	l.allow(0)
	if n.profile.Standard == WHATWG {
		l.res.reset()
		in := l.res.scratch.strip(src, &l.res)
		hits.set(ruleTrim, l.res.Flags.Has(FlagTrimmedEnds))
		hits.set(ruleTabs, l.res.Flags.Has(FlagTabOrNewline))
		l.last = append(l.last[:0], in...)
		hits |= asParser * ruleSet(b2i(l.step(base, src)))
	} else {
		hits.set(ruleMalformed, n.profile.Malformed == percent.MalformedEncode && l.step(nil, src))
	}
	rules := ruleSet(0)
	for h := range (Rules{n.rules &^ (lossyRules | 1<<RuleFallbackRFC)}).All() {
		rules.set(h, true)
		l.allow(rules)
		hits.set(h, l.step(base, src))
	}
	return hits
}

// allow makes l apply the given rules and no others.
func (l *ladder) allow(rules ruleSet) {
	l.rules, l.profile.Rules = rules, Rules{rules}
	for c, add := range illegal {
		l.escapes[c] = l.profile.escapes(add)
	}
	l.whatwg = whatwgEscapes(rules)
}

// step normalizes src, and reports whether the result has changed since the
// last step.
func (l *ladder) step(base *baseURL, src []byte) bool {
	s := &l.res.scratch
	if l.profile.Standard == WHATWG {
		l.next, _ = l.appendBrowser(l.next[:0], base, src, &l.res)
	} else {
		_, _ = split(src, &s.in)
		l.next, _ = l.appendURL(l.next[:0], src, &s.in, &s.out, 0, nil)
	}
	changed := !bytes.Equal(l.last, l.next)
	l.last, l.next = l.next, l.last
	return changed
}
