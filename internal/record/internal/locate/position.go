package locate

// Position identifies a record in its stream. Name, Head and Key remain the
// caller's; Append reads them and does not retain them.
type Position struct {
	Name string // name of the file or stream; may be empty
	Head []byte // header record of the stream, as returned by Framing.Head
	Line int64  // number of the record's first line, from 1; 0 if unknown
	Off  int64  // offset of the record's first byte in the stream
	Key  []byte // key of the message that holds the record; nil if none
	// Message says that the record is in a message, and Off the position of
	// that message.
	Message bool
	// Start is used by record.Worker.Piece: the offset of the record's first
	// byte, while Off is the offset of the piece, or -1 if unknown.
	Start int64

	// Append receives and keeps a copy. Copies of a size that is not a multiple
	// of 16 overlap in their last bytes, and the processor stalls when it reads
	// these again. The size is 96 bytes.
}

// LineFeed ends a line.
var LineFeed = []byte{'\n'}
