package record

// This file reads records with named fields by their shapes (shape.go). The names are
// text that records have in common.

// takeShaped takes the fields of rec that the shape h has found. dialects are those of
// the kinds of values.
func (p *namedParts) takeShaped(f *Found, rec []byte, h *shape, names *nameTable, dialects ...*Dialect) {
	for i := range h.uses {
		u := &h.uses[i]
		p.take(f, rec, names.slots[u.use].use, h.at(u), dialects[u.kind])
	}
}

// addNamed adds the field called name to the record for the update.
func (s *shapes) addNamed(f *Found, names *nameTable, name []byte, field shapeField, target Target) {
	field.use = names.index(name)
	if field.use >= 0 {
		use := names.slots[field.use].use
		if field.rank = use.rankFor(target); !use.isRead(f) {
			field.use = -1
		}
	}
	s.add(field)
}

// rankFor returns the rank of a field for a shapeField.
func (u namedUse) rankFor(target Target) uint8 {
	switch {
	case u.kind == namedTarget, u.kind == namedRequest, u.kind == namedQuery:
		return rankPath
	case u.kind == namedMethod:
		return rankMethod
	case u.kind == namedAttr, u.kind == namedReferer && target == TargetRequest:
		return rankBeside
	}
	return rankNeeded
}

// updateShapes updates the shapes with the record that has been read.
func (r *logfmtLocator) updateShapes(f *Found) {
	s := &r.scan
	if s.broken || !r.shapes.begin(s.rec) {
		return
	}
	end := 0
	for s.pos = 0; s.next(); end = s.pos {
		key := s.value.start - len("=") - len(s.key)
		if s.kind == logfmtQuoted {
			key -= len(`"`)
		}
		r.addWords(end, key)
		field := shapeField{span: s.value, kind: s.kind}
		if s.kind == logfmtPlain {
			field.marked = 1
		}
		r.shapes.addNamed(f, r.names, s.key, field, r.target)
	}
	r.addWords(end, len(s.rec))
	r.shapes.update(s.rec)
}

// addWords adds the words between two fields.
func (r *logfmtLocator) addWords(pos, to int) {
	for s := &r.scan; pos < to; pos++ {
		if end := s.valueEnd(logfmtWord, pos); end > 0 && end <= to {
			r.shapes.add(shapeField{span: span{pos, end}, kind: logfmtWord, use: -1, marked: 1})
			pos = end
		}
	}
}

// valueEnd implements [ender].
func (s *logfmtScanner) valueEnd(kind uint8, start int) int {
	switch kind {
	case logfmtQuoted:
		return logfmtQuote(s.rec, start)
	case logfmtWord:
		end := s.keyEnd(start)
		if end == start || end < len(s.rec) && s.rec[end] > ' ' {
			return -1
		}
		return end
	}
	if start < len(s.rec) && s.rec[start] == '"' {
		return -1
	}
	return s.wordEnd(start)
}
