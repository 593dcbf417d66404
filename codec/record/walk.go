package record

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/internal/scan"
)

// A walk goes through the lines of a block from mark to mark. Each family of formats has
// its own way to do so, for which the walk knows the marks of many lines at once. A way may
// give up; then the Locator reads the record.
type walk struct {
	block []byte
	// marks are those of text, a part of block that is small enough for the first cache.
	// It is nil if the format needs only the ends of lines.
	marks *scan.Block
	text  []byte
	base  int // offset of text in block

	start, end int // of the current line in text, without its line end
}

// Numbers of bytes that are marked at once: usually, and for a long line.
const (
	walkBytes    = 16 << 10
	maxWalkBytes = 64 << 10
)

// begin begins a block.
func (b *walk) begin(block []byte) { b.block, b.text, b.base = block, nil, 0 }

// line goes to the line at offset pos of the block and returns its length with its line
// feed. It returns 0 if the line does not end before limit, or is too long to be marked.
func (b *walk) line(pos, limit int) (size int) {
	if b.marks == nil {
		return bytes.IndexByte(b.block[pos:limit], '\n') + 1
	}
	start, end := pos-b.base, len(b.text)
	if start < end {
		end = b.marks.Feeds.Next(start)
	}
	if end == len(b.text) { // no line feed
		if start, end = 0, b.read(pos); end < 0 {
			return 0
		}
	}
	if size = end + 1 - start; pos+size > limit {
		return 0
	}
	if end > start && b.text[end-1] == '\r' {
		end--
		b.marks.MarkEnd(end)
	}
	b.start, b.end = start, end
	return size
}

// read marks the block from pos on, and returns the offset of the first line feed there.
// It returns -1 if there is none in maxWalkBytes.
func (b *walk) read(pos int) (end int) {
	for n := walkBytes; n <= maxWalkBytes; n *= 2 {
		b.base, b.text = pos, b.block[pos:min(pos+n, len(b.block))]
		b.marks.Read(b.text)
		if end = b.marks.Feeds.Next(0); end < len(b.text) {
			return end
		}
		if len(b.text) < n {
			break
		}
	}
	return -1
}

// body returns the current line without its line end.
func (b *walk) body() []byte { return b.text[b.start:b.end:b.end] }
