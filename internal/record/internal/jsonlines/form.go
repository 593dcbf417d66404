package jsonlines

import (
	"unicode/utf8"

	"github.com/urlfold/urlfold/internal/ground/scan"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// This file finds the values of a JSON text that a form learns. The names of
// members and the brackets are text that records have in common, so that
// records of the same form have the same structure.

// Ways in which values of a JSON text end.
var (
	wayString = &locate.Way{End: stringWay} // ends at the closing quote
	wayNumber = &locate.Way{End: func(rec []byte, _ scan.Marks, start int) int {
		if end, ok := numberEnd(rec, start); ok {
			return end
		}
		return -1
	}}
)

// stringWay is the End of wayString. start is the offset after the opening
// quote.
func stringWay(rec []byte, marks scan.Marks, start int) int {
	end := marks.Next(start)
	for end < len(rec) && rec[end] != '"' {
		size := 1 // bytes to skip: 1 for a non-ASCII byte
		if rec[end] < utf8.RuneSelf {
			if size = escapeLen(rec[end:]); size == 0 {
				return -1
			}
		}
		end = marks.Next(end + size)
	}
	if end == len(rec) {
		return -1
	}
	return end
}

// takeJSON sets values to the values of the record that h has matched last.
func takeJSON(h *locate.Form, values []locate.FieldValue) {
	copy(values, h.Fields)
	for i := range h.Uses {
		u := &h.Uses[i]
		values[u.Use] = textValue(h.At(u))
	}
}

// learnJSON learns from a JSON text, which has been read, and its values.
func learnJSON(s *locate.Forms, text *Scanner, c *locate.Composer, values []locate.FieldValue) {
	if !s.Learns(text.B) {
		return
	}
	for text.Pos = 0; text.Pos < len(text.B); {
		switch start, first := text.Pos, text.B[text.Pos]; {
		case first == '"':
			text.Str()
			at := locate.Between(start+1, text.Pos-1)
			if text.Space(); text.Peek() != ':' { // a string before a colon is a name
				s.Add(valueAt(c, at, wayString, values))
			}
		case first == '-' || locate.IsDigit(first):
			text.number()
			s.Add(valueAt(c, locate.Between(start, text.Pos), wayNumber, values))
		default:
			text.Pos++
		}
	}
	h := s.Learn(text.B)
	h.Fields = append(h.Fields[:0], values...)
}

// valueAt returns the value at a place, which can be one of values.
func valueAt(c *locate.Composer, at locate.Span, w *locate.Way, values []locate.FieldValue) locate.Value {
	v := locate.Value{Span: at, Way: w, Use: -1}
	for i := range values {
		if values[i].Span == at {
			v.Use, v.Rank = i, rank(c, i)
		}
	}
	return v
}

// rank returns the rank of a value. Compose prefers parts of the URL in the
// order of their ranks.
func rank(c *locate.Composer, value int) uint8 {
	rank := locate.RankBeside
	for i := range c.Sources {
		s := &c.Sources[i]
		switch {
		case s.Value != value, s.Use == locate.UseReferer && c.Target == locate.TargetRequest, s.Use >= locate.UseAttr:
		case s.Use == locate.UseMethod:
			rank = min(rank, locate.RankMethod)
		case s.Use == locate.UseQuery:
			rank = min(rank, locate.RankPath)
		case s.Use <= locate.UsePath:
			rank = min(rank, uint8(s.Use))
		default:
			return locate.RankNeeded
		}
	}
	return rank
}
