package locate

// Position identifies a record in its stream. Name, Head and Key remain the
// caller's; Append reads them and does not retain them.
type Position struct {
	Name string // name of the file or stream; may be empty
	Head []byte // header record of the stream, as returned by Framing.Head
	Line int64  // number of the record's first line, from 1; 0 if unknown
	Off  int64  // offset of the record's first byte in the stream
	Key  []byte // key of the message that holds the record; nil if none
	// Message says that the record is in a message. Off is then the position of
	// the message.
	Message bool
	// Start is the offset of the record's first byte, or -1 if it is unknown.
	// Only record.Worker.Piece uses it; Off is then the offset of the piece.
	Start int64

	// Keep the size of a Position a multiple of 16; it is 96 bytes. Append
	// copies a Position. A copy of another size writes some of the last bytes
	// twice, and the processor stalls when it reads these bytes.
}

// LineFeed ends a line.
var LineFeed = []byte{'\n'}
