package record

import (
	"bytes"
	"cmp"
	"math"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
	"github.com/urlfold/urlfold/internal/record/internal/table"
	"github.com/urlfold/urlfold/internal/record/internal/wire"
)

// Worker reads records and writes the job's output for them. Its Reader frames
// the records, its Locator finds the URLs, its normalizer reads each URL, and
// its renderer writes the result. A Worker is not safe for concurrent use. Its
// scratch memory grows to the size of the longest record and is not released.
type Worker struct {
	job     *Job
	locator Locator
	adder   locate.Adder // locator, if the job adds fields
	keeper  keeper       // locator, if it is one and the job can use it; otherwise nil
	plan    *plan        // of records with targets in normal form; nil if they are copied
	keyHits codec.Rules  // rules of keys to count for each record whose URL does not change
	longest int          // if the keeper keeps a record of at most this length, the record is only copied or left out; 0 if there is a plan
	one     bool         // every record counts as one line
	holes   bool         // a hole may be before a record
	each    bool         // fields line and offset give the position of the URL, not of the record
	found   Found        // URLs in the current record
	n       normalizer
	red     redactor
	v       values
	r       renderer
	view    View

	at        Position // position of the current record
	atURL     Position // position of the current URL, if each is set
	lines     int      // offset in the record up to which atURL.Line counts lines
	err       error    // error of the last call
	to        uint64   // set of outputs for the current record, if the job has a route
	foreign   bool     // the current record belongs to another shard
	adding    adding   // what the adder adds
	pieces    pieces   // replacements for the parts of a URL in several fields
	resizer   resizer  // writes binary records
	secrets   secrets  // secrets of the job
	cut       []byte   // scratch for truncated records
	uncounted Stats    // scratch for counts that belong to another shard
}

// NewWorker returns a new Worker for the job.
func (j *Job) NewWorker() *Worker {
	w := &Worker{job: j, locator: j.reader.Locator()}
	if j.render == RenderExtend {
		w.adder, _ = w.locator.(locate.Adder)
	}
	w.keeper = j.keeperOf(w.locator)
	w.found.Attrs.Wanted = j.reads&ofAttrs != 0
	for f := range numFields {
		if (j.reads & canLack).has(f) {
			w.found.Attrs.Needed |= 1 << attrOf(f)
		}
	}
	w.view = View{w: w}
	_, many := j.reader.(locate.LineCounter)
	_, rows := j.reader.(QuoteFraming)
	w.one, w.holes = !many, !many || rows
	_, w.each = j.reader.(locate.Extractor)
	w.secrets.set(j.secrets)
	w.n = normalizer{job: j, found: &w.found, secrets: &w.secrets, tells: j.keeps.where != nil || j.wants&besideURL != 0}
	w.n.baseKept = w.keeper != nil && j.originKept()
	if w.keeper != nil && j.id.on {
		w.n.copyKey = j.identityKey()
	}
	w.red = redactor{job: j, found: &w.found, secrets: &w.secrets, masker: j.patterns.NewMasker()}
	w.red.divider, _ = w.locator.(locate.Divider)
	w.v = values{job: j, n: &w.n, red: &w.red}
	w.v.list = paramList{job: j, n: &w.n, red: &w.red}
	w.r = renderer{job: j, n: &w.n, red: &w.red, v: &w.v}
	if j.render != RenderRewrite && w.keeper != nil {
		if w.plan = w.newPlan(); w.plan == nil {
			w.keeper = nil
		}
	}
	if w.keeper != nil {
		w.n.walk.Marks = w.keeper.Marks()
	}
	w.keyHits = w.hitsOfKeys()
	if w.plan == nil {
		w.longest = cmp.Or(j.maxRecord, math.MaxInt)
	}
	return w
}

// Next returns the length of the first record of in, including its line end. It
// returns len(in) if there is no line end, and so 0 if in is empty. Pass the
// record to Append unchanged.
func (w *Worker) Next(in []byte) int {
	if l := &w.n.located; l.begins(in) {
		return l.line.len
	}
	return w.job.reader.Next(in)
}

// Lines returns the number of lines by which the record rec advances a line
// count.
func (w *Worker) Lines(rec []byte) int64 {
	if w.one && locate.HoleLen(rec) < len(rec) || w.n.located.line.take(rec) {
		return 1
	}
	return int64(bytes.Count(rec, locate.LineFeed))
}

