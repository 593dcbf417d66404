package record

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/internal/scan"
)

// This file recognizes records by what they have in common with earlier ones. The
// lines of most logs differ only in some of their values: they have the same names of
// fields, separators, and many of the same values. Comparing such text is faster than
// parsing it again. If the text is the same, and the parser would end each of the other
// values where the text continues, it would find the same values.

// A form is what some records have in common: texts, and between them slots for values.
type form struct {
	text  []byte // all texts, one after the other
	last  int    // offset of the text after the last slot
	slots []formSlot
	uses  []formUse // the values in use, in order
	fit   []span    // the values in the slots of the record that match has read last
	usual usualURL

	rec    []byte       // the record that it has learned from last
	values []value      // its values
	fields []fieldValue // its fields, for JSON
}

// formSlot is a place for a value.
type formSlot struct {
	at, before int // offset and length of the text before it
	way        way
	// The text before it, if it has at most eight bytes, as a little-endian integer, and
	// the bits that count.
	head, bits uint64
}

// formUse is a value in use. If it is not in a slot, all records have the same text there.
type formUse struct {
	*value
	slot int // the slot, or the last one before the text; -1 if there is none
	off  int // of the text from the end of that slot
}

// value is a value of a record.
type value struct {
	span
	way  way   // how it ends
	use  int   // what it is used for, as the format knows it; -1 if for nothing
	rank uint8 // says which URLs depend on it
	slot bool  // it is in a slot
}

// Ranks of values that can hold the URL, or a part of it. The URL in a value does not
// depend on values of a higher rank, if it is absolute or a target in origin form.
const (
	rankNeeded uint8 = 0                   // every URL depends on the value
	rankPath         = uint8(partPath) + 1 // the query can be in a value of the same rank
	rankMethod       = uint8(numParts) + 1 // requests with CONNECT have no such URL
	rankBeside       = uint8(numParts) + 2 // no such URL depends on the value
)

// A way says how a value ends.
type way uint8

const (
	wayString way = iota // at the quote of a JSON string
	wayNumber            // after a JSON number
	wayPlain             // of logfmt, without quotes
	wayQuoted            // of logfmt, at a quote
	wayWord              // of logfmt, not a field
	wayCEF               // of the extension of CEF
	wayHeader            // of the header of CEF
	wayFront             // before the header of CEF
	wayTab               // at the next tab
)

// marked is a record whose bytes that can end values are marked.
type marked struct {
	rec   []byte
	marks scan.Marks // nil if its format needs none
}

// valueEnd returns the end of the value at start, as the parser of the format would find
// it. It returns -1 if there is no such value, or if it gives up.
func (m *marked) valueEnd(w way, start int) int {
	rec := m.rec
	switch w {
	case wayString:
		return m.stringEnd(start)
	case wayNumber:
		if end, ok := numberEnd(rec, start); ok {
			return end
		}
		return -1
	case wayPlain:
		if start < len(rec) && rec[start] == '"' {
			return -1
		}
		return logfmtEnd(rec, m.marks, start)
	case wayQuoted:
		return logfmtQuote(rec, start)
	case wayWord:
		if end := logfmtKeyEnd(rec, m.marks, start); end > start && (end == len(rec) || rec[end] <= ' ') {
			return end
		}
		return -1
	case wayCEF:
		next, _ := cefKey(rec, start)
		if at := cefValue(rec, start, next); at.end > start {
			return at.end
		}
		return -1
	case wayHeader:
		return unescapedByte(rec, start, '|')
	case wayFront:
		return bytes.Index(rec, cefMark)
	case wayTab:
		return tabEnd(rec, start)
	}
	return -1
}

// stringEnd is valueEnd for the inside of a JSON string.
func (m *marked) stringEnd(start int) int {
	rec, end := m.rec, m.marks.Next(start)
	for end < len(rec) && rec[end] != '"' {
		size := 1 // not ASCII
		if rec[end] < utf8.RuneSelf {
			if size = escapeLen(rec[end:]); size == 0 {
				return -1
			}
		}
		end = m.marks.Next(end + size)
	}
	if end == len(rec) {
		return -1
	}
	return end
}

