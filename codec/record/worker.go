package record

import (
	"bytes"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/params"
)

// Position is where a record stands. Name, Head and Key stay the caller's; Append
// reads them and keeps none.
type Position struct {
	Name string // of the file or stream; may be empty
	Head []byte // the stream's header record, as Framing.Head cut it
	Line int64  // number of the record's first line, from 1; 0 if unknown
	Off  int64  // offset of the record's first byte in the stream
	Key  []byte // of the message that the record is of; nil if it has none
}

// A Worker reads records and writes what the job wants of them. It is for one
// goroutine at a time; its scratch grows to the longest record and stays.
type Worker struct {
	job   *Job
	found found
	scan  scanner
	res   codec.Result // of the URL at hand
	cur   reading
	fact  Fact // of the record at hand

	// Scratch.
	text, base       []byte // unescaped; not used where the record has no escapes
	hostText         []byte // the same of the field that the job's base holds
	runs, baseRuns   []run
	full             []byte // scheme, host and target in one
	norm             []byte
	canonical        []byte       // what a key is the hash of
	key              []byte       // any short value on its way to the output
	hidden           []byte       // text with its passwords hidden
	inside           []byte       // the same, with those of URLs inside a URL
	side             []byte       // a normal form of no interest
	scrub            codec.Result // of a text that is looked at beside the URL at hand
	diagnosticBuf    []codec.Diagnostic
	pairs            []params.Pair // of the query
	telling          []param       // campaign fields or click ids
	params           urlParams
	name             []byte // of a parameter, or its value
	repaired         []byte // a normal form with its repairs, on its way to a codec again
	other, spare     []byte // the same of the next round; the one before all rounds
	mended, masked   []byte // a component of these
	savedDiagnostics []codec.Diagnostic
	savedIn          codec.URL
	plainText        []byte // as text and runs, while those are in use
	plainRuns        []run
	whole            []byte // a record with its passwords hidden
	cut              []byte // a record that was too long
	members          []byte // the values that a record is extended with
	slots            []span // where they lie there, two for each extension; see evaluate
	own              []ownMember
	ownEnd           int // offset behind the last member of the record at hand

	head       []byte // table: the header that the columns were found in
	headKnown  bool
	urlColumn  int
	baseColumn int
	hostColumn int
	err        error // of the last call
	pieceStart int64 // offset of the oversize record at hand, -1 if unknown
	pieceEnd   int64 // offset behind its last piece so far
}

// NewWorker returns a Worker of the job.
func (j *Job) NewWorker() *Worker {
	return &Worker{job: j, urlColumn: j.url.index, baseColumn: j.base.index, hostColumn: j.host.index}
}

// Next returns the length of the first record of in, line end included. If no
// line end follows, it is all of in. It is 0 if in is empty.
func (w *Worker) Next(in []byte) int {
	n := 0
	if w.job.kind == kindTable {
		n = tableRecordEnd(in, w.job.sep)
	} else {
		n = bytes.IndexByte(in, '\n') + 1
	}
	if n <= 0 {
		return len(in)
	}
	return n
}

// Lines returns how many line ends rec, one record, moves a line count by.
func (w *Worker) Lines(rec []byte) int64 {
	if w.job.kind == kindTable {
		return int64(bytes.Count(rec, lineFeed))
	}
	return 1
}

var lineFeed = []byte{'\n'}

