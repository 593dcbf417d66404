package locate

// Framing finds where records end. It is stateless and safe for concurrent use.
type Framing interface {
	// Cut returns the length of the longest prefix of block that consists of
	// whole records, including line ends. block must begin at the start of a
	// record. Cut returns 0 if the first record does not end in block.
	Cut(block []byte) int
	// Head returns the length of the header record at the start of a stream,
	// including its line end. It returns 0 if the format has no header, or if
	// block does not hold all of it.
	Head(block []byte) int
}

// LengthFraming is a Framing of records that state their own length. If a
// record is damaged, the next record can be found only by searching the bytes
// that follow. Cut therefore ends a batch after a damaged record, and
// Reader.Next treats bytes that are not an intact record as the last record of
// a batch.
type LengthFraming interface {
	Framing
	// Span returns the length of the first record of block, and whether the
	// record is intact, that is, ends where its stated length says. It returns
	// 0 if it needs more bytes than block has. If last is set, block is the end
	// of the stream, and Span returns 0 only if block is empty.
	Span(block []byte, last bool) (n int, sound bool)
	// Length returns the stated length of the first record of block, which may
	// exceed len(block). It returns 0 if block states no length.
	Length(block []byte) int64
	// Ends reports whether rec looks like the end of a record. rec is the tail
	// of the range that a record's stated length covers. Ends returns true if
	// rec is too short to decide.
	Ends(rec []byte) bool
	// Resync returns the offset in block at which the next record begins. block
	// begins inside a damaged record. If found is false, n is the number of
	// bytes that the caller can discard before the next search.
	Resync(block []byte) (n int, found bool)
	// Incomplete reports whether block, the end of a stream, ends inside its
	// first record.
	Incomplete(block []byte) bool
}

// QuoteFraming is a Framing of tables, in which a quoted cell can span lines. A
// quote that was not meant to open a cell would swallow the following rows, so
// a cell has a limit: see Config.MaxQuoted. If a cell exceeds the limit, or is
// still open at the end of the stream, its record ends with the line on which
// the cell begins.
type QuoteFraming interface {
	Framing
	// MaxQuoted returns the limit in bytes. Cut may need this many bytes after
	// a record to find the end of the record.
	MaxQuoted() int
	// Next is Reader.Next.
	Next(in []byte) int
	// OpenQuotes returns the offset of the first line with an open quote in
	// records, which are whole records, and the number of open quotes.
	OpenQuotes(records []byte) (first, number int)
}

// MemberFormat is implemented by Readers of files in which each record is
// compressed separately, so that an index can point to it.
type MemberFormat interface{ Apart() }

// TrimEnd returns rec without its line end, LF or CR LF.
func TrimEnd(rec []byte) []byte {
	n := len(rec)
	if n > 0 && rec[n-1] == '\n' {
		n--
		if n > 0 && rec[n-1] == '\r' {
			n--
		}
	}
	return rec[:n:n]
}

// MarkLen returns the length of the byte order mark at the start of b, or 0.
func MarkLen(b []byte) int {
	if len(b) >= 3 && string(b[:3]) == "\xEF\xBB\xBF" { // unlike HasPrefix, this needs no call
		return 3
	}
	return 0
}

// HeaderState is the result of reading a header.
type HeaderState uint8

// Results of reading a header.
const (
	HeaderSound   HeaderState = iota
	HeaderCut                 // the header may continue after the available bytes
	HeaderDamaged             // not a header, too long, or without a valid Content-Length
)

// CutByLength returns the length of the records at the start of block, up to
// and including the first damaged record.
func CutByLength(f LengthFraming, block []byte) int {
	for at := 0; ; {
		n, sound := f.Span(block[at:], false)
		if at += n; n == 0 || !sound {
			return at
		}
	}
}

// LineEnds returns the number of line-end bytes at the start of block.
func LineEnds(block []byte) (n int) {
	for n < len(block) && (block[n] == '\r' || block[n] == '\n') {
		n++
	}
	return n
}
