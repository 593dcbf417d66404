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

// This file is about which part of a compressed text its checksums verify, and what
// becomes of the rest. Reading compares the checksums: compress.Reader.Verified
// grows. The cutter ends batches where that lies (see cutter.sums), so that a lane
// knows its verified records. There are two ways to keep the others out of outputs:
//
//   - Hold: emit, hold the lane, and withdraw what is not verified once damage is
//     found. The sinks must be able to cut their outputs back.
//   - Read twice: examine the file first, then emit no more than is verified.

// An Extent is a part of a text: how many bytes and lines it has. An incomplete
// line at its end counts as one.
type Extent struct{ Bytes, Lines int64 }

// An examination is what reading a compressed file to its end found out.
type examination struct {
	verdict    compress.Verdict
	format     compress.Format
	compressed int64 // size of what was read of the file
	bytes      int64 // of text
	verified   int64 // of it, from the beginning
	unsummed   bool  // not all of it has checksums
	err        error // of the system, at which reading ended
}

// limit returns how many bytes of the text may be emitted.
func (e *examination) limit() int64 {
	if e.verdict.Damage() {
		return e.verified
	}
	return e.bytes
}

// examine reads zr to its end. It stops with errStopped when ctx is done, and at
// once if the file is not compressed: then the result is nil.
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

// A text is the part of a compressed file from an offset on, as it can be read.
type text struct {
	open func() (io.ReadSeeker, func() error, error) // the file, and what closes it
	from compress.RestartPoint                       // at or before off
	off  int64                                       // in the decompressed stream
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
		_ = shut() // it was only read
		return nil, err
	}
	return &openText{zr: zr, shut: shut}, nil
}

// An openText is a text that is being read.
type openText struct {
	zr   *compress.Reader
	shut func() error
}

func (o *openText) Read(p []byte) (int, error) { return o.zr.Read(p) }

// Close implements io.Closer.
func (o *openText) Close() error {
	o.zr.Close()
	return o.shut()
}

// A survey is what a text holds.
type survey struct {
	before Extent // lines that end before a border
	Extent        // the others
	misfit int64  // of the others, the number of the first that does not fit, from 1; 0: all do
}

// A judge says which lines fit the format, in their order. The header that they are
// judged by is the one in force where the text begins; the text may bring another.
type judge struct {
	framing Framing
	newFit  func(head []byte) func(line []byte) bool // nil: all lines fit
	head    []byte
	fits    func(line []byte) bool // nil: not made for head yet
}

// see takes the header from a line, and reports whether the line is one. first says
// that it is the first line of a file.
func (j *judge) see(line []byte, first bool) bool {
	var head []byte
	if d, ok := j.framing.(director); ok {
		head = d.Directive(line)
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

// take reads a text to its end. Its border is an offset in the text. The judge is not
// asked again after the first line that does not fit. A line that is longer than a
// block is not looked at.
func take(ctx context.Context, t *text, border int64, j *judge) (s survey, err error) {
	r, err := t.Open()
	if err != nil {
		return s, err
	}
	defer func() { _ = r.Close() }() // it was only read
	br := bufio.NewReaderSize(r, takeBlock)
	var begin, end int64 // of the line
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
			if s.misfit == 0 && !header && end-begin == int64(len(block)) && !j.fit(block) {
				s.misfit = s.Lines
			}
		}
		if begin = end; err != nil {
			return s, nil
		}
	}
}

// takeBlock is the longest line that is looked at.
const takeBlock = 1 << 20

// fill fills in what a report says of a damaged file whose verified part is known.
// s is what follows that, and emitted how many lines of the file went out.
func (r *Report) fill(s survey, emitted int64) {
	if s.misfit > 0 {
		r.Misfit = r.Verified.Lines + s.misfit
	}
	if r.Unverified = s.Extent; !r.Withheld {
		r.Unverified = Extent{Bytes: r.Bytes - r.Lost - r.Verified.Bytes, Lines: emitted - r.Verified.Lines}
	}
}

// Text describes the verdict, and of a damaged file which of its lines are verified.
func (r *Report) Text() string {
	text := r.Verdict.String()
	if !r.Verdict.Damage() || r.Format == compress.Plain {
		return text
	}
	switch v, u := r.Verified.Lines, r.Unverified.Lines; {
	case v == 0 && u == 0:
		return text
	case v == 0:
		text += fmt.Sprintf("; no line is verified, lines 1 to %d are not", u)
	case u == 0:
		text += fmt.Sprintf("; lines 1 to %d are verified, no other could be read", v)
	default:
		text += fmt.Sprintf("; lines 1 to %d are verified, lines %d to %d are not", v, v+1, v+u)
	}
	if r.Misfit > 0 {
		text += fmt.Sprintf(" (the first that does not fit the format, as far as that can be seen: %d)", r.Misfit)
	}
	return text
}

// membersOnly makes a Reader keep restart points at the ends of members, and no
// others: they cost nothing.
const membersOnly = math.MaxInt64
