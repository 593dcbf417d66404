package record

import (
	"bytes"

	"github.com/urlfold/urlfold/codec"
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

// A Worker reads records and writes what the job wants of them: its Reader frames
// them, its Locator finds the URLs, its normalizer reads each, its renderer writes
// it. It is for one goroutine at a time; its scratch grows to the longest record and
// stays.
type Worker struct {
	job     *Job
	locator Locator
	adder   adder // locator, if the job extends records
	one     bool  // each record moves the line count by one
	found   Found // in the record at hand
	n       normalizer
	red     redactor
	v       values
	r       renderer

	at         Position // of the record at hand
	err        error    // of the last call
	query      []byte   // what takes the place of a query in a field of its own
	querySame  bool     // it is what stands there
	divided    bool     // it is to be written
	cut        []byte   // a record that was too long
	pieceStart int64    // offset of the oversize record at hand, -1 if unknown
	pieceEnd   int64    // offset behind its last piece so far
}

// NewWorker returns a Worker of the job.
func (j *Job) NewWorker() *Worker {
	w := &Worker{job: j, locator: j.reader.Locator()}
	if j.render == RenderExtend {
		w.adder, _ = w.locator.(adder)
	}
	_, many := j.reader.(lineCounter)
	w.one = !many
	w.n = normalizer{job: j, found: &w.found}
	w.red = redactor{job: j, found: &w.found}
	w.v = values{job: j, n: &w.n, red: &w.red}
	w.v.list = paramList{job: j, n: &w.n, red: &w.red}
	w.r = renderer{job: j, n: &w.n, red: &w.red, v: &w.v}
	return w
}

// Next returns the length of the first record of in, line end included. If no
// line end follows, it is all of in. It is 0 if in is empty.
func (w *Worker) Next(in []byte) int { return w.job.reader.Next(in) }

// Lines returns how many line ends rec, one record, moves a line count by.
func (w *Worker) Lines(rec []byte) int64 {
	if w.one {
		return 1
	}
	return int64(bytes.Count(rec, lineFeed))
}

var lineFeed = []byte{'\n'}

// Append reads rec, one record with or without its line end, appends what is to
// be written of it to out, or to dead if it has no reading and the job diverts,
// and counts it in st. rec must not overlap out or dead. Nothing of rec is kept.
// If the job stops at records that are too long, Err must be asked after each call.
func (w *Worker) Append(out, dead, rec []byte, at Position, st *Stats) (o, d []byte) {
	j := w.job
	w.n.fact, w.err, w.at = Fact{}, nil, at
	if j.maxRecord > 0 && len(rec) > j.maxRecord {
		return w.Reject(out, dead, rec, TooLong, at, st)
	}
	body := trimEnd(rec)
	if isBlank(body) {
		st.Blank++
		return w.plain(out, rec, st), dead
	}
	w.found.found = found{}
	why, pos := w.locator.Locate(&w.found, body, &w.at)
	switch {
	case why != 0:
		return w.reject(out, dead, rec, &verdict{bad: why, at: pos}, &w.at, st)
	case w.found.passes && j.render == RenderExtend:
		st.Records++
		st.Emitted++
		return w.adder.addNames(out, rec), dead
	case w.found.passes:
		return w.plain(out, rec, st), dead
	case j.render == RenderRewrite:
		return w.rewrite(out, dead, rec, &w.at, st)
	case j.render == RenderExtend:
		return w.extend(out, dead, rec, &w.at, st)
	}
	return w.list(out, dead, rec, &w.at, st)
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
	if v.bad != 0 {
		st.Rejected++
		st.Rejects[v.bad]++
	} else if v.urls == 0 {
		st.NoURL++
	}
}

// rewrite appends the record with its URLs in normal form. A URL that is its
// own normal form keeps its bytes, however they are escaped.
func (w *Worker) rewrite(out, dead, rec []byte, at *Position, st *Stats) (o, d []byte) {
	var v verdict
	start, from := len(out), 0
	for i := range w.found.n {
		s := &w.found.sites[i]
		if s.role == roleQuery {
			if w.divided {
				out, from = w.red.replace(out, rec, from, s, w.query, w.querySame)
			}
			continue
		}
		ok := w.n.read(s, rec, &v, st)
		now, same := w.n.cur.url, true // what has no reading stays, but for its password
		if ok {
			now, same = w.n.cur.back, w.n.cur.same
		}
		if w.job.redact {
			now = w.red.hideAll(now)
			same = bytes.Equal(now, w.n.cur.url)
		}
		if s.query > 0 {
			if now, same = w.divide(rec, s, now, same, st); !w.divided {
				continue
			}
		}
		out, from = w.red.replace(out, rec, from, s, now, same)
	}
	if v.bad != 0 && w.job.divert {
		w.close(&v, st)
		st.Dead++
		return out[:start], w.r.deadLine(dead, rec, &v, at)
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

// divide returns what is to be written where the URL at s stands, whose query has a
// field of its own, and keeps what that gets. If now does not fit in, w.divided is
// false: both fields stay as they are.
func (w *Worker) divide(rec []byte, s *site, now []byte, same bool, st *Stats) ([]byte, bool) {
	if same {
		w.divided, w.querySame = true, true
		return now, true
	}
	path, query, ok := w.n.divide(rec, s, now)
	if w.divided = ok; !ok {
		st.Unwritten++
		return now, true
	}
	url := w.n.cur.url
	w.query = append(w.query[:0], query...) // the referer is read before it is written
	w.querySame = bytes.HasSuffix(url, query) && len(url)-len(query) >= w.n.joint && len(url)-len(query) <= w.n.joint+1
	return path, bytes.Equal(path, url[:w.n.joint])
}

// list appends what the rendering writes for each URL, the request's first.
func (w *Worker) list(out, dead, rec []byte, at *Position, st *Stats) (o, d []byte) {
	var v verdict
	start := len(out)
	sites := w.found.sites[:w.found.n]
	first := len(sites) > 1 && sites[0].role == roleReferer // it is written last
	for i := range sites {
		s := &sites[i]
		if first {
			s = &sites[(i+1)%len(sites)]
		}
		if s.role == roleQuery {
			continue
		}
		ok := w.n.read(s, rec, &v, st)
		if ok || w.n.cur.why != 0 {
			out = w.r.item(out, s, rec, at)
			w.n.countKeys(st)
		}
	}
	w.close(&v, st)
	switch {
	case v.bad != 0 && w.job.divert:
		st.Dead++
		return out[:start], w.r.deadLine(dead, rec, &v, at)
	case len(out) == start:
		st.Dropped++
	default:
		st.Emitted++
	}
	return out, dead
}
