package file

import (
	"bytes"

	"github.com/urlfold/urlfold/pipeline/engine"
)

// GridBytes is the usual value of WatchConfig.Grid: the distance between the
// fixed positions at which batches end.
const GridBytes = 128 << 10

// onGrid returns how many bytes of b to emit, or 0 if it needs more data to
// decide. The result depends only on the text and the offset of b, not on read
// sizes: a batch ends
//
//   - at the first record end at or after the next multiple of the grid,
//   - at the beginning of a record there that is longer than maxRecord,
//   - within the long record after maxRecord bytes, and then every c.grid
//     bytes.
//
// Reading again from the end of one of these batches therefore yields the same
// batches.
func (c *cutter) onGrid(b *engine.Batch) int {
	if f, ok := c.framing.(lengthFraming); ok {
		return c.gridByLength(f, b)
	}
	if c.oversize {
		n := bytes.IndexByte(b.In, '\n') + 1
		switch {
		case n > 0 && int64(n) <= c.grid:
			b.Piece = engine.Last
			return n
		case int64(len(b.In)) > c.grid:
			b.Piece = engine.Middle
			return int(c.grid)
		}
		return 0
	}
	b.Piece = engine.Whole
	target := int((c.off/c.grid+1)*c.grid - c.off)
	begin, end := c.around(b.In, target)
	last := len(b.In)
	if end > 0 {
		last = end - 1
	}
	if len(b.In) < target || end == 0 && last <= c.maxRecord {
		return 0
	}
	switch {
	case end > 0 && end-begin <= c.maxRecord:
		return end
	case end == 0 && last-begin <= c.maxRecord:
		return 0
	case begin > 0:
		return begin
	}
	b.Piece = engine.First
	return c.maxRecord
}

// around returns the first record end in block at or after target, and the
// beginning of that record. If block has no such end, end is 0, and begin is the
// end of the last whole record in block.
func (c *cutter) around(block []byte, target int) (begin, end int) {
	q, ok := c.framing.(quoteFraming)
	if !ok || len(block) < target {
		if end = c.recordEnd(block, target); end > 0 {
			block = block[:end-1]
		}
		return c.framing.Cut(block), end
	}
	all := q.Cut(block)
	if all < target {
		return all, 0
	}
	for end = q.Cut(block[:target-1]); end < target; {
		begin = end
		end += q.Next(block[end:all])
	}
	return begin, end
}

// recordEnd returns the first record end in block at or after target, or 0.
func (c *cutter) recordEnd(block []byte, target int) int {
	for at := target - 1; at < len(block); {
		n := bytes.IndexByte(block[at:], '\n') + 1
		if n == 0 {
			return 0
		}
		if at += n; c.framing.Cut(block[:at]) == at {
			return at
		}
	}
	return 0
}

// restOnGrid implements rest for a cutter with a grid.
func (c *cutter) restOnGrid(b *engine.Batch, complete bool) (n int, again bool) {
	all := len(b.In)
	if n := c.onGrid(b); n > 0 {
		return n, n < all
	}
	if c.oversize {
		c.endWithin(b, complete)
		b.Piece = engine.Last
		return all, false
	}
	if f, ok := c.framing.(lengthFraming); ok {
		n := c.restByLength(f, b.In, complete)
		return n, 0 < n && (n < all || !complete)
	}
	if !complete {
		all = c.framing.Cut(b.In)
	}
	return all, false
}
