package compress

// A Range is a part of a decompressed stream: the bytes from From up to To, To
// not included. Offsets count from the start of the stream, as Reader.Bytes does.
type Range struct{ From, To int64 }

// maxUnverified bounds how many ranges Reader.Unverified keeps apart.
const maxUnverified = 1000

// sums is what the checksums of a file said about its decompressed bytes.
// Decoders tell it about one unit after the other: a member, a block or a chunk,
// whatever one checksum covers.
type sums struct {
	verified int64   // every byte before it is verified
	heard    int64   // the end of the last unit whose checksum was compared
	failed   []Range // before heard, and not verified
	unsummed bool    // some bytes have no checksum
}

// A sumState is what became of the checksum of a unit.
type sumState uint8

const (
	sumRight  sumState = iota // it was compared, and is right
	sumWrong                  // it was compared, and is wrong
	sumAbsent                 // the unit has none
)

// unit notes that a unit ends at offset end of the decompressed stream. What
// lies between the last unit and this one belongs to it.
func (s *sums) unit(end int64, state sumState) {
	from := s.heard
	if end <= from {
		return
	}
	s.heard = end
	switch {
	case state == sumRight && s.verified == from:
		s.verified = end
		return
	case state == sumRight:
		return
	case state == sumAbsent:
		s.unsummed = true
	}
	s.fail(Range{from, end})
}

// fail appends r to the ranges that are not verified. When there are too many,
// the last one grows over verified bytes: more is called unverified than is, and
// never less.
func (s *sums) fail(r Range) {
	if n := len(s.failed); n > 0 && (s.failed[n-1].To == r.From || n == maxUnverified) {
		s.failed[n-1].To = r.To
		return
	}
	s.failed = append(s.failed, r)
}

// resume begins at p, up to which it is known where the verified bytes end, and
// no more than that.
func (s *sums) resume(p RestartPoint) {
	s.verified, s.unsummed, s.heard = p.verified, p.unsummed, p.offset
	if p.inside {
		s.heard = p.offset - p.size // the running checksum covers all of the member
	}
	if s.heard > s.verified {
		s.failed = []Range{{s.verified, s.heard}}
	}
}

// Verified returns what checksums say of the bytes that Read has delivered: every
// byte before offset of the decompressed stream, as Bytes counts, is covered by a
// checksum of the file that was compared and is right. Offset never shrinks, is
// never above Bytes, and stays where the first wrong or missing checksum was met,
// also if later members are sound: Unverified has those apart.
//
// When it moves depends on what one checksum covers:
//
//	gzip        the end of a member
//	zstd        the end of a frame with a Content_Checksum; with Concurrency
//	            above 1, at every few MiB of output, at the end of some frame
//	xz          the end of a block, unless its check is "None"
//	bzip2       with the bytes: a block is held back until its CRC is compared
//	lz4         with the bytes, if the frame has block checksums; else the end of
//	            a frame with a content checksum
//	snappy, S2  with the bytes: a chunk is held back until its CRC is compared
//	plain, xerial, lz4 of the legacy form   never: they have no checksums
//
// It may move only with the Read after the one that delivered the last byte of a
// unit, and is final once Read has returned io.EOF.
//
// Checksummed reports whether everything delivered so far lies in units that have
// a checksum at all, so that a larger offset can be hoped for. It is false for a
// format without checksums, and from the first byte of the first frame or stream
// without one. It means something once Read has returned for the first time.
//
// After NewReaderAt and ResumeAt the bytes before the restart point count: the
// point carries the offset, and offset lies before the point if the member that
// it lies in is not complete.
//
// Verified belongs to the goroutine that calls Read.
func (r *Reader) Verified() (offset int64, checksummed bool) {
	return min(r.sums.verified, r.out.Load()), !r.sums.unsummed
}

// Unverified returns the parts of what Read has delivered that no checksum has
// vouched for, in the order of their offsets, none of them empty, no two of them
// adjacent: units whose checksum is wrong or missing, and at the end what waits for
// the checksum of its unit. Of a sound file with checksums that was read to its end
// there are none. Of what lies before a restart point it knows only the end of the
// verified beginning, and returns the rest as one part. If there were more than 1000
// parts the last one covers the others, with the verified bytes between them.
//
// The result belongs to the caller. Unverified belongs to the goroutine that calls
// Read.
func (r *Reader) Unverified() []Range {
	out := r.out.Load()
	s := sums{failed: append([]Range(nil), r.sums.failed...)}
	if r.sums.heard < out {
		s.fail(Range{r.sums.heard, out})
	}
	for n := len(s.failed); n > 0 && s.failed[n-1].To > out; n-- {
		s.failed[n-1].To = out
		if s.failed[n-1].From >= out {
			s.failed = s.failed[:n-1]
		}
	}
	return s.failed
}
