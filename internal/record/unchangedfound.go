package record

import (
	"bytes"

	"github.com/urlfold/urlfold/internal/ground/scan"
	"github.com/urlfold/urlfold/internal/record/internal/archive"
	"github.com/urlfold/urlfold/internal/record/internal/jsonlines"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
	"github.com/urlfold/urlfold/internal/record/internal/textlog"
)

// foundKeeper is the keeper of formats whose Locators find the URL fast enough.
// It saves most of the work that follows Locate. If it gives up, Append uses
// the result of Locate.
type foundKeeper struct {
	locator Locator
	former  locate.Former         // locator, if it is a Former
	anyLog  *textlog.AnyLogReader // locator, if it is an AnyLogReader
	wrapped byte                  // first byte of the name of the array that wraps records, or 0
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

// newFoundKeeper returns a foundKeeper for l, or nil if it does not apply: the records
// must be lines, and Locate must read no more of a Position than Head.
func newFoundKeeper(l Locator) keeper {
	k := &foundKeeper{locator: l}
	switch l := l.(type) {
	case *textlog.LayoutReader, *textlog.FixedLocator, *textlog.LogfmtLocator, *textlog.LTSVLocator, *textlog.CEFLocator, *textlog.AnyLogReader, *jsonlines.Locator, *archive.CDXLocator, *archive.CDXJLocator, *textlog.W3CLocator, *textlog.ZeekLocator:
	case *jsonlines.PartsLocator:
		if l.Parts.InDocument() {
			return nil
		}
		if l.Parts.Member != nil {
			k.wrapped = l.Parts.Member[0]
		}
	default:
		return nil
	}
	k.former, _ = l.(locate.Former)
	k.anyLog, _ = l.(*textlog.AnyLogReader)
	return k
}

// canKeep implements [keeper].
func (*foundKeeper) canKeep(*Job) bool { return true }

// Marks implements [keeper].
func (k *foundKeeper) Marks() *scan.Block {
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
	in := n.walk.Block[pos:limit]
	size := n.walk.Line(pos, limit)
	if size == 0 || locate.MarkLen(in) > 0 || k.wrapped != 0 && !jsonlines.StandsAlone(in, k.wrapped) {
		return 0
	}
	body := locate.TrimEnd(in[:size])
	if locate.IsBlank(body) || n.job.maxRecord > 0 && size > n.job.maxRecord {
		return 0
	}
	var h *locate.Form
	if k.former != nil {
		if h = k.former.FormOf(body); h != nil && n.keepsUsual(h, body) {
			k.misses = 0
			return size
		}
	}
	n.found.Reset()
	why, at := k.locate(n, body, head, h)
	if why == 0 && n.keepsFound(body) {
		k.misses = 0
		if h != nil {
			settle(h, n, body)
		}
		return size
	}
	k.misses++
	n.located.set(in[:size], body, why, at)
	return 0
}

// locate finds the URLs of a record with the form h, which can be nil.
func (k *foundKeeper) locate(n *normalizer, body, head []byte, h *locate.Form) (Reason, int) {
	switch {
	case k.former != nil:
		return k.former.LocateForm(n.found, body, h)
	case k.anyLog != nil && n.walk.Marks != nil:
		req, ok := textlog.MarkedRequest(&n.walk)
		k.anyLog.Take(n.found, body, req, ok)
		return 0, 0
	}
	k.at.Head = head
	return k.locator.Locate(n.found, body, &k.at)
}

// keepsFound reports whether n leaves the URL in n.found unchanged, which must
// be the only URL of rec. If so, it adds the flags of the URL to n.cur, and
// sets the identity.
func (n *normalizer) keepsFound(rec []byte) bool {
	f := n.found
	if f.N == 0 || f.Passes || f.Cut || f.HasContext || f.Base.End > 0 || f.Host.End > 0 {
		return false
	}
	if f.Split {
		return n.keepsParts(rec)
	}
	s := &f.Sites[0]
	url := s.In(rec)
	switch {
	case f.N > 1, escaped(s, rec), f.Strips && url[len(url)-1] == '?':
		return false
	case s.Role == locate.RoleTarget && url[0] == '/':
		return n.keepsOrigin(rec, false) && n.keepsTarget(url)
	case s.Role == locate.RoleTarget && string(f.Method.In(rec)) == "CONNECT", s.Role > locate.RoleTarget && s.Role != locate.RoleWhole, n.job.base.template != nil:
		return false
	}
	return n.keepsTail(s, rec)
}

// keepsParts is keepsFound for a URL whose parts are in several fields.
func (n *normalizer) keepsParts(rec []byte) bool {
	f := n.found
	var target, query []byte
	written := false // the record has a field for the scheme or the host
	for i := range f.N {
		s := &f.Sites[i]
		switch s.Role {
		case locate.RoleTarget:
			target = s.In(rec)
		case locate.RoleQuery:
			query = s.In(rec)
		case locate.RoleHost, locate.RoleScheme:
			written = true
			continue
		default:
			return false
		}
		if escaped(s, rec) {
			return false
		}
	}
	if len(target) == 0 || target[0] != '/' || f.Strips || !n.keepsOrigin(rec, written) {
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
func escaped(s *locate.Site, rec []byte) bool { return mayEscape(s.Dialect, s.In(rec)) }

// mayEscape reports whether a URL that d describes can have escapes.
func mayEscape(d *Dialect, url []byte) bool {
	switch {
	case !d.Decodes():
		return false
	case d.Text != nil:
		return true
	case d.Mark == '\\' || d.Mark == '#' || d.Mark == '"':
		return false // normalizer.keeps and keepsTarget reject such URLs
	}
	return bytes.IndexByte(url, d.Mark) >= 0
}

// The rest of this file passes on the URLs that a keeper has found in a record
// without keeping it, so that Worker.Next and Worker.Append need not search the
// record again.

// framed identifies a record by its address in the memory of the caller, who passes the
// record on to Worker.Append before the bytes change. The address is forgotten as soon as
// the record has been read, because after that the memory can hold other bytes.
type framed struct {
	first *byte // or nil
	len   int
}

// take reports whether rec is the stored record, and forgets that record.
func (f *framed) take(rec []byte) bool {
	is := len(rec) > 0 && &rec[0] == f.first && len(rec) == f.len
	*f = framed{}
	return is
}

// locatedRecord is a line in which a keeper has found the URLs.
type locatedRecord struct {
	line framed
	body framed // without its line end
	why  Reason // what Locate would return
	pos  int
}

// set notes what has been found in the line, whose body is not empty.
func (l *locatedRecord) set(line, body []byte, why Reason, pos int) {
	*l = locatedRecord{framed{&line[0], len(line)}, framed{&body[0], len(body)}, why, pos}
}

// begins reports whether the line is at the start of in.
func (l *locatedRecord) begins(in []byte) bool {
	return l.body.first != nil && len(in) >= l.line.len && &in[0] == l.line.first
}
