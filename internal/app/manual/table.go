package manual

import (
	"strings"
	"unicode/utf8"
)

// Limits of the layout of a table, in columns.
const (
	gap     = 2  // blanks between columns
	narrow  = 14 // the least width of a column with text that must be wrapped
	widest  = 40 // longer words of a cell are broken, unless there is room
	meaning = "meaning"
)

// A grid is a table whose cells are divided into words.
type grid struct {
	heads []string
	cells [][][]word // by row and column; the first row is the head
	want  []int      // width of each column if no cell is wrapped
	least []int      // width of each column if every cell is wrapped
}

// Rows returns the rows of the tables in the topic's page: the text of each cell by the head
// of its column.
func (t Topic) Rows() (rows []map[string]string) {
	for _, b := range t.blocks() {
		if b.kind != table {
			continue
		}
		for _, cells := range b.rows[1:] {
			row := map[string]string{}
			for i, c := range cells[:min(len(cells), len(b.rows[0]))] {
				row[plain(b.rows[0][i])] = plain(c)
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// layOut returns the lines of a table: columns side by side if they fit into
// width, otherwise one paragraph per row.
func layOut(rows [][]cell, width int, color bool) []string {
	g := newGrid(rows, color)
	if widths := g.widths(width); widths != nil {
		return g.columns(widths)
	}
	return g.paragraphs(width)
}

func newGrid(rows [][]cell, color bool) *grid {
	n := len(rows[0])
	g := &grid{want: make([]int, n), least: make([]int, n)}
	for _, head := range rows[0] {
		g.heads = append(g.heads, plain(head))
	}
	for _, row := range rows {
		line := make([][]word, n)
		for i := range min(n, len(row)) {
			line[i] = words(row[i], color, isMixed(row[i], i == 0))
			g.want[i] = max(g.want[i], length(line[i]))
			for _, w := range line[i] {
				g.least[i] = max(g.least[i], w.width)
			}
		}
		g.cells = append(g.cells, line)
	}
	for i := range g.least {
		g.least[i] = min(max(g.least[i], narrow), widest, g.want[i])
	}
	return g
}

// isMixed reports whether a cell has text besides code, so that the code in it
// must be set off. The first cell of a row may begin with a name and continue
// with a remark.
func isMixed(c cell, first bool) bool {
	if first && len(c) > 0 && c[0].style == literal && len(c[0].text) > 1 {
		return false
	}
	for _, s := range c {
		if s.style != literal && strings.Trim(s.text, " ,") != "" {
			return true
		}
	}
	return false
}

// length returns the columns of words on one line.
func length(list []word) int {
	n := max(0, len(list)-1)
	for _, w := range list {
		n += w.width
	}
	return n
}

// split breaks words that are longer than width, if they have no colors.
func split(list []word, width int) (out []word) {
	for _, w := range list {
		for w.width > width && len(w.text) == w.width {
			out = append(out, word{w.text[:width], width})
			w = word{w.text[width:], w.width - width}
		}
		out = append(out, w)
	}
	return out
}

// widths returns the width of each column, or nil if the columns do not fit. It
// gives the remaining room, one character at a time, to the column with the most
// lines among the columns in which cells are still wrapped.
func (g *grid) widths(width int) []int {
	widths := append([]int(nil), g.least...)
	room := width - gap*(len(widths)-1)
	for _, n := range widths {
		room -= n
	}
	if room < 0 {
		return nil
	}
	for ; room > 0; room-- {
		best, most := -1, 0
		for i, w := range widths {
			if n := g.height(i, w); w < g.want[i] && n > most {
				best, most = i, n
			}
		}
		if best < 0 {
			break
		}
		widths[best]++
	}
	return widths
}

// height returns an estimate of the lines of a column with width w.
func (g *grid) height(i, w int) (lines int) {
	for _, row := range g.cells {
		lines += (length(row[i]) + w - 1) / max(w, 1)
	}
	return lines
}

// columns returns the lines of the table with columns side by side.
func (g *grid) columns(widths []int) (lines []string) {
	for i, row := range g.cells {
		lines = append(lines, join(row, widths)...)
		if i == 0 {
			rule := make([]string, len(widths))
			for i, w := range widths {
				rule[i] = strings.Repeat("-", w)
			}
			lines = append(lines, strings.Join(rule, strings.Repeat(" ", gap)))
		}
	}
	return lines
}

// join returns the lines of a row with its cells side by side.
func join(row [][]word, widths []int) []string {
	cells := make([][]string, len(widths))
	height := 0
	for i, w := range widths {
		cells[i] = fill(split(row[i], w), w)
		height = max(height, len(cells[i]))
	}
	lines := make([]string, height)
	for k := range lines {
		var b strings.Builder
		for i, w := range widths {
			text := ""
			if k < len(cells[i]) {
				text = cells[i][k]
			}
			b.WriteString(text)
			if i+1 < len(widths) {
				b.WriteString(strings.Repeat(" ", max(0, w-visible(text))+gap))
			}
		}
		lines[k] = strings.TrimRight(b.String(), " ")
	}
	return lines
}

// visible returns the columns of text without its color codes.
func visible(text string) int {
	n := utf8.RuneCountInString(text)
	for {
		_, rest, ok := strings.Cut(text, "\x1b[")
		if !ok {
			return n
		}
		end := strings.IndexByte(rest, 'm')
		n -= len("\x1b[") + end + 1
		text = rest[end+1:]
	}
}

// paragraphs returns the table with a paragraph for each row. The first cell
// comes first; the others follow, indented, each after the head of its column.
// Empty cells and the head "meaning" are left out.
func (g *grid) paragraphs(width int) (lines []string) {
	width -= len(indent)
	last := len(g.heads) - 1
	for k, row := range g.cells[1:] {
		if k > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, fill(row[0], width)...)
		var text [][]word
		if short := g.short(row); len(short) > 0 && length(short) <= width {
			text = [][]word{short}
			row = append(make([][]word, last), row[last])
		}
		for i, cell := range row {
			if i > 0 && len(cell) > 0 {
				text = append(text, g.headed(i, cell))
			}
		}
		for _, cell := range text {
			for _, line := range fill(cell, width) {
				lines = append(lines, indent+line)
			}
		}
	}
	return lines
}

// short returns the cells between the first cell and the last cell as one text,
// or nothing if a cell has no head.
func (g *grid) short(row [][]word) (text []word) {
	for i := 1; i < len(row)-1; i++ {
		if g.heads[i] == meaning {
			return nil
		}
		if len(row[i]) > 0 {
			text = append(separated(text), g.headed(i, row[i])...)
		}
	}
	return text
}

// headed returns text after the head of column i.
func (g *grid) headed(i int, text []word) []word {
	if g.heads[i] == meaning {
		return text
	}
	return append([]word{{g.heads[i] + ":", utf8.RuneCountInString(g.heads[i]) + 1}}, text...)
}

// separated returns list with a semicolon after its last word.
func separated(list []word) []word {
	if len(list) > 0 {
		list[len(list)-1].text += ";"
		list[len(list)-1].width++
	}
	return list
}
