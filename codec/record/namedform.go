package record

// This file is what records with named fields have to do with forms (form.go). The names
// are text that records have in common.

// wayDialects are the dialects of named fields by the ways in which they end. A value of
// logfmt without quotes has no escapes, and gets quotes if it needs them.
var wayDialects = [...]*Dialect{
	wayPlain:  {Encode: encodeLogfmt},
	wayQuoted: {Mark: '\\', Decode: decodeLogfmt, Encode: encodeLogfmtQuoted, backslash: true},
	wayCEF:    cefDialect,
	wayTab:    nil,
}

// takeForm takes the fields of rec, which has the form h. own is the dialect of values whose
// way has none.
func (p *namedParts) takeForm(f *Found, rec []byte, h *form, names *nameTable, own *Dialect) {
	for i := range h.uses {
		u := &h.uses[i]
		d := wayDialects[u.way]
		if d == nil {
			d = own
		}
		p.take(f, rec, names.slots[u.use].use, h.at(u), d)
	}
}

// addNamed adds the field called name, at the given place, to the values to learn from.
func (s *forms) addNamed(f *Found, names *nameTable, name []byte, at span, w way, target Target) {
	v := value{span: at, way: w, use: names.index(name)}
	if v.use >= 0 {
		use := names.slots[v.use].use
		if v.rank = use.rankFor(target); !use.isRead(f) {
			v.use = -1
		}
	}
	s.add(v)
}

// rankFor returns the rank of a field.
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
