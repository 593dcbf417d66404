package record

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"iter"

	"github.com/urlfold/urlfold/internal/record"
)

// A Reader reads the records of a stream. It is used by one goroutine. Once its buffers are
// as large as the largest block and record, it allocates nothing for a record.
type Reader struct {
	src    io.Reader
	job    Job
	config record.Config
	guess  Guess

	engine   *record.Job // nil: not open yet
	visit    *record.Visit
	director record.Director
	rec      Record
	writers  [2]writer // writers of AppendRewrite and AppendJSON

	buf   []byte
	from  int    // offset of the next record
	cut   int    // end of the whole records in buf
	ended bool   // src has ended or failed: buf holds the rest
	fail  error  // why src has failed
	err   error  // why there are no more records; io.EOF at the end
	head  []byte // header, or directive in force
	at    record.Position
	skip  bool  // the rest of a long record is to be skipped
	left  int64 // length of the rest of the record, if known

	values []byte // what Field has returned for the record
}

// NewReader returns a Reader of r, which is text or binary records that are not
// compressed: see package sources/logs for files. A nil Job is the zero Job;
// the Reader copies *j. Records returns an error in the job instead of the
// first record.
func NewReader(r io.Reader, j *Job) *Reader {
	x := &Reader{src: r}
	if j != nil {
		x.job = *j
	}
	x.rec.r = x
	return x
}

// Records returns the records that have not been read yet. The last pair has an error and
// no Record if a setting is invalid, the format cannot be detected, or r fails; records
// before the failure come first, except a record that may be incomplete. A damaged or
// unknown record is not an error: see [Record.Reason]. A Record is valid until the next
// record is read.
func (r *Reader) Records() iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		for r.next() {
			if !yield(&r.rec, nil) {
				return
			}
		}
		if r.err != io.EOF {
			yield(nil, r.err)
		}
	}
}

// Guess returns the format of the records, and how many of the first records fit the
// format, if it was detected. It is the zero Guess before the first record.
func (r *Reader) Guess() Guess { return r.guess }

// next reads the next record.
func (r *Reader) next() bool {
	for r.err == nil {
		switch {
		case r.engine == nil:
			r.err = r.open()
		case r.skip:
			r.pass()
		case r.from < r.cut:
			n := r.visit.Next(r.buf[r.from:r.cut])
			if n > r.config.MaxRecord {
				return r.reject(n)
			}
			return r.take(r.buf[r.from:][:n])
		case r.divide():
		case r.ended:
			r.err = r.end()
		case len(r.buf)-r.from > r.limit():
			r.skip, r.left = true, 0
			if f, ok := r.engine.Framing().(record.LengthFraming); ok {
				r.left = max(0, f.Length(r.buf[r.from:])-int64(r.config.MaxRecord))
			}
			return r.reject(r.config.MaxRecord)
		default:
			r.fill()
		}
	}
	return false
}

// end returns why there are no more records at the end of the stream.
func (r *Reader) end() error { return cmp.Or(r.fail, io.EOF) }

// limit returns how many bytes are enough to decide that a record is too long.
func (r *Reader) limit() int {
	if q, ok := r.engine.Framing().(record.QuoteFraming); ok {
		return r.config.MaxRecord + q.MaxQuoted()
	}
	return r.config.MaxRecord
}

// divide finds the whole records that buf holds.
func (r *Reader) divide() bool {
	block := r.buf[r.from:]
	r.cut = r.from + r.engine.Framing().Cut(block)
	if r.cut == r.from && r.ended && r.fail == nil {
		r.cut = len(r.buf)
	}
	return r.cut > r.from
}

// fill reads more of the stream.
func (r *Reader) fill() {
	n := copy(r.buf, r.buf[r.from:])
	r.buf, r.cut, r.from = r.buf[:n], 0, 0
	if n == cap(r.buf) {
		r.buf = append(make([]byte, 0, max(2*n, sample)), r.buf...)
	}
	for range 100 {
		k, err := r.src.Read(r.buf[n:cap(r.buf)])
		r.buf = r.buf[:n+k]
		if r.ended = err != nil; r.ended && err != io.EOF {
			r.fail = err
		}
		if r.ended || k > 0 {
			return
		}
	}
	r.ended, r.fail = true, io.ErrNoProgress
}

// sample is the number of bytes that detection of the format reads.
const sample = 64 << 10

