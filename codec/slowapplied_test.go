package codec

import (
	"bytes"
	"strings"
)

// asParser stands for all rules of the parser of the URL Standard, which the
// slow twins do not distinguish.
const asParser ruleSet = 1 << 63

// folded returns rules with asParser in place of those of the parser.
func (n *Normalizer) folded(rules ruleSet) ruleSet {
	if n.profile.Standard == RFC3986 {
		return rules
	}
	parser := ParserRules(WHATWG).set &^ (1<<ruleTrim | 1<<ruleTabs)
	return rules&^parser | asParser*ruleSet(b2i(rules&parser != 0))
}

// hits is the slow twin of Result.Applied: it knows nothing about the writers,
// and compares the input with the output. If bytes and escapes do not determine
// a rule, it normalizes the URL once for each rule of the profile.
func (n *Normalizer) hits(src, norm []byte, r *Result) ruleSet {
	s := &r.scratch
	switch {
	case s.clean && !s.dropped:
		return 0
	case n.profile.Standard == RFC3986 && s.resolved:
		return n.hitsRFC(src, norm, r)
	case bytes.Equal(src, norm):
		return 0
	case n.profile.Standard == RFC3986:
		return n.hitsRFC(src, norm, r)
	case n.rules.Has(RuleFallbackRFC) && r.Flags.Has(FlagWHATWGReject):
		return n.hitsFallback(src, norm, r)
	}
	hits, full, out := ruleSet(0), norm, &r.Out
	if s.dropped {
		full, out = s.full, &s.whole
		hits = r.hitsDrop()
	}
	if s.clean {
		return hits
	}
	return hits | n.hitsWHATWG(src, full, out, r)
}

// hitsDrop returns the rules that dropped a component.
func (r *Result) hitsDrop() (hits ruleSet) {
	whole := &r.scratch.whole
	hits.set(RuleDropUserinfo, whole.Has(Username) && !r.Out.Has(Username))
	hits.set(RuleDropFragment, whole.Has(Fragment) && !r.Out.Has(Fragment))
	return hits
}

// hitsFallback is hits for a URL that browsers cannot parse: rfc-fallback changed
// it before or after components were dropped.
func (n *Normalizer) hitsFallback(src, norm []byte, r *Result) ruleSet {
	s := &r.scratch
	if !s.dropped {
		return 1 << RuleFallbackRFC
	}
	hits := r.hitsDrop()
	left := string(s.full)
	if hits.Has(RuleDropFragment) {
		left, _, _ = strings.Cut(left, "#")
	}
	if hits.Has(RuleDropUserinfo) {
		left = left[:s.whole.Span(Username).Start] + left[s.whole.Span(Host).Start:]
	}
	hits.set(RuleFallbackRFC, !bytes.Equal(src, s.full) || left != string(norm))
	return hits
}
