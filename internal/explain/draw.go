package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec"
)

// This file draws a URL with what is to be said about its parts below it. It is
// structured in the following way:
//
//   - Cells: what each character of the URL takes on the screen.
//   - Cutting: a long URL loses what is far from anything of interest.
//   - Rows: the brackets, labels and carets under one line of cells.

// A cell is what one character of a URL, or a stretch that is left out, takes on
// the screen.
type cell struct {
	text       string
	width      int // columns
	start, end int // the bytes of the URL that it stands for
}

// cells returns the cells of url. Bytes that are no text, or that would move the
// cursor or the direction of writing, are shown as escapes: \x00 for a byte,
// \u200f for a character. The bytes of hide are shown as ***.
func (s style) cells(url []byte, hide codec.Span) []cell {
	var out []cell
	for i := 0; i < len(url); {
		if i == int(hide.Start) && hide.Len() > 0 {
			out = append(out, cell{"***", 3, i, int(hide.End)})
			i = int(hide.End)
			continue
		}
		c := s.cell(url[i:])
		c.start, c.end = i, i+c.end
		out = append(out, c)
		i = c.end
	}
	return out
}

// cell returns the first cell of b; its end is its length in bytes.
func (s style) cell(b []byte) cell {
	r, n := utf8.DecodeRune(b)
	switch {
	case r == utf8.RuneError && n <= 1, r < ' ', r == 0x7F:
		return cell{fmt.Sprintf(`\x%02X`, b[0]), 4, 0, 1}
	case r < utf8.RuneSelf:
		return cell{string(r), 1, 0, 1}
	case s.unicode && isShowable(r):
		return cell{string(r), 1 + wide(r), 0, n}
	case r > 0xFFFF:
		return cell{fmt.Sprintf(`\U%08x`, r), 10, 0, n}
	}
	return cell{fmt.Sprintf(`\u%04x`, r), 6, 0, n}
}

// isShowable reports whether r takes columns of its own, from left to right.
func isShowable(r rune) bool {
	return unicode.IsPrint(r) && !unicode.In(r, unicode.Mn, unicode.Me, unicode.Hebrew, unicode.Arabic,
		unicode.Syriac, unicode.Thaana, unicode.Nko)
}

// wide returns 1 for a character that takes two columns (Unicode Annex 11: wide
// and fullwidth), else 0.
func wide(r rune) int {
	for _, b := range [...][2]rune{
		{0x1100, 0x115F}, {0x2E80, 0x303E}, {0x3041, 0xA4CF}, {0xA960, 0xA97C}, {0xAC00, 0xD7A3}, {0xF900, 0xFAFF},
		{0xFE30, 0xFE6F}, {0xFF00, 0xFF60}, {0xFFE0, 0xFFE6}, {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF},
		{0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD},
	} {
		if r >= b[0] && r <= b[1] {
			return 1
		}
	}
	return 0
}

// escapeText returns text as it is shown outside a drawing.
func (s style) escapeText(text string) string {
	var b strings.Builder
	for _, c := range s.cells([]byte(text), codec.Span{}) {
		b.WriteString(c.text)
	}
	return b.String()
}

// widthOf returns how many columns the cells take.
func widthOf(cells []cell) int {
	n := 0
	for _, c := range cells {
		n += c.width
	}
	return n
}

// cut leaves out what is far from the offsets in points, if the cells do not fit
// in width columns: as little as is needed.
func (s style) cut(cells []cell, points []int, width int) []cell {
	short := cells
	for _, near := range []int{40, 24, 16, 10, 6, 3} {
		if widthOf(short) <= width {
			break
		}
		short = s.cutTo(cells, points, near)
	}
	return short
}

// cutTo replaces each stretch of cells that are more than near cells away from
// every point by an ellipsis.
func (s style) cutTo(cells []cell, points []int, near int) []cell {
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
			if p >= c.start && p < c.end {
				mark(i)
				break
			}
		}
	}
	dots := s.pick("…", "...")
	width := utf8.RuneCountInString(dots)
	var out []cell
	for i := 0; i < len(cells); {
		j := i
		for j < len(cells) && !keep[j] {
			j++
		}
		if widthOf(cells[i:j]) > width {
			out = append(out, cell{dots, width, cells[i].start, cells[j-1].end})
			i = j
			continue
		}
		out = append(out, cells[i:max(j, i+1)]...)
		i = max(j, i+1)
	}
	return out
}

// rows breaks cells into rows of at most width columns.
func rows(cells []cell, width int) [][]cell {
	var out [][]cell
	for len(cells) > 0 {
		n, used := 0, 0
		for n < len(cells) && (n == 0 || used+cells[n].width <= width) {
			used += cells[n].width
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

// outsideEscape returns the place at or before n where cells can be broken
// without breaking an escape.
func outsideEscape(cells []cell, n int) int {
	for i := max(1, n-2); i < n; i++ {
		if cells[i].text == "%" {
			return i
		}
	}
	return n
}

// A label names a stretch of the URL.
type label struct {
	start, end int // bytes
	text       string
}

// A span of columns in one row, and what stands under it.
type placed struct {
	col, end int
	text     string
}

// column returns the column of the cell that holds offset at, or, if at is the
// end of row, the column after it.
func column(row []cell, at int) (col int, ok bool) {
	for _, c := range row {
		if at >= c.start && at < c.end {
			return col, true
		}
		col += c.width
	}
	return col, len(row) == 0 || at == row[len(row)-1].end
}

// place returns where the labels lie in row. A label of nothing is put under the
// delimiter in front of it.
func place(row []cell, labels []label) []placed {
	var out []placed
	for _, l := range labels {
		if l.start == l.end {
			l.start--
		}
		p := placed{col: -1, text: l.text}
		col := 0
		for _, c := range row {
			if c.start < l.end && c.end > l.start {
				if p.col < 0 {
					p.col = col
				}
				p.end = col + c.width
			}
			col += c.width
		}
		if p.col >= 0 {
			out = append(out, p)
		}
	}
	return out
}

// A canvas is some lines of single-column characters.
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

// ruler draws a bracket under each span and its text under the bracket, on a
// deeper line if it does not fit beside the next one:
//
//	└──┘   └──────┘ │
//	scheme host     │
//	                path
func (s style) ruler(spans []placed) canvas {
	var c canvas
	line := s.pick("│", "|")
	var limit []int // per line, the first column that is taken
	for i := len(spans) - 1; i >= 0; i-- {
		p := spans[i]
		c.put(0, p.col, s.bracket(p.end-p.col))
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
func (s style) bracket(n int) string {
	if n < 2 {
		return s.pick("│", "|")
	}
	return s.pick("└", "+") + strings.Repeat(s.pick("─", "-"), n-2) + s.pick("┘", "+")
}
