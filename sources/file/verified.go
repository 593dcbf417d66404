package file

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/urlfold/urlfold/internal/storage/compress"
)

// This file determines which part of a compressed text its checksums verify, and
// handles the rest. As reading compares checksums, compress.Reader.Verified grows. The
// cutter ends batches at that offset (see cutter.sums), so that a lane can count its
// verified records. There are two ways to keep the unverified ones out of the outputs:
//
//   - Hold: emit, hold the lane, and withdraw the unverified part when damage
//     is found. The sinks must be able to truncate their outputs.
//   - Read twice: examine the file first, then emit only the verified part.

// An Extent is the size of a part of a text in bytes and lines. An incomplete
// last line counts as a line.
type Extent struct{ Bytes, Lines int64 }

// An examination is the result of reading a whole compressed file.
type examination struct {
	verdict    compress.Verdict
	format     compress.Format
	compressed int64 // bytes read of the file
	bytes      int64 // bytes of decompressed text
	verified   int64 // verified bytes of the text, from its beginning
	unsummed   bool  // checksums do not cover all of the file
	err        error // the read error that ended the examination
}

// limit returns how many bytes of the text may be emitted.
func (e *examination) limit() int64 {
	if e.verdict.Damage() {
		return e.verified
	}
	return e.bytes
}

// examine reads all of zr. It returns errStopped when ctx is done. If the file
// is not compressed, examine returns nil after the first read, unless that read
// finds damage.
func examine(ctx context.Context, zr *compress.Reader) (*examination, error) {
	buf := make([]byte, pumpBytes)
	for {
		_, err := zr.Read(buf)
		switch {
		case ctx.Err() != nil:
			return nil, errStopped
		case err == nil && zr.Format() == compress.Plain:
			return nil, nil
		case err == nil:
			continue
		}
		e := &examination{verdict: zr.Verdict(), format: zr.Format(), compressed: zr.CompressedBytes(), bytes: zr.Bytes(), err: zr.Err()}
		off, summed := zr.Verified()
		e.verified, e.unsummed = off, !summed
		if e.format == compress.Plain && !e.verdict.Damage() {
			return nil, nil
		}
		return e, nil
	}
}

// A text is the readable part of a compressed file from an offset on.
type text struct {
	open func() (io.ReadSeeker, func() error, error) // the file, and a function that closes it
	from compress.RestartPoint                       // the restart point at or before off
	off  int64                                       // offset in the decompressed stream
	opt  compress.Options
}

// Open returns a reader of the text.
func (t *text) Open() (io.ReadCloser, error) {
	f, shut, err := t.open()
	if err != nil {
		return nil, err
	}
	zr, err := compress.ResumeAt(f, t.from, t.off, t.opt)
	if err != nil {
		_ = shut() // opened for reading only
		return nil, err
	}
	return &openText{zr: zr, shut: shut}, nil
}

// An openText is a reader of a text.
type openText struct {
	zr   *compress.Reader
	shut func() error
}

func (o *openText) Read(p []byte) (int, error) { return onlyRead{o.zr}.Read(p) }

// Close implements io.Closer.
func (o *openText) Close() error {
	o.zr.Close()
	return o.shut()
}

// A survey counts the lines of a text.
type survey struct {
	before Extent // lines that end at or before the border
	Extent        // the lines that follow
	misfit int64  // number of the first line after the border that does not fit the format, from 1; 0: all fit
}

// A judge decides which lines fit the format. It sees them in order. head is
// the header in force where the text begins; a header in the text replaces it.
type judge struct {
	framing Framing
	newFit  func(head []byte) func(line []byte) bool // for head; nil: not created yet
	head    []byte
	fits    func(line []byte) bool // nil: not made for head yet
}

// see updates the header from a line and reports whether the line is a header.
// first says that the line is the first line of a file.
func (j *judge) see(line []byte, first bool) bool {
	var head []byte
	if d, ok := j.framing.(director); ok {
		head = d.Directive(j.head, line)
	} else if first {
		head = line[:j.framing.Head(line)]
	}
	if len(head) > 0 && !bytes.Equal(head, j.head) {
		j.head, j.fits = bytes.Clone(head), nil
	}
	return len(head) > 0
}

// fit reports whether a line fits the format.
func (j *judge) fit(line []byte) bool {
	if j.newFit == nil {
		return true
	}
	if j.fits == nil {
		j.fits = j.newFit(j.head)
	}
	return j.fits(line)
}

// take reads a whole text and counts its lines. border is an offset in the
// text. take does not consult j after the first line that does not fit, nor for
// lines longer than takeBlock or cut by the damage.
func take(ctx context.Context, t *text, border int64, j *judge) (s survey, err error) {
	r, err := t.Open()
	if err != nil {
		return s, err
	}
	defer func() { _ = r.Close() }() // opened for reading only
	br := bufio.NewReaderSize(r, takeBlock)
	var begin, end int64 // offsets of the current line
	for {
		block, err := br.ReadSlice('\n')
		end += int64(len(block))
		header := begin < end && s.misfit == 0 && j.see(block, t.off == 0 && begin == 0)
		switch {
		case ctx.Err() != nil:
			return s, errStopped
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case begin == end:
			return s, nil
		case end <= border && err == nil:
			s.before = Extent{Bytes: end, Lines: s.before.Lines + 1}
		default:
			s.Bytes, s.Lines = s.Bytes+end-begin, s.Lines+1
			if s.misfit == 0 && err == nil && !header && end-begin == int64(len(block)) && !j.fit(block) {
				s.misfit = s.Lines
			}
		}
		if begin = end; err != nil {
			return s, nil
		}
	}
}

// takeBlock is the longest line, in bytes, that is checked against the format.
const takeBlock = 1 << 20

// fill completes the report on a damaged file whose verified part is known.
// s is the survey of the rest, and emitted the number of emitted lines.
func (r *Report) fill(s survey, emitted int64) {
	if s.misfit > 0 {
		r.Misfit = r.Verified.Lines + s.misfit
	}
	if r.Unverified = s.Extent; !r.Withheld {
		r.Unverified = Extent{Bytes: r.Bytes - r.Lost - r.Verified.Bytes, Lines: emitted - r.Verified.Lines}
	}
}

// Code returns the name of the verdict, or "lost" for an undamaged file that
// was not read completely, because it was removed or truncated.
func (r *Report) Code() string {
	if r.Gone > 0 && !r.Verdict.Damage() {
		return lostVerdict
	}
	return r.Verdict.Kind.String()
}

const lostVerdict = "lost"

// Text returns the verdict, and for a damaged file which of its lines are
// verified.
func (r *Report) Text() string {
	text := r.Verdict.String()
	if !r.Verdict.Damage() || r.Format == compress.Plain || r.Verdict.Kind == compress.OpenQuote {
		return text
	}
	switch v, u := r.Verified.Lines, r.Unverified.Lines; {
	case v == 0 && u == 0:
		return text
	case v == 0:
		text += fmt.Sprintf("; lines 1 to %d are unverified", u)
	case u == 0:
		text += fmt.Sprintf("; lines 1 to %d are verified, the rest cannot be read", v)
	default:
		text += fmt.Sprintf("; lines 1 to %d are verified, lines %d to %d are unverified", v, v+1, v+u)
	}
	if r.Misfit > 0 {
		text += fmt.Sprintf(" (the first one that does not fit the format is probably line %d)", r.Misfit)
	}
	return text
}

// membersOnly is a RestartEvery that keeps restart points at the ends of
// members only; these cost nothing.
const membersOnly = math.MaxInt64
