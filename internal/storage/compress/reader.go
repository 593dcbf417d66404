package compress

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

// Defaults of [Limits].
const (
	DefaultMaxRatio  = 1000
	DefaultMaxWindow = 128 << 20

	// ratioGrace is how much may come out before the ratio counts: a small file
	// of equal lines is no bomb.
	ratioGrace = 64 << 20
)

// Limits bound what a compressed stream may cost. They do not concern plain
// files. The zero value means the defaults.
type Limits struct {
	// MaxBytes is how many bytes may come out of one file; 0: any number.
	// Flag --max-decompressed.
	MaxBytes int64
	// MaxRatio is how many bytes may come out for one that went in, once 64 MiB
	// came out; 0: 1000; negative: any number. Flag --max-ratio.
	MaxRatio int64
	// MaxWindow is the largest window of a zstd frame and the largest dictionary
	// of an xz stream, in bytes, and so about the memory that one file takes;
	// 0: 128 MiB. Flag --max-window.
	MaxWindow int64
}

// Options say how to read. The zero value is good.
type Options struct {
	Limits Limits
	// Name is the name of the file, if it has one. A name that promises
	// compressed data (see Compressed) is never read as text.
	Name string
	// Concurrency is how many goroutines may decode a zstd stream. 0 and 1: the
	// one that calls Read.
	Concurrency int
	// RestartEvery is how many decompressed bytes should at most lie between two
	// restart points inside a gzip member, and about how many between two at the
	// ends of zstd frames if Concurrency is above 1; see Reader.RestartPoint.
	// DefaultRestartEvery is a good number. 0: there are no restart points.
	RestartEvery int64
}

// A Reader decompresses a stream. Read, Verdict and Close belong to one
// goroutine at a time; CompressedBytes and Bytes may be called from any.
type Reader struct {
	in      *input
	opt     Options
	dec     decoder
	format  Format
	verdict Verdict
	out     atomic.Int64 // from the start of the file
	done    bool

	start    RestartPoint // where this reading began
	restarts restarts
	sums     sums
	again    int64 // decompressed by ResumeAt and not delivered
}

// A decoder returns decompressed bytes. io.EOF means the clean end. A *finding
// tells what it found out; of any other error Reader.judge makes a verdict.
type decoder interface {
	Read(p []byte) (int, error)
	Close()
}

// NewReader returns a Reader of src. It reads nothing yet, and never closes src.
func NewReader(src io.Reader, opt Options) *Reader {
	if opt.Limits.MaxRatio == 0 {
		opt.Limits.MaxRatio = DefaultMaxRatio
	}
	if opt.Limits.MaxWindow == 0 {
		opt.Limits.MaxWindow = DefaultMaxWindow
	}
	r := &Reader{in: newInput(src), opt: opt}
	r.restarts.every, r.restarts.verdict, r.restarts.sums = opt.RestartEvery, &r.verdict, &r.sums
	return r
}

// Format returns the format, Plain before the first Read.
func (r *Reader) Format() Format { return r.format }

// CompressedBytes returns how many bytes were taken from the file, those before a
// restart point among them. They are up to 256 KiB ahead of what was decompressed.
func (r *Reader) CompressedBytes() int64 { return r.in.raw.n.Load() }

// Bytes returns how many decompressed bytes Read has delivered. After a resume
// it counts those before the restart point, too: it is the offset of the next byte.
func (r *Reader) Bytes() int64 { return r.out.Load() }

// Verdict returns what is known of the stream. It is final once Read has
// returned io.EOF.
func (r *Reader) Verdict() Verdict { return r.verdict }

// Err returns the error of the file that ended the stream, other than io.EOF, or
// nil. The [Verdict] is [Unreadable] then. It is final once Read has returned io.EOF.
func (r *Reader) Err() error { return r.in.raw.err }

// Close ends the goroutines of a decoder that has any. It does not close the
// file, and the Verdict stays.
func (r *Reader) Close() {
	r.done = true
	if r.dec != nil {
		r.dec.Close()
	}
}

// Read fills p with decompressed bytes. Its only error is io.EOF, at the end of
// what can be read: see Verdict. It does not keep p, and writes there without
// another buffer in between where the decoder allows it (plain, gzip).
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for !r.done {
		if r.dec == nil {
			r.open()
			r.sums.unsummed = r.sums.unsummed || r.format == Plain || r.format == Xerial
			continue
		}
		n, err := r.fill(p)
		if r.out.Load() == 0 && n > 0 {
			n, err = r.first(p, n, err)
		}
		r.out.Add(int64(n))
		if err != nil {
			r.end(err)
		} else {
			r.checkRatio()
		}
		if n > 0 {
			return n, nil
		}
	}
	return 0, io.EOF
}

// open finds the format and makes the decoder.
func (r *Reader) open() {
	if r.start.compressed > 0 {
		r.resume()
		return
	}
	head := r.in.head()
	m, found, partial := find(head)
	if !found {
		r.openPlain(head, partial)
		return
	}
	r.format = m.format
	if r.dec = r.decoder(m.format); r.dec == nil {
		r.end(&finding{Verdict{Kind: UnsupportedFormat, Cut: true, Detail: m.name + " is not supported"}})
	}
}

// decoder returns the decoder of a compressed format, at the start of the file
// or behind a member, and nil if there is none.
func (r *Reader) decoder(f Format) decoder {
	later := r.start.compressed > 0
	switch f {
	case Gzip:
		return newGzip(r.in, &r.restarts, r.note, r.start)
	case Zstd:
		return newZstd(r.in, &r.restarts, r.opt, r.note, later)
	case Bzip2:
		return newBzip2(r.in, &r.restarts)
	case XZ:
		return &xzDecoder{in: r.in, restarts: &r.restarts, note: r.note, maxDict: r.opt.Limits.MaxWindow, begun: later}
	case LZ4:
		return newLZ4(r.in, &r.restarts, r.note, later)
	case Snappy, S2:
		return newS2(r.in, &r.restarts, f, later)
	case Xerial:
		return &xerialDecoder{in: r.in, restarts: &r.restarts, begun: later}
	}
	return nil
}

