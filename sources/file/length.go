package file

import (
	"bytes"
	"fmt"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// This file handles the ends of oversize records, and records that state their length.
// A batch of records that state their length ends after the first damaged record,
// because the reader of the batch cannot see where that record ends: see
// record.LengthFraming.

// within returns how many bytes of block belong to the current oversize record,
// and whether the record ends there. If it does not, n is the length of its
// next piece, which is shorter than block.
func (c *cutter) within(block []byte) (n int, ends bool) {
	f, ok := c.framing.(lengthFraming)
	if !ok {
		if n := bytes.IndexByte(block, '\n') + 1; n > 0 {
			return n, true
		}
		return max(0, len(block)-1), false
	}
	from := 0
	if 0 < c.left && c.left <= int64(len(block)) {
		if f.Ends(block[:c.left]) {
			return int(c.left), true
		}
		if _, ok := f.(atLeast); ok {
			from = int(c.left) - 1
		} else {
			c.left = 0 // the stated length is wrong
		}
	}
	if c.left > int64(len(block)) {
		return pieceOf(block, c.left), false
	}
	n, ends = f.Resync(block[from:])
	if n += from; !ends {
		n = max(0, min(n, len(block)-1))
	}
	return n, ends
}

// atLeast is implemented by a lengthFraming whose records can be longer than
// they state: the stated length covers only the first parts of the record.
type atLeast interface{ AtLeast() }

// pieceOf returns the length of the next piece of a record that has left bytes
// to go, more than block holds. The last piece must hold the bytes that Ends
// checks.
func pieceOf(block []byte, left int64) int {
	return int(max(0, min(int64(len(block))-1, left-recordEnd)))
}

// recordEnd is larger than the number of bytes that Ends looks at.
const recordEnd = 16

// firstPiece returns the length of the first piece of the oversize record at
// the start of block, or 0 if it needs more of the record to decide.
func (c *cutter) firstPiece(block []byte) int {
	f, ok := c.framing.(lengthFraming)
	if !ok {
		return len(block) - 1
	}
	if left := f.Length(block); left > int64(len(block)) {
		return pieceOf(block, left)
	}
	n, ends := f.Span(block, false)
	if n == 0 || !ends {
		n, ends = f.Resync(block) // the record is damaged: find the next record
	}
	if ends {
		n = max(0, n-recordEnd) // the last piece must hold the bytes that show the end
	}
	return min(n, len(block)-1)
}

// follow updates how far the current record extends past b, which is about to
// be emitted.
func (c *cutter) follow(b *engine.Batch) {
	n := int64(len(b.In))
	f, ok := c.framing.(lengthFraming)
	switch b.Piece {
	case engine.First:
		c.left, c.begun = 0, c.off
		if ok {
			c.left = max(0, f.Length(b.In)-n)
		}
	case engine.Middle:
		c.left = max(0, c.left-n)
	default:
		c.left = 0
	}
}

// openEnded is implemented by a lengthFraming whose last record may lack its
// last byte, a line end.
type openEnded interface{ OpenEnded() }

// endWithin is called when the stream ends within an oversize record, with its
// last bytes in b. If the length of the record points past the end of a
// complete stream, endWithin notes that the stream is cut.
func (c *cutter) endWithin(b *engine.Batch, complete bool) {
	missing := c.left - int64(len(b.In))
	if _, ok := c.framing.(openEnded); ok {
		missing--
	}
	_, longer := c.framing.(atLeast)
	if complete && (missing > 0 || longer && !c.framing.(lengthFraming).Ends(b.In)) {
		off := c.begun
		c.cutShort = &off
	}
}

// restByLength returns the length of the last batch in block, the end of the
// stream: whole records, or, if the stream is complete, a last record that
// is incomplete. If a record's length points past the end, either the length
// is wrong or the stream is cut; the stream is not cut if a valid record
// ends it.
func (c *cutter) restByLength(f lengthFraming, block []byte, complete bool) int {
	n, sound := f.Cut(block), true
	if n == 0 && complete {
		if n, sound = f.Span(block, true); !sound && n > 0 && c.cutShort == nil && f.Incomplete(block) {
			off := c.off
			c.cutShort = &off
		}
	}
	if sound && n == len(block) && n > 0 {
		c.cutShort = nil
	}
	return n
}

// cutVerdict returns v, the verdict on a stream that was read completely, or a
// Truncated verdict if the stream ends within a record.
func (c *cutter) cutVerdict(v compress.Verdict, f compress.Format, size int64) compress.Verdict {
	if c.cutShort == nil {
		return v
	}
	cut := compress.Verdict{Kind: compress.Truncated, Format: f, Offset: size, Cut: true, Detail: "file ends within a record"}
	if *c.cutShort >= 0 {
		cut.Detail += fmt.Sprintf(" that begins at byte %d of the text", *c.cutShort)
	}
	return cut
}

// gridByLength is onGrid for records that state their length.
func (c *cutter) gridByLength(f lengthFraming, b *engine.Batch) int {
	if c.oversize {
		n, ends := c.within(b.In[:min(len(b.In), int(c.grid)+gridAhead)])
		switch {
		case ends && int64(n) <= c.grid:
			b.Piece = engine.Last
			return n
		case !ends && int64(len(b.In)) < c.grid+gridAhead:
			return 0
		case !ends:
			n = 0 // the record ends far beyond the grid
		}
		b.Piece = engine.Middle
		return gridPiece(c.grid, int64(n))
	}
	b.Piece = engine.Whole
	target := int((c.off/c.grid+1)*c.grid - c.off)
	at := 0
	for sound := true; sound && at < target; {
		var n int
		n, sound = f.Span(b.In[at:], false)
		switch {
		case n == 0 && len(b.In)-at <= c.maxRecord+gridAhead:
			return 0
		case 0 < n && n <= c.maxRecord:
			at += n
		case at > 0:
			return at
		default:
			b.Piece = engine.First
			size := f.Length(b.In)
			if size <= int64(c.maxRecord) { // the record is damaged: its stated length is too small
				size = int64(n)
			}
			return gridPiece(int64(c.maxRecord), size)
		}
	}
	return at
}

// gridPiece returns the length of the next piece of a record with follow
// remaining bytes: piece, or less, so that the last piece holds the bytes that
// show the end. follow is 0 if the end is not in view.
func gridPiece(piece, follow int64) int {
	if follow > 0 {
		piece = min(piece, follow-recordEnd)
	}
	return int(max(1, piece))
}

// gridAhead is larger than the number of bytes that Span and Resync look at
// after a record: the first line of an ARC record.
const gridAhead = 16 << 10
