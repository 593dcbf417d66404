package compress

import (
	"bytes"
	"errors"
	"fmt"
	"hash/adler32"
	"io"
	"sync/atomic"

	"github.com/urlfold/urlfold/internal/storage/inflate"
)

// Defaults of [Limits].
const (
	DefaultMaxRatio  = 1000
	DefaultMaxWindow = 128 << 20

	// ratioGrace is the number of decompressed bytes from which the ratio is
	// checked, because small files of identical lines have a high ratio.
	ratioGrace = 64 << 20
)

// Limits bounds the cost of reading a compressed stream. It does not apply to
// plain files. The zero value means the defaults.
type Limits struct {
	// MaxBytes is the maximum number of decompressed bytes of a file; 0: no
	// limit. Option --max-decompressed.
	MaxBytes int64
	// MaxRatio is the maximum number of decompressed bytes per compressed byte,
	// checked after 64 MiB of output; 0: 1000; negative: no limit. Option
	// --max-ratio.
	MaxRatio int64
	// MaxWindow is the maximum window of a zstd frame and the maximum
	// dictionary of an xz stream, in bytes. It is roughly the memory that
	// one file takes. 0: 128 MiB. Option --max-window.
	MaxWindow int64
}

// Options configures a Reader. The zero value is ready to use.
type Options struct {
	Limits Limits
	// Name is the name of the file, if it has one. A file whose name has the
	// extension of a compressed format (see Compressed) is read as text only if IsText
	// says so.
	Name string
	// Concurrency is the number of goroutines that may decode a zstd stream.
	// With 0 or 1, decoding runs in the goroutine that calls Read.
	Concurrency int
	// Ahead is the number of goroutines that inflate the following members of a
	// gzip file while Read returns the current member. With n of them, they
	// need up to 2*(n+2)+4 MiB of memory. They start at the second member, and
	// do not change what Read returns, nor any verdict or restart point. Read
	// inflates the members that they have not begun when it gets there. The
	// source must be a regular file, because reading ahead must not block. 0 or
	// 1: no goroutines.
	Ahead int
	// Turn says when each of these goroutines may work. nil: at any time.
	Turn Turn
	// Index, if not nil, lists places at which these goroutines can start, also
	// inside a member. No other Reader may use it at the same time.
	Index *Index
	// IndexTo, if not nil, collects the restart points inside the members of a
	// gzip file that is read from its start: see RestartEvery.
	IndexTo *IndexWriter
	// Table opens the file as a Table if it is one of the given format: Parquet
	// or Avro. If Table is nil, such files are not supported.
	Table func(f Format) (Table, error)
	// IsText reports whether a file with the first bytes head, up to 64 KiB, is
	// text although its name has the extension of a compressed format. nil: it
	// never is.
	IsText func(head []byte) bool
	// Encodings says what becomes of plain text in UTF-16 with a byte order mark, and of
	// text whose lines end in CR alone.
	Encodings Encodings
	// Archive says that the text of a tar archive is read.
	Archive bool
	// RestartEvery is the target distance in decompressed bytes between restart
	// points. It is an upper bound inside a gzip member; see Reader.RestartPoint.
	// DefaultRestartEvery is a good value. 0: no restart points.
	RestartEvery int64

	sizes      aheadSizes // sizes of an ahead; tests make them small
	dictionary []byte     // dictionary of a zstd file that is not read from its start
}

// A Reader decompresses a stream. Only one goroutine at a time may call Read,
// Verdict and Close; any goroutine may call CompressedBytes and Bytes.
type Reader struct {
	in      *input
	opt     Options
	dec     decoder
	format  Format
	coded   coding // the coding that is converted
	verdict Verdict
	out     atomic.Int64 // delivered bytes, counted from the start of the file
	done    bool

	start    RestartPoint // where this Reader began
	restarts restarts
	sums     sums
	layers   []string // formats of data that is compressed more than once
	depth    int      // number of Readers around this one, which reads such data
	again    int64    // bytes that ResumeAt decompressed but did not deliver
}

