package record

import (
	"errors"

	"github.com/urlfold/urlfold/internal/suggest"
)

// A Disposition is what becomes of a record that is not read.
type Disposition uint8

// The dispositions.
const (
	DispositionDefault  Disposition = iota // that of records without a reading: Config.Divert
	DispositionPass                        // it passes through, or becomes an object with an error
	DispositionDead                        // it goes to the dead letter
	DispositionDrop                        // nothing is written, and it is counted as dropped
	DispositionTruncate                    // its beginning passes through, unread, with its line end
	DispositionStop                        // nothing is written or counted; see Worker.Err
)

var dispositionNames = []string{"default", "pass_through", "dead_letter", "drop", "truncate", "stop"}

// String returns the disposition's name: "pass_through".
func (f Disposition) String() string { return nameOf(dispositionNames, int(f)) }

// ParseDisposition returns the disposition of that name. The error suggests a near name.
func ParseDisposition(name string) (Disposition, error) {
	i, err := suggest.Index("disposition", dispositionNames, name)
	return Disposition(i), err
}

// ErrOversize says that a record is longer than the limit, and that the job is
// to stop there.
var ErrOversize = errors.New("a record is longer than the limit, and the job is set to stop there")

// setDispositions reads OnUnparsed and OnOversize.
func (j *Job) setDispositions(c *Config) error {
	j.onUnparsed, j.onOversize = c.OnUnparsed, c.OnOversize
	usual := DispositionPass
	if c.Divert {
		usual = DispositionDead
	}
	var errs []error
	switch c.OnUnparsed {
	case DispositionDefault:
		j.onUnparsed = usual
	case DispositionPass, DispositionDead, DispositionDrop:
	default:
		errs = append(errs, wrong("OnUnparsed", "what is not of the format passes through, goes to the dead letter, or is dropped"))
	}
	switch c.OnOversize {
	case DispositionDefault:
		j.onOversize = usual
	case DispositionPass, DispositionDead, DispositionStop, DispositionTruncate:
	default:
		errs = append(errs, wrong("OnOversize", "what is too long passes through, goes to the dead letter, is truncated, or stops the job"))
	}
	return errors.Join(errs...)
}

// disposition returns what becomes of a record that was rejected for the reason why.
func (j *Job) disposition(why Reason) Disposition {
	switch {
	case why == Unparsed:
		return j.onUnparsed
	case why == TooLong:
		return j.onOversize
	case j.divert:
		return DispositionDead
	}
	return DispositionPass
}

// Err returns ErrOversize if the last call of Append, Reject or Piece met a record
// that is too long and the job stops at such records, and nil otherwise. Then
// nothing was written or counted, so that the record is not done: the caller
// must not go on behind it.
func (w *Worker) Err() error { return w.err }

// Reject deals with a record that the caller could not have read, for the reason
// why: it goes to dead if the job diverts, or else passes through or becomes an
// error in the job's rendering. It is counted in st.
func (w *Worker) Reject(out, dead, rec []byte, why Reason, at Position, st *Stats) (o, d []byte) {
	w.found.found, w.n.fact, w.err, w.at = found{}, Fact{}, nil, at // of another record
	return w.reject(out, dead, rec, &verdict{bad: why}, &w.at, st)
}

func (w *Worker) reject(out, dead, rec []byte, v *verdict, at *Position, st *Stats) (o, d []byte) {
	disposition := w.job.disposition(v.bad)
	if disposition == DispositionStop {
		w.err = ErrOversize
		return out, dead
	}
	countReject(v.bad, st)
	start, keeps := len(out), w.job.render.keepsRecords()
	switch disposition {
	case DispositionDead:
		st.Dead++
		return out, w.r.deadLine(dead, rec, v, at)
	case DispositionDrop:
		st.Dropped++
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
		st.Dropped++
	} else {
		st.Emitted++
	}
	return out, dead
}

// truncated returns what is left of an oversize record, or of a piece of one, in
// scratch: as many bytes as a record may have, and the line end, with which it is
// too long still for a reader with the same limit. The first piece has all of
// these bytes: a source finds a record to be oversize when it has seen so many.
func (w *Worker) truncated(rec []byte, p Piece) []byte {
	body := trimEnd(rec)
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

// A Piece says which part of an oversize record a call holds.
type Piece uint8

// The pieces.
const (
	PieceWhole  Piece = iota // all of it
	PieceFirst               // its beginning
	PieceMiddle              // neither beginning nor end
	PieceLast                // its end, with the line end if there is one
)

// Piece deals with a part of a record that is longer than the limit. Rewriting
// and extending pass the bytes through; other renderings write one object or
// line, and a job that diverts one dead line without the bytes, at the last
// piece. The record is counted there, once. at.Line is the record's, at.Off the
// offset of the piece. The dead line says where the record ends, and where it
// starts if this Worker has seen all of its pieces. If OnOversize is DispositionTruncate,
// the first piece must hold as many bytes as a record may have; if it is
// DispositionStop, Err says so at every piece.
func (w *Worker) Piece(out, dead, piece []byte, p Piece, at Position, st *Stats) (o, d []byte) {
	j := w.job
	w.n.fact, w.err, w.at = Fact{}, nil, at
	if j.onOversize == DispositionStop {
		w.err = ErrOversize
		return out, dead
	}
	if p == PieceWhole || p == PieceFirst {
		w.pieceStart = at.Off
	} else if w.pieceEnd != at.Off {
		w.pieceStart = -1
	}
	w.pieceEnd = at.Off + int64(len(piece))
	pass := j.render.keepsRecords() && j.onOversize != DispositionDead
	if pass {
		out = w.appendPiece(out, piece, p)
	}
	if p != PieceWhole && p != PieceLast {
		return out, dead
	}
	countReject(TooLong, st)
	start := len(out)
	switch {
	case j.onOversize == DispositionDead:
		st.Dead++
		return out, w.r.deadPiece(dead, &w.at, w.pieceStart, w.pieceEnd)
	case !pass:
		out = w.r.rejectItem(out, nil, TooLong, 0, &w.at)
		if len(out) == start {
			st.Dropped++
			return out, dead
		}
	}
	st.Emitted++
	return out, dead
}

// appendPiece appends what passes through of a piece.
func (w *Worker) appendPiece(out, piece []byte, p Piece) []byte {
	start := len(out)
	if w.job.onOversize == DispositionTruncate {
		return append(out, w.truncated(piece, p)...)
	}
	out = append(out, piece...)
	if w.job.redact {
		out = w.red.redactTail(out, start)
	}
	return out
}
