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
