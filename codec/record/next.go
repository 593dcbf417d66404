package record

import "github.com/urlfold/urlfold/codec"

// This file is the fast path for rewriting. It may only give up, and never decide
// otherwise than Append.

// AppendNext is [Worker.Append] for the first record of in, for which no dead letter
// is needed, if it can be read with less work. It returns the length of the record,
// including its line end. If n is 0, nothing has been appended or counted, and the
// caller must call Append. Of a record that Config.Where drops, nothing is appended.
// AppendNext does not retain at.
func (w *Worker) AppendNext(out, in []byte, at *Position, st *Stats) (_ []byte, n int) {
	if w.keeper == nil {
		return out, 0
	}
	w.n.cur.flags, w.n.missed.size = codec.Flags{}, 0
	n = w.keeper.keep(&w.n, in, at.Head)
	switch {
	case w.job.maxRecord > 0 && n > w.job.maxRecord:
		return out, 0
	case n > 0:
		return w.copies(out, in[:n], st), n
	case w.n.missed.size > 0:
		return w.appendMissed(out, in, st)
	}
	return out, 0
}

// copies appends rec, whose URL does not change, unless the condition drops it.
func (w *Worker) copies(out, rec []byte, st *Stats) []byte {
	w.err = nil
	st.Records++
	if w.job.where != nil && !w.keepsUnread(rec) {
		st.Filtered++
		return out
	}
	st.Emitted++
	st.URLs++
	countFlags(w.n.cur.flags, st)
	return append(out, rec...)
}
