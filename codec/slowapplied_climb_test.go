package codec

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/percent"
)

// A ladder is the work space of climb.
type ladder struct {
	Normalizer
	res  Result
	last []byte // what the rules so far have made of the URL
	next []byte
}

// climb finds the rules that have changed a URL in the slowest way: it normalizes with
// none of them, then with one more at a time, but for those that drop components.
// It is for what Hits cannot tell in a shorter way. In the rfc reading src is the
// target; r lends its work space.
func (n *Normalizer) climb(base *baseURL, src []byte, r *Result) (hits Rules) {
	l := new(ladder)
	l.Normalizer = *n
	l.table = nil
	l.last = append(l.last[:0], src...)
	l.allow(0)
	if n.profile.Standard == WHATWG {
		l.res.reset()
		in := l.res.scratch.strip(src, &l.res)
		hits.set(ruleTrim, l.res.Flags.Has(TrimmedEnds))
		hits.set(ruleTabs, l.res.Flags.Has(TabOrNewline))
		l.last = append(l.last[:0], in...)
		hits |= asParser * Rules(b2i(l.step(base, src)))
	} else {
		hits.set(ruleMalformed, n.profile.Malformed == percent.MalformedEncode && l.step(nil, src))
	}
	rules := Rules(0)
	for h := range (n.rules &^ (lossyRules | 1<<FallbackRFC)).All() {
		rules.set(h, true)
		l.allow(rules)
		hits.set(h, l.step(base, src))
	}
	return hits
}

// allow lets l apply these rules, and no other.
func (l *ladder) allow(rules Rules) {
	l.rules, l.profile.Rules = rules, rules
	for c, add := range illegal {
		l.escapes[c] = l.profile.escapes(add)
	}
	l.whatwg = whatwgEscapes(rules)
}

// step normalizes src, and reports whether the result is another than before.
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
