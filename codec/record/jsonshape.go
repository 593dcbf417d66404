package record

// This file reads JSON texts by their shapes (shape.go). The names of members and the
// brackets are text that records have in common, so that records of the same shape
// have the same structure.

// Kinds of values in JSON texts. All others are text.
const (
	jsonString uint8 = iota // the inside of a string
	jsonNumber
)

// takeJSON stores the values of the record that match has read last.
func (h *shape) takeJSON(values []fieldValue) {
	copy(values, h.values)
	for i := range h.uses {
		u := &h.uses[i]
		values[u.use] = textValue(h.at(u))
	}
}

// updateJSON is update for a JSON text, which has been read, and its values.
func (s *shapes) updateJSON(text *scanner, c *composer, values []fieldValue) {
	if !s.begin(text.b) {
		return
	}
	for text.pos = 0; text.pos < len(text.b); {
		switch start, first := text.pos, text.b[text.pos]; {
		case first == '"':
			text.str()
			at := span{start + 1, text.pos - 1}
			if text.space(); text.peek() != ':' { // otherwise it is a name
				s.addValue(at, jsonString, c, values)
			}
		case first == '-' || isDigit(first):
			text.number()
			s.addValue(span{start, text.pos}, jsonNumber, c, values)
		default:
			text.pos++
		}
	}
	h := s.update(text.b)
	h.values = append(h.values[:0], values...)
}

// addValue adds a value, which can be one of values.
func (s *shapes) addValue(at span, kind uint8, c *composer, values []fieldValue) {
	f := shapeField{span: at, kind: kind, use: -1}
	if kind == jsonString {
		f.marked = 1
	}
	for i := range values {
		if values[i].span == at {
			f.use, f.rank = i, c.rank(i)
		}
	}
	s.add(f)
}

// rank returns the rank of a value for a shapeField. addURL prefers parts of the URL in
// the order of their ranks.
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

// valueEnd implements [ender].
func (s *scanner) valueEnd(kind uint8, start int) int {
	if kind == jsonNumber {
		if n := shortNumber(s.b, start); n > 0 {
			return start + n
		}
		if s.pos = start; s.peek() != '-' && !isDigit(s.peek()) {
			return -1
		}
		s.number()
	} else {
		if end := s.marks.Next(start); end < len(s.b) && s.b[end] == '"' {
			return end
		}
		s.pos = start - 1
		s.str()
		s.pos--
	}
	if s.broken {
		s.broken = false
		return -1
	}
	return s.pos
}
