package main

import (
	"bufio"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec"
)

const indent = "  "

// labelRoom is the columns that are left free on the right, for the label of a
// short component at the end.
const labelRoom = 8

// write writes one explanation.
func (x *explainer) write(w *bufio.Writer, e *explanation, asJSON bool) {
	if asJSON {
		writeJSON(w, x.object(e))
		return
	}
	x.drawComponents(w, e)
	x.drawDefects(w, e)
	if e.err != nil {
		x.head(w, "no reading")
		x.line(w, x.paint(red, fmt.Sprintf("byte %d: %v", e.res.ErrAt, e.err)))
		x.emit(w, "\n")
		x.writeStandings(w, e)
		return
	}
	x.writeStandards(w, e)
	x.writeNormal(w, e)
	x.writeSteps(w, e)
	x.writeKeys(w, e)
	x.writeKeySteps(w, e)
	x.writeForms(w, e)
}

// head writes the head of a section.
func (x *explainer) head(w *bufio.Writer, text string) {
	x.emit(w, "\n"+x.paint(bold, text)+"\n")
}

func (x *explainer) line(w *bufio.Writer, text string) { x.emit(w, indent+text+"\n") }

// emit writes text. A bufio.Writer keeps its first error until Flush.
func (x *explainer) emit(w *bufio.Writer, text string) { _, _ = w.WriteString(text) }

// picture returns the rows of the URL, cut to the offsets of interest.
func (x *explainer) picture(e *explanation) [][]cell {
	width := x.width - len(indent) - labelRoom
	points := []int{}
	for c := codec.Scheme; c <= codec.Fragment; c++ {
		if e.res.In.Has(c) {
			s := e.res.In.Span(c)
			points = append(points, int(s.Start), int(s.End))
		}
	}
	for _, m := range e.res.Diagnostics {
		points = append(points, int(m.At))
	}
	if e.err != nil {
		points = append(points, int(e.res.ErrAt))
	}
	// What is longer than the limit has no reading: its beginning says enough.
	src := e.src[:min(len(e.src), codec.DefaultMaxLen+1)]
	cells := x.cells(src, x.password(e.src))
	return rows(x.cut(cells, points, width), width)
}

// urlLine returns a row as text, with the cells at offsets in a color.
func (x *explainer) urlLine(row []cell, offsets []int) string {
	var b strings.Builder
	for _, c := range row {
		text := c.text
		if slices.ContainsFunc(offsets, func(at int) bool { return at >= c.start && at < c.end }) {
			text = x.paint(red, text)
		}
		b.WriteString(text)
	}
	return b.String()
}

// drawComponents draws the URL with its components below.
func (x *explainer) drawComponents(w *bufio.Writer, e *explanation) {
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
	for _, row := range x.picture(e) {
		x.line(w, x.urlLine(row, nil))
		for _, l := range x.ruler(place(row, labels)) {
			x.line(w, x.paint(cyan, string(l)))
		}
	}
	if len(e.src) == 0 {
		x.line(w, "(the empty reference)")
	}
}

// A defect is the diagnostics at one offset, under one letter.
type defect struct {
	at          int
	letter      byte
	diagnostics []codec.Diagnostic
}

// defects gathers the diagnostics of e by offset.
func defects(e *explanation) []defect {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	var out []defect
	for _, m := range e.res.Diagnostics {
		if n := len(out); n > 0 && out[n-1].at == int(m.At) {
			out[n-1].diagnostics = append(out[n-1].diagnostics, m)
			continue
		}
		out = append(out, defect{int(m.At), letters[len(out)%len(letters)], []codec.Diagnostic{m}})
	}
	return out
}

// drawDefects draws the URL with a caret under each defect, and tells about each.
func (x *explainer) drawDefects(w *bufio.Writer, e *explanation) {
	if e.res.Flags.IsZero() && e.err == nil {
		return
	}
	x.head(w, "flags")
	found := defects(e)
	offsets := make([]int, len(found))
	for i, d := range found {
		offsets[i] = d.at
	}
	if e.err != nil && !slices.Contains(offsets, int(e.res.ErrAt)) {
		offsets = append(offsets, int(e.res.ErrAt))
	}
	if len(offsets) > 0 {
		x.drawCarets(w, x.picture(e), found, offsets)
	}
	told := map[codec.Flag]bool{}
	for _, d := range found {
		for i, m := range d.diagnostics {
			letter := string(d.letter)
			if i > 0 {
				letter = " "
			}
			x.writeMark(w, letter, m, markAction(e, m), told[m.Flag])
			told[m.Flag] = true
		}
	}
	for f := range e.res.Flags.All() {
		if !told[f] {
			x.writeFlag(w, " ", f, "", "")
		}
	}
}

// drawCarets draws the rows that hold defects, with a caret and a letter under
// each. A caret without a letter is where the URL has no reading.
func (x *explainer) drawCarets(w *bufio.Writer, pic [][]cell, found []defect, offsets []int) {
	for i, row := range pic {
		var c canvas
		for _, at := range offsets {
			if col, ok := column(row, at); ok && (col < widthOf(row) || i == len(pic)-1) {
				c.put(0, col, "^")
			}
		}
		for _, d := range found {
			if col, ok := column(row, d.at); ok && (col < widthOf(row) || i == len(pic)-1) {
				c.put(1, col, string(d.letter))
			}
		}
		if len(c) == 0 {
			continue
		}
		x.line(w, x.urlLine(row, offsets))
		for _, l := range c {
			x.line(w, x.paint(yellow, string(l)))
		}
	}
}

