package locate

import (
	"bytes"
	"encoding/binary"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/ground/scan"
)

// This file recognizes records by what they have in common with earlier ones. The
// lines of most logs differ only in some of their values: they have the same names of
// fields, separators, and many of the same values. Comparing such text is faster than
// parsing it again. If the text is the same, and the parser would end each of the other
// values where the text continues, it would find the same values.

// A Form describes records with the same structure: equal texts, and slots for values
// between the texts.
type Form struct {
	text  []byte // all texts, one after the other
	last  int    // offset of the text after the last slot
	Slots []formSlot
	Uses  []formUse // the values in use, in order
	Fit   []Span    // values in the slots of the record that match has read last
	Usual UsualURL

	rec    []byte       // the record that the Form was learned from last
	values []Value      // values of rec
	Fields []FieldValue // fields of rec, for JSON
}

// formSlot is a place for a value.
type formSlot struct {
	at, before int // offset and length of the text before the value
	way        *Way
	// The text before the value, if it has at most eight bytes, as a
	// little-endian integer, and the bits that count.
	head, bits uint64
}

// formUse is a value in use. If it is not in a slot, the value is the same in
// all records.
type formUse struct {
	*Value
	Slot int // index of the slot of the value, or else of the last slot before the value; -1: none
	off  int // if the value is not in a slot: offset of the value from the end of slot Slot
}

// Value is a value of a record, with its use.
type Value struct {
	Span
	Way  *Way  // how the value ends
	Use  int   // the use of the value, as a number of the format; -1 if it is not used
	Rank uint8 // says which URLs depend on the value
	Slot bool  // the value is in a slot
}

// Ranks of values that can hold the URL, or a part of it. The URL in a value does not
// depend on values of a higher rank, if it is absolute or a target in origin form.
const (
	RankNeeded uint8 = 0                  // every URL depends on the value
	RankPath         = uint8(UsePath)     // the value is a path, or the query of a path
	RankMethod       = uint8(NumUses)     // the value is the method; only the target of CONNECT depends on it
	RankBeside       = uint8(NumUses) + 1 // no URL in a value depends on this value
)

// A Way says how a value ends.
type Way struct {
	// End returns the end of the value at start, as the parser of the format would find
	// it. It returns -1 if there is no such value, or if it gives up. marks selects the
	// bytes that can end values; nil if the format needs none.
	End func(rec []byte, marks scan.Marks, start int) int
	// Dialect describes the escapes of the values, if all have the same.
	Dialect *Dialect
}

// match reports whether the record has the form. If so, h.Fit has the values in
// the slots.
func (h *Form) match(rec []byte, marks scan.Marks) bool {
	pos, slots := 0, h.Slots
	fit := h.Fit[:len(slots)]
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
		if pos = s.way.End(rec, marks, start); pos < 0 {
			return false
		}
		fit[i].Start, fit[i].End = start, pos
	}
	return string(rec[pos:]) == string(h.text[h.last:])
}

// At returns a value in use of the record that match has read last.
func (h *Form) At(u *formUse) Span {
	switch {
	case u.Slot < 0:
		return u.Span
	case u.Value.Slot:
		return h.Fit[u.Slot]
	}
	start := h.Fit[u.Slot].End + u.off
	return Span{start, start + u.End - u.Start}
}

// isOf reports whether a record with the given values may have the form h, or a
// form that h can become.
func (h *Form) isOf(values []Value) bool {
	if len(h.values) != len(values) {
		return false
	}
	for i := range values {
		if v, w := &values[i], &h.values[i]; v.Way != w.Way || v.Use != w.Use {
			return false
		}
	}
	return true
}

// learn changes h so that rec has the form. If isOf reports true, the records
// that had the form before still have it. The values of rec that differ from
// the previous record get slots.
func (h *Form) learn(rec []byte, values []Value) {
	if h.isOf(values) {
		for i := range values {
			v, old := &values[i], &h.values[i]
			v.Slot = v.Slot || old.Slot || !bytes.Equal(old.In(h.rec), v.In(rec))
		}
	}
	h.rec, h.values = append(h.rec[:0], rec...), append(h.values[:0], values...)
	h.text, h.Slots, h.Uses, h.Fit, h.Usual.Known = h.text[:0], h.Slots[:0], h.Uses[:0], h.Fit[:0], false
	end := 0
	for i := range h.values {
		v := &h.values[i]
		if v.Slot {
			var head [8]byte
			n := copy(head[:], rec[end:v.Start])
			h.Slots = append(h.Slots, formSlot{
				at: len(h.text), before: v.Start - end, way: v.Way,
				head: binary.LittleEndian.Uint64(head[:]), bits: 1<<(8*n) - 1,
			})
			h.text, h.Fit, end = append(h.text, rec[end:v.Start]...), append(h.Fit, v.Span), v.End
		}
		if v.Use >= 0 {
			h.Uses = append(h.Uses, formUse{v, len(h.Slots) - 1, v.Start - end})
		}
	}
	h.last, h.text = len(h.text), append(h.text, rec[end:]...)
}

