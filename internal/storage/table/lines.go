package table

import "bytes"

// Lines collects the lines of a text after they were rewritten, until the rows
// that they stand for are written.
type Lines struct {
	text []byte
	list []Line
}

// A Line is a line of Lines.
type Line struct {
	Row        int64 // number of the row, from 0
	start, end int   // range in Lines.text, without the line feed
	whole      bool
}

// Add adds a line, or a piece of one, and copies text. Pieces of a line follow
// each other, and the last one ends with a line feed.
func (l *Lines) Add(row int64, text []byte) {
	if n := len(l.list); n == 0 || l.list[n-1].whole {
		l.list = append(l.list, Line{Row: row, start: len(l.text), end: len(l.text)})
	}
	last := &l.list[len(l.list)-1]
	body, whole := bytes.CutSuffix(text, []byte{'\n'})
	l.text = append(l.text, body...)
	last.end, last.whole = len(l.text), whole
}

// End says that no piece of the last line follows.
func (l *Lines) End() {
	if n := len(l.list); n > 0 {
		l.list[n-1].whole = true
	}
}

// Whole returns the lines that are complete. They are valid until
// the next call of Add or Drop.
func (l *Lines) Whole() []Line {
	if n := len(l.list); n > 0 && !l.list[n-1].whole {
		return l.list[:n-1]
	}
	return l.list
}

// Drop removes the first n lines.
func (l *Lines) Drop(n int) {
	l.list = append(l.list[:0], l.list[n:]...)
	if len(l.list) == 0 {
		l.text = l.text[:0]
	}
}

// Cell returns the n-th cell of a line, with its escapes.
func (l *Lines) Cell(line Line, n int) []byte {
	rest := l.text[line.start:line.end]
	for ; n > 0; n-- {
		_, rest, _ = bytes.Cut(rest, []byte{'\t'})
	}
	cell, _, _ := bytes.Cut(rest, []byte{'\t'})
	return cell
}