// markAction says what was done about a mark. If there is no normal form,
// nothing was.
func markAction(e *explanation, m codec.Diagnostic) string {
	action := actionTexts[m.Action]
	if e.err != nil && m.Action != codec.Rejected {
		action = ""
	}
	if m.Flag == codec.DoubleEncoded {
		action = doubleText(m) + " " + action
	}
	return action
}

// writeMark tells about one mark: its meaning only if that was not told before.
func (x *explainer) writeMark(w *bufio.Writer, letter string, m codec.Diagnostic, action string, told bool) {
	where := fmt.Sprintf("byte %d, %v", m.At, m.Component)
	if !told {
		x.writeFlag(w, letter, m.Flag, where, action)
		return
	}
	for i, l := range wrap(where+". "+action, x.width-flagColumn-5) {
		if i == 0 {
			x.line(w, x.flagHead(letter, m.Flag)+l)
			continue
		}
		x.line(w, strings.Repeat(" ", flagColumn+3)+l)
	}
}

// doubleText tells what is known about an escape that was escaped again.
func doubleText(m codec.Diagnostic) string {
	text := fmt.Sprintf("It is %d deep", m.Info&(codec.WouldBeUTF8-1))
	if m.Info&codec.WouldDelimit != 0 {
		text += ", and ends as a delimiter"
	}
	if m.Info&codec.WouldBeUTF8 == 0 {
		text += ", and ends as bytes that are not UTF-8"
	}
	return text + "."
}

// writeFlag tells what a flag means.
func (x *explainer) writeFlag(w *bufio.Writer, letter string, f codec.Flag, where, action string) {
	x.line(w, strings.TrimRight(x.flagHead(letter, f)+where, " "))
	text := capital(f.Meaning())
	if clause := f.Clause(); clause != "" {
		text += " (" + x.clause(clause) + ")"
	}
	for _, l := range wrap(text+". "+action, x.width-5) {
		x.line(w, "   "+l)
	}
}

// flagColumn holds the names of most flags, and two spaces.
const flagColumn = 21

func (x *explainer) flagHead(letter string, f codec.Flag) string {
	return x.paint(yellow, letter) + indent + x.paint(bold, f.String()) + strings.Repeat(" ", max(2, flagColumn-len(f.String())))
}

// capital returns text with its first letter as a capital.
func capital(text string) string {
	if text == "" || text[0] < 'a' || text[0] > 'z' {
		return text
	}
	return string(text[0]-'a'+'A') + text[1:]
}

// writeNormal writes the normal form and how far it is from the input.
func (x *explainer) writeNormal(w *bufio.Writer, e *explanation) {
	p := x.norm.Profile()
	x.head(w, fmt.Sprintf("normal form (profile %s, standard %v)", p.Name, p.Standard))
	x.long(w, x.paint(green, printable(x.hide(string(e.norm)))))
	x.emit(w, "\n")
	change := changeTexts[e.change]
	if e.change == codec.Unchanged && len(e.walk) > 0 {
		change = "resolved against the base, the URL is in normal form"
	}
	x.named(w, "change", e.change.String()+": "+x.clause(change))
	x.writeStandings(w, e)
}

// named writes a line with a name in front, wrapped.
func (x *explainer) named(w *bufio.Writer, name, text string) {
	const column = 10
	for _, l := range wrap(printable(text), x.width-len(indent)-column) {
		x.line(w, fmt.Sprintf("%-*s%s", column, name, l))
		name = ""
	}
}

// long writes a URL on a line of its own. It is never cut: it is there to be
// copied.
func (x *explainer) long(w *bufio.Writer, url string) {
	if strings.TrimSpace(url) == "" {
		url += "(empty)"
	}
	x.line(w, url)
}

// writeSteps writes what each rule changed.
func (x *explainer) writeSteps(w *bufio.Writer, e *explanation) {
	if len(e.walk) == 0 {
		return
	}
	x.head(w, "what changed, rule by rule")
	for _, st := range e.walk {
		x.line(w, x.paint(bold, st.Rule.String())+strings.Repeat(" ", max(2, 16-len(st.Rule.String())))+x.clause(st.Clause()))
		for _, d := range x.differences(st.Before, st.After) {
			x.writeDifference(w, d)
		}
	}
}

// writeDifference writes a component before and after, on one line if they fit.
func (x *explainer) writeDifference(w *bufio.Writer, d difference) {
	arrow := " " + x.pick("→", "->") + " "
	name := fmt.Sprintf("%-9s ", d.component)
	room := x.width - 2*len(indent) - len(name)
	before, after := shorten(x.escapeText(d.before), x.escapeText(d.after), max(12, (room-4)/2), x.pick("…", "..."))
	x.line(w, indent+name+before+x.paint(dim, arrow)+x.paint(green, after))
}

// shorten cuts a and b to n columns at most where they are equal, from both
// ends, so that what differs is seen.
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