// A decoder returns decompressed bytes. After a member or block without data, it returns 0
// and no error, so that the caller can stop. It returns io.EOF at a clean end. A *finding
// carries a verdict; Reader.judge makes a verdict of any other error.
type decoder interface {
	Read(p []byte) (int, error)
	Close()
}

// NewReader returns a Reader of src. It does not read before the first Read,
// and never closes src.
func NewReader(src io.Reader, opt Options) *Reader {
	if opt.Limits.MaxRatio == 0 {
		opt.Limits.MaxRatio = DefaultMaxRatio
	}
	if opt.Limits.MaxWindow == 0 {
		opt.Limits.MaxWindow = DefaultMaxWindow
	}
	if opt.sizes == (aheadSizes{}) {
		opt.sizes = defaultSizes
	}
	r := &Reader{in: newInput(src, opt.sizes.buffer), opt: opt}
	r.restarts.every, r.restarts.verdict, r.restarts.sums = opt.RestartEvery, &r.verdict, &r.sums
	return r
}

// Format returns the detected format, or Plain before the first Read.
func (r *Reader) Format() Format { return r.format }

// Encoding returns the encoding that is converted, such as "UTF-16LE" or "CR
// line ends", or "" if none is: see [Encodings].
func (r *Reader) Encoding() string { return codingNames[r.coded] }

// CompressedBytes returns the number of bytes consumed from the file, including
// those before a restart point. It may be up to 256 KiB ahead of the
// decompressed data.
func (r *Reader) CompressedBytes() int64 { return r.in.raw.n.Load() }

// Bytes returns the number of decompressed bytes that Read has delivered, which
// is the offset of the next byte. It includes those before a restart point.
func (r *Reader) Bytes() int64 { return r.out.Load() }

// Members returns the number of complete members until now, and the offset in
// the file after the last member before any damage: see [Verification.Good].
func (r *Reader) Members() (n, good int64) { return r.restarts.members, r.restarts.good }

// Verdict returns the verdict on the stream until now. It is final once Read
// has returned io.EOF.
func (r *Reader) Verdict() Verdict { return r.verdict }

// Err returns the error of the file that ended the stream, other than io.EOF,
// or nil. If it is not nil, the [Verdict] is [Unreadable]. It is final once
// Read has returned io.EOF.
func (r *Reader) Err() error { return r.in.raw.err }

// Close stops the goroutines of the decoder, if any. It does not close the
// file, and Verdict stays valid.
func (r *Reader) Close() {
	r.done = true
	if r.dec != nil {
		r.dec.Close()
	}
}

