package record

import (
	"bytes"
	"math/bits"

	"github.com/urlfold/urlfold/codec/internal/scan"
)

// This file finds the ends of cells and records 64 bytes at a time. It does so
// for tables in which every quote opens or closes a cell, or is doubled inside
// of one, as RFC 4180 demands. It gives up on others, for which tableSyntax
// searches byte by byte.

// tableScan finds the quotes, separators and line feeds of a table.
type tableScan struct {
	quotes, seps, feeds *scan.Set // all ASCII bytes except the one to find
	quote, sep          byte
}

// newTableScan returns the tableScan for a syntax, or nil if the syntax has
// escapes.
func newTableScan(t *tableSyntax) *tableScan {
	if t.escaped {
		return nil
	}
	but := func(b byte) *scan.Set { return scan.NewSet(func(c byte) bool { return c != b }) }
	return &tableScan{but(t.quote), but(t.sep), but('\n'), t.quote, t.sep}
}

// quoteScan follows the quotes of a text from word to word. A word has a bit for
// each of 64 bytes, from the lowest bit on.
type quoteScan struct {
	inside uint64 // all ones if the last word ended inside of quotes, else 0
	starts uint64 // 1 if a cell can start with the next word, else 0
}

// newQuoteScan returns a quoteScan for a text that begins with a record.
func newQuoteScan() quoteScan { return quoteScan{starts: 1} }

// next returns the bits of the bytes inside of quotes, which include the opening
// quotes. breaks has the bits of separators and line feeds. ok is false if a
// quote neither opens nor closes a cell nor is doubled. A doubled quote closes
// the cell and opens it again.
func (q *quoteScan) next(quotes, breaks uint64) (inside uint64, ok bool) {
	inside = quotes ^ quotes<<1 // then the sum of 4, 8, … 64 bits, without carries
	inside ^= inside << 2
	inside ^= inside << 4
	inside ^= inside << 8
	inside ^= inside << 16
	inside ^= inside<<32 ^ q.inside
	before := breaks | quotes
	ok = quotes&inside&^(before<<1|q.starts) == 0
	q.starts, q.inside = before>>63, -(inside >> 63)
	return inside, ok
}

// scanWords is the number of words of a text that are marked at once, two of
// which are for the end of the text.
const scanWords = 33

// scanChunk is the number of bytes that they mark.
const scanChunk = (scanWords - 2) * 64

// scanMarks has the marks of a chunk of text.
type scanMarks struct{ quotes, seps, feeds [scanWords]uint64 }

// cut returns the length of the longest prefix of block that consists of whole
// records, up to the first quote at which it gives up. gaveUp says that there
// is one.
func (t *tableScan) cut(block []byte) (n int, gaveUp bool) {
	if scan.CutsQuoted() {
		return scan.CutQuoted(block, t.quote, t.sep)
	}
	return t.slowCut(block)
}

// slowCut is cut for processors without the vectors that scan.CutQuoted needs.
func (t *tableScan) slowCut(block []byte) (n int, gaveUp bool) {
	var m scanMarks
	q := newQuoteScan()
	for from := 0; from < len(block); from += scanChunk {
		chunk := block[from:min(from+scanChunk, len(block))]
		quotes, seps, feeds := t.quotes.Mark(m.quotes[:0], chunk), t.seps.Mark(m.seps[:0], chunk), t.feeds.Mark(m.feeds[:0], chunk)
		for i, quoted := range quotes[:(len(chunk)+63)/64] {
			other := quoted & seps[i] // not ASCII, and the end
			feed := feeds[i] &^ other
			inside, ok := q.next(quoted&^other, seps[i]&^other|feed)
			if !ok {
				return n, true
			}
			if ends := feed &^ inside; ends != 0 {
				n = from + i*64 + bits.Len64(ends)
			}
		}
	}
	return n, false
}

