package record

import (
	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
	"github.com/urlfold/urlfold/internal/record/internal/textlog"
)

// This file is the part of AppendRun for records of access logs whose target is not
// in normal form, or is an absolute URL.

// missed describes a record in which a keeper has found the request target, but
// cannot keep it because the target changes. The scheme and authority of the
// target are treated in the same way as in a kept record.
type missed struct {
	locate.Site     // site of the target
	size        int // size of the record; 0 without a record
}

// appendMissed is AppendRun for the record that w.n.missed describes. It returns the
// length of the record, or 0 if it gives up.
func (w *Worker) appendMissed(c *copier, at *Position, st *Stats) (size int) {
	n, m := &w.n, &w.n.missed
	rec := c.in[c.pos : c.pos+m.size]
	if w.job.maxRecord > 0 && m.size > w.job.maxRecord || !n.readMissed(m.In(rec)) {
		return 0
	}
	st.Records++
	if w.job.keeps.where != nil && !w.keepsMissed(rec, st) {
		st.Filtered++
		c.drop(locate.Between(0, m.size))
		return m.size
	}
	st.Emitted++
	st.URLs++
	n.count(st)
	if w.job.id.on {
		w.nameMissed(st)
	}
	switch {
	case w.plan != nil:
		c.drop(locate.Between(0, m.size))
		c.out = w.r.item(c.out, &m.Site, rec, at)
		n.countKeys(st)
	case !n.cur.same:
		c.drop(m.Span)
		c.out = m.Dialect.Escape(c.out, n.cur.back, 0)
	}
	return m.size
}

// nameMissed sets the identity of the record.
func (w *Worker) nameMissed(st *Stats) {
	id := &w.job.id
	w.n.fact.Identity, _ = w.identityOf(id, nil, nil)
	if id.level > codec.LevelEquivalent {
		w.n.countKeys(st)
	}
}

// readMissed is parse for the target of n.missed, if that target is in origin or
// absolute form. It returns false to give up.
func (n *normalizer) readMissed(target []byte) bool {
	if len(target) == 0 || target[len(target)-1] == ' ' {
		return false // the space does not belong to the target
	}
	n.runs = n.runs[:0]
	if d, escaped := n.missed.Dialect, false; d.Decodes() {
		if target, n.runs, escaped = d.Unescape(n.text, target, n.runs); escaped {
			n.text = target
		}
	}
	form, flags := locate.FormOf(target, nil), n.cur.flags
	n.cur = reading{url: target, form: form, hash: -1}
	if n.params.dirty {
		n.params.reset()
	}
	switch {
	case form == locate.FormOrigin:
		n.cur.flags = flags
		front := n.front()
		if n.cur.nohost = front == nil; n.cur.nohost {
			front = placeholder
		}
		n.full = append(n.full[:0], front...)
		n.readTarget()
	case form == locate.FormAbsolute && n.job.base.template == nil:
		n.readReference(nil)
	default:
		return false
	}
	if n.cur.why != 0 {
		return false
	}
	n.Note()
	return true
}

// front returns the scheme and authority for the request target of n.missed: those
// of the virtual host in the record or, if the log has no virtual hosts, of the job.
// It returns nil if they are unknown.
func (n *normalizer) front() []byte {
	if l, ok := n.job.reader.(*textlog.LogReader); ok && l.Format.Vhost {
		return n.kept.text
	}
	return n.job.base.origin
}