// Read reads decompressed bytes into p. Its only error is io.EOF, at the end of
// the readable data: see Verdict. It does not retain p. The decoders of
// plain, gzip and zlib files write to p without an intermediate buffer. Between empty
// members, it may return 0 and nil, so that the caller can stop.
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for range mostEmpty {
		if r.done {
			return 0, io.EOF
		}
		if r.dec == nil {
			r.open()
			r.sums.unsummed = r.sums.unsummed || r.format == Plain || r.format == Xerial || r.format.isTable()
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
	return 0, nil
}

// mostEmpty is the number of empty members that one Read skips at most.
const mostEmpty = 1 << 10

// open detects the format and creates the decoder.
func (r *Reader) open() {
	if r.start.compressed > 0 {
		r.format = r.start.format
		r.dec = r.decoder(r.format)
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
		detail := m.name + " is not supported; extract the text first: " + extractors[m.name] + " FILE | urlfold -"
		if m.format.isTable() {
			detail = m.format.title() + " is read only by one-shot runs, from files: not from stdin, a pipe, an archive or in a daemon"
		}
		r.end(&finding{Verdict{Kind: UnsupportedFormat, Cut: true, Detail: detail}})
	}
}

// decoder returns a decoder for a format, at the start of the file
// or after a member. It returns nil for an unsupported format.
func (r *Reader) decoder(f Format) decoder {
	later := r.start.compressed > 0
	switch f {
	case Plain:
		return plainDecoder{r.in}
	case Gzip:
		return newGzip(r.in, &r.restarts, r.note, r.start, r.opt)
	case Zstd:
		return newZstd(r.in, &r.restarts, r.opt, r.note, later)
	case Bzip2:
		return newBzip2(r.in, &r.restarts, r.note, later)
	case XZ:
		return &xzDecoder{in: r.in, restarts: &r.restarts, note: r.note, maxDict: r.opt.Limits.MaxWindow, begun: later}
	case LZ4:
		return &lz4Decoder{in: r.in, restarts: &r.restarts, note: r.note, begun: later}
	case Snappy, S2:
		return newS2(r.in, &r.restarts, f, later)
	case Zlib:
		return &zlibDecoder{in: r.in, restarts: &r.restarts, note: r.note, inflate: inflate.NewReader(r.in.br, nil, 0), sum: adler32.New(), begun: later}
	case Xerial:
		return &xerialDecoder{in: r.in, restarts: &r.restarts, begun: later}
	case Parquet, Avro:
		if r.opt.Table != nil {
			return &tableDecoder{in: r.in, open: func() (Table, error) { return r.opt.Table(f) }}
		}
	}
	return nil
}

// openPlain handles a head that matches no magic; partial says that the head is a
// prefix of a magic.
func (r *Reader) openPlain(head []byte, partial bool) {
	named := Compressed(r.opt.Name)
	switch {
	case partial && (named || !textual(head)):
		r.end(io.ErrUnexpectedEOF)
	case named && len(head) > 0 && !r.isText():
		kind := Corrupt // the name promises a compressed file, but the magic bytes are missing
		if formatOf(r.opt.Name) == Unsupported {
			kind = UnsupportedFormat
		}
		r.end(&finding{Verdict{Kind: kind, Cut: true,
			Detail: "the file name has the extension of a compressed format, but the content is in no known format"}})
	default:
		r.dec = plainDecoder{r.in}
	}
}

// isText reports whether a file whose name has the extension of a compressed format is
// text all the same.
func (r *Reader) isText() bool {
	if r.opt.IsText == nil {
		return false
	}
	head, _ := r.in.br.Peek(min(textHead, r.in.br.Size()))
	return r.opt.IsText(head)
}

// textHead is how many bytes of a file IsText examines.
const textHead = 64 << 10

// fill reads into p up to the limit on decompressed bytes.
func (r *Reader) fill(p []byte) (int, error) {
	limit := r.opt.Limits.MaxBytes
	if limit <= 0 || r.format == Plain {
		return r.decode(p)
	}
	left := limit - r.restarts.decoded // not r.out, because first calls fill repeatedly
	if left > 0 {
		return r.decode(p[:min(int64(len(p)), left)])
	}
	var one [1]byte // distinguishes "more than the limit" from "exactly the limit"
	n, err := r.decode(one[:])
	if n == 0 {
		return 0, err
	}
	return 0, r.limit(sizeExceeded(limit))
}

// decode calls the decoder. It treats a panic of the decoder as corrupt input.
func (r *Reader) decode(p []byte) (n int, err error) {
	defer func() {
		if e := recover(); e != nil {
			n, err = 0, fmt.Errorf("decoder panicked: %v", e)
		}
	}()
	n, err = r.dec.Read(p)
	r.restarts.decoded += int64(n)
	return n, err
}

// first checks the first bytes of the text, p[:n], for content that cannot
// be processed: a byte order mark other than UTF-8's, a tar archive, and
// data that is compressed again. It reads more if the bytes may be the
// beginning of such content, or of lines that end in CR.
func (r *Reader) first(p []byte, n int, err error) (int, error) {
	mark := func() bool { return p[0] == 0xfe || p[0] == 0xff }
	checks := r.opt.Encodings > EncodingsAsIs && r.format == Plain
	cr := func() bool { return checks && bytes.IndexByte(p[:n], '\r') >= 0 && bytes.IndexByte(p[:n], '\n') < 0 }
	short := func(most int) bool { return n < min(most, len(p)) }
	partial := func() bool { nests, partial := r.mayNest(p[:n]); return nests || partial }
	for err == nil && (mark() && short(4) || short(textHead) && cr() || mayBeTar(p[:n]) && short(tarHeader) || short(tarHeader) && partial()) {
		var k int
		k, err = r.fill(p[n:])
		n += k
	}
	coded := codingOf(p[:n])
	if r.opt.Encodings == EncodingsConvert && r.format == Plain && coded != utf8Text && coded != utf32 {
		r.dec, r.coded = transcoder(coded, p[:n], r.in.br), coded
		return r.fill(p)
	}
	switch {
	case coded == crEnds && checks:
		return 0, &finding{Verdict{Kind: UnsupportedEncoding, Cut: true,
			Detail: `the lines end in CR alone; convert them to LF first: tr '\r' '\n' < FILE`}}
	case coded > utf8Text && coded < crEnds:
		return 0, &finding{Verdict{Kind: UnsupportedEncoding, Cut: true,
			Detail: "the text has a UTF-16 or UTF-32 byte order mark; convert it to UTF-8 first, for example with iconv"}}
	case !r.opt.Archive && IsTar(p[:n]):
		return 0, &finding{Verdict{Kind: UnsupportedFormat, Cut: true,
			Detail: "tar archives are not supported; extract the members first: tar -xOf FILE | urlfold -"}}
	}
	if nests, _ := r.mayNest(p[:n]); nests {
		if nested := r.nested(p[:n]); nested != nil {
			return 0, nested
		}
	}
	return n, err
}

func (r *Reader) checkRatio() {
	if r.format == Plain || r.format.isTable() {
		return
	}
	if out, ratio := r.out.Load(), r.opt.Limits.MaxRatio; ratio >= 0 && out > ratioGrace && out/ratio > r.taken() {
		r.end(r.limit(ratioExceeded(ratio)))
	}
}

// ratioExceeded says that the text is too long for its compressed form.
func ratioExceeded(ratio int64) string {
	return fmt.Sprintf("compression ratio exceeds %d (--max-ratio, limits.max_ratio)", ratio)
}

// sizeExceeded says that the text is too long.
func sizeExceeded(limit int64) string {
	return fmt.Sprintf("decompressed size exceeds %d bytes (--max-decompressed, limits.max_decompressed)", limit)
}

// Exceeded describes the limit that out bytes of text exceed, if they were
// decompressed from packed bytes. It returns "" if they exceed no limit.
func (l Limits) Exceeded(out, packed int64) string {
	switch {
	case l.MaxBytes > 0 && out > l.MaxBytes:
		return sizeExceeded(l.MaxBytes)
	case l.MaxRatio > 0 && out > ratioGrace && out/l.MaxRatio > packed:
		return ratioExceeded(l.MaxRatio)
	}
	return ""
}

// taken returns the number of compressed bytes that produced the text until
// now. It may be too high only for a decoder that reads ahead.
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
		r.dec.Close() // stop reading ahead before taking the offset
	}
	r.done = true
	r.verdict.Format = r.format
	switch {
	case err != io.EOF || r.in.raw.err != nil:
		r.note(r.judge(err))
	case r.format == Bzip2 || r.format == Snappy || r.format == S2:
		r.restarts.boundary(r.format, r.in.offset(), 0) // these decoders have not reported the end of the last member
	}
}

// judge turns an error into a verdict.
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
		_, _ = r.in.br.Discard(r.in.br.Buffered()) // count the bytes of an incomplete header, which no decoder consumed
		return Verdict{Kind: Truncated, Offset: r.in.offset(), Cut: true, Detail: "the file ends inside a member"}
	}
	return Verdict{Kind: Corrupt, Offset: r.in.offset(), Cut: true, Detail: err.Error()}
}

// A plainDecoder returns the input unchanged.
type plainDecoder struct{ in *input }

func (d plainDecoder) Read(p []byte) (int, error) { return d.in.br.Read(p) }
func (plainDecoder) Close()                       {}
