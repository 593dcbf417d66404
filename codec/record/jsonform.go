package record

// This file says which values of a JSON text a form learns from (form.go). The names of
// members and the brackets are text that records have in common, so that records of the
// same form have the same structure.

// takeJSON stores the values of the record that has the form.
func (h *form) takeJSON(values []fieldValue) {
	copy(values, h.fields)
	for i := range h.uses {
		u := &h.uses[i]
		values[u.use] = textValue(h.at(u))
	}
}

// learnJSON learns from a JSON text, which has been read, and its values.
func (s *forms) learnJSON(text *scanner, c *composer, values []fieldValue) {
	if !s.learns(text.b) {
		return
	}
	for text.pos = 0; text.pos < len(text.b); {
		switch start, first := text.pos, text.b[text.pos]; {
		case first == '"':
			text.str()
			at := span{start + 1, text.pos - 1}
			if text.space(); text.peek() != ':' { // otherwise it is a name
				s.add(c.valueAt(at, wayString, values))
			}
		case first == '-' || isDigit(first):
			text.number()
			s.add(c.valueAt(span{start, text.pos}, wayNumber, values))
		default:
			text.pos++
		}
	}
	h := s.learn(text.b)
	h.fields = append(h.fields[:0], values...)
}

// valueAt returns the value at a place, which can be one of values.
func (c *composer) valueAt(at span, w way, values []fieldValue) value {
	v := value{span: at, way: w, use: -1}
	for i := range values {
		if values[i].span == at {
			v.use, v.rank = i, c.rank(i)
		}
	}
	return v
}

// rank returns the rank of a value. addURL prefers parts of the URL in the order of their
// ranks.
func (c *composer) rank(value int) uint8 {
	rank := rankBeside
	for i := range c.sources {
		s := &c.sources[i]
		switch {
		case s.value != value, s.part == partReferer && c.target == TargetRequest, s.part >= partAttr:
		case s.part == partMethod:
			rank = min(rank, rankMethod)
		case s.part == partQuery:
			rank = min(rank, rankPath)
		case s.part <= partPath:
			rank = min(rank, uint8(s.part)+1)
		default:
			return rankNeeded
		}
	}
	return rank
}
