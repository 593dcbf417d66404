package compress

// A Range is the part of a decompressed stream from the offset From up to, but
// not including, the offset To. Offsets count from the start of the stream, as
// in Reader.Bytes.
type Range struct{ From, To int64 }

// maxUnverified is the maximum number of ranges that Reader.Unverified keeps
// apart.
const maxUnverified = 1000

// sums records the results of checksum comparisons. Decoders report one unit
// after the other; a unit is the range of one checksum: a member, a block or a
// chunk.
type sums struct {
	verified int64   // all bytes before this offset are verified
	heard    int64   // end of the last reported unit
	failed   []Range // unverified ranges before heard
	unsummed bool    // some bytes have no checksum
}

// A sumState is the result of comparing the checksum of a unit.
type sumState uint8

const (
	sumRight  sumState = iota // the checksum matches
	sumWrong                  // the checksum does not match
	sumAbsent                 // the unit has no checksum
)

// unit records that a unit ends at offset end of the decompressed stream. The
// unit begins where the previous one ended.
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

// fail appends r to the unverified ranges. If there are too many, it extends
// the last range over verified bytes: the result may contain too much, but
// never too little.
func (s *sums) fail(r Range) {
	if n := len(s.failed); n > 0 && (s.failed[n-1].To == r.From || n == maxUnverified) {
		s.failed[n-1].To = r.To
		return
	}
	s.failed = append(s.failed, r)
}

// resume sets the state at p. Before p only the end of the verified beginning
// is known.
func (s *sums) resume(p RestartPoint) {
	s.verified, s.unsummed, s.heard = p.verified, p.unsummed, p.offset
	if p.inside {
		s.heard = p.offset - p.size // the running checksum covers the whole member
	}
	if s.heard > s.verified {
		s.failed = []Range{{s.verified, s.heard}}
	}
}

// Verified reports how much of the delivered data is confirmed by checksums:
// every byte of the decompressed stream before offset, counted as in Bytes, is
// covered by a checksum of the file that matched. Offset never decreases and
// never exceeds Bytes. It stays at the first wrong or missing checksum even if
// later members are intact: Unverified reports those separately.
//
// The unit of one checksum determines when offset advances:
//
//	gzip        the end of a member
//	zstd        the end of a frame with a Content_Checksum
//	xz          the end of a block, unless its check is "None"
//	bzip2       with the bytes: a block is held back until its CRC is compared
//	lz4         with the bytes, if the frame has block checksums; else the end of
//	            a frame with a content checksum
//	snappy, S2  with the bytes: a chunk is held back until its CRC is compared
//	zlib        the end of a stream
//	plain, xerial, lz4 of the legacy form   never: they have no checksums
//
// It may advance only with the Read after the one that delivered the last byte
// of a unit, and is final once Read has returned io.EOF.
//
// checksummed reports whether all data delivered until now lies in units with
// checksums, so that offset can still advance. It is false for a format without
// checksums, and from the first byte of the first frame or stream without a
// checksum. It is valid once Read has returned for the first time.
//
// After NewReaderAt and ResumeAt, the bytes before the restart point count as
// verified up to the offset that the point stores. That offset is before the point
// if the point is inside an incomplete member.
//
// Verified must be called by the goroutine that calls Read.
func (r *Reader) Verified() (offset int64, checksummed bool) {
	return min(r.sums.verified, r.out.Load()), !r.sums.unsummed
}

// Unverified returns the parts of the delivered data that no checksum has
// confirmed, ordered by offset, none empty and no two adjacent: units whose
// checksum is wrong or missing and, at the end, data that waits for the
// checksum of its unit. For an intact file with checksums that was read as a
// whole, it returns no parts. Before a restart point it knows only the end of
// the verified beginning, and returns the rest as one part. If there are more
// than 1000 parts, the last part includes all others and the verified bytes
// between them.
//
// The caller owns the result. Unverified must be called by the goroutine that
// calls Read.
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
