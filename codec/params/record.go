package params

// Recorder receives each step of AppendChanged, AppendFiltered and
// AppendSorted, in order. It is meant for explanations: with a Recorder, these
// functions take no fast path and allocate memory. Not covered by the stability page.
type Recorder func(QueryStep)

// QueryStep is the application of one rule that changed a query.
// Not covered by the stability page.
type QueryStep struct {
	Why     Why    // a single rule
	Before  []byte // the query before the rule
	After   []byte
	Present bool   // whether a field remains
	Name    []byte // WhySession, whyDropped: form-decoded name of the removed field
	Rule    int    // whyDropped: see Matcher.Rule
}

// recording tracks one query through the rules. The zero recording records
// nothing.
type recording struct {
	to    Recorder
	query []byte
	last  []byte // result of the last step
}

// record starts a recording.
func (s *Scratch) record(query []byte) recording {
	return recording{to: s.Recorder, query: query, last: query}
}

// now records a step with the result after.
func (r *recording) now(st QueryStep, after []byte, present bool) {
	st.Before, st.After, st.Present = r.last, after, present
	r.last = after
	r.to(st)
}

// fields records the rule why with the remaining fields, if there is a
// Recorder.
func (r *recording) fields(why Why, fields ...[]field) {
	if r.to != nil && why != 0 {
		after, present := r.join(fields...)
		r.now(QueryStep{Why: why}, after, present)
	}
}

// dropped records the removal of the field d with the remaining fields.
func (r *recording) dropped(why Why, d Dropped, fields ...[]field) {
	if r.to != nil {
		after, present := r.join(fields...)
		r.now(QueryStep{Why: why, Name: AppendName(nil, d.Pair.Name(r.query)), Rule: d.Rule}, after, present)
	}
}

// written records the rule why with the result after.
func (r *recording) written(why Why, after []byte) {
	if r.to != nil && why != 0 {
		r.now(QueryStep{Why: why}, append([]byte(nil), after...), true)
	}
}

// join returns fields as a query, and whether there are any.
func (r *recording) join(lists ...[]field) (out []byte, present bool) {
	for _, fields := range lists {
		for i := range fields {
			if present {
				out = append(out, '&')
			}
			out = append(out, r.query[fields[i].Start:fields[i].End]...)
			present = true
		}
	}
	return out, present
}

// filtered records the removal of the field d. kept is the text of the fields
// before d, begun reports whether there are any, and rest holds the fields after
// d. Fields keep their separators.
func (r *recording) filtered(kept []byte, begun bool, rest []field, d Dropped) {
	if r.to == nil {
		return
	}
	after := append([]byte(nil), kept...)
	for i := range rest {
		if begun {
			after = append(after, r.query[rest[i].Start-1])
		}
		begun = true
		after = append(after, r.query[rest[i].Start:rest[i].End]...)
	}
	r.now(QueryStep{Why: whyDropped, Name: AppendName(nil, d.Pair.Name(r.query)), Rule: d.Rule}, after, len(after) > 0)
}
