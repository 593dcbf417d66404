package locate

import (
	"bytes"

	"github.com/urlfold/urlfold/internal/ground/scan"
)

// A Walk goes through the lines of a block. It marks the bytes that a format
// needs to find, such as separators, for many lines at a time. The function of
// the format that goes from mark to mark can give up; then the Locator reads
// the record.
type Walk struct {
	Block []byte
	// Marks holds the marks of Text, a part of Block that fits in the
	// first-level cache. It is nil if the format needs only the ends of lines.
	Marks *scan.Block
	Text  []byte
	base  int // offset of Text in Block

	Start, End int // range of the current line in Text, without its line end
}

// Numbers of bytes that are marked at a time: usually, and for a long line.
const (
	walkBytes    = 16 << 10
	maxWalkBytes = 64 << 10
)

// Begin begins a block.
func (b *Walk) Begin(block []byte) { b.Block, b.Text, b.base = block, nil, 0 }

// Line goes to the line at offset pos of the block and returns its length with its line
// feed. It returns 0 if the line does not end before limit, or is too long to be marked.
func (b *Walk) Line(pos, limit int) (size int) {
	if b.Marks == nil {
		return bytes.IndexByte(b.Block[pos:limit], '\n') + 1
	}
	start, end := pos-b.base, len(b.Text)
	if start < end {
		end = b.Marks.Feeds.Next(start)
	}
	if end == len(b.Text) { // no line feed
		if start, end = 0, b.read(pos); end < 0 {
			return 0
		}
	}
	if size = end + 1 - start; pos+size > limit {
		return 0
	}
	if end > start && b.Text[end-1] == '\r' {
		end--
		b.Marks.MarkEnd(end)
	}
	b.Start, b.End = start, end
	return size
}

// read marks the block from pos on, and returns the offset of the first line
// feed there. It returns -1 without a line feed in maxWalkBytes.
func (b *Walk) read(pos int) (end int) {
	for n := walkBytes; n <= maxWalkBytes; n *= 2 {
		b.base, b.Text = pos, b.Block[pos:min(pos+n, len(b.Block))]
		b.Marks.Read(b.Text)
		if end = b.Marks.Feeds.Next(0); end < len(b.Text) {
			return end
		}
		if len(b.Text) < n {
			break
		}
	}
	return -1
}

// Body returns the current line without its line end.
func (b *Walk) Body() []byte { return b.Text[b.Start:b.End:b.End] }
