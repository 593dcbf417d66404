package params

// A Recorder receives each step of AppendKeyQuery, AppendFiltered and AppendSorted, in
// order. It serves explanations: with one, no fast path is taken, and memory is allocated.
type Recorder func(Step)

// A Step is one rule that has changed a query.
type Step struct {
	Why     Why    // the one rule
	Before  []byte // the query, in between two rules
	After   []byte
	Present bool   // a field is left
	Name    []byte // WhySession, whyDropped: the form-decoded name of the field that was removed
	Rule    int    // whyDropped: see Matcher.Rule
}

// A recording is one query on its way through the rules. The zero recording records nothing.
type recording struct {
	to    Recorder
	query []byte
	last  []byte // what the last step has left
}

// record begins a recording.
func (s *Scratch) record(query []byte) recording {
	return recording{to: s.Recorder, query: query, last: query}
}

// now records that the rule of st has left after.
func (r *recording) now(st Step, after []byte, present bool) {
	st.Before, st.After, st.Present = r.last, after, present
	r.last = after
	r.to(st)
}

// fields records that the rule why has left these fields, if there is anyone to tell.
func (r *recording) fields(why Why, fields ...[]field) {
	if r.to != nil && why != 0 {
		after, present := r.join(fields...)
		r.now(Step{Why: why}, after, present)
	}
}

// dropped records that the field d is removed and that these are left.
func (r *recording) dropped(why Why, d Dropped, fields ...[]field) {
	if r.to != nil {
		after, present := r.join(fields...)
		r.now(Step{Why: why, Name: AppendName(nil, d.Pair.Name(r.query)), Rule: d.Rule}, after, present)
	}
}

// written records that the rule why has left after.
func (r *recording) written(why Why, after []byte) {
	if r.to != nil && why != 0 {
		r.now(Step{Why: why}, append([]byte(nil), after...), true)
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

// filtered records that the field d is removed, where kept is left of those before it, if begun any, and rest follows. Fields keep
// their separators.
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
	r.now(Step{Why: whyDropped, Name: AppendName(nil, d.Pair.Name(r.query)), Rule: d.Rule}, after, len(after) > 0)
}
