package manual

import (
	"strings"
	"unicode/utf8"

	"github.com/urlfold/urlfold/internal/ground/terminal"
)

// Widths of the text, in columns. Longer lines are hard to read; code is never
// wrapped.
const (
	maxWidth = 100
	indent   = "    " // indent of code, here and in Markdown
)

// Text returns the page for a terminal or a pipe. Its lines are wrapped at the
// width of the style, at most 100 columns; code keeps its lines.
func (t Topic) Text(s terminal.Style) string { return render(t.blocks(), s) }

// render returns blocks as text.
func render(blocks []block, s terminal.Style) string {
	w := writer{style: s, width: min(s.Width, maxWidth)}
	for _, b := range blocks {
		w.block(b)
	}
	return w.String()
}

// A writer writes blocks as text.
type writer struct {
	strings.Builder
	style terminal.Style
	width int
	last  kind // kind of the block before
}

// block writes a block, and an empty line in front unless it is the first one
// or continues a list.
func (w *writer) block(b block) {
	continues := b.kind == item && w.last == item && b.marker != "1."
	if w.Len() > 0 && !continues {
		w.WriteByte('\n')
	}
	w.last = b.kind
	switch b.kind {
	case heading:
		w.heading(b)
	case paragraph:
		w.wrapped("", "", b.spans)
	case item:
		lead := b.marker + " "
		w.wrapped(lead, strings.Repeat(" ", len(lead)), b.spans)
	case code:
		for _, line := range b.lines {
			w.line(indent + line)
		}
	case table:
		lead := ""
		if b.nested {
			lead = "   "
		}
		for _, line := range layOut(b.rows, w.width-len(lead), w.style.Color) {
			w.line(lead + line)
		}
	}
}

// heading writes a heading: bold on a terminal with colors, otherwise underlined
// down to the second level.
func (w *writer) heading(b block) {
	title := plain(b.spans)
	w.line(w.style.Paint(terminal.Bold, title))
	if rule := map[int]string{1: "=", 2: "-"}[b.level]; rule != "" && !w.style.Color {
		w.line(strings.Repeat(rule, min(utf8.RuneCountInString(title), w.width)))
	}
}

// wrapped writes spans as a paragraph. Its first line begins with lead, and all
// other lines begin with hang.
func (w *writer) wrapped(lead, hang string, spans []span) {
	for _, line := range fill(words(spans, w.style.Color, true), w.width-len(hang)) {
		w.line(lead + line)
		lead = hang
	}
}

func (w *writer) line(text string) {
	w.WriteString(strings.TrimRight(text, " "))
	w.WriteByte('\n')
}

// A word is text that is not broken at the end of a line.
type word struct {
	text  string // with its colors
	width int    // columns
}

// unbroken is the longest code that is kept on one line, in columns.
const unbroken = 32

// words returns the words of spans. With color, code is cyan and emphasis bold;
// without, code is quoted if quote is true.
func words(spans []span, color, quote bool) (list []word) {
	paint := terminal.Style{Color: color}
	glue := false // the next piece continues the last word
	add := func(text, color string) {
		if !glue || len(list) == 0 {
			list = append(list, word{})
		}
		last := &list[len(list)-1]
		last.width += utf8.RuneCountInString(text)
		if color != "" {
			text = paint.Paint(color, text)
		}
		last.text += text
		glue = true
	}
	for _, s := range spans {
		tint := map[style]string{strong: terminal.Bold, literal: terminal.Cyan}[s.style]
		text := s.text
		if s.style == literal && !color && quote {
			text = quoted(text)
		}
		if s.style == literal && utf8.RuneCountInString(text) <= unbroken {
			add(text, tint)
			continue
		}
		for text != "" {
			rest := strings.TrimLeft(text, " ")
			glue = glue && len(rest) == len(text)
			n := strings.IndexByte(rest, ' ')
			if n < 0 {
				n = len(rest)
			}
			if n > 0 {
				add(rest[:n], tint)
			}
			text = rest[n:]
		}
	}
	return list
}

// quoted returns code between quotes of a kind that code does not contain.
func quoted(code string) string {
	if strings.Contains(code, "'") {
		return `"` + code + `"`
	}
	return "'" + code + "'"
}

// fill distributes words over lines of at most width columns. A longer word
// gets a separate line.
func fill(list []word, width int) []string {
	var lines []string
	var line strings.Builder
	used := 0
	for _, w := range list {
		if used > 0 && used+1+w.width > width {
			lines = append(lines, line.String())
			line.Reset()
			used = 0
		}
		if used > 0 {
			line.WriteByte(' ')
			used++
		}
		line.WriteString(w.text)
		used += w.width
	}
	return append(lines, line.String())
}
