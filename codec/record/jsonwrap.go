package record

import "bytes"

// wrapper is the framing of lines that hold either one JSON object, or an object
// whose first member is an array of records. Each element of the array is a
// record, with the text before it up to the element before; the last one
// includes the rest of the line. So the records of a line are the line, byte for
// byte.
//
//	{"records":[{"a":1},{"a":2}]}
//	|                  |         |
//	first record       second record
type wrapper struct {
	LineFraming
	member []byte // name of the array; nil if no line holds several records
}

// Next implements [Reader].
func (w *wrapper) Next(in []byte) int {
	n := w.LineFraming.Next(in)
	if w.member == nil {
		return n
	}
	s := scanner{b: in[:n]}
	if !w.unwrap(&s) {
		return n
	}
	if s.skip(); s.broken {
		return n
	}
	if s.space(); s.peek() == ',' {
		return s.pos
	}
	return n
}

// unwrap moves s from the start of a record to the start of its element, an
// object. It returns false if the record is not an element of an array.
func (w *wrapper) unwrap(s *scanner) bool {
	s.space()
	start := s.pos
	if s.peek() == ',' {
		s.pos++
		s.space()
		if s.peek() == '{' {
			return true
		}
		s.pos = start
		return false
	}
	if s.peek() == '{' {
		s.pos++
		s.space()
		rest := s.b[s.pos:]
		if len(rest) > len(w.member)+2 && rest[0] == '"' && bytes.HasPrefix(rest[1:], w.member) && rest[1+len(w.member)] == '"' {
			s.pos += len(w.member) + 2
			s.colon()
			if s.peek() == '[' {
				s.pos++
				if s.space(); s.peek() == '{' {
					return true
				}
			}
		}
	}
	s.pos, s.broken = start, false
	return false
}

// rest reads what follows an element in the last record of a line.
func (w *wrapper) rest(s *scanner) {
	s.space()
	if s.broken || s.pos == len(s.b) {
		return
	}
	s.expect(']')
	for !s.broken {
		s.space()
		if s.peek() != ',' {
			break
		}
		s.pos++
		s.space()
		if s.member(); !s.broken {
			s.skip()
		}
	}
	if !s.broken {
		s.expect('}')
	}
}