// match reports whether the record has the form. If so, h.fit has the values in the slots.
func (h *form) match(m *marked) bool {
	rec, pos, slots := m.rec, 0, h.slots
	fit := h.fit[:len(slots)]
	for i := range fit {
		s := &slots[i]
		if next := pos + 8; next > len(rec) || s.before > 8 {
			if rest := rec[pos:]; len(rest) < s.before || string(rest[:s.before]) != string(h.text[s.at:s.at+s.before]) {
				return false
			}
		} else if (binary.LittleEndian.Uint64(rec[pos:next])^s.head)&s.bits != 0 {
			return false
		}
		start := pos + s.before
		if pos = m.valueEnd(s.way, start); pos < 0 {
			return false
		}
		fit[i].start, fit[i].end = start, pos
	}
	return string(rec[pos:]) == string(h.text[h.last:])
}

// at returns a value in use of the record that match has read last.
func (h *form) at(u *formUse) span {
	switch {
	case u.slot < 0:
		return u.span
	case u.value.slot:
		return h.fit[u.slot]
	}
	start := h.fit[u.slot].end + u.off
	return span{start, start + u.end - u.start}
}

// isOf reports whether a record with the given values may have the form, or one that h can
// become.
func (h *form) isOf(values []value) bool {
	if len(h.values) != len(values) {
		return false
	}
	for i := range values {
		if v, w := &values[i], &h.values[i]; v.way != w.way || v.use != w.use {
			return false
		}
	}
	return true
}

// learn changes h so that rec has the form, and all records that had it before if isOf
// reports true. The values of rec that differ from those of the record before get slots.
func (h *form) learn(rec []byte, values []value) {
	if h.isOf(values) {
		for i := range values {
			v, old := &values[i], &h.values[i]
			v.slot = v.slot || old.slot || !bytes.Equal(old.in(h.rec), v.in(rec))
		}
	}
	h.rec, h.values = append(h.rec[:0], rec...), append(h.values[:0], values...)
	h.text, h.slots, h.uses, h.fit, h.usual.known = h.text[:0], h.slots[:0], h.uses[:0], h.fit[:0], false
	end := 0
	for i := range h.values {
		v := &h.values[i]
		if v.slot {
			var head [8]byte
			n := copy(head[:], rec[end:v.start])
			h.slots = append(h.slots, formSlot{
				at: len(h.text), before: v.start - end, way: v.way,
				head: binary.LittleEndian.Uint64(head[:]), bits: 1<<(8*n) - 1,
			})
			h.text, h.fit, end = append(h.text, rec[end:v.start]...), append(h.fit, v.span), v.end
		}
		if v.use >= 0 {
			h.uses = append(h.uses, formUse{v, len(h.slots) - 1, v.start - end})
		}
	}
	h.last, h.text = len(h.text), append(h.text, rec[end:]...)
}

// forms are the forms of the records of a log. The zero value is ready for use.
type forms struct {
	list    [4]form // first the one that a record had last
	values  []value // of the record to learn from
	balance int     // at most maxBalance
	pause   int     // length of the last pause
	skips   int     // number of records left of it
}

// Records without a known form take more time than without forms. So if more than one in
// three has none, no forms are tried during a pause, which is longer each time.
const (
	maxBalance = 64
	minBalance = -16
	formHit    = 1
	formMiss   = 2
	minPause   = 512
	maxPause   = 1 << 15
)

// match returns the form of a record, or nil if it has none of those known.
func (s *forms) match(m *marked) *form {
	if s.skips > 0 {
		s.skips--
		return nil
	}
	for i := range s.list {
		h := &s.list[i]
		if len(h.slots) == 0 || !h.match(m) {
			continue
		}
		if s.balance += formHit; s.balance > maxBalance {
			s.balance, s.pause = maxBalance, 0
		}
		if i > 0 {
			s.list[0], s.list[i] = s.list[i], s.list[0]
		}
		return &s.list[0]
	}
	if s.balance -= formMiss; s.balance < minBalance {
		s.pause = min(max(2*s.pause, minPause), maxPause)
		s.balance, s.skips = 0, s.pause
	}
	return nil
}

// maxFormed is the length of the longest record for which there are forms.
const maxFormed = 1 << 14

// learns reports whether the forms can learn from rec, for which match has returned nil.
// If so, add adds its values, and learn ends them.
func (s *forms) learns(rec []byte) bool {
	s.values = s.values[:0]
	return s.skips == 0 && len(rec) <= maxFormed
}

// add adds the next value of the record.
func (s *forms) add(v value) { s.values = append(s.values, v) }

// learn learns the form of rec, whose values have been added, and returns it.
func (s *forms) learn(rec []byte) *form {
	i := 0
	for i < len(s.list)-1 && len(s.list[i].values) > 0 && !s.list[i].isOf(s.values) {
		i++
	}
	s.list[i].learn(rec, s.values)
	return &s.list[i]
}
