package record

import "errors"

// partsReader reads JSON texts whose URLs are composed of several fields.
type partsReader struct {
	*jsonReader
	wrapper
	lean, full fieldPlan // without and with attributes
}

// fieldPlan says where the fields of a record are and what they hold.
type fieldPlan struct {
	tree     fieldTree
	composer composer
}

// addSource adds a field that may hold a part.
func (p *fieldPlan) addSource(part part, path []step, unit int8) {
	p.composer.sources = append(p.composer.sources, source{part, unit, p.tree.add(path)})
}

// openParts returns a reader for jsonl with c.URL.
func openParts(c *Config) (Reader, error) {
	r := &partsReader{jsonReader: &jsonReader{}}
	r.lean.composer.whole = roleURL
	errs := append(c.URL.check(c), c.refuseDialect(), c.refuseReferer())
	for i, p := range urlParts {
		for _, field := range *c.URL.lists()[i] {
			path, err := parsePath(field)
			if errs = append(errs, in("URL", err)); err == nil {
				r.lean.addSource(p, path, 0)
			}
		}
	}
	r.full = r.lean
	r.setExtensions(c)
	return r, errors.Join(errs...)
}

// Next implements [Reader].
func (r *partsReader) Next(in []byte) int { return r.wrapper.Next(in) }

// Cut implements [Framing].
func (r *partsReader) Cut(block []byte) int { return r.wrapper.Cut(block) }

// Head implements [Framing].
func (r *partsReader) Head(block []byte) int { return r.wrapper.Head(block) }

// Locator implements [Reader].
func (r *partsReader) Locator() Locator {
	return &partsLocator{jsonLocator: jsonLocator{jsonReader: r.jsonReader}, parts: r, values: make([]fieldValue, max(r.lean.tree.values, r.full.tree.values))}
}

// partsLocator is a partsReader with scratch memory.
type partsLocator struct {
	jsonLocator
	parts  *partsReader
	values []fieldValue
	forms  forms
}

// plan returns the plan for f.
func (l *partsLocator) plan(f *Found) *fieldPlan {
	if f.attrs.wanted {
		return &l.parts.full
	}
	return &l.parts.lean
}

// Locate implements [Locator]. It reads all of the record.
func (l *partsLocator) Locate(f *Found, rec []byte, _ *Position) (Reason, int) {
	return l.locateForm(f, rec, l.formOf(rec))
}

// formOf implements [former].
func (l *partsLocator) formOf(rec []byte) *form {
	l.scan.begin(rec)
	if !l.formed(rec) {
		return nil
	}
	return l.forms.match(&marked{rec: rec, marks: l.scan.marks})
}

// formed reports whether rec may have a form. Records in an array have none.
func (l *partsLocator) formed(rec []byte) bool {
	return l.parts.member == nil || standsAlone(rec, l.parts.member[0])
}

// locateForm implements [former].
func (l *partsLocator) locateForm(f *Found, rec []byte, h *form) (Reason, int) {
	plan := l.plan(f)
	values, object := l.values[:plan.tree.values], span{0, len(rec)}
	if h != nil {
		h.takeJSON(values)
	} else {
		clear(values)
		if object = l.read(plan, values); l.scan.broken {
			return Unparsed, l.scan.pos
		}
	}
	if l.extends && !l.ownMembers(rec, object) {
		return Unparsed, l.scan.pos
	}
	return plan.composer.compose(f, rec, values)
}

// read stores the values of the record, and returns the range of its object.
func (l *partsLocator) read(plan *fieldPlan, values []fieldValue) (object span) {
	s := &l.scan
	s.pos, s.broken = 0, false
	wrapped := l.parts.member != nil && l.parts.unwrap(s)
	if !wrapped {
		s.space()
	}
	object.start = s.pos
	if s.peek() != '{' && plan.composer.optional {
		s.broken = true
		return object
	}
	plan.tree.find(s, values)
	object.end = s.pos
	if wrapped && !s.broken {
		l.parts.rest(s)
	}
	if l.atEnd() && l.formed(s.b) {
		l.forms.learnJSON(s, &plan.composer, values)
	}
	return object
}
