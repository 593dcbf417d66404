package explain

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/ground/terminal"
)

// A TextWriter formats explanations for people.
type TextWriter struct {
	*Explainer
	terminal.Style
	w     *bufio.Writer
	begun bool // an explanation has been written
}

// NewTextWriter returns a writer for the explanations of x. Call Flush at the
// end.
func NewTextWriter(w io.Writer, s terminal.Style, x *Explainer) *TextWriter {
	return &TextWriter{Explainer: x, Style: s, w: bufio.NewWriter(w)}
}

// Flush writes buffered data and returns the first error of all writes.
func (t *TextWriter) Flush() error { return t.w.Flush() }

const indent = "  "

// cannotBeParsed is the heading of the section with a parse error.
const cannotBeParsed = "cannot be parsed"

// labelRoom is the number of free columns on the right, for the label of a
// short component at the end of the URL.
const labelRoom = 8

// Write writes an explanation.
func (t *TextWriter) Write(e *Explanation) {
	t.separate()
	t.drawComponents(e)
	t.drawDefects(e)
	if e.err != nil {
		t.head(cannotBeParsed)
		t.line(t.Paint(terminal.Red, fmt.Sprintf("byte %d: %v", e.res.ErrAt, e.err)))
		t.emit("\n")
		t.writeStandings(e)
		return
	}
	t.writeStandards(e)
	t.writeNormal(e)
	t.writeSteps(e)
	t.writeKeys(e)
	t.writeKeySteps(e)
	t.writeForms(e)
	t.writeExpressions(e)
}

// separate writes an empty line between two explanations.
func (t *TextWriter) separate() {
	if t.begun {
		t.emit("\n")
	}
	t.begun = true
}

// head writes the heading of a section.
func (t *TextWriter) head(text string) {
	t.emit("\n" + t.Paint(terminal.Bold, text) + "\n")
}

func (t *TextWriter) line(text string) { t.emit(indent + text + "\n") }

// emit writes text. A bufio.Writer keeps its first error until Flush.
func (t *TextWriter) emit(text string) { _, _ = t.w.WriteString(text) }

// picture returns the rows of cells that show the URL. It shortens a long URL
// to the surroundings of components, diagnostics and parse errors.
func (t *TextWriter) picture(e *Explanation) [][]terminal.Cell {
	width := t.Width - len(indent) - labelRoom
	points := []int{}
	for c := codec.Scheme; c <= codec.Fragment; c++ {
		if e.res.In.Has(c) {
			s := e.res.In.Span(c)
			points = append(points, int(s.Start), int(s.End))
		}
	}
	for _, d := range e.res.Diagnostics {
		points = append(points, int(d.At))
	}
	if e.err != nil {
		points = append(points, int(e.res.ErrAt))
	}
	// A URL longer than the limit cannot be parsed; its beginning is enough.
	src := e.src[:min(len(e.src), codec.DefaultMaxLen+1)]
	cells := t.cells(src, t.marks(e.src))
	return rows(t.cut(cells, points, width), width)
}

// urlLine returns a row as text, with the cells at the given offsets
// highlighted.
func (t *TextWriter) urlLine(row []terminal.Cell, offsets []int) string {
	var b strings.Builder
	for _, c := range row {
		text := c.Text
		if slices.ContainsFunc(offsets, func(at int) bool { return at >= c.Start && at < c.End }) {
			text = t.Paint(terminal.Red, text)
		}
		b.WriteString(text)
	}
	return b.String()
}

// drawComponents draws the URL with its components below.
func (t *TextWriter) drawComponents(e *Explanation) {
	var labels []label
	for c := codec.Scheme; c <= codec.Fragment; c++ {
		s := e.res.In.Span(c)
		if !e.res.In.Has(c) || c == codec.Path && s.Len() == 0 {
			continue
		}
		text := c.String()
		if s.Len() == 0 {
			text += " (empty)"
		}
		labels = append(labels, label{int(s.Start), int(s.End), text})
	}
	for _, row := range t.picture(e) {
		t.line(t.urlLine(row, nil))
		for _, l := range t.ruler(place(row, labels)) {
			t.line(t.Paint(terminal.Cyan, string(l)))
		}
	}
	if len(e.src) == 0 {
		t.line("(empty reference)")
	}
}

