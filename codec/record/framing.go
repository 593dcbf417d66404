package record

// A Framing says where records end. It keeps nothing and may be shared.
type Framing interface {
	// Cut returns the length of the longest prefix of block that is made of
	// whole records, line ends included. block starts at the start of a record.
	// It is 0 if the first record does not end in block.
	Cut(block []byte) int
	// Head returns the length of the header record at the start of a stream,
	// line end included. It is 0 if the format has none, or if block does not
	// hold all of it.
	Head(block []byte) int
}

// A LengthFraming is a Framing of records that say how long they are. Where one of
// them is damaged, only the bytes behind it show where the next one begins. A batch
// therefore ends behind a damaged record: Cut stops there, and Reader.Next takes what
// is not a sound record for the last one.
type LengthFraming interface {
	Framing
	// Span returns the length of the first record of block, and whether that is what
	// the record says. It is 0 if that takes more than block; with last, block is the
	// end of the stream, and the length is 0 only if block is empty.
	Span(block []byte, last bool) (n int, sound bool)
	// Length returns the length that the first record of block says it has, which may
	// be more than block, or 0 if it does not say.
	Length(block []byte) int64
	// Ends reports whether rec, the last bytes of as many as a record says it has, looks
	// like the end of one. What is too short to say does.
	Ends(rec []byte) bool
	// Resync returns the offset in block, which begins within a damaged record, at
	// which the next record begins. If it finds none it returns how many bytes of
	// block it need not be given again.
	Resync(block []byte) (n int, found bool)
	// Incomplete reports whether block, the end of a stream, ends within its first
	// record.
	Incomplete(block []byte) bool
}

// A memberFormat is a Reader of files whose records are compressed one by one, so that
// an index can point to each.
type memberFormat interface{ apart() }

// Apart reports whether each record of the output is to be compressed as a gzip
// member, or zstd frame, of its own.
func (j *Job) Apart() bool {
	_, ok := j.reader.(memberFormat)
	return ok && j.render == RenderRewrite
}

// Framing returns how the job's records are cut out of a stream.
func (j *Job) Framing() Framing { return j.reader }

// trimEnd returns rec without its line end, LF or CR LF.
func trimEnd(rec []byte) []byte {
	n := len(rec)
	if n > 0 && rec[n-1] == '\n' {
		n--
		if n > 0 && rec[n-1] == '\r' {
			n--
		}
	}
	return rec[:n:n]
}
