package codec

import (
	"bytes"
	"cmp"
)

// A Step reports one rule that changed something: on the way from a URL to its
// normal form, or from the canonical string of one level to the string of the
// next.
type Step struct {
	Rule      Rule
	Component Component // the component that the rule changed, or WholeURL
	Before    string    // the component, or the URL, before the rule
	After     string    // the same after the rule
	Added     bool      // the component was absent before the rule
	Removed   bool      // the component is absent after the rule
	Param     string    // qsid, q-drop: the form-decoded name of the field that was removed; match: the program's name of the step
	Source    string    // q-drop: the list and line of the rule, such as "default:17"; match: the program
	Reason    string    // q-drop: the reason given in the list, if any
}

// Clause returns the basis of the step: its Source or, if that is empty, the
// clause of its rule.
func (st *Step) Clause() string { return cmp.Or(st.Source, st.Rule.Clause()) }

// Trace returns the steps from src to its normal form, in the order in which
// the rules were applied. If base is not empty, src is resolved against it. The
// rules are the same as in Result.Applied. The parser and the writer of the
// standard record the steps as they work, one component after the other. While
// a path is written in pieces, a step shows the state of the path at that
// moment: the part already written followed by the rest of the input.
//
// Trace returns nil if src cannot be parsed or does not change. If browsers
// cannot parse a URL and the rule rfc-fallback parses it by RFC 3986, that is one
// step, followed by the rules that drop a component. Trace is meant for display:
// it allocates and takes no fast path.
func (n *Normalizer) Trace(base, src []byte) []Step {
	var r Result
	rec := new(recorder)
	r.scratch.rec = rec
	var norm []byte
	var err error
	if n.match != nil {
		norm, err = n.appendMatch(nil, base, src, &r)
	} else if _, _, clean := parseClean(src, &r.In, &r.scratch.survey); clean || len(base) == 0 {
		// A clean URL needs no base, as in AppendRef.
		norm, err = n.appendFull(nil, src, &r)
	} else {
		norm, err = n.appendRef(nil, base, src, &r)
	}
	if err != nil || bytes.Equal(src, norm) {
		return nil
	}
	return rec.steps
}

// TraceKey returns the steps that lead to the canonical string of a level, in
// the order in which the rules were applied. For LevelSyntax, the steps start at
// the text that the parser of the keys' standard makes of the input; for
// LevelShape, at the canonical string of LevelFetch; and for the other levels, at
// the canonical string of the level before. Result.KeyApplied lists the rules of
// LevelFetch, LevelPage and LevelShape. TraceKey returns nil if nothing changes or
// if r describes no URL. Like Trace, it is meant for display.
func (r *Result) TraceKey(lv Level) []Step {
	s, ok := r.asked()
	if !ok {
		return nil
	}
	if lv = s.by.keyLevel(lv); lv == LevelMatch || !r.hasKey(lv) {
		return nil
	}
	n, text := s.by, []byte(nil)
	switch lv {
	case LevelSyntax:
		text = n.keyText(s.src, s.norm, r)
	case LevelShape:
		text = r.AppendKey(nil, LevelFetch)
	default:
		text = r.AppendKey(nil, lv-1)
	}
	if bytes.Equal(text, r.AppendKey(nil, lv)) {
		return nil
	}
	own := scratch{rec: new(recorder)}
	_, _ = split(text, &own.in) // cannot fail: every canonical string can be split
	switch lv {
	case LevelSyntax:
		_, _ = syntax.appendURL(nil, text, &own.in, &own.out, 0, own.rec)
	case LevelEquivalent:
		_, _ = scheme.appendURL(nil, text, &own.in, &own.out, 0, own.rec)
	case LevelFetch:
		_, _ = n.appendK2(nil, text, &own.in, &own)
	case LevelShape:
		_ = n.appendSurface(nil, text, &own.in, r.Flags.Has(FlagSignedURL), &own)
	default:
		_ = n.appendK3(nil, text, &own.in, &own)
	}
	return own.rec.steps
}
