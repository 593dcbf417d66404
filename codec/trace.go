package codec

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/percent"
)

// A Step is one rule that changed something, on the way from a URL to its normal
// form.
type Step struct {
	Rule   string // the rule's name: "dots-rfc"
	Clause string // what licenses it: "RFC 3986 §6.2.2.3"
	Before string
	After  string
}

// clauses says for each rule, in their order, what licenses it.
var clauses = []string{
	"RFC 3986 §2.1", "RFC 3986 §6.2.2.1", "RFC 3986 §6.2.2.2", "RFC 3986 §6.2.2.1", "RFC 3986 §6.2.2.1",
	"RFC 3986 §6.2.2.3", "RFC 3986 §3.3, §4.2",
	"RFC 3986 §6.2.3", "RFC 3986 §6.2.3, RFC 9110 §4.2.3", "RFC 8089 §2", "RFC 3986 §6.2.3", "RFC 5952 §4", "UTS 46 §4.2", "RFC 3986 §2.1", "policy", "policy", "policy",
}

// Trace returns the steps from src, resolved against base if that is not empty,
// to its normal form, in their order. It is for people: it allocates, and
// normalizes once for each rule. A URL without a reading has no steps. One that
// was read by RFC 3986 for want of a whatwg reading has a single one, rfc-fallback.
func (n *Normalizer) Trace(base, src []byte) []Step {
	var r Result
	norm, err := n.AppendRef(nil, base, src, &r)
	if err != nil || n.Change(src, norm, &r) == Unchanged && !r.scratch.resolved {
		return nil
	}
	t := tracer{at: string(src)}
	if r.scratch.resolved && n.profile.Standard == RFC {
		t.step("resolve", "RFC 3986 §5.2", string(r.scratch.text))
	}
	if n.profile.Standard == WHATWG {
		if r.Flags.Has(WHATWGReject) {
			t.step("rfc-fallback", byPolicy, string(norm))
			return t.steps
		}
		n.traceWHATWG(&t, base, src)
		return t.steps
	}
	text := []byte(t.at)
	part := Profile{Name: n.profile.Name, MaxLen: n.maxLen}
	if part.Malformed = n.profile.Malformed; part.Malformed == percent.MalformedEncode {
		t.step("malformed-encode", "RFC 3986 §2.4", string(compile(part).appendPlain(nil, text, &r.scratch)))
	}
	for i, name := range ruleNames {
		if n.rules>>i&1 == 0 {
			continue
		}
		part.Rules |= 1 << i
		t.step(name, clauses[i], string(compile(part).appendPlain(nil, text, &r.scratch)))
	}
	t.step("normalize", "RFC 3986 §6.2", string(norm))
	return t.steps
}

// traceWHATWG traces the whatwg reading: what is taken out in front of the
// parser, the parser, and the rules of RFC 3986 that the profile adds.
func (n *Normalizer) traceWHATWG(t *tracer, base, src []byte) {
	text := bytes.TrimFunc(src, func(r rune) bool { return r <= ' ' })
	t.step("trim-c0sp", "URL Standard §4.4", string(text))
	var gaps []uint32
	t.step("del-tabnl", "URL Standard §4.4", string(appendWithoutTabs(nil, text, &gaps)))
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
	t.step("split-whatwg", "URL Standard §4.4, §4.5", string(norm))
	for i, name := range ruleNames {
		if n.rules>>i&1 == 0 {
			continue
		}
		part.Rules |= 1 << i
		norm, _ = with(part).appendBrowser(nil, b, src, &r)
		t.step(name, clauses[i], string(norm))
	}
}

// A tracer collects the steps that changed something.
type tracer struct {
	at    string
	steps []Step
}

func (t *tracer) step(rule, clause, after string) {
	if after != t.at {
		t.steps = append(t.steps, Step{Rule: rule, Clause: clause, Before: t.at, After: after})
		t.at = after
	}
}