// Append reads rec, one record with or without its line end. It appends the
// output to out or, if the record cannot be parsed and the job diverts such
// records, a dead letter to dead, and counts the record in st. It returns the
// extended slices. rec must not overlap out or dead; Append does not retain it.
// Call Err after each call if OnOversize is DispositionStop or the format has
// schemas.
func (w *Worker) Append(out, dead, rec []byte, at Position, st *Stats) (o, d []byte) {
	j := w.job
	w.begin(&at)
	if w.holes && len(rec) > 0 && !at.Message && locate.HoleLen(rec) == len(rec) {
		return w.hole(out, rec, st), dead
	}
	if j.maxRecord > 0 && len(rec) > j.maxRecord {
		return w.Reject(out, dead, rec, TooLong, at, st)
	}
	body := rec
	if j.lengths == nil {
		body = locate.TrimEnd(rec)
		if locate.IsBlank(body[w.mark(body):]) {
			return w.blank(out, rec, st), dead
		}
	}
	why, pos := w.locate(body)
	switch {
	case why != 0 && w.found.Err != nil:
		w.err, w.found.Err = w.found.Err, nil
		return out, dead
	case why != 0:
		return w.reject(out, dead, rec, &verdict{bad: why, at: pos}, &w.at, st)
	case w.found.Passes:
		return w.pass(out, rec, st), dead
	case j.Binary():
		return w.rewriteBinary(out, dead, rec, &w.at, st)
	case j.render == RenderRewrite:
		return w.rewrite(out, dead, rec, &w.at, st)
	case j.render == RenderExtend:
		return w.extend(out, dead, rec, &w.at, st)
	}
	return w.list(out, dead, rec, &w.at, st)
}

// locate finds the URLs of a record.
func (w *Worker) locate(body []byte) (why Reason, pos int) {
	if l := &w.n.located; l.body.take(body) {
		return l.why, l.pos
	}
	w.found.Reset()
	mark := w.mark(body)
	if mark == 0 {
		return w.locator.Locate(&w.found, body, &w.at)
	}
	why, pos = w.locator.Locate(&w.found, body[mark:], &w.at)
	w.found.Move(func(at int) int { return at + mark })
	if l, ok := w.locator.(mover); ok {
		l.Move(mark)
	}
	return why, pos + mark
}

// mover is implemented by Locators that remember positions in a record until
// its fields are added. Move adds n to these positions.
type mover interface{ Move(n int) }

// mark returns the length of the byte order mark at the start of the record, if
// the record is the first of a stream. A document keeps the mark, because the mark
// determines the encoding.
func (w *Worker) mark(body []byte) int {
	if w.at.Off != 0 || w.at.Message || w.each || w.job.lengths != nil {
		return 0
	}
	return locate.MarkLen(body)
}

// begin prepares w for the record at at. Binary records have no lines.
func (w *Worker) begin(at *Position) {
	w.n.fact, w.err, w.at, w.to, w.foreign = facts{}, nil, *at, everywhere, false
	if w.job.lengths != nil {
		w.at.Line = 0
	}
}

// pass copies a header or directive, with the names of the fields that the
// rendering extend adds.
func (w *Worker) pass(out, rec []byte, st *Stats) []byte {
	if w.job.keeps.shard != nil && !w.job.keeps.shard.first {
		st = &w.uncounted
	}
	st.Heads++
	if w.job.dropHeader {
		st.Records++
		st.Dropped++
		return out
	}
	if w.job.render != RenderExtend {
		return w.plain(out, rec, st)
	}
	st.Records++
	st.Emitted++
	return w.adder.AddNames(out, rec)
}

// plain copies a record that is not to be read, if the rendering writes whole
// records.
func (w *Worker) plain(out, rec []byte, st *Stats) []byte {
	st.Records++
	if !w.job.render.KeepsRecords() {
		st.Dropped++
		return out
	}
	st.Emitted++
	if _, ok := w.job.reader.(*table.Reader); w.job.redact && !ok { // redaction leaves the names of columns as they are
		return w.red.appendText(out, rec)
	}
	return append(out, rec...)
}

// verdict collects the results for one record while its URLs are read.
type verdict struct {
	urls int        // number of URLs that could be parsed
	bad  Reason     // reason of the first rejected URL
	at   int        // offset of that URL in the record
	flag codec.Flag // the flag, if bad is Flagged

	asked bool // the condition has decided
	left  bool // the condition drops the record

	unnamed bool // a URL has no identity, so the record has none either
}

func (v *verdict) reject(c *reading, at int) {
	if v.bad == 0 {
		v.bad, v.at, v.flag = c.why, at, c.flag
	}
}

// close counts a record after its URLs have been read. The caller counts it in
// Emitted, Dropped or Dead.
func (w *Worker) close(v *verdict, st *Stats) {
	st.Records++
	st.Skipped += int64(w.found.Skipped)
	if v.bad != 0 {
		w.n.fact.Identity = codec.Key{}
		st.Rejected++
		st.Rejects[v.bad]++
	} else if v.urls == 0 {
		st.NoURL++
	}
}

