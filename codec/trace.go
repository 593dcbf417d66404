package codec

import (
	"bytes"
	"cmp"
)

// A Step is one rule that changed something: on the way from a URL to its normal
// form, or from the canonical string of one level to that of the next.
type Step struct {
	Rule      Rule
	Component Component // what the rule changed; WholeURL where that is not one component
	Before    string    // the component before, or the URL
	After     string    // and after
	Added     bool      // the component was not there before
	Removed   bool      // it is not there any more
	Param     string    // qsid, q-drop: the form-decoded name of the field that was removed
	Source    string    // q-drop: where the rule is written: "default:17"
	Reason    string    // q-drop: why, if the list says so
}

// Clause returns what licenses the step: its Source or, without one, the clause of
// its rule.
func (st *Step) Clause() string { return cmp.Or(st.Source, st.Rule.Clause()) }

// Trace returns the steps from src, resolved against base if that is not empty,
// to its normal form, in the order in which the rules were applied. These are the
// rules of Result.Applied. The standard's parser and writer record them as they
// work, one component after the other. A path that is written in pieces stands
// in a step as it is in between: what is written, and what is yet to be read.
//
// A URL that cannot be parsed has no steps. One that browsers cannot parse, and
// that was parsed by RFC 3986, has a single one, rfc-fallback. Trace is for people:
// it allocates, and takes no fast path.
func (n *Normalizer) Trace(base, src []byte) []Step {
	var r Result
	rec := new(recorder)
	r.scratch.rec = rec
	var norm []byte
	var err error
	if _, _, clean := parseClean(src, &r.In); clean || len(base) == 0 { // a clean URL needs no base, as in AppendRef
		norm, err = n.appendFull(nil, src, &r)
	} else {
		norm, err = n.appendRef(nil, base, src, &r)
	}
	switch {
	case err != nil || bytes.Equal(src, norm):
		return nil
	case n.profile.Standard == WHATWG && r.Flags.Has(WHATWGReject):
		rec.steps = nil
		rec.change(FallbackRFC, WholeURL, src, norm)
	}
	return rec.steps
}

// TraceKey returns the steps that lead to the canonical string of a level, in the
// order in which the rules were applied: for K0 from the text that the standard of
// the keys gives, for the others from the canonical string of the level before.
// Those of K2 and K3 are the rules of Result.KeyApplied. It is for people, as
// Trace is.
func (r *Result) TraceKey(lv Level) []Step {
	s, ok := r.asked()
	if !ok || lv >= numLevels {
		return nil
	}
	n, text := s.by, []byte(nil)
	if lv == K0 {
		text = n.keyText(s.src, s.norm, r)
	} else {
		text = r.AppendKey(nil, lv-1)
	}
	if bytes.Equal(text, r.AppendKey(nil, lv)) {
		return nil
	}
	own := scratch{rec: new(recorder)}
	_, _ = split(text, &own.in) // every canonical string can be split
	switch lv {
	case K0:
		_, _ = syntax.appendURL(nil, text, &own.in, &own.out, 0, own.rec)
	case K1:
		_, _ = scheme.appendURL(nil, text, &own.in, &own.out, 0, own.rec)
	case K2:
		_, _ = n.appendK2(nil, text, &own.in, &own)
	default:
		_ = n.appendK3(nil, text, &own.in, &own)
	}
	return own.rec.steps
}
