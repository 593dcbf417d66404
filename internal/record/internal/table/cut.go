package table

import (
	"bytes"

	"github.com/urlfold/urlfold/internal/ground/scan"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// This file cuts a table into records, and finds the records with a quote that was not
// meant to open a cell.

// Cut implements [locate.Framing].
func (t *Reader) Cut(block []byte) int {
	n, _, _ := t.cut(block, false)
	return n + locate.CutHole(block[n:])
}

// OpenQuotes implements [locate.QuoteFraming].
func (t *Reader) OpenQuotes(records []byte) (first, number int) {
	_, first, number = t.cut(records, true)
	return first, number
}

// MaxQuoted implements [locate.QuoteFraming].
func (t *Reader) MaxQuoted() int { return t.longest }

// cutWindow is the number of bytes that cut scans at a time. If these bytes have
// fewer lines than a quoted cell may have, none of their cells is too long.
const cutWindow = 8 << 10

// cut returns the length n of the longest prefix of block that consists of whole records.
// number is the number of these records that have an open quote, and first is the offset
// of the first line with an open quote. If last is set, block ends where the last record
// ends.
func (t *Reader) cut(block []byte, last bool) (n, first, number int) {
	if t.Quote == 0 || t.ByLine || bytes.IndexByte(block, t.Quote) < 0 {
		return bytes.LastIndexByte(block, '\n') + 1, 0, 0
	}
	holes := bytes.IndexByte(block, 0) >= 0 // a quote behind a hole opens a cell
	for size := cutWindow; n < len(block); {
		if holes {
			if n += locate.CutHole(block[n:]); n == len(block) {
				break
			}
		}
		to := n + 1 // up to there, records are read one by one
		if !t.Escaped && !holes {
			window := block[n:min(n+size, len(block))]
			k, spans, gaveUp := scan.Cut(window, t.Quote, t.Sep)
			switch {
			case k > 0 && k <= t.longest && bytes.Count(window[:k], locate.LineFeed) < t.mostLines() && !(spans && t.spills(window[:k])):
				n, size = n+k, cutWindow
				continue
			case k == 0 && !gaveUp && n+size < len(block):
				size *= 2
				continue
			}
			to, size = n+max(1, k), cutWindow
		}
		for n < to {
			k, open := t.recordEnd(block[n:], last)
			if k < 0 {
				return n, first, number
			}
			if open {
				if number == 0 {
					first = n + bytes.LastIndexByte(block[n:n+k-1], '\n') + 1
				}
				number++
			}
			n += k
		}
	}
	return n, first, number
}

// closes reports whether the line feed at the end of line, which starts with a
// record and contains no other line feed, ends the record. It returns false if
// it gives up.
func (t *Syntax) closes(line []byte) bool {
	if t.Escaped {
		return false
	}
	n, _, gaveUp := scan.Cut(line, t.Quote, t.Sep)
	return n == len(line) && !gaveUp
}
