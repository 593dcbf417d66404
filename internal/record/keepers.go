package record

import (
	"bytes"
	"slices"

	"github.com/urlfold/urlfold/internal/ground/scan"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
	"github.com/urlfold/urlfold/internal/record/internal/table"
	"github.com/urlfold/urlfold/internal/record/internal/textlog"
)

// linesKeeper is the keeper of lines.
type linesKeeper struct{}

// canKeep implements [keeper]. A base does not change absolute URLs.
func (linesKeeper) canKeep(*Job) bool { return true }

// Marks implements [keeper].
func (linesKeeper) Marks() *scan.Block { return nil }

// keep implements [keeper].
func (linesKeeper) keep(n *normalizer, pos, limit int, _ []byte) int {
	size := n.walk.Line(pos, limit)
	if size == 0 || !n.keeps(locate.TrimEnd(n.walk.Block[pos:pos+size])) {
		return 0
	}
	return size
}

// logKeeper is the keeper of access logs in the common and the combined format.
type logKeeper struct{ *textlog.LogReader }

// canKeep implements [keeper]. A copyKey has only the origin of the job, not the origin
// of a virtual host.
func (l logKeeper) canKeep(j *Job) bool {
	if l.Format.Vhost {
		return l.Request && !l.Referer && !j.id.on
	}
	return l.Request && !l.Referer && j.originKept()
}

// Marks implements [keeper]. The keeper reads few bytes of a line, and
// finding them takes less time than marking all.
func (logKeeper) Marks() *scan.Block { return nil }

// keep implements [keeper].
func (l logKeeper) keep(n *normalizer, pos, limit int, _ []byte) int {
	size := n.walk.Line(pos, limit)
	rec := n.walk.Block[pos : pos+size : limit]
	target, request := textlog.CleanRequest(rec)
	if request.End == 0 || l.Format.Vhost && !l.keepsHost(n, rec[:request.Start]) {
		return 0
	}
	kept := n.keepsTarget(rec[target.Start:target.End:cap(rec)])
	if n.tells {
		if locate.MarkLen(rec) > 0 {
			return 0 // a byte order mark is not part of the first field
		}
		l.Tell(n.found, rec, request, target.Start-len(" "))
	}
	if !kept {
		n.missed.Span, n.missed.Role, n.missed.Dialect, n.missed.size = target, locate.RoleTarget, l.Dialect, size
		return 0
	}
	return size
}

// keepsHost is normalizer.keepsHost for the virtual host at the start of head,
// the part of a record before the request.
func (l logKeeper) keepsHost(n *normalizer, head []byte) bool {
	size := textlog.VhostLen(head)
	return size > 0 && n.keepsHost(head[:size])
}

// tableKeeper is the keeper of tables. It reads only records that are lines in
// which every quote opens or closes a cell, or is doubled inside a cell, as RFC
// 4180 demands.
type tableKeeper struct{ *table.Locator }

// canKeep implements [keeper].
func (l tableKeeper) canKeep(j *Job) bool {
	return j.reads&canLack == 0 && !l.Escaped && !l.Base.Wanted() && !l.Host.Wanted()
}

// keep implements [keeper].
func (l tableKeeper) keep(n *normalizer, pos, limit int, head []byte) int {
	n.located = locatedRecord{}
	size := n.walk.Line(pos, limit)
	if size == 0 || n.job.maxRecord > 0 && size > n.job.maxRecord {
		return 0
	}
	body := n.walk.Body()
	if len(body) == 0 || locate.MarkLen(body) > 0 || l.Named && bytes.Equal(body, locate.TrimEnd(head)) {
		return 0
	}
	l.Columns(head)
	cells := max(l.URLColumn+1, len(l.Wanted))
	l.Spans = slices.Grow(l.Spans[:0], cells)[:cells]
	if cells == 0 || !table.Cells(&n.walk, l.Spans, l.Quote) {
		return 0
	}
	why, at := Reason(0), 0
	if l.Composer != nil {
		if why, at = l.ComposeCells(n.found, body); why == 0 && n.keepsFound(body) {
			return size
		}
	} else {
		s := l.Spans[l.URLColumn]
		d := l.DialectOf(body, s)
		if url := s.In(body); (d != l.Quoted || bytes.IndexByte(url, l.Quote) < 0) && n.keeps(url) {
			return size
		}
		n.found.Reset()
		l.AddURL(n.found, body, s, d)
	}
	n.located.set(n.walk.Block[pos:pos+size], body, why, at)
	return 0
}
