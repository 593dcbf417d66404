package table

import (
	"github.com/urlfold/urlfold/internal/ground/scan"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// Wanted reports whether the column is configured.
func (c column) Wanted() bool { return c.name != nil || c.index != noColumn }

// DialectOf returns the dialect of the cell whose content is s. A quote
// precedes the content of a quoted cell.
func (l *Locator) DialectOf(body []byte, s locate.Span) *locate.Dialect {
	if s.Start > 0 && body[s.Start-1] == l.Quote {
		return l.Quoted
	}
	return l.plain
}

// ComposeCells is locateParts for the cells in l.Spans.
func (l *Locator) ComposeCells(f *locate.Found, body []byte) (locate.Reason, int) {
	f.Reset()
	clear(l.values)
	for i, value := range l.Wanted {
		if value >= 0 {
			l.setValue(value, l.Spans[i], l.DialectOf(body, l.Spans[i]))
		}
	}
	return l.Composer.Compose(f, body, l.values)
}

// Cells stores the contents of the first cells of the current line, whose
// quotes and separators are marked. It returns false if there are fewer cells,
// or if it gives up.
func Cells(b *locate.Walk, cells []locate.Span, quote byte) bool {
	text, base, end, m := b.Text[:b.End+1], b.Start, b.End, b.Marks.Class
	next := b.Marks.Same.Next(base) // the next quote
	k, w := m.From(base)
	for i, start := 0, base; ; i++ {
		var at int
		at, k, w = m.Step(k, w)
		cell := locate.Between(start, at)
		if text[at] == quote {
			if at > start {
				return false
			}
			cell.Start++
			if cell.End = quoteEnd(b, cell.Start, quote); cell.End < 0 {
				return false
			}
			k, w = m.From(cell.End + 1)
			if at, k, w = m.Step(k, w); at != cell.End+1 {
				return false // text after the closing quote
			}
			next = b.Marks.Same.Next(at)
		}
		if i < len(cells) {
			cells[i] = locate.Between(cell.Start-base, cell.End-base)
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
// It returns -1 if the line does not contain that quote.
func quoteEnd(b *locate.Walk, start int, quote byte) int {
	for {
		end := b.Marks.Same.Next(start)
		if end >= b.End {
			return -1
		}
		if b.Text[end+1] != quote {
			return end
		}
		start = end + 2 // the quote is doubled
	}
}

// Divide implements [locate.Divider].
func (t *Reader) Divide(dst []locate.Span, rec []byte, f *locate.Found) []locate.Span {
	body, start := locate.TrimEnd(rec), len(dst)
	syntax := t.Of(body)
	for pos := locate.MarkLen(body); ; {
		_, _, next, ok := syntax.cell(body, pos)
		switch {
		case !ok && f.N == 0:
			return dst[:start]
		case !ok || next > len(body):
			return dst
		}
		dst, pos = append(dst, locate.Between(next-1, next)), next
	}
}

// Marks returns the marks that Cells needs.
func (l *Locator) Marks() *scan.Block {
	quote := l.Quote
	if quote == 0 {
		quote = '\n'
	}
	return scan.NewBlock(func(c byte) bool { return c == quote || c == l.Sep || c == '\n' }, quote)
}
