package record

import "bytes"

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
func (j *Job) Framing() Framing {
	if j.kind == kindTable {
		return tableFraming{j.sep, j.named}
	}
	return lineFraming{}
}

// lineFraming: a record ends at a line feed.
type lineFraming struct{}

func (lineFraming) Cut(block []byte) int { return bytes.LastIndexByte(block, '\n') + 1 }

func (lineFraming) Head([]byte) int { return 0 }

// tableFraming: a record ends at a line feed outside quotes.
type tableFraming struct {
	sep   byte
	named bool
}

func (t tableFraming) Cut(block []byte) int {
	if bytes.IndexByte(block, '"') < 0 {
		return bytes.LastIndexByte(block, '\n') + 1
	}
	pos := 0
	for {
		n := tableRecordEnd(block[pos:], t.sep)
		if n < 0 {
			return pos
		}
		pos += n
	}
}

func (t tableFraming) Head(block []byte) int {
	if !t.named {
		return 0
	}
	return max(0, tableRecordEnd(block, t.sep))
}

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
