package file

import (
	"bytes"
	"fmt"

	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// This file handles tables in which a quote opens a cell that does not end. The
// quote is damage: the rest of its line is not what its writer meant.

// recordLimit returns the length in bytes up to which the records of a framing are kept in
// one piece. A table needs more bytes to find out that a quoted cell does not end.
func recordLimit(f Framing, maxRecord int) int {
	if q, ok := f.(quoteFraming); ok {
		return maxRecord + q.MaxQuoted()
	}
	return maxRecord
}

// openQuotes returns the open quotes of a stream after text, the first bytes of b.
// before holds the open quotes at the start of b.
func openQuotes(f Framing, before *checkpoint.OpenQuotes, b *engine.Batch, text []byte) *checkpoint.OpenQuotes {
	q, ok := f.(quoteFraming)
	if !ok || b.Piece != engine.Whole {
		return before
	}
	first, n := q.OpenQuotes(text)
	switch {
	case n == 0:
		return before
	case before == nil:
		before = &checkpoint.OpenQuotes{Offset: b.Off + int64(first), Line: b.Line + int64(bytes.Count(text[:first], newline))}
	}
	after := *before
	after.Number += int64(n)
	return &after
}

// quoteVerdict returns the verdict on a stream that was read completely: v, or, if v is
// no damage and the stream has open quotes, a verdict about the open quotes.
func (c *cutter) quoteVerdict(v compress.Verdict, f compress.Format) compress.Verdict {
	o := c.open
	if o == nil || v.Damage() {
		return v
	}
	v = compress.Verdict{Kind: compress.OpenQuote, Format: f, Offset: o.Offset}
	v.Detail = fmt.Sprintf("line %d of the text has a quoted cell that does not end; reading went on with the next line", o.Line)
	if o.Number > 1 {
		v.Detail += fmt.Sprintf(" (%d such lines)", o.Number)
	}
	return v
}
