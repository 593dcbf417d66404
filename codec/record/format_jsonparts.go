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
	errs := append(c.URL.check(c), c.refuseDialect())
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
}

// Locate implements [Locator]. It reads all of the record.
func (l *partsLocator) Locate(f *Found, rec []byte, _ *Position) (Reason, int) {
	s, plan := &l.scan, &l.parts.lean
	if f.attrs.wanted {
		plan = &l.parts.full
	}
	s.begin(rec)
	wrapped := l.parts.member != nil && l.parts.unwrap(s)
	if !wrapped {
		s.space()
	}
	start := s.pos
	if s.peek() != '{' && plan.composer.optional {
		return Unparsed, start
	}
	clear(l.values[:plan.tree.values])
	plan.tree.find(s, l.values)
	end := s.pos
	if wrapped && !s.broken {
		l.parts.rest(s)
	}
	if !l.atEnd() {
		return Unparsed, s.pos
	}
	if l.extends && !l.ownMembers(rec, span{start, end}) {
		return Unparsed, s.pos
	}
	return plan.composer.compose(f, rec, l.values)
}
