package compress

import (
	"fmt"
	"io"
)

// restarts tracks the restart points of a Reader. Decoders report the positions
// from which reading can continue.
type restarts struct {
	every   int64
	decoded int64 // bytes returned by the decoder, counted from the start of the file
	newest  RestartPoint
	members int64
	verdict *Verdict // the Reader's current verdict
	sums    *sums    // the Reader's checksum results

	// End of the last member before any damage: in the file, and in the
	// decompressed stream.
	good, goodBytes int64
}

// due reports whether a block at the given offset of the decompressed stream
// should become a restart point.
func (s *restarts) due(offset int64) bool {
	return s.every > 0 && offset-s.newest.offset >= s.every
}

// unit records that a unit with one checksum ends after the next ahead bytes
// that the decoder will return, and the result of comparing the checksum.
func (s *restarts) unit(ahead int, state sumState) { s.sums.unit(s.decoded+int64(ahead), state) }

// boundary records that another member may begin at byte compressed of the
// file, after the next ahead bytes that the decoder will return.
func (s *restarts) boundary(f Format, compressed int64, ahead int) {
	s.newest = RestartPoint{format: f, offset: s.decoded + int64(ahead), compressed: compressed, members: s.members,
		verdict: *s.verdict, verified: s.sums.verified, unsummed: s.sums.unsummed}
	if !s.verdict.Damage() {
		s.good, s.goodBytes = compressed, s.newest.offset
	}
}

// block records a point inside a gzip member.
func (s *restarts) block(p RestartPoint) {
	p.members, p.verdict, p.verified, p.unsummed = s.members, *s.verdict, s.sums.verified, s.sums.unsummed
	s.newest = p
}

// RestartPoint returns the newest restart point at or before the end of the
// delivered data, and false if Options.RestartEvery is 0. The call is cheap, so
// the caller may make it after every Read; a point is new if its Offset is. It
// is also valid after the end: a file that was truncated because it is still
// being written can be continued from this point later.
//
// The end of a complete member is a point even if nothing follows yet. A gzip
// member longer than RestartEvery has points inside it: at the first end of a
// deflate block that is at least RestartEvery after the last point. A resume
// therefore decompresses at most that distance plus one block again. The writer
// chooses the length of a block: most writers start a new one after 16384 or
// 32768 symbols, about 100 KiB of a log, but klauspost's may continue a block
// for as long as its codes fit. Zstd, xz, lz4, snappy, S2 and xerial have
// points only between members or chunks, bzip2 only at the start and the clean
// end of the file, and plain files everywhere.
func (r *Reader) RestartPoint() (RestartPoint, bool) {
	out := r.out.Load()
	switch {
	case r.opt.RestartEvery <= 0:
		return RestartPoint{}, false
	case r.dec == nil:
		return r.start, true
	case r.format == Plain:
		return RestartPoint{offset: out, compressed: out}, true
	case r.restarts.newest.offset > out: // a limit or UTF-16 ended the stream
		return r.start, true
	}
	return r.restarts.newest, true
}

// NewReaderAt returns a Reader that continues src from p, a point of a Reader
// of the same file, or from the start if p is the zero RestartPoint. Bytes,
// CompressedBytes, limits and the verdict count from the start of the file, and
// the checksum of the member around p is verified as if all of the member had
// been read. It never closes src. It fails if src cannot seek or is too short
// for p; the caller must ensure that it is the same file.
func NewReaderAt(src io.ReadSeeker, p RestartPoint, opt Options) (*Reader, error) {
	size, err := src.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, fmt.Errorf("seek to the end of the file: %w", err)
	}
	if size < p.compressed {
		return nil, fmt.Errorf("file of %d bytes is shorter than its restart point at %d: %w", size, p.compressed, io.ErrUnexpectedEOF)
	}
	if p.format == Zstd && p.compressed > 0 {
		if opt.dictionary, err = dictionaryOf(src); err != nil {
			return nil, err
		}
	}
	if _, err := src.Seek(p.compressed, io.SeekStart); err != nil {
		return nil, fmt.Errorf("seek to the restart point: %w", err)
	}
	r := NewReader(src, opt)
	r.start, r.verdict = p, p.verdict
	r.in.raw.n.Store(p.compressed)
	r.out.Store(p.offset)
	r.restarts.decoded, r.restarts.members, r.restarts.newest = p.offset, p.members, p
	r.sums.resume(p)
	if !p.inside && !p.verdict.Damage() {
		r.restarts.good, r.restarts.goodBytes = p.compressed, p.offset
	}
	return r, nil
}

// ResumeAt returns a Reader like NewReaderAt that is advanced from p to offset
// in the decompressed stream, so that the next Read delivers the byte at
// offset. [Reader.Again] returns how many bytes were decompressed for that.
// ResumeAt fails where NewReaderAt does, if offset lies before p, and if the
// stream ends before offset.
func ResumeAt(src io.ReadSeeker, p RestartPoint, offset int64, opt Options) (*Reader, error) {
	if offset < p.offset {
		return nil, fmt.Errorf("offset %d is before the restart point at %d", offset, p.offset)
	}
	if p.format == Plain && p.compressed > 0 {
		p.offset, p.compressed = offset, offset
	}
	r, err := NewReaderAt(src, p, opt)
	if err != nil {
		return nil, err
	}
	r.again, err = io.CopyN(io.Discard, onlyReader{r}, offset-p.offset)
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("stream ends at offset %d, before offset %d (%v): %w", r.Bytes(), offset, r.verdict.Kind, io.ErrUnexpectedEOF)
	}
	return r, nil
}

// Again returns the number of bytes that ResumeAt decompressed again before its
// offset.
func (r *Reader) Again() int64 { return r.again }
