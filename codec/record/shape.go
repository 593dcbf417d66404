package record

import (
	"bytes"
	"encoding/binary"

	"github.com/urlfold/urlfold/codec/internal/scan"
)

// This file recognizes records by what they have in common with earlier ones. The
// lines of most logs differ only in some of their values: they have the same field
// names, separators, and many of the same values. Comparing such text is faster than
// parsing it again. If the text is the same, and the parser would end each of the other
// values where the text continues, it would find the same fields.

// A shape is what some records have in common: texts, and between them slots for
// values.
type shape struct {
	text  []byte // all texts, one after the other
	last  int    // offset of the text after the last slot
	slots []shapeSlot
	uses  []shapeUse // the fields in use, in order
	fit   []span     // the values in the record that match has read last
	usual usualURL

	rec    []byte       // the record of the last update
	fields []shapeField // its fields
	values []fieldValue // its values, for formats that have them
}

// shapeSlot is a place for a value.
type shapeSlot struct {
	at, before int // offset and length of the text before it
	kind       uint8
	marked     uint8 // see shapeField
	stop       byte  // first byte of the text after it, if marked
	check      func([]byte) bool
	// The text before it, if it has at most eight bytes, as a little-endian integer, and
	// the bits that count.
	head, bits uint64
}

// shapeUse is a field in use. If it is not in a slot, all records have the same text
// there.
type shapeUse struct {
	*shapeField
	slot int // the slot, or the last one before the text; -1 if there is none
	off  int // of the text from the end of that slot
}

// shapeField is a field of a record.
type shapeField struct {
	span       // of its value
	kind uint8 // how the value ends
	use  int   // what it is used for, as the format knows it; -1 if for nothing
	rank uint8 // says which URLs depend on it
	// marked is the number of marks, from 1. The value ends at the first of these after
	// its start, if the text there is the same as in this record, and if the value is
	// not empty and passes check. 0 says that valueEnd must find the end.
	marked uint8
	check  func([]byte) bool // nil if there is none
	// slot says that the value is in a slot. Values whose end depends on more than
	// what the parser has read before must always be in slots.
	slot bool
}

// Ranks of fields that can hold the URL, or a part of it. The URL in a field does not
// depend on fields of a higher rank, if it is absolute or a target in origin form.
const (
	rankNeeded uint8 = 0                   // every URL depends on the field
	rankPath         = uint8(partPath) + 1 // the query can be in a field of the same rank
	rankMethod       = uint8(numParts) + 1 // requests with CONNECT have no such URL
	rankBeside       = uint8(numParts) + 2 // no such URL depends on the field
)

// shapeMarks are marks of a record that may be the ends of values.
type shapeMarks [2]scan.Marks

// maxKinds is the number of kinds that values can have.
const maxKinds = 256

// ender finds the ends of values.
type ender interface {
	// valueEnd returns the end of the value at start, as the parser of the format
	// would find it. The format knows the kind of the value. It returns -1 if there
	// is no such value, or if it gives up.
	valueEnd(kind uint8, start int) int
}

// match reports whether rec has the shape. If so, h.fit has the values in the slots.
func (h *shape) match(rec []byte, marks *shapeMarks, e ender) bool {
	pos, slots := 0, h.slots
	fit := h.fit[:len(slots)]
	for i := range fit {
		s := &slots[i]
		if next := pos + 8; next > len(rec) || s.before > 8 {
			if !s.follows(rec[pos:], h.text) {
				return false
			}
		} else if (binary.LittleEndian.Uint64(rec[pos:next])^s.head)&s.bits != 0 {
			return false
		}
		start, end := pos+s.before, -1
		if s.marked > 0 {
			end = marks[(s.marked-1)&1].Next(start)
		}
		if end <= start || end >= len(rec) || rec[end] != s.stop {
			if end = e.valueEnd(s.kind, start); end < 0 {
				return false
			}
		} else if s.check != nil && !s.check(rec[start:end]) {
			return false
		}
		fit[i].start, fit[i].end = start, end
		pos = end
	}
	return string(rec[pos:]) == string(h.text[h.last:])
}

// follows reports whether rec continues with the text before the slot.
func (s *shapeSlot) follows(rec, text []byte) bool {
	return len(rec) >= s.before && string(rec[:s.before]) == string(text[s.at:s.at+s.before])
}

