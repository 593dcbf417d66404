package record

import (
	"bytes"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// This file handles records that have the same form (members in the same order)
// as an earlier record whose URL stayed unchanged. If the new record differs
// only in the URL, and in fields that do not affect the output of the URL, the
// rest of the record need not be examined.

// settle sets h.Usual from rec, a record of the form h whose URL n left
// unchanged. It sets nothing if other fields of the record can affect the URL.
func settle(h *locate.Form, n *normalizer, rec []byte) {
	s := n.found.First()
	url, ok := h.Holding(s)
	if !ok || url.Rank == locate.RankNeeded || n.found.Part(locate.RoleQuery) != nil {
		return
	}
	at, query := h.Fit[url.Slot], bytes.IndexByte(s.In(rec), '?') >= 0
	v := &h.Usual
	*v = locate.UsualURL{
		Slot: url.Slot, Origin: s.In(rec)[0] == '/', Method: -1, Strips: n.found.Strips, Site: locate.Site{Dialect: s.Dialect, Stop: s.Stop}, Flags: n.cur.flags, Others: v.Others[:0],
		Lead: append(v.Lead[:0], rec[at.Start:s.Start]...), Tail: append(v.Tail[:0], rec[s.End:at.End]...),
	}
	for i := range h.Uses {
		u := &h.Uses[i]
		switch inSlot := u.Value.Slot; {
		case inSlot && u.Slot == url.Slot, u.Rank > url.Rank && u.Rank != locate.RankMethod:
		case query && u.Rank == locate.RankPath:
			return // in other records, this field may hold the query that counts
		case inSlot && u.Rank == locate.RankMethod:
			v.Method = u.Slot
		case inSlot:
			v.Add(u.Slot, h.At(u).In(rec))
		}
	}
	v.Known = true
}

// keepsUsual reports whether n leaves the URL of rec, a record of the form h,
// unchanged. It also returns false if it cannot tell.
func (n *normalizer) keepsUsual(h *locate.Form, rec []byte) bool {
	u := &h.Usual
	if !u.Known {
		return false
	}
	text := h.Fit[u.Slot].In(rec)
	size := len(text) - len(u.Lead) - len(u.Tail)
	if size <= 0 || size < len(text) && !(bytes.HasPrefix(text, u.Lead) && bytes.HasSuffix(text, u.Tail)) {
		return false
	}
	for i := range u.Others {
		if o := &u.Others[i]; !bytes.Equal(h.Fit[o.Slot].In(rec), o.Text) {
			return false
		}
	}
	s := &u.Site
	s.Start = h.Fit[u.Slot].Start + len(u.Lead)
	s.End = s.Start + size
	url := s.In(rec)
	switch {
	case mayEscape(s.Dialect, url), u.Strips && url[size-1] == '?':
		return false
	case u.Origin:
		if url[0] != '/' || !n.keepsTarget(url) {
			return false
		}
	case u.Method >= 0 && string(h.Fit[u.Method].In(rec)) == "CONNECT", !n.keepsTail(s, rec):
		return false
	}
	n.cur.flags = u.Flags
	return true
}
