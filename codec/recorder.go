package codec

import (
	"bytes"
	"slices"

	"github.com/urlfold/urlfold/codec/internal/peer"
	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/codec/percent"
)

// A recorder records the steps of one URL. The parsers and writers call it
// where they note an applied rule. It is nil except in Trace and TraceKey; its
// methods do nothing on a nil recorder. It copies its arguments.
type recorder struct {
	steps []Step
	rest  []byte // rest of a path written in pieces: the input not yet read
}

// change records that r changed component c from before to after. Equal texts
// are not recorded. Consecutive steps of one rule within a path are merged.
func (rec *recorder) change(r Rule, c Component, before, after []byte) {
	if rec != nil {
		rec.changed(r, c, before, after)
	}
}

func (rec *recorder) changed(r Rule, c Component, before, after []byte) {
	rec.note(Step{Rule: r, Component: c, Before: string(before), After: string(after)})
}

// changeText is change for a path that is written in pieces.
func (rec *recorder) changeText(r Rule, before []byte, after ...[]byte) {
	if rec != nil {
		rec.change(r, Path, before, slices.Concat(after...))
	}
}

// add records that r added a component.
func (rec *recorder) add(r Rule, c Component, after []byte) {
	if rec != nil {
		rec.note(Step{Rule: r, Component: c, After: string(after), Added: true})
	}
}

// remove records that r removed a component.
func (rec *recorder) remove(r Rule, c Component, before []byte) {
	if rec != nil {
		rec.note(Step{Rule: r, Component: c, Before: string(before), Removed: true})
	}
}

// note appends a step if it changes something.
func (rec *recorder) note(st Step) {
	if st.Before == st.After && !st.Added && !st.Removed {
		return
	}
	if n := len(rec.steps); n > 0 && st.Component == Path {
		if last := &rec.steps[n-1]; last.Rule == st.Rule && last.Component == Path && last.After == st.Before {
			last.After = st.After
			return
		}
	}
	rec.steps = append(rec.steps, st)
}

// removeUserinfo records that the userinfo of u, which describes text, was
// removed.
func (rec *recorder) removeUserinfo(text []byte, u *URL) {
	for c := Username; c <= Password; c++ {
		if u.Has(c) {
			rec.remove(RuleDropUserinfo, c, u.Bytes(text, c))
		}
	}
}

// replace replaces all steps by one: r changed the URL from before to after.
func (rec *recorder) replace(r Rule, before, after []byte) {
	if rec != nil {
		rec.steps = nil
		rec.change(r, WholeURL, before, after)
	}
}

// compare records what r changed between the URL in, which describes src, and
// the URL out, which describes norm.
func (rec *recorder) compare(r Rule, src []byte, in *URL, norm []byte, out *URL) {
	for c := range Component(numComponents) {
		rec.change(r, c, in.Bytes(src, c), out.Bytes(norm, c))
	}
}

// program returns the function that records the steps of a program, or nil.
func (rec *recorder) program(m *match) peer.Trace {
	if rec == nil {
		return nil
	}
	return func(step string, before, after []byte) {
		rec.note(Step{Rule: ruleMatch, Component: WholeURL, Before: string(before), After: string(after), Param: step, Source: m.program})
	}
}

// finish records the whole program as one step if it reported none.
func (rec *recorder) finish(m *match, src, norm []byte) {
	if rec != nil && (len(rec.steps) == 0 || rec.steps[len(rec.steps)-1].Rule != ruleMatch) {
		rec.program(m)(m.name, src, norm)
	}
}

// copyOf returns a copy of text that is about to be overwritten.
func (rec *recorder) copyOf(b []byte) []byte {
	if rec == nil {
		return nil
	}
	return bytes.Clone(b)
}

// escapes records what package percent applied to text, a piece of component c
// between head and rec.rest. The package applies several rules in one pass, so
// escapes repeats the pass with the first rule alone, then with one more rule
// each time.
func (rec *recorder) escapes(c Component, head, text []byte, esc percent.EscapeRules, applied percent.Applied, names *escapeNames) {
	var some percent.EscapeRules
	before := text
	for i, r := range names {
		switch bit := percent.Applied(1) << i; {
		case applied&bit == 0:
			continue
		case bit == percent.AppliedMalformed:
			some.Malformed = esc.Malformed
		case bit == percent.AppliedAdd:
			some.Add = esc.Add
		case bit == percent.AppliedUpper:
			some.Upper = true
		case bit == percent.AppliedUnreserved:
			some.Unreserved = true
		}
		after, _ := percent.AppendNormal(nil, text, some)
		rec.change(r, c, rec.whole(head, before), rec.whole(head, after))
		before = after
	}
}

// whole returns the current state of a component: head, text, and the rest.
func (rec *recorder) whole(head, text []byte) []byte {
	return slices.Concat(head, text, rec.rest)
}

// literal records what appendLiteral applied, as the method escapes does for
// package percent.
func (rec *recorder) literal(host []byte, p *Profile, applied ruleSet) {
	if rec == nil {
		return
	}
	var some Profile
	before := host
	for r := range (Rules{applied}).All() {
		if some.Rules = some.Rules.With(r); r == ruleMalformed {
			some.Malformed = p.Malformed
		}
		after, _ := appendLiteral(nil, host, &some)
		rec.change(r, Host, before, after)
		before = after
	}
}

// query returns a recorder for package params, or nil. The query is component
// c, or is the part of it after front.
func (rec *recorder) query(c Component, front []byte, m *params.Matcher) params.Recorder {
	if rec == nil {
		return nil
	}
	return func(st params.QueryStep) {
		for r := range (Rules{queryRules(st.Why)}).All() {
			rec.field(r, c, front, m, st)
		}
	}
}

// field records one step of a query.
func (rec *recorder) field(r Rule, c Component, front []byte, m *params.Matcher, st params.QueryStep) {
	to := Step{Rule: r, Component: c, Before: string(front) + string(st.Before), After: string(front) + string(st.After), Param: string(st.Name)}
	switch {
	case st.Present:
	case len(front) > 0:
		to.After = string(front[:len(front)-1]) // without the '?'
	default:
		to.After, to.Removed = "", true
	}
	if r == ruleDrop {
		rule := m.Rule(st.Rule)
		to.Source, to.Reason = rule.Source, rule.Reason
	}
	rec.note(to)
}