// conclude decides about a record whose URLs have been read. It returns done if nothing
// else is written: the condition drops the record, or the record is rejected, with a dead
// letter or without. Otherwise the caller must call close.
func (w *Worker) conclude(dead, rec []byte, v *verdict, at *Position, st *Stats) (_ []byte, done bool) {
	if w.job.keeps.where != nil {
		if !v.asked {
			v.left = !w.keepsBare(rec)
		}
		w.view.count(st)
		if v.left {
			w.filter(st)
			return dead, true
		}
	}
	if v.bad == 0 || w.job.rejects.on == DispositionPass {
		return dead, false
	}
	w.close(v, st)
	if w.job.rejects.on == DispositionDrop {
		st.drop(v.bad)
		return dead, true
	}
	st.Dead++
	return w.r.deadLine(dead, rec, v, at), true
}

// rewrite appends the record with its URLs in normal form. A URL that is
// already in normal form keeps its bytes, however they are escaped.
func (w *Worker) rewrite(out, dead, rec []byte, at *Position, st *Stats) (o, d []byte) {
	var v verdict
	start, from := len(out), 0
	if w.found.Split {
		w.readParts(rec, &v, st)
	} else if w.job.keeps.where != nil && refersFirst(&w.found) {
		w.askAhead(rec, &v)
	}
	for i := range w.found.N {
		s := &w.found.Sites[i]
		if w.found.Split && s.Role != locate.RoleReferer {
			if w.pieces.fit {
				out, from = w.red.replace(out, rec, from, s, w.pieces.text[s.Role], !w.pieces.changed[s.Role])
			}
			continue
		}
		ok := w.read(s, rec, &v, st)
		if v.left {
			break
		}
		now, same := w.n.cur.url, true // a URL that cannot be parsed stays, except for its password
		if ok {
			now, same = w.n.cur.back, w.n.cur.same
		}
		if w.job.redact {
			now = w.red.hideAll(now)
			same = bytes.Equal(now, w.n.cur.url) && (!ok || w.n.cur.entity == 0)
		} else if same {
			continue
		}
		out, from = w.red.replace(out, rec, from, s, now, same)
	}
	if v.bad != 0 || w.job.keeps.where != nil {
		if dead, done := w.conclude(dead, rec, &v, at, st); done {
			return out[:start], dead
		}
	}
	if w.job.redact {
		out = w.red.appendBeside(out, rec, from, len(rec))
	} else {
		out = append(out, rec[from:]...)
	}
	if len(w.found.Lengths) > 0 {
		wire.Resize(&w.found, out[start:], rec)
	}
	w.close(&v, st)
	st.Emitted++
	return out, dead
}

// list appends the rendering's output for each URL, the request first.
func (w *Worker) list(out, dead, rec []byte, at *Position, st *Stats) (o, d []byte) {
	var v verdict
	start := len(out)
	w.atURL, w.lines = *at, 0
	out = w.expand(out, rec)
	out = w.listSites(out, rec, at, &v, st, false)
	if w.found.N > 1 || w.found.N == 1 && w.found.Sites[0].Role == locate.RoleReferer {
		out = w.listSites(out, rec, at, &v, st, true)
	}
	w.n.expansion = expansion{}
	if dead, done := w.conclude(dead, rec, &v, at, st); done {
		return out[:start], dead
	}
	w.close(&v, st)
	if len(out) == start {
		st.drop(v.bad)
	} else {
		st.Emitted++
	}
	return out, dead
}

// listSites appends the rendering's output for the referer or for all other
// URLs.
func (w *Worker) listSites(out, rec []byte, at *Position, v *verdict, st *Stats, referer bool) []byte {
	for i := range w.found.N {
		s := &w.found.Sites[i]
		if s.Role.IsPart() || (s.Role == locate.RoleReferer) != referer {
			continue
		}
		ok := w.read(s, rec, v, st)
		if v.left {
			break
		}
		if ok || w.n.cur.why != 0 {
			out = w.item(out, s, rec, w.position(s, rec, at), st)
			w.n.countKeys(st)
		}
	}
	return out
}

// position returns the position for the fields of the URL at s: the record's
// position at, or in documents the position of the URL. The sites of a document
// must come in the order of their offsets.
func (w *Worker) position(s *locate.Site, rec []byte, at *Position) *Position {
	if !w.each {
		return at
	}
	if !at.Message {
		w.atURL.Off = at.Off + int64(s.Start)
	}
	if w.atURL.Line > 0 {
		w.atURL.Line += int64(bytes.Count(rec[w.lines:s.Start], locate.LineFeed))
		w.lines = s.Start
	}
	return &w.atURL
}
