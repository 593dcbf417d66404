package explain

import (
	"strings"
	"unicode/utf8"

	"github.com/urlfold/urlfold/internal/ground/redact"
	"github.com/urlfold/urlfold/internal/ground/terminal"
)

// This file draws a URL with annotations below it. It has two parts:
//
//   - Cutting: shortening a long URL to the surroundings of points of interest.
//   - Rows: drawing brackets, labels and carets under a line of cells.

// cells returns the cells of url, with *** in place of the bytes that are marked.
func (t *TextWriter) cells(url []byte, marks []bool) (out []terminal.Cell) {
	for start := 0; start < len(url); {
		end := start + 1
		for end < len(url) && marks[end] == marks[start] {
			end++
		}
		if marks[start] {
			out = append(out, terminal.Cell{Text: redact.Stars, Width: len(redact.Stars), Start: start, End: end})
			start = end
			continue
		}
		for _, c := range t.Cells(url[start:end]) {
			c.Start += start
			c.End += start
			out = append(out, c)
		}
		start = end
	}
	return out
}

// widthOf returns the width of cells in columns.
func widthOf(cells []terminal.Cell) int {
	n := 0
	for _, c := range cells {
		n += c.Width
	}
	return n
}

// cut shortens cells that do not fit into width columns. It drops cells far
// from the offsets in points, as few as possible.
func (t *TextWriter) cut(cells []terminal.Cell, points []int, width int) []terminal.Cell {
	short := cells
	for _, near := range []int{40, 24, 16, 10, 6, 3} {
		if widthOf(short) <= width {
			break
		}
		short = t.cutTo(cells, points, near)
	}
	return short
}

// cutTo replaces each run of cells that are more than near cells away from
// every point by an ellipsis.
func (t *TextWriter) cutTo(cells []terminal.Cell, points []int, near int) []terminal.Cell {
	keep := make([]bool, len(cells))
	mark := func(at int) {
		for i := max(0, at-near); i < min(len(cells), at+near+1); i++ {
			keep[i] = true
		}
	}
	mark(0)
	mark(len(cells) - 1)
	for _, p := range points {
		for i, c := range cells {
			if p >= c.Start && p < c.End {
				mark(i)
				break
			}
		}
	}
	dots := t.Pick("…", "...")
	width := utf8.RuneCountInString(dots)
	var out []terminal.Cell
	for i := 0; i < len(cells); {
		j := i
		for j < len(cells) && !keep[j] {
			j++
		}
		if widthOf(cells[i:j]) > width {
			out = append(out, terminal.Cell{Text: dots, Width: width, Start: cells[i].Start, End: cells[j-1].End})
			i = j
			continue
		}
		out = append(out, cells[i:max(j, i+1)]...)
		i = max(j, i+1)
	}
	return out
}

// rows breaks cells into rows of at most width columns.
func rows(cells []terminal.Cell, width int) [][]terminal.Cell {
	var out [][]terminal.Cell
	for len(cells) > 0 {
		n, used := 0, 0
		for n < len(cells) && (n == 0 || used+cells[n].Width <= width) {
			used += cells[n].Width
			n++
		}
		if n < len(cells) {
			n = outsideEscape(cells, n)
		}
		out = append(out, cells[:n])
		cells = cells[n:]
	}
	return out
}

// outsideEscape returns the last index up to n at which a row can end without
// splitting an escape.
func outsideEscape(cells []terminal.Cell, n int) int {
	for i := max(1, n-2); i < n; i++ {
		if cells[i].Text == "%" {
			return i
		}
	}
	return n
}

// A label names a span of the URL.
type label struct {
	start, end int // bytes
	text       string
}

// A placed is a span of columns in a row, with the text under it.
type placed struct {
	col, end int
	text     string
}

// column returns the column of the cell that contains offset at or, if at is
// the end of row, the column after the row.
func column(row []terminal.Cell, at int) (col int, ok bool) {
	for _, c := range row {
		if at >= c.Start && at < c.End {
			return col, true
		}
		col += c.Width
	}
	return col, len(row) == 0 || at == row[len(row)-1].End
}

// place returns the columns of the labels in row. It puts an empty label under
// the preceding delimiter.
func place(row []terminal.Cell, labels []label) []placed {
	var out []placed
	for _, l := range labels {
		if l.start == l.end {
			l.start--
		}
		p := placed{col: -1, text: l.text}
		col := 0
		for _, c := range row {
			if c.Start < l.end && c.End > l.start {
				if p.col < 0 {
					p.col = col
				}
				p.end = col + c.Width
			}
			col += c.Width
		}
		if p.col >= 0 {
			out = append(out, p)
		}
	}
	return out
}

// A canvas is a list of lines of single-column characters.
type canvas [][]rune

// put writes text at a column of a line.
func (c *canvas) put(line, col int, text string) {
	for len(*c) <= line {
		*c = append(*c, nil)
	}
	l := (*c)[line]
	for _, r := range text {
		for len(l) <= col {
			l = append(l, ' ')
		}
		l[col] = r
		col++
	}
	(*c)[line] = l
}

// ruler draws a bracket under each span, and below the bracket the text of the span.
// A text that would overlap the next one is on a lower line:
//
//	└──┘   └──────┘ │
//	scheme host     │
//	                path
func (t *TextWriter) ruler(spans []placed) canvas {
	var c canvas
	line := t.Pick("│", "|")
	var limit []int // first occupied column of each line
	for i := len(spans) - 1; i >= 0; i-- {
		p := spans[i]
		c.put(0, p.col, t.bracket(p.end-p.col))
		depth := 0
		for depth < len(limit) && p.col+utf8.RuneCountInString(p.text)+1 > limit[depth] {
			depth++
		}
		if depth == len(limit) {
			limit = append(limit, 0)
		}
		for d := range depth {
			c.put(1+d, p.col, line)
		}
		for d := range depth + 1 {
			limit[d] = p.col
		}
		c.put(1+depth, p.col, p.text)
	}
	return c
}

// bracket returns a bracket of n columns.
func (t *TextWriter) bracket(n int) string {
	if n < 2 {
		return t.Pick("│", "|")
	}
	return t.Pick("└", "+") + strings.Repeat(t.Pick("─", "-"), n-2) + t.Pick("┘", "+")
}
