package record

import (
	"bytes"

	"github.com/urlfold/urlfold/codec"
)

// This file keeps URLs of records that have the form of a record that was kept. If
// they differ from it only in the URL, and in fields that do not matter for it, nothing
// else must be looked at.

// former is implemented by Locators that know forms.
type former interface {
	// formOf returns the form of rec, or nil if it is not known.
	formOf(rec []byte) *form
	// locateForm is Locate for the record that formOf has read last. h is its form, or
	// nil.
	locateForm(f *Found, rec []byte, h *form) (Reason, int)
}

// usualURL says where the URL is in records of a form, if all else that it depends on
// is the same in all of them.
type usualURL struct {
	known      bool
	slot       int         // the URL is in this slot,
	lead, tail []byte      // between these texts
	origin     bool        // it is a target in origin form
	method     int         // the method is in this slot; -1 if all records have the same
	others     []slotText  // all else that the URL depends on
	strips     bool        // see found
	site       site        // the URL of the last record
	flags      codec.Flags // of all URLs
}

// slotText is a text in a slot.
type slotText struct {
	slot int
	text []byte
}

// settle sets h.usual from a record with the form that n has kept, if it can.
func (h *form) settle(n *normalizer, rec []byte) {
	s := n.found.first()
	url, ok := h.holding(s)
	if !ok || url.rank == rankNeeded || n.found.part(roleQuery) != nil {
		return
	}
	at, query := h.fit[url.slot], bytes.IndexByte(s.in(rec), '?') >= 0
	v := &h.usual
	*v = usualURL{
		slot: url.slot, origin: s.in(rec)[0] == '/', method: -1, strips: n.found.strips, site: site{dialect: s.dialect, stop: s.stop}, flags: n.cur.flags, others: v.others[:0],
		lead: append(v.lead[:0], rec[at.start:s.start]...), tail: append(v.tail[:0], rec[s.end:at.end]...),
	}
	for i := range h.uses {
		u := &h.uses[i]
		switch inSlot := u.value.slot; {
		case inSlot && u.slot == url.slot, u.rank > url.rank && u.rank != rankMethod:
		case query && u.rank == rankPath:
			return // without a query, this field may have one that counts
		case inSlot && u.rank == rankMethod:
			v.method = u.slot
		case inSlot:
			v.add(u.slot, h.at(u).in(rec))
		}
	}
	v.known = true
}

// add adds a text that the URL depends on.
func (u *usualURL) add(slot int, text []byte) {
	n := len(u.others)
	if n == cap(u.others) {
		u.others = append(u.others, slotText{})
	}
	u.others = u.others[:n+1]
	u.others[n] = slotText{slot, append(u.others[n].text[:0], text...)}
}

// holding returns the value in use that holds the URL at s in a slot.
func (h *form) holding(s *site) (u *formUse, ok bool) {
	for i := range h.uses {
		u = &h.uses[i]
		if at := h.at(u); u.value.slot && at.start <= s.start && s.end <= at.end {
			return u, true
		}
	}
	return nil, false
}

// keepsUsual reports whether n keeps the URL of rec, which has the form h. It returns
// false if it gives up.
func (n *normalizer) keepsUsual(h *form, rec []byte) bool {
	u := &h.usual
	if !u.known {
		return false
	}
	text := h.fit[u.slot].in(rec)
	size := len(text) - len(u.lead) - len(u.tail)
	if size <= 0 || size < len(text) && !(bytes.HasPrefix(text, u.lead) && bytes.HasSuffix(text, u.tail)) {
		return false
	}
	for i := range u.others {
		if o := &u.others[i]; !bytes.Equal(h.fit[o.slot].in(rec), o.text) {
			return false
		}
	}
	s := &u.site
	s.start = h.fit[u.slot].start + len(u.lead)
	s.end = s.start + size
	url := s.in(rec)
	switch {
	case s.dialect.mayEscape(url), u.strips && url[size-1] == '?':
		return false
	case u.origin:
		if url[0] != '/' || !n.keepsTarget(url) {
			return false
		}
	case u.method >= 0 && string(h.fit[u.method].in(rec)) == "CONNECT", !n.keepsTail(s, rec):
		return false
	}
	n.cur.flags = u.flags
	return true
}
