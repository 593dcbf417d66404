package codec

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/percent"
)

// A Step is one rule that changed something, on the way from a URL to its normal
// form.
type Step struct {
	Rule   Rule
	Before string
	After  string
}

// Clause returns what licenses the step.
func (st *Step) Clause() string { return st.Rule.Clause() }

// Trace returns the steps from src, resolved against base if that is not empty,
// to its normal form, in their order. It is for people: it allocates, and
// normalizes once for each rule. A URL without a reading has no steps. One that
// was read by RFC 3986 for want of a whatwg reading has a single one, rfc-fallback.
func (n *Normalizer) Trace(base, src []byte) []Step {
	var r Result
	norm, err := n.AppendRef(nil, base, src, &r)
	if err != nil || r.Change() == Unchanged && !r.scratch.resolved {
		return nil
	}
	t := tracer{at: string(src)}
	if r.scratch.resolved && n.profile.Standard == RFC {
		t.step(ruleResolve, string(r.scratch.text))
	}
	if n.profile.Standard == WHATWG {
		if r.Flags.Has(WHATWGReject) {
			t.step(FallbackRFC, string(norm))
			return t.steps
		}
		n.traceWHATWG(&t, base, src)
		return t.steps
	}
	text := []byte(t.at)
	part := Profile{Name: n.profile.Name, MaxLen: n.maxLen}
	if part.Malformed = n.profile.Malformed; part.Malformed == percent.MalformedEncode {
		t.step(ruleMalformed, string(compile(part).appendPlain(nil, text, &r.scratch)))
	}
	for rule := range n.rules.All() {
		part.Rules.set(rule, true)
		t.step(rule, string(compile(part).appendPlain(nil, text, &r.scratch)))
	}
	return t.steps
}

// traceWHATWG traces the whatwg reading: what is taken out in front of the
// parser, the parser, and the rules of RFC 3986 that the profile adds.
func (n *Normalizer) traceWHATWG(t *tracer, base, src []byte) {
	text := bytes.TrimFunc(src, func(r rune) bool { return r <= ' ' })
	t.step(ruleTrim, string(text))
	var gaps []uint32
	t.step(ruleTabs, string(appendWithoutTabs(nil, text, &gaps)))
	var b *baseURL
	var r Result
	if len(base) > 0 {
		b = r.scratch.readBase(base)
	}
	part := Profile{Name: n.profile.Name, Standard: WHATWG, MaxLen: n.maxLen}
	with := func(part Profile) *Normalizer {
		m := compile(part)
		m.policy, m.queries = n.policy, n.queries
		return m
	}
	norm, _ := with(part).appendBrowser(nil, b, src, &r)
	t.step(ruleParse, string(norm))
	for rule := range n.rules.All() {
		part.Rules.set(rule, true)
		norm, _ = with(part).appendBrowser(nil, b, src, &r)
		t.step(rule, string(norm))
	}
}

// A tracer collects the steps that changed something.
type tracer struct {
	at    string
	steps []Step
}

func (t *tracer) step(rule Rule, after string) {
	if after != t.at {
		t.steps = append(t.steps, Step{Rule: rule, Before: t.at, After: after})
		t.at = after
	}
}