// Append reads rec, one record with or without its line end, appends what is to
// be written of it to out, or to dead if it has no reading and the job diverts,
// and counts it in st. rec must not overlap out or dead. Nothing of rec is kept.
// If the job stops at records that are too long, Err must be asked after each call.
func (w *Worker) Append(out, dead, rec []byte, at Position, st *Stats) (o, d []byte) {
	j := w.job
	w.fact, w.err = Fact{}, nil
	if j.maxRecord > 0 && len(rec) > j.maxRecord {
		return w.Reject(out, dead, rec, TooLong, at, st)
	}
	body := trimEnd(rec)
	if isBlank(body) {
		out = w.plain(out, rec, st)
		st.Blank++
		return out, dead
	}
	if j.named && at.Off == 0 && len(at.Head) > 0 && bytes.Equal(rec, at.Head) {
		if j.render == RenderExtend {
			return w.extendHead(out, rec, st), dead
		}
		return w.plain(out, rec, st), dead
	}
	if why, pos := w.locate(body, at.Head); why != 0 {
		return w.reject(out, dead, rec, &verdict{bad: why, at: pos}, at, st)
	}
	switch j.render {
	case RenderRewrite:
		return w.rewrite(out, dead, rec, at, st)
	case RenderExtend:
		return w.extend(out, dead, rec, at, st)
	}
	return w.list(out, dead, rec, at, st)
}

// isBlank reports whether body is nothing but ASCII white space.
func isBlank(body []byte) bool {
	for _, c := range body {
		if !isSpace(c) {
			return false
		}
	}
	return true
}

// plain passes a record through that is not to be read.
func (w *Worker) plain(out, rec []byte, st *Stats) []byte {
	st.Records++
	if !w.job.render.keepsRecords() {
		st.Dropped++
		return out
	}
	st.Emitted++
	return append(out, rec...)
}

// A verdict collects what is said about one record while its URLs are read.
type verdict struct {
	urls int        // with a reading
	bad  Reason     // of the first that was rejected
	at   int        // where in the record
	flag codec.Flag // of bad, if that is Flagged
}

func (v *verdict) reject(c *reading, at int) {
	if v.bad == 0 {
		v.bad, v.at, v.flag = c.why, at, c.flag
	}
}

// close counts a record whose URLs have been read; Emitted and its like are the
// caller's.
func (w *Worker) close(v *verdict, st *Stats) {
	st.Records++
	if w.found.form != NoForm {
		st.Forms[w.found.form]++
	}
	if v.bad != 0 {
		st.Rejected++
		st.Rejects[v.bad]++
	} else if v.urls == 0 {
		st.NoURL++
	}
}

// rewrite appends the record with its URLs in normal form. A URL that is its
// own normal form keeps its bytes, however they are escaped.
func (w *Worker) rewrite(out, dead, rec []byte, at Position, st *Stats) (o, d []byte) {
	var v verdict
	start, from := len(out), 0
	for i := range w.found.n {
		s := &w.found.sites[i]
		ok := w.read(s, rec, &v, st)
		now, same := w.cur.url, true // what has no reading stays, but for its password
		if ok {
			now, same = w.cur.back, w.cur.same
		}
		if w.job.redact {
			now = w.hideAll(now)
			same = bytes.Equal(now, w.cur.url)
		}
		out, from = w.replace(out, rec, from, s, now, same)
	}
	if v.bad != 0 && w.job.divert {
		w.close(&v, st)
		st.Dead++
		return out[:start], w.deadLine(dead, rec, &v, at)
	}
	if w.job.redact {
		out = appendRedacted(out, rec[from:], false)
	} else {
		out = append(out, rec[from:]...)
	}
	w.close(&v, st)
	st.Emitted++
	return out, dead
}

// list appends what the rendering writes for each URL, the request's first.
func (w *Worker) list(out, dead, rec []byte, at Position, st *Stats) (o, d []byte) {
	var v verdict
	start := len(out)
	n := w.found.n
	swap := n == 2 && w.found.sites[0].role == roleReferer
	for i := range n {
		if swap {
			i = 1 - i
		}
		s := &w.found.sites[i]
		ok := w.read(s, rec, &v, st)
		if ok || w.cur.why != 0 {
			out = w.item(out, s, rec, at)
			w.countKeys(st)
		}
	}
	w.close(&v, st)
	switch {
	case v.bad != 0 && w.job.divert:
		st.Dead++
		return out[:start], w.deadLine(dead, rec, &v, at)
	case len(out) == start:
		st.Dropped++
	default:
		st.Emitted++
	}
	return out, dead
}