// A defect is the group of diagnostics at one offset, labeled with a letter.
type defect struct {
	at          int
	letter      byte
	diagnostics []codec.Diagnostic
}

// defects groups the diagnostics of e by offset.
func defects(e *Explanation) []defect {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	var out []defect
	for _, d := range e.res.Diagnostics {
		if n := len(out); n > 0 && out[n-1].at == int(d.At) {
			out[n-1].diagnostics = append(out[n-1].diagnostics, d)
			continue
		}
		out = append(out, defect{int(d.At), letters[len(out)%len(letters)], []codec.Diagnostic{d}})
	}
	return out
}

// drawDefects draws the URL with a caret under each defect, and describes the
// defects.
func (t *TextWriter) drawDefects(e *Explanation) {
	if e.res.Flags.IsZero() && e.err == nil {
		return
	}
	t.head("flags")
	found := defects(e)
	offsets := make([]int, len(found))
	for i, d := range found {
		offsets[i] = d.at
	}
	if e.err != nil && !slices.Contains(offsets, int(e.res.ErrAt)) {
		offsets = append(offsets, int(e.res.ErrAt))
	}
	if len(offsets) > 0 {
		t.drawCarets(t.picture(e), found, offsets)
	}
	described := map[codec.Flag]bool{}
	for _, at := range found {
		for i, d := range at.diagnostics {
			letter := string(at.letter)
			if i > 0 {
				letter = " "
			}
			t.writeDiagnostic(letter, d, diagnosticAction(e, d), described[d.Flag])
			described[d.Flag] = true
		}
	}
	for f := range e.res.Flags.All() {
		if !described[f] {
			t.writeFlag(" ", f, "", "")
		}
	}
}

// drawCarets draws the rows that contain defects, with a caret and a letter
// under each. A caret without a letter marks the offset at which parsing
// failed.
func (t *TextWriter) drawCarets(pic [][]terminal.Cell, found []defect, offsets []int) {
	for i, row := range pic {
		var c canvas
		put := func(line, at int, text string) {
			if col, ok := column(row, at); ok && (col < widthOf(row) || i == len(pic)-1) {
				c.put(line, col, text)
			}
		}
		for _, at := range offsets {
			put(0, at, "^")
		}
		for _, d := range found {
			put(1, d.at, string(d.letter))
		}
		if len(c) == 0 {
			continue
		}
		t.line(t.urlLine(row, offsets))
		for _, l := range c {
			t.line(t.Paint(terminal.Yellow, string(l)))
		}
	}
}

// diagnosticAction describes the action taken for a diagnostic. If the URL
// cannot be parsed, no action other than the rejection was taken.
func diagnosticAction(e *Explanation, d codec.Diagnostic) string {
	action := actionTexts[d.Action]
	if e.err != nil && d.Action != codec.ActionRejected {
		action = ""
	}
	if d.Flag == codec.FlagDoubleEncoded {
		action = doubleText(d) + " " + action
	}
	return action
}

// writeDiagnostic describes a diagnostic. It omits the meaning of the flag if
// the meaning has been described before.
func (t *TextWriter) writeDiagnostic(letter string, d codec.Diagnostic, action string, described bool) {
	where := fmt.Sprintf("byte %d, %v", d.At, d.Component)
	if !described {
		t.writeFlag(letter, d.Flag, where, action)
		return
	}
	for i, l := range terminal.Wrap(where+". "+action, t.Width-flagColumn-5) {
		if i == 0 {
			t.line(t.flagHead(letter, d.Flag) + l)
			continue
		}
		t.line(strings.Repeat(" ", flagColumn+3) + l)
	}
}

// doubleText describes a multiply encoded escape.
func doubleText(d codec.Diagnostic) string {
	text := fmt.Sprintf("Encoded %d levels deep", d.Info&(codec.WouldBeUTF8-1))
	if d.Info&codec.WouldDelimit != 0 {
		text += ", decodes to a delimiter"
	}
	if d.Info&codec.WouldBeUTF8 == 0 {
		text += ", decodes to bytes that are not UTF-8"
	}
	return text + "."
}

