package record

import (
	"cmp"
	"errors"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// ErrOversize reports that a record is longer than the limit and that the job
// stops at such records.
var ErrOversize = errors.New("record is longer than the limit")

// setDispositions sets the dispositions from c.OnRejected, c.OnUnparsed and c.OnOversize.
func (j *Job) setDispositions(c *Config) error {
	r := &j.rejects
	r.on = cmp.Or(c.OnRejected, DispositionPass)
	r.onUnparsed, r.onOversize = cmp.Or(c.OnUnparsed, r.on), cmp.Or(c.OnOversize, r.on)
	var errs []error
	if r.on > DispositionDrop {
		errs = append(errs, locate.Wrong("OnRejected", "invalid disposition: rejected records can pass through, go to the dead letters, or be dropped"))
	}
	switch r.onUnparsed {
	case DispositionPass, DispositionDead, DispositionDrop:
	default:
		errs = append(errs, locate.Wrong("OnUnparsed", "invalid disposition: unparsed records can pass through, go to the dead letters, or be dropped"))
	}
	switch r.onOversize {
	case DispositionPass, DispositionDead, DispositionDrop, DispositionStop, DispositionTruncate:
	default:
		errs = append(errs, locate.Wrong("OnOversize", "invalid disposition: oversize records can pass through, go to the dead letters, be dropped, be truncated, or stop the job"))
	}
	return errors.Join(errs...)
}

// disposition returns the disposition of a record that was rejected for the
// reason why.
func (j *Job) disposition(why Reason) Disposition {
	switch {
	case why.IsMisfit():
		return j.rejects.onUnparsed
	case why == TooLong:
		return j.rejects.onOversize
	case why == Unreadable, j.lengths != nil && why == Refused: // a sink of lines cannot hold the record itself
		return DispositionDead
	}
	return j.rejects.on
}

// Err returns the error with which the last call of Append, Reject or Piece
// ended the job, or nil. It is an error of Config.Schemas, or ErrOversize if
// OnOversize is DispositionStop and the record was longer than the limit. After
// an error nothing has been written or counted for the record, and the caller
// must not continue with later records.
func (w *Worker) Err() error { return w.err }

// Reject handles a record that the caller could not read, for the reason why.
// The disposition of the record decides whether Reject appends a dead letter to
// dead, copies the record to out, or appends the error in the job's rendering
// to out. Reject counts the record in st and returns the extended slices.
func (w *Worker) Reject(out, dead, rec []byte, why Reason, at Position, st *Stats) (o, d []byte) {
	w.found.Reset() // w.found belongs to an earlier record
	w.begin(&at)
	return w.reject(out, dead, rec, &verdict{bad: why}, &w.at, st)
}

func (w *Worker) reject(out, dead, rec []byte, v *verdict, at *Position, st *Stats) (o, d []byte) {
	disposition := w.job.disposition(v.bad)
	if disposition == DispositionStop {
		w.err = ErrOversize
		return out, dead
	}
	if !w.keepsRejected(v.bad, rec) {
		w.filter(st)
		return out, dead
	}
	countReject(v.bad, st)
	start, keeps := len(out), w.job.render.KeepsRecords()
	switch disposition {
	case DispositionDead:
		st.Dead++
		return out, w.r.deadLine(dead, rec, v, at)
	case DispositionDrop:
		st.drop(v.bad)
		return out, dead
	case DispositionTruncate:
		rec = w.truncated(rec, PieceWhole)
	}
	if keeps {
		out = append(out, rec...)
		if w.job.redact {
			out = w.red.redactTail(out, start)
		}
	} else {
		out = w.r.rejectItem(out, rec, v.bad, v.at, at)
	}
	if !keeps && len(out) == start {
		st.drop(v.bad)
	} else {
		st.Emitted++
	}
	return out, dead
}

// truncated returns the start of an oversize record, or of a piece of one, in
// scratch: MaxRecord bytes and the line end. With the line end, the result is
// still too long for a reader with the same limit. The first piece must hold
// all of these bytes. It does, because a source must read that many before it
// reports a record as oversize.
func (w *Worker) truncated(rec []byte, p Piece) []byte {
	body := locate.TrimEnd(rec)
	end := rec[len(body):]
	w.cut = w.cut[:0]
	if p == PieceWhole || p == PieceFirst {
		n := len(body)
		if w.job.maxRecord > 0 && n > w.job.maxRecord {
			n = w.job.maxRecord
		}
		w.cut = append(w.cut, body[:n]...)
		if w.job.redact {
			w.cut = w.red.redactCut(w.cut, 0)
		}
	}
	if p == PieceWhole || p == PieceLast {
		w.cut = append(w.cut, end...)
	}
	return w.cut
}

// countReject counts a record that was rejected before its URLs were read.
func countReject(why Reason, st *Stats) {
	st.Records++
	st.Rejected++
	if why < NumReasons {
		st.Rejects[why]++
	}
	switch why {
	case Panic:
		st.Panics++
	case TooLong:
		st.Oversize++
	}
}

// Piece says which part of an oversize record a call passes.
type Piece uint8

// Parts of an oversize record.
const (
	PieceWhole  Piece = iota // the whole record
	PieceFirst               // the beginning
	PieceMiddle              // neither beginning nor end
	PieceLast                // the end, with the line end if there is one
)

// Piece handles one part of a record that is longer than the limit. The output
// formats rewrite and extend copy each part to out. Other output formats write one
// object or line at the last piece, and a job that diverts such records
// writes one dead letter there, without the bytes. The record is counted once,
// at the last piece. at.Line is the line of the record, at.Off the offset of
// the piece, and at.Start the offset of the record, if it is known. The dead
// letter gives these offsets and where the record ends.
//
// If OnOversize is DispositionTruncate, the first piece must hold at least
// MaxRecord bytes. If it is DispositionStop, Err returns ErrOversize after
// every piece.
func (w *Worker) Piece(out, dead, piece []byte, p Piece, at Position, st *Stats) (o, d []byte) {
	j := w.job
	w.begin(&at)
	if j.rejects.onOversize == DispositionStop {
		w.err = ErrOversize
		return out, dead
	}
	if p == PieceWhole || p == PieceFirst {
		at.Start = at.Off
	}
	if !w.keepsRejected(TooLong, nil) {
		if p == PieceWhole || p == PieceLast {
			w.filter(st)
		}
		return out, dead
	}
	drops := j.rejects.onOversize == DispositionDrop
	pass := j.render.KeepsRecords() && j.rejects.onOversize != DispositionDead && !drops
	if pass {
		out = w.appendPiece(out, piece, p)
	}
	if p != PieceWhole && p != PieceLast {
		return out, dead
	}
	countReject(TooLong, st)
	start := len(out)
	switch {
	case j.rejects.onOversize == DispositionDead:
		st.Dead++
		return out, w.r.deadPiece(dead, &w.at, at.Start, at.Off+int64(len(piece)))
	case !pass:
		if !drops {
			out = w.r.rejectItem(out, nil, TooLong, 0, &w.at)
		}
		if len(out) == start {
			st.drop(TooLong)
			return out, dead
		}
	}
	st.Emitted++
	return out, dead
}

// appendPiece appends the part of a piece that passes through.
func (w *Worker) appendPiece(out, piece []byte, p Piece) []byte {
	start := len(out)
	if w.job.rejects.onOversize == DispositionTruncate {
		return append(out, w.truncated(piece, p)...)
	}
	if p != PieceWhole && p != PieceFirst && (len(w.secrets.names) > 0 || w.red.masker != nil) {
		// The piece can begin within a value, or within its name.
		if n := valueEnd(piece, 0, 0, inText); n > 0 {
			out, piece = append(out, stars...), piece[n:]
			start = len(out)
		}
	}
	out = append(out, piece...)
	if p == PieceFirst || p == PieceMiddle {
		out = w.red.hideLast(out, start)
	}
	if w.job.redact {
		out = w.red.redactTail(out, start)
	}
	return out
}
