package compress

import (
	"fmt"
	"io"
)

// restarts is what a Reader keeps for going on later. Decoders tell it where
// they could.
type restarts struct {
	every   int64
	decoded int64 // what the decoder has returned, from the start of the file
	newest  RestartPoint
	members int64
	verdict *Verdict // of the Reader: what was noted so far
	sums    *sums    // of the Reader

	// Behind the last member before any damage.
	good, goodBytes int64
}

// due reports whether a block at offset of the decompressed stream should
// become a restart point.
func (s *restarts) due(offset int64) bool {
	return s.every > 0 && offset-s.newest.offset >= s.every
}

// unit notes that what one checksum covers ends after the next ahead bytes that
// the decoder is about to return, and what became of that checksum.
func (s *restarts) unit(ahead int, state sumState) { s.sums.unit(s.decoded+int64(ahead), state) }

// boundary notes that another member may begin at byte compressed of the file,
// after ahead bytes that the decoder is about to return.
func (s *restarts) boundary(f Format, compressed int64, ahead int) {
	s.newest = RestartPoint{format: f, offset: s.decoded + int64(ahead), compressed: compressed, members: s.members,
		verdict: *s.verdict, verified: s.sums.verified, unsummed: s.sums.unsummed}
	if !s.verdict.Damage() {
		s.good, s.goodBytes = compressed, s.newest.offset
	}
}

// block notes a point inside a gzip member.
func (s *restarts) block(p RestartPoint) {
	p.members, p.verdict, p.verified, p.unsummed = s.members, *s.verdict, s.sums.verified, s.sums.unsummed
	s.newest = p
}

// RestartPoint returns the newest restart point at or before the bytes that Read
// has delivered, and false if Options.RestartEvery is 0. It costs nothing, so it
// may be called after every Read; a point is new if its Offset is. It may also be
// called after the end: if the file was truncated because it is still being
// written, it can be read on from this point once there is more.
//
// A point that lies behind a complete member is one even if nothing follows yet.
// If a gzip member is longer than RestartEvery there are points inside it: the
// first end of a deflate block that is RestartEvery behind the last point. So a
// resume inflates at most that and one block again. How long a block is is up to
// the writer: most begin another one after 16384 or 32768 symbols, which is some
// 100 KiB of a log, but klauspost's may go on for as long as its codes fit. Zstd, xz, lz4, snappy, S2 and
// xerial have points between members or chunks only, bzip2 at the start and the
// clean end of the file only, and plain files everywhere.
func (r *Reader) RestartPoint() (RestartPoint, bool) {
	out := r.out.Load()
	switch {
	case r.opt.RestartEvery <= 0:
		return RestartPoint{}, false
	case r.dec == nil:
		return r.start, true
	case r.format == Plain:
		return RestartPoint{offset: out, compressed: out}, true
	case r.restarts.newest.offset > out: // a limit, or UTF-16
		return r.start, true
	}
	return r.restarts.newest, true
}

// NewReaderAt returns a Reader that reads src on from p, a point that a Reader
// of the same file gave, or the zero RestartPoint for its start. Bytes,
// CompressedBytes, limits and verdict count from the start of the file, and the
// checksum of the member that p lies in is verified as if all of it had been
// read. It never closes src. It fails if src cannot seek or is too short to hold
// p; whether it is the same file is for the caller to know.
func NewReaderAt(src io.ReadSeeker, p RestartPoint, opt Options) (*Reader, error) {
	size, err := src.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, fmt.Errorf("looking for the restart point: %w", err)
	}
	if size < p.compressed {
		return nil, fmt.Errorf("the file is shorter than its restart point: %d bytes, %d expected: %w", size, p.compressed, io.ErrUnexpectedEOF)
	}
	if _, err := src.Seek(p.compressed, io.SeekStart); err != nil {
		return nil, fmt.Errorf("going to the restart point: %w", err)
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

// ResumeAt returns a Reader like NewReaderAt that has gone on from p to offset of
// the decompressed stream, so that the next Read delivers the byte there. How
// much it had to decompress again for that tells Again. It fails where
// NewReaderAt does, if offset lies before p, and if the stream ends before offset.
func ResumeAt(src io.ReadSeeker, p RestartPoint, offset int64, opt Options) (*Reader, error) {
	if offset < p.offset {
		return nil, fmt.Errorf("offset %d lies before the restart point at %d", offset, p.offset)
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
		return nil, fmt.Errorf("the stream ends at offset %d, before %d (%v): %w", r.Bytes(), offset, r.verdict.Kind, io.ErrUnexpectedEOF)
	}
	return r, nil
}

// Again returns how many bytes ResumeAt has decompressed again before the offset
// it was asked for.
func (r *Reader) Again() int64 { return r.again }

// resume makes the decoder at r.start, behind the start of the file.
func (r *Reader) resume() {
	r.format = r.start.format
	switch r.format {
	case Plain:
		r.dec = plainDecoder{r.in}
	case Bzip2:
		r.dec = &laterBzip2{in: r.in, restarts: &r.restarts, note: r.note}
	default:
		r.dec = r.decoder(r.format)
	}
}

// A laterBzip2 decodes what came to a bzip2 file after its clean end: its decoder
// finds the next stream itself, and must begin with one.
type laterBzip2 struct {
	in       *input
	restarts *restarts
	note     func(Verdict)
	dec      decoder
}

func (d *laterBzip2) Close() {}

func (d *laterBzip2) Read(p []byte) (int, error) {
	if d.dec == nil {
		if err := d.in.following(Bzip2, isBzip2, d.note); err != nil {
			return 0, err
		}
		d.dec = newBzip2(d.in, d.restarts)
	}
	return d.dec.Read(p)
}