// openPlain is open for a head that is no magic, but perhaps the beginning of one.
func (r *Reader) openPlain(head []byte, partial bool) {
	named := Compressed(r.opt.Name)
	switch {
	case partial && (named || !textual(head)):
		r.end(io.ErrUnexpectedEOF)
	case named && len(head) > 0:
		r.end(&finding{Verdict{Kind: UnsupportedFormat, Cut: true,
			Detail: "the name promises compressed data, but these bytes begin no format known here"}})
	default:
		r.dec = plainDecoder{r.in}
	}
}

// fill reads into p no more than the limit on bytes allows.
func (r *Reader) fill(p []byte) (int, error) {
	limit := r.opt.Limits.MaxBytes
	if limit <= 0 || r.format == Plain {
		return r.decode(p)
	}
	left := limit - r.restarts.decoded // not those of r.out: first fills more than once
	if left > 0 {
		return r.decode(p[:min(int64(len(p)), left)])
	}
	var one [1]byte // is there more than the limit, or exactly as much?
	n, err := r.decode(one[:])
	if n == 0 {
		return 0, err
	}
	return 0, r.limit(fmt.Sprintf("more than %d bytes come out (--max-decompressed, limits.max_decompressed)", limit))
}

// decode calls the decoder. A panic of one, on input that nobody thought of, is
// corrupt input.
func (r *Reader) decode(p []byte) (n int, err error) {
	defer func() {
		if e := recover(); e != nil {
			n, err = 0, fmt.Errorf("the decoder failed: %v", e)
		}
	}()
	n, err = r.dec.Read(p)
	r.restarts.decoded += int64(n)
	return n, err
}

// first looks at the first bytes of the text, p[:n], for what is no text that could
// be read: a byte order mark other than that of UTF-8, and a tar archive. Bytes that
// may be the beginning of one wait for more.
func (r *Reader) first(p []byte, n int, err error) (int, error) {
	mark := func() bool { return p[0] == 0xfe || p[0] == 0xff }
	for err == nil && (mark() && n < min(2, len(p)) || mayBeTar(p[:n]) && n < min(tarHeader, len(p))) {
		var k int
		k, err = r.fill(p[n:])
		n += k
	}
	switch {
	case mark() && n >= 2 && p[0]^p[1] == 0xfe^0xff:
		return 0, &finding{Verdict{Kind: UnsupportedEncoding, Cut: true,
			Detail: "the text begins with the byte order mark of UTF-16 or UTF-32"}}
	case IsTar(p[:n]):
		return 0, &finding{Verdict{Kind: UnsupportedFormat, Cut: true,
			Detail: "tar archives are not supported; extract the members first: tar -xOf FILE | urlfold -"}}
	}
	return n, err
}

func (r *Reader) checkRatio() {
	out, ratio := r.out.Load(), r.opt.Limits.MaxRatio
	if r.format == Plain || ratio < 0 || out <= ratioGrace || out/ratio <= r.taken() {
		return
	}
	r.end(r.limit(fmt.Sprintf("more than %d bytes come out for each that goes in (--max-ratio, limits.max_ratio)", ratio)))
}

// taken returns how much of the file the text so far was made of. Only the
// count of a decoder that works ahead is higher than that.
func (r *Reader) taken() int64 {
	if r.format == Zstd && r.opt.Concurrency > 1 {
		return r.in.raw.n.Load()
	}
	return r.in.offset()
}

func (r *Reader) limit(detail string) error {
	return &finding{Verdict{Kind: Limit, Offset: -1, Cut: true, Detail: detail}}
}

// note records a finding that does not end the stream.
func (r *Reader) note(v Verdict) {
	v.Format = r.format
	r.verdict = r.verdict.merge(v)
}

// end ends the stream with the error of a decoder.
func (r *Reader) end(err error) {
	if r.dec != nil {
		r.dec.Close() // so that nothing reads ahead while the offset is taken
	}
	r.done = true
	r.verdict.Format = r.format
	switch {
	case err != io.EOF || r.in.raw.err != nil:
		r.note(r.judge(err))
	case r.format == Bzip2 || r.format == Snappy || r.format == S2:
		r.restarts.boundary(r.format, r.in.offset(), 0) // these have shown no end of a member yet
	}
}

// judge makes a verdict of an error.
func (r *Reader) judge(err error) Verdict {
	if e := r.in.raw.err; e != nil {
		return Verdict{Kind: Unreadable, Offset: r.in.offset(), Cut: true, Detail: e.Error()}
	}
	var f *finding
	switch {
	case errors.As(err, &f):
		if f.Offset < 0 {
			f.Offset = r.in.offset()
		}
		return f.Verdict
	case errors.Is(err, io.ErrUnexpectedEOF) || r.in.short > 0:
		r.in.forget() // the bytes of a cut header, if nobody took them
		return Verdict{Kind: Truncated, Offset: r.in.offset(), Cut: true, Detail: "the file ends inside a member"}
	}
	return Verdict{Kind: Corrupt, Offset: r.in.offset(), Cut: true, Detail: err.Error()}
}

// A plainDecoder decodes nothing.
type plainDecoder struct{ in *input }

func (d plainDecoder) Read(p []byte) (int, error) { return d.in.br.Read(p) }
func (plainDecoder) Close()                       {}
