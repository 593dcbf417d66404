package record

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/internal/scan"
)

// foundKeeper is the keeper of formats whose Locators find the URL fast enough.
// It saves most of what follows Locate. If it gives up, Append uses what Locate
// has found.
type foundKeeper struct {
	locator Locator
	former  former        // locator, if it is one
	anyLog  *anyLogReader // likewise
	wrapped byte          // first byte of the name of the array that wraps records, or 0
	at      Position
	misses  int // records in a row that were not kept
	skips   int // records in a row that were not looked at
}

// After maxMisses records in a row that were not kept, a foundKeeper looks at one in
// maxSkips+1: in some logs it can keep no URL.
const (
	maxMisses = 64
	maxSkips  = 15
)

// newFoundKeeper returns a foundKeeper for l if it applies: the records must be
// lines, and Locate must read no more of a Position than Head.
func newFoundKeeper(l Locator) (k *foundKeeper, ok bool) {
	k = &foundKeeper{locator: l}
	switch l := l.(type) {
	case *layoutReader, *textLocator, *logfmtLocator, *ltsvLocator, *cefLocator, *anyLogReader, *jsonLocator, *cdxLocator, *cdxjLocator, *w3cLocator, *zeekLocator:
	case *partsLocator:
		if l.parts.member != nil {
			k.wrapped = l.parts.member[0]
		}
	default:
		return nil, false
	}
	k.former, _ = l.(former)
	k.anyLog, _ = l.(*anyLogReader)
	return k, true
}

// canKeep implements [keeper].
func (*foundKeeper) canKeep(*Job) bool { return true }

// marks implements [keeper].
func (k *foundKeeper) marks() *scan.Block {
	if k.anyLog == nil || !scan.HasVectors() {
		return nil
	}
	return scan.NewBlock(func(c byte) bool { return c-'A' < 26 }, ' ')
}

// keep implements [keeper].
func (k *foundKeeper) keep(n *normalizer, pos, limit int, head []byte) int {
	n.located = locatedRecord{}
	if k.misses >= maxMisses && k.skips < maxSkips {
		k.skips++
		return 0
	}
	k.skips = 0
	in := n.walk.block[pos:limit]
	size := n.walk.line(pos, limit)
	if size == 0 || markLen(in) > 0 || k.wrapped != 0 && !standsAlone(in, k.wrapped) {
		return 0
	}
	body := trimEnd(in[:size])
	if isBlank(body) || n.job.maxRecord > 0 && size > n.job.maxRecord {
		return 0
	}
	var h *form
	if k.former != nil {
		if h = k.former.formOf(body); h != nil && n.keepsUsual(h, body) {
			k.misses = 0
			return size
		}
	}
	n.found.reset()
	why, at := k.locate(n, body, head, h)
	if why == 0 && n.keepsFound(body) {
		k.misses = 0
		if h != nil {
			h.settle(n, body)
		}
		return size
	}
	k.misses++
	n.located.set(in[:size], body, why, at)
	return 0
}

// locate finds the URLs of a record with the form h, which can be nil.
func (k *foundKeeper) locate(n *normalizer, body, head []byte, h *form) (Reason, int) {
	switch {
	case k.former != nil:
		return k.former.locateForm(n.found, body, h)
	case k.anyLog != nil && n.walk.marks != nil:
		req, ok := n.walk.findRequest()
		k.anyLog.take(n.found, body, req, ok)
		return 0, 0
	}
	k.at.Head = head
	return k.locator.Locate(n.found, body, &k.at)
}

// standsAlone reports whether the first record of in is a line that is an object
// without an array of other records, whose name begins with wrapped. It may return
// false although the record is.
func standsAlone(in []byte, wrapped byte) bool {
	return len(in) > 2 && in[0] == '{' && in[1] == '"' && in[2] != wrapped
}

// keepsFound reports whether n keeps the URL in n.found, which must be the only one
// of rec. If so, it adds the flags of the URL to n.cur, and sets the identity.
func (n *normalizer) keepsFound(rec []byte) bool {
	f := n.found
	if f.n == 0 || f.passes || f.cut || f.hasContext || f.base.end > 0 || f.host.end > 0 {
		return false
	}
	if f.split {
		return n.keepsParts(rec)
	}
	s := &f.sites[0]
	url := s.in(rec)
	switch {
	case f.n > 1, s.escaped(rec), f.strips && url[len(url)-1] == '?':
		return false
	case s.role == roleTarget && url[0] == '/':
		return n.keepsOrigin(rec, false) && n.keepsTarget(url)
	case s.role == roleTarget && string(f.method.in(rec)) == "CONNECT", s.role > roleTarget && s.role != roleWhole, n.job.template != nil:
		return false
	}
	return n.keepsTail(s, rec)
}

// keepsParts is keepsFound for a URL whose parts are in several fields.
func (n *normalizer) keepsParts(rec []byte) bool {
	f := n.found
	var target, query []byte
	written := false // the record has a field for the scheme or the host
	for i := range f.n {
		s := &f.sites[i]
		switch s.role {
		case roleTarget:
			target = s.in(rec)
		case roleQuery:
			query = s.in(rec)
		case roleHost, roleScheme:
			written = true
			continue
		default:
			return false
		}
		if s.escaped(rec) {
			return false
		}
	}
	if len(target) == 0 || target[0] != '/' || f.strips || !n.keepsOrigin(rec, written) {
		return false
	}
	if query != nil {
		n.text = append(n.text[:0], target...)
		if query[0] != '?' {
			n.text = append(n.text, '?')
		}
		n.text = append(n.text, query...)
		target = n.text
	}
	return n.keepsTarget(target)
}

// escaped reports whether the URL at s can have escapes.
func (s *site) escaped(rec []byte) bool { return s.dialect.mayEscape(s.in(rec)) }

// mayEscape reports whether a URL that d describes can have escapes.
func (d *Dialect) mayEscape(url []byte) bool {
	switch {
	case !d.decodes():
		return false
	case d.text != nil:
		return true
	case d.Mark == '\\' || d.Mark == '#' || d.Mark == '"':
		return false // normalizer.keeps and keepsTarget accept none of them
	}
	return bytes.IndexByte(url, d.Mark) >= 0
}
