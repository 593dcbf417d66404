package jsonlines

import (
	"bytes"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// wrapper is the framing of lines that hold either one JSON object, or an
// object whose first member is an array of records. Each element of the array
// is a record, together with the text between this element and the previous
// element. The last record includes the rest of the line. So the records of a
// line make up the line, byte for byte.
//
//	{"records":[{"a":1},{"a":2}]}
//	|                  |         |
//	first record       second record
type wrapper struct {
	locate.LineFraming
	Member   []byte // name of the array; nil if no line holds several records
	document bool   // see DocumentFormat
}

// InDocument reports whether records need not be lines.
func (w *wrapper) InDocument() bool { return w.document }

// Cut implements [locate.Framing].
func (w *wrapper) Cut(block []byte) (at int) {
	if !w.document {
		return w.LineFraming.Cut(block)
	}
	for {
		n := documentRecord(block[at:])
		if at += n; n == 0 {
			return at
		}
	}
}

// Next implements [locate.Reader].
func (w *wrapper) Next(in []byte) int {
	if w.document {
		if n := documentRecord(in); n > 0 {
			return n
		}
		return len(in)
	}
	n := w.LineFraming.Next(in)
	if w.Member == nil {
		return n
	}
	s := Scanner{B: in[:n]}
	if !w.unwrap(&s) {
		return n
	}
	if s.Skip(); s.Broken {
		return n
	}
	if s.Space(); s.Peek() == ',' {
		return s.Pos
	}
	return n
}

// unwrap moves s from the start of a record to the start of its element, an
// object. It returns false if the record is not an element of an array.
func (w *wrapper) unwrap(s *Scanner) bool {
	if w.document {
		return s.enterDocument()
	}
	s.Space()
	start := s.Pos
	if s.Peek() == ',' {
		s.Pos++
		s.Space()
		if s.Peek() == '{' {
			return true
		}
		s.Pos = start
		return false
	}
	if s.Peek() == '{' {
		s.Pos++
		s.Space()
		rest := s.B[s.Pos:]
		if len(rest) > len(w.Member)+2 && rest[0] == '"' && bytes.HasPrefix(rest[1:], w.Member) && rest[1+len(w.Member)] == '"' {
			s.Pos += len(w.Member) + 2
			s.colon()
			if s.Peek() == '[' {
				s.Pos++
				if s.Space(); s.Peek() == '{' {
					return true
				}
			}
		}
	}
	s.Pos, s.Broken = start, false
	return false
}

// rest reads what follows an element in the last record of a line.
func (w *wrapper) rest(s *Scanner) {
	s.Space()
	if s.Broken || s.Pos == len(s.B) {
		return
	}
	s.Expect(']')
	for !s.Broken {
		s.Space()
		if s.Peek() != ',' {
			break
		}
		s.Pos++
		s.Space()
		if s.member(); !s.Broken {
			s.Skip()
		}
	}
	if !s.Broken {
		s.Expect('}')
	}
}

// StandsAlone reports whether the first record of in is a line with one object.
// It returns false if the name of the object's first member starts with
// wrapped, because that member may be an array of records.
func StandsAlone(in []byte, wrapped byte) bool {
	return len(in) > 2 && in[0] == '{' && in[1] == '"' && in[2] != wrapped
}
