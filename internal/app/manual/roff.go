package manual

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A Man is a man page that is being written, in the macros of man(7). It uses
// only macros that groff and mandoc agree on. Make one with [NewMan].
type Man struct {
	b    strings.Builder
	open bool // the section has begun with text, so that a paragraph needs a macro
}

// NewMan returns a man page with its title and the section NAME. version and
// date (YYYY-MM-DD) go to the foot of each page; either may be empty. about
// is one line without a full stop.
func NewMan(name string, section int, date, version, about string) *Man {
	m := &Man{}
	fmt.Fprintf(&m.b, ".TH %s %d \"%s\" %s %s\n", macroArg(strings.ToUpper(name)), section, date, macroArg("urlfold "+version), macroArg("urlfold manual"))
	// Names and code are neither stretched nor hyphenated. The macros of groff
	// switch hyphenation on again unless the register HY is 0.
	m.b.WriteString(".nr HY 0\n.ad l\n.nh\n")
	m.Section("NAME")
	m.b.WriteString(escape(name) + ` \- ` + escape(about) + "\n")
	return m
}

// Bytes returns the page.
func (m *Man) Bytes() []byte { return []byte(m.b.String()) }

// Section starts a section.
func (m *Man) Section(title string) {
	m.b.WriteString(".SH " + macroArg(title) + "\n")
	m.open = false
}

// Subsection starts a subsection.
func (m *Man) Subsection(title string) {
	m.b.WriteString(".SS " + macroArg(title) + "\n")
	m.open = false
}

// Paragraph writes a paragraph of plain text.
func (m *Man) Paragraph(text string) {
	m.begin()
	m.b.WriteString(line(escape(text)) + "\n")
}

// begin starts a paragraph.
func (m *Man) begin() {
	if m.open {
		m.b.WriteString(".PP\n")
	}
	m.open = true
}

// Item writes a term, in bold, and its description.
func (m *Man) Item(term, text string) {
	m.open = true
	m.b.WriteString(".TP\n" + `\fB` + escape(term) + `\fR` + "\n" + line(escape(text)) + "\n")
}

// Code writes lines that are not filled, indented.
func (m *Man) Code(lines []string) {
	m.begin()
	m.b.WriteString(".RS 4\n.EX\n")
	m.verbatim(lines)
	m.b.WriteString(".EE\n.RE\n")
}

func (m *Man) verbatim(lines []string) {
	for _, text := range lines {
		m.b.WriteString(line(escape(text)) + "\n")
	}
}

// manWidth is the width of tables in man pages, which are indented by 7 columns
// on a terminal of 80.
const manWidth = 72

// Man returns the page as a man page of section 7, named "urlfold-" and the
// name of the topic. Tables are set as text, because man has no macros for
// them.
func (t Topic) Man(date, version string) *Man {
	m := NewMan("urlfold-"+t.Name, 7, date, version, t.About)
	m.Section("DESCRIPTION")
	for _, b := range t.blocks() {
		m.block(b)
	}
	return m
}

func (m *Man) block(b block) {
	switch b.kind {
	case heading:
		switch title := plain(b.spans); b.level {
		case 1: // the title of the page
		case 2:
			m.Section(title)
		default:
			m.Subsection(title)
		}
	case paragraph:
		m.begin()
		m.b.WriteString(line(fonts(b.spans)) + "\n")
	case item:
		mark, width := escape(b.marker), 4
		if b.marker == "-" {
			mark, width = `\(bu`, 2
		}
		m.open = true
		fmt.Fprintf(&m.b, ".IP %s %d\n%s\n", mark, width, line(fonts(b.spans)))
	case code:
		m.Code(b.lines)
	case table:
		m.begin()
		m.b.WriteString(".EX\n")
		m.verbatim(layOut(b.rows, manWidth, false))
		m.b.WriteString(".EE\n")
	}
}

// fonts returns spans with code in bold and emphasis in italics.
func fonts(spans []span) string {
	var b strings.Builder
	for _, s := range spans {
		switch s.style {
		case literal:
			b.WriteString(`\fB` + escape(s.text) + `\fR`)
		case strong:
			b.WriteString(`\fI` + escape(s.text) + `\fR`)
		case target, address: // an address may be broken after a slash
			b.WriteString(strings.ReplaceAll(escape(s.text), "/", `/\:`))
		default:
			b.WriteString(escape(s.text))
		}
	}
	return b.String()
}

// escape returns text in which no character has a meaning to roff or is replaced
// by a typographic one. Characters beyond ASCII are written by number, which does
// not depend on the encoding that the reader's program expects.
func escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\\':
			b.WriteString(`\(rs`)
		case r == '-':
			b.WriteString(`\-`)
		case r == '\'':
			b.WriteString(`\(aq`)
		case r == '`':
			b.WriteString(`\(ga`)
		case r == '^':
			b.WriteString(`\(ha`)
		case r == '~':
			b.WriteString(`\(ti`)
		case r == '\t':
			b.WriteString(`\ \ \ \ `)
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\[u%04X]`, r)
		}
	}
	return b.String()
}

// line returns an escaped line that roff does not take for a request.
func line(text string) string {
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") || text == "" {
		return `\&` + text
	}
	return text
}

// macroArg returns text as one argument of a macro.
func macroArg(text string) string {
	return `"` + strings.ReplaceAll(escape(text), `"`, `\(dq`) + `"`
}