// closes reports whether the line feed at the end of line, which begins with a
// record and has no other line feed, ends the record. It returns false if it
// gives up.
func (t *tableScan) closes(line []byte) bool {
	var m scanMarks
	q := newQuoteScan()
	for ; len(line) > 0; line = line[min(scanChunk, len(line)):] {
		chunk := line[:min(scanChunk, len(line))]
		quotes, seps := t.quotes.Mark(m.quotes[:0], chunk), t.seps.Mark(m.seps[:0], chunk)
		for i, quoted := range quotes[:(len(chunk)+63)/64] {
			other := quoted & seps[i]
			if _, ok := q.next(quoted&^other, seps[i]&^other); !ok {
				return false
			}
		}
	}
	return q.inside == 0
}

// cellEnds holds the ends of the cells of a record.
type cellEnds struct {
	quotes, ends scan.Marks // with the end of the record
	size         int        // length of the record
	bare         bool       // the record has no quotes
}

// read finds the ends of the cells of body. It returns false if it gives up.
func (e *cellEnds) read(t *tableScan, body []byte) bool {
	e.quotes, e.ends, e.bare = t.quotes.Mark(e.quotes, body), t.seps.Mark(e.ends, body), false
	q := newQuoteScan()
	for i, quoted := range e.quotes {
		sep := e.ends[i]
		other := quoted & sep
		inside, ok := q.next(quoted&^other, sep&^other)
		if !ok {
			return false
		}
		e.ends[i] = sep &^ other &^ inside
	}
	if q.inside != 0 {
		return false
	}
	e.close(body)
	return true
}

// close adds the end of body.
func (e *cellEnds) close(body []byte) {
	e.size = len(body)
	e.ends.End(e.size)
	e.quotes.End(e.size)
}

// readLine finds the end of the first line of in and the ends of its cells, in one
// pass. It returns the length of the line with its line feed. It returns 0 if it gives
// up, if the line does not end, and if it is not a record of its own.
func (e *cellEnds) readLine(t *tableSyntax, in []byte) (size int) {
	if e.bare || t.quote == 0 || !scan.CutsQuoted() { // after a line without quotes, the next one has probably none
		size = e.readBareLine(t, in)
	} else {
		e.quotes, e.ends, size, e.bare = scan.MarkCells(e.quotes, e.ends, in, t.quote, t.sep)
	}
	if size > 0 && t.byLine && !e.bare && t.of(trimEnd(in[:size])) != t {
		return 0 // text after a closing quote
	}
	return size
}

// readBareLine is readLine by another way, which takes less time for lines without quotes
// and works on every processor.
func (e *cellEnds) readBareLine(t *tableSyntax, in []byte) (size int) {
	e.quotes, e.ends, size = scan.MarkLine(e.quotes, e.ends, in, t.quote, t.sep)
	if size == 0 || t.quote == 0 {
		e.bare = true
		clear(e.quotes)
		return size
	}
	last := (size - 1) >> 6
	e.quotes[last] &= 1<<((size-1)&63) - 1
	quotes := uint64(0)
	for _, w := range e.quotes[:last+1] {
		quotes |= w
	}
	if e.bare = quotes == 0; e.bare {
		return size
	}
	q := newQuoteScan()
	for i, w := range e.quotes[:last+1] {
		inside, ok := q.next(w, e.ends[i])
		if !ok {
			return 0
		}
		e.ends[i] &^= inside
	}
	if q.inside != 0 {
		return 0
	}
	return size
}

// skip returns the offset of cell i of a body without quotes. It is greater than
// len(body) if there are fewer cells.
func (e *cellEnds) skip(body []byte, i int) (pos int) {
	for k, w := e.ends.From(0); i > 0 && pos <= len(body); i-- {
		pos, k, w = e.ends.Step(k, w)
		pos++
	}
	return pos
}

// cell is cell of a tableSyntax for a body that read has accepted.
func (e *cellEnds) cell(t *tableSyntax, body []byte, pos int) (s span, d *Dialect, next int, ok bool) {
	end := e.ends.Next(pos)
	if pos == end || body[pos] != t.quote || t.quote == 0 {
		return span{pos, end}, t.plain, end + 1, true
	}
	if body[end-1] != t.quote { // text after the closing quote
		return span{}, t.quoted, 0, false
	}
	return span{pos + 1, end - 1}, t.quoted, end + 1, true
}

// hasQuote reports whether line has the quote of the table.
func (t *tableSyntax) hasQuote(line []byte) bool {
	return t.quote != 0 && bytes.IndexByte(line, t.quote) >= 0
}
