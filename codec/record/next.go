package record

import (
	"bytes"

	"github.com/urlfold/urlfold/codec"
)

// This file is the fast path for the jobs that most people run. It may only give up,
// and never decide otherwise than Append.

// AppendNext is [Worker.Append] for the first record of in, for which no dead letter
// is needed, if it can be read with less work. It returns the length of the record,
// including its line end. If n is 0, nothing has been appended or counted, and the
// caller must call Append. Of a record that Config.Where drops, nothing is appended.
// AppendNext does not retain at.
func (w *Worker) AppendNext(out, in []byte, at *Position, st *Stats) (_ []byte, n int) {
	if w.keeper == nil {
		return out, 0
	}
	w.n.cur.flags, w.n.missed.size, w.n.fronted.span = codec.Flags{}, 0, span{}
	n = w.keeper.keep(&w.n, in, at.Head)
	switch {
	case w.job.maxRecord > 0 && n > w.job.maxRecord, n > 0 && w.job.redact && bytes.IndexByte(w.n.cur.url, '@') >= 0:
		return out, 0
	case n > 0 && w.n.fronted.end > 0:
		return w.appendFronted(out, in[:n], st), n
	case n > 0:
		return w.appendKept(out, in[:n], at, st), n
	case w.n.missed.size > 0:
		return w.appendMissed(out, in, at, st)
	}
	return out, 0
}

// appendKept is AppendNext for rec, whose URL is in normal form.
func (w *Worker) appendKept(out, rec []byte, at *Position, st *Stats) []byte {
	w.err = nil
	st.Records++
	if w.job.where != nil && !w.keepsUnread(rec) {
		st.Filtered++
		return out
	}
	st.Emitted++
	st.URLs++
	countFlags(w.n.cur.flags, st)
	if w.plan != nil {
		return w.planned(out, rec, at)
	}
	return append(out, rec...)
}