// writeFlag writes a flag with its meaning and clause.
func (t *TextWriter) writeFlag(letter string, f codec.Flag, where, action string) {
	t.line(strings.TrimRight(t.flagHead(letter, f)+where, " "))
	text := terminal.Capital(f.Meaning())
	if clause := f.Clause(); clause != "" {
		text += " (" + t.clause(clause) + ")"
	}
	for _, l := range terminal.Wrap(text+". "+action, t.Width-5) {
		t.line("   " + l)
	}
}

// flagColumn is the width of the column of flag names, which fits most of them.
const flagColumn = 21

func (t *TextWriter) flagHead(letter string, f codec.Flag) string {
	return t.Paint(terminal.Yellow, letter) + indent + t.Paint(terminal.Bold, f.String()) + strings.Repeat(" ", max(2, flagColumn-len(f.String())))
}

// writeNormal writes the normal form and the class of its difference from the
// input.
func (t *TextWriter) writeNormal(e *Explanation) {
	p := t.norm.Profile()
	t.head(fmt.Sprintf("normal form (profile %s, standard %v)", p.Name, p.Standard))
	t.long(t.Paint(terminal.Green, terminal.Printable(t.hide(string(e.norm)))))
	t.emit("\n")
	change := changeTexts[e.change]
	if e.change == codec.ChangeUnchanged && len(e.steps) > 0 {
		change = "after resolution against the base, the URL is in normal form"
	}
	t.named("change", e.change.String()+": "+t.clause(change))
	t.writeStandings(e)
}

// named writes text after a name, wrapped and indented.
func (t *TextWriter) named(name, text string) {
	const column = 10
	for _, l := range terminal.Wrap(terminal.Printable(text), t.Width-len(indent)-column) {
		t.line(fmt.Sprintf("%-*s%s", column, name, l))
		name = ""
	}
}

// long writes a URL on its own line. It never shortens the URL, so that users
// can copy it.
func (t *TextWriter) long(url string) {
	if strings.TrimSpace(url) == "" {
		url += "(empty)"
	}
	t.line(url)
}

// writeSteps writes the applied rules and their changes.
func (t *TextWriter) writeSteps(e *Explanation) {
	if len(e.steps) == 0 {
		return
	}
	t.head("applied rules")
	for i := range e.steps {
		st := &e.steps[i]
		if i == 0 || e.steps[i-1].Rule != st.Rule || e.steps[i-1].Param != st.Param {
			rule := keyRule(st)
			t.line(t.Paint(terminal.Bold, rule) + strings.Repeat(" ", max(2, 16-len(rule))) + t.clause(st.Clause()))
		}
		t.writeDifference(t.hideDifference(stepDifference(st)))
	}
}

// writeDifference writes a component before and after a change on one line,
// shortened if necessary.
func (t *TextWriter) writeDifference(d difference) {
	arrow := " " + t.Pick("→", "->") + " "
	name := fmt.Sprintf("%-9s ", d.component)
	room := t.Width - 2*len(indent) - len(name)
	before, after := shorten(t.Escape(d.before), t.Escape(d.after), max(12, (room-4)/2), t.Pick("…", "..."))
	t.line(indent + name + before + t.Paint(terminal.Dim, arrow) + t.Paint(terminal.Green, after))
}

// shorten cuts a and b to at most n columns. It drops equal text at the start
// first, so that the first difference stays visible.
func shorten(a, b string, n int, dots string) (string, string) {
	ra, rb := []rune(a), []rune(b)
	if len(ra) <= n && len(rb) <= n {
		return a, b
	}
	front := 0
	for front < min(len(ra), len(rb)) && ra[front] == rb[front] {
		front++
	}
	start := max(0, front-n/3)
	cutOne := func(r []rune) string {
		r = r[min(start, len(r)):]
		head, tail := "", ""
		if start > 0 {
			head = dots
		}
		if limit := n - 2*utf8.RuneCountInString(dots); len(r) > limit {
			r, tail = r[:limit], dots
		}
		return head + string(r) + tail
	}
	return cutOne(ra), cutOne(rb)
}

// clause returns a clause with "section" instead of § if the style is ASCII.
func (t *TextWriter) clause(c string) string {
	if t.Unicode {
		return c
	}
	return strings.ReplaceAll(c, "§", "section ")
}