// Forms are the forms of the records of a log. The zero value is ready for use.
type Forms struct {
	List    [4]Form // the form of the last record first
	values  []Value // values of the record to learn from
	balance int     // hits against misses, from minBalance to maxBalance
	pause   int     // length of the last pause
	Skips   int     // records that remain of the pause
}

// Comparing a record with forms that it does not have costs time. If more than
// one in three records fits no form, no form is tried during a pause, which
// becomes longer each time.
const (
	maxBalance = 64
	minBalance = -16
	formHit    = 1
	formMiss   = 2
	minPause   = 512
	maxPause   = 1 << 15
)

// Match returns the form of a record, or nil if it matches no known form.
func (s *Forms) Match(rec []byte, marks scan.Marks) *Form {
	if s.Skips > 0 {
		s.Skips--
		return nil
	}
	for i := range s.List {
		h := &s.List[i]
		if len(h.Slots) == 0 || !h.match(rec, marks) {
			continue
		}
		if s.balance += formHit; s.balance > maxBalance {
			s.balance, s.pause = maxBalance, 0
		}
		if i > 0 {
			s.List[0], s.List[i] = s.List[i], s.List[0]
		}
		return &s.List[0]
	}
	if s.balance -= formMiss; s.balance < minBalance {
		s.pause = min(max(2*s.pause, minPause), maxPause)
		s.balance, s.Skips = 0, s.pause
	}
	return nil
}

// maxFormed is the length of the longest record for which there are forms.
const maxFormed = 1 << 14

// Learns reports whether the forms can learn from rec, for which Match has
// returned nil. If so, the caller passes each value of rec to Add, and then
// calls Learn.
func (s *Forms) Learns(rec []byte) bool {
	s.values = s.values[:0]
	return s.Skips == 0 && len(rec) <= maxFormed
}

// Add adds the next value of the record.
func (s *Forms) Add(v Value) { s.values = append(s.values, v) }

// Learn learns the form of rec, whose values have been added, and returns it.
func (s *Forms) Learn(rec []byte) *Form {
	i := 0
	for i < len(s.List)-1 && len(s.List[i].values) > 0 && !s.List[i].isOf(s.values) {
		i++
	}
	s.List[i].learn(rec, s.values)
	return &s.List[i]
}

// Former is implemented by Locators that support forms.
type Former interface {
	// FormOf returns the form of rec, or nil if it is not known.
	FormOf(rec []byte) *Form
	// LocateForm is Locate for the record that FormOf has read last. h is the form
	// of this record, or nil.
	LocateForm(f *Found, rec []byte, h *Form) (Reason, int)
}

// UsualURL says where the URL is in records of a form, if the other values that
// the URL depends on are the same in all these records.
type UsualURL struct {
	Known      bool
	Slot       int         // the URL is in this slot,
	Lead, Tail []byte      // between these texts
	Origin     bool        // the URL is a target in origin form
	Method     int         // the method is in this slot; -1 if all records have the same method
	Others     []slotText  // the other texts that the URL depends on
	Strips     bool        // see Found
	Site       Site        // the URL of the last record
	Flags      codec.Flags // flags of all URLs
}

// slotText is a text in a slot.
type slotText struct {
	Slot int
	Text []byte
}

// Add adds a text that the URL depends on.
func (u *UsualURL) Add(slot int, text []byte) {
	n := len(u.Others)
	if n == cap(u.Others) {
		u.Others = append(u.Others, slotText{})
	}
	u.Others = u.Others[:n+1]
	u.Others[n] = slotText{slot, append(u.Others[n].Text[:0], text...)}
}

// Holding returns the value in use that holds the URL at s in a slot.
func (h *Form) Holding(s *Site) (u *formUse, ok bool) {
	for i := range h.Uses {
		u = &h.Uses[i]
		if at := h.At(u); u.Value.Slot && at.Start <= s.Start && s.End <= at.End {
			return u, true
		}
	}
	return nil, false
}