// open prepares for the first record.
func (r *Reader) open() error {
	var err error
	if r.config.Normalizer == nil {
		if r.config, err = r.job.engine(); err != nil {
			return err
		}
		r.at = record.Position{Name: r.job.Name, Line: 1}
	}
	if r.job.Format == "" {
		if !r.ended && len(r.buf) < sample && bytes.Count(r.buf, lineEnd) <= 50 {
			r.fill()
			return nil
		}
		if len(bytes.TrimSpace(r.buf)) == 0 && r.ended {
			return r.end()
		}
		if r.guess, err = Detect(r.buf, r.job.Formats...); err != nil {
			return cmp.Or(r.fail, err)
		}
		r.config.Format = r.guess.Format
	}
	if r.guess.Format = r.config.Format; r.guess.Format == "avro" {
		return errors.New("the format avro is for single messages with a schema registry; package sources/logs reads Avro files")
	}
	job, visit, err := r.config.NewVisit()
	if err != nil {
		return explain(err)
	}
	n := job.Framing().Head(r.buf)
	if r.ended && (len(r.buf) == 0 || n == 0 && r.fail != nil && job.CheckHead(nil) != nil) {
		return r.end()
	}
	if n == 0 && !r.ended && len(r.buf) <= r.config.MaxRecord && job.Framing().Cut(r.buf) == 0 {
		r.fill()
		return nil
	}
	if n == 0 && r.ended && job.CheckHead(nil) != nil {
		n = len(r.buf) // a header without a line end
	}
	if n > 0 {
		r.head = bytes.Clone(r.buf[:n])
	}
	if err := job.CheckHead(r.head); err != nil {
		return explain(err)
	}
	r.engine, r.visit = job, visit
	r.director, _ = job.Framing().(record.Director)
	return nil
}

// take makes rec the current record.
func (r *Reader) take(rec []byte) bool {
	r.advance(rec, len(rec))
	if r.err = r.visit.Read(rec, &r.rec.at); r.err != nil {
		return false
	}
	r.at.Line += r.visit.Lines(rec)
	if r.director != nil {
		if d := r.director.Directive(r.head, rec); d != nil {
			r.head = bytes.Clone(d)
		}
	}
	return true
}

// reject makes the next n bytes, a record that is too long or its beginning, the current
// record.
func (r *Reader) reject(n int) bool {
	whole := r.buf[r.from:][:n]
	rec := whole[:r.config.MaxRecord]
	r.advance(rec, n)
	r.at.Line += int64(bytes.Count(whole, lineEnd))
	r.visit.Reject(rec, record.TooLong, &r.rec.at)
	return true
}

// advance moves past a record of n bytes, which starts with rec.
func (r *Reader) advance(rec []byte, n int) {
	r.rec.at, r.rec.bytes = r.at, rec
	r.rec.at.Head = r.head
	r.values = r.values[:0]
	r.from += n
	r.at.Off += int64(n)
}

var lineEnd = []byte{'\n'}

// pass skips the next part of a record that is too long.
func (r *Reader) pass() {
	block := r.buf[r.from:]
	n, ends := len(block), false
	f, length := r.engine.Framing().(record.LengthFraming)
	switch {
	case r.left > 0:
		n = int(min(r.left, int64(n)))
		r.left -= int64(n)
		ends = r.left == 0
	case length:
		n, ends = f.Resync(block)
	default:
		if i := bytes.IndexByte(block, '\n') + 1; i > 0 {
			n, ends = i, true
		}
	}
	r.at.Off += int64(n)
	r.at.Line += int64(bytes.Count(block[:n], lineEnd))
	r.from += n
	r.cut = r.from
	switch r.skip = !ends; {
	case ends:
	case r.ended:
		r.err = r.end()
	default:
		r.fill()
	}
}

// A writer writes records in an output format, for AppendRewrite or AppendJSON.
type writer struct {
	w   *record.Worker
	err error
	st  record.Stats
}

// write appends what the engine writes for the current record.
func (r *Reader) write(dst []byte, w *writer, render record.Render) ([]byte, error) {
	if w.w == nil && w.err == nil {
		c := r.config
		c.Render = render
		c.Fields = r.job.fields()
		job, err := record.New(c)
		if err != nil {
			w.err = explain(err)
		} else {
			w.w = job.NewWorker()
		}
	}
	if w.err != nil {
		return dst, w.err
	}
	if why, _ := r.visit.Why(); why == record.TooLong {
		if render == record.RenderRewrite {
			return dst, errors.New("cannot write a record that is longer than the limit: set MaxRecord")
		}
		dst, _ = w.w.Reject(dst, nil, r.rec.bytes, why, r.rec.at, &w.st)
		return dst, nil
	}
	start := len(dst)
	if dst, _ = w.w.Append(dst, nil, r.rec.bytes, r.rec.at, &w.st); w.w.Err() != nil {
		return dst[:start], w.w.Err()
	}
	return dst, nil
}