// at returns the value of a field in the record that match has read last.
func (h *shape) at(u *shapeUse) span {
	switch {
	case u.slot < 0:
		return u.span
	case u.shapeField.slot:
		return h.fit[u.slot]
	}
	start := h.fit[u.slot].end + u.off
	return span{start, start + u.end - u.start}
}

// isOf reports whether a record with the given fields may have the shape, or one that
// h can become.
func (h *shape) isOf(fields []shapeField) bool {
	if len(h.fields) != len(fields) {
		return false
	}
	for i := range fields {
		if f, g := &fields[i], &h.fields[i]; f.kind != g.kind || f.use != g.use {
			return false
		}
	}
	return true
}

// update changes h so that rec has the shape, and all records that had it before if
// isOf reports true. The fields of rec that differ from those of the record before
// get slots.
func (h *shape) update(rec []byte, fields []shapeField) {
	if h.isOf(fields) {
		for i := range fields {
			f, old := &fields[i], &h.fields[i]
			f.slot = f.slot || old.slot || !bytes.Equal(old.in(h.rec), f.in(rec))
		}
	}
	h.rec, h.fields = append(h.rec[:0], rec...), append(h.fields[:0], fields...)
	h.text, h.slots, h.uses, h.fit, h.usual.known = h.text[:0], h.slots[:0], h.uses[:0], h.fit[:0], false
	end := 0
	for i := range h.fields {
		f := &h.fields[i]
		if f.slot {
			slot := f.newSlot(rec, end)
			slot.at = len(h.text)
			h.text = append(h.text, rec[end:f.start]...)
			h.slots, h.fit = append(h.slots, slot), append(h.fit, f.span)
			end = f.end
		}
		if f.use >= 0 {
			h.uses = append(h.uses, shapeUse{f, len(h.slots) - 1, f.start - end})
		}
	}
	h.last, h.text = len(h.text), append(h.text, rec[end:]...)
}

// newSlot returns a slot for f in a record. The text before it begins at start.
func (f *shapeField) newSlot(rec []byte, start int) shapeSlot {
	s := shapeSlot{before: f.start - start, kind: f.kind, check: f.check}
	if f.end < len(rec) {
		s.marked, s.stop = f.marked, rec[f.end]
	}
	var head [8]byte
	n := copy(head[:], rec[start:f.start])
	s.head, s.bits = binary.LittleEndian.Uint64(head[:]), 1<<(8*n)-1
	return s
}

// shapes are the shapes of the records of a log. The zero value is ready for use.
type shapes struct {
	list    [4]shape // first the one that a record had last
	fields  []shapeField
	balance int // at most maxBalance
	pause   int // length of the last pause
	skips   int // number of records left of it
}

// Records without a known shape take more time than without shapes. So if more than one
// in three has none, no shapes are tried during a pause, which is longer each time.
const (
	maxBalance = 64
	minBalance = -16
	shapeHit   = 1
	shapeMiss  = 2
	minPause   = 512
	maxPause   = 1 << 15
)

// match returns the shape of rec, or nil if rec has none of those known.
func (s *shapes) match(rec []byte, marks *shapeMarks, e ender) *shape {
	if s.skips > 0 {
		s.skips--
		return nil
	}
	for i := range s.list {
		if h := &s.list[i]; len(h.slots) == 0 || !h.match(rec, marks, e) {
			continue
		}
		if s.balance += shapeHit; s.balance > maxBalance {
			s.balance, s.pause = maxBalance, 0
		}
		if i > 0 {
			s.list[0], s.list[i] = s.list[i], s.list[0]
		}
		return &s.list[0]
	}
	if s.balance -= shapeMiss; s.balance < minBalance {
		s.pause = min(max(2*s.pause, minPause), maxPause)
		s.balance, s.skips = 0, s.pause
	}
	return nil
}

// maxShaped is the length of the longest record for which there are shapes.
const maxShaped = 1 << 14

// begin prepares an update with rec, for which match has returned nil. It returns
// false if that is not worth it.
func (s *shapes) begin(rec []byte) bool {
	s.fields = s.fields[:0]
	return s.skips == 0 && len(rec) <= maxShaped
}

// add adds the next field of the record for the update.
func (s *shapes) add(f shapeField) { s.fields = append(s.fields, f) }

// update updates the shapes with a record whose fields have been added, and returns its
// shape.
func (s *shapes) update(rec []byte) *shape {
	i := 0
	for i < len(s.list)-1 && len(s.list[i].fields) > 0 && !s.list[i].isOf(s.fields) {
		i++
	}
	s.list[i].update(rec, s.fields)
	return &s.list[i]
}
