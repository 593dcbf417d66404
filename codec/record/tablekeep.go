package record

import (
	"bytes"
	"slices"

	"github.com/urlfold/urlfold/codec/internal/scan"
)

// This file is the keeper of tables. It reads records that are lines in which every quote
// opens or closes a cell, or is doubled inside of one, as RFC 4180 demands.

// canKeep implements [keeper].
func (l *tableLocator) canKeep(*Job) bool {
	return !l.escaped && !l.base.wanted() && !l.host.wanted()
}

// wanted reports whether the column is configured.
func (c column) wanted() bool { return c.name != nil || c.index != noColumn }

// marks implements [keeper].
func (l *tableLocator) marks() *scan.Block {
	quote := l.quote
	if quote == 0 {
		quote = '\n'
	}
	return scan.NewBlock(func(c byte) bool { return c == quote || c == l.sep || c == '\n' }, quote)
}

// keep implements [keeper].
func (l *tableLocator) keep(n *normalizer, pos, limit int, head []byte) int {
	n.located = locatedRecord{}
	size := n.walk.line(pos, limit)
	if size == 0 || n.job.maxRecord > 0 && size > n.job.maxRecord {
		return 0
	}
	body := n.walk.body()
	if len(body) == 0 || markLen(body) > 0 || l.named && bytes.Equal(body, trimEnd(head)) {
		return 0
	}
	l.columns(head)
	cells := max(l.urlColumn+1, len(l.wanted))
	l.spans = slices.Grow(l.spans[:0], cells)[:cells]
	if cells == 0 || !n.walk.cells(l.spans, l.quote) {
		return 0
	}
	why, at := Reason(0), 0
	if l.composer != nil {
		if why, at = l.composeCells(n.found, body); why == 0 && n.keepsFound(body) {
			return size
		}
	} else {
		s := l.spans[l.urlColumn]
		d := l.dialectOf(body, s)
		if url := s.in(body); (d != l.quoted || bytes.IndexByte(url, l.quote) < 0) && n.keeps(url) {
			return size
		}
		n.found.reset()
		l.addURL(n.found, body, s, d)
	}
	n.located.set(n.walk.block[pos:pos+size], body, why, at)
	return 0
}

// dialectOf returns the dialect of the cell whose content is s. The byte before that of a
// quoted cell is the quote.
func (l *tableLocator) dialectOf(body []byte, s span) *Dialect {
	if s.start > 0 && body[s.start-1] == l.quote {
		return l.quoted
	}
	return l.plain
}

// composeCells is locateParts for the cells in l.spans.
func (l *tableLocator) composeCells(f *Found, body []byte) (Reason, int) {
	f.reset()
	clear(l.values)
	for i, value := range l.wanted {
		if value >= 0 {
			l.setValue(value, l.spans[i], l.dialectOf(body, l.spans[i]))
		}
	}
	return l.composer.compose(f, body, l.values)
}

// cells stores the contents of the first cells of the current line, whose quotes and
// separators are marked. It returns false if there are fewer, or if it gives up.
func (b *walk) cells(cells []span, quote byte) bool {
	text, base, end, m := b.text[:b.end+1], b.start, b.end, b.marks.Class
	next := b.marks.Same.Next(base) // quote
	k, w := m.From(base)
	for i, start := 0, base; ; i++ {
		var at int
		at, k, w = m.Step(k, w)
		cell := span{start, at}
		if text[at] == quote {
			if at > start {
				return false
			}
			cell.start++
			if cell.end = b.quoteEnd(cell.start, quote); cell.end < 0 {
				return false
			}
			k, w = m.From(cell.end + 1)
			if at, k, w = m.Step(k, w); at != cell.end+1 {
				return false // text after the closing quote
			}
			next = b.marks.Same.Next(at)
		}
		if i < len(cells) {
			cells[i] = span{cell.start - base, cell.end - base}
		}
		switch {
		case i+1 >= len(cells) && next >= end:
			return true
		case at >= end:
			return false
		}
		start = at + 1
	}
}

// quoteEnd returns the offset of the quote that closes the cell whose content is at start.
// It returns -1 if that is not in the line.
func (b *walk) quoteEnd(start int, quote byte) int {
	for {
		end := b.marks.Same.Next(start)
		if end >= b.end {
			return -1
		}
		if b.text[end+1] != quote {
			return end
		}
		start = end + 2 // the quote is doubled
	}
}
