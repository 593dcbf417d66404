package manual

import (
	"regexp"
	"strings"
)

// This file parses Markdown. Syntax that it does not support, such as quotations, it
// treats as text; the tests of this package find pages that contain such text.

// A kind is the kind of a block.
type kind uint8

const (
	heading kind = iota
	paragraph
	item // an item of a list
	code
	table
)

// A block is a part of a page between blank lines, or an item of a list.
type block struct {
	kind   kind
	level  int    // level of a heading, from 1
	nested bool   // a table that belongs to the preceding item
	marker string // marker of an item: "-" or a number with a full stop
	spans  []span // spans of a heading, a paragraph or an item
	lines  []string
	rows   [][]cell // rows of a table; the first one is its head
}

// A cell is the contents of a cell of a table.
type cell []span

// A style is how a span is set off from the text around it.
type style uint8

const (
	regular style = iota
	strong        // bold or italic
	literal       // code
	target        // the target of the preceding link
	address       // a target that is also the text of the link
)

// A span is a piece of text in one style.
type span struct {
	text  string
	style style
}

// plain returns the text of spans without their styles.
func plain(spans []span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.text)
	}
	return b.String()
}

var (
	headLine  = lazily(`^(#{1,6}) +(.*)$`)
	itemLine  = lazily(`^(-|\d+\.) +(.*)$`)
	ruleLine  = lazily(`^\|[-:| ]+\|$`)
	fenceMark = "```"
)

// A parser reads a page line by line.
type parser struct {
	lines   []string
	resolve func(target string) string
	blocks  []block
}

// parse returns the blocks of a page. resolve translates the target of a link
// to the text that is shown behind the link, or to "".
func parse(text string, resolve func(target string) string) []block {
	p := parser{lines: strings.Split(text, "\n"), resolve: resolve}
	for len(p.lines) > 0 {
		line := p.lines[0]
		head, listed := headLine().FindStringSubmatch(line), itemLine().FindStringSubmatch(line)
		switch {
		case strings.TrimSpace(line) == "", strings.HasPrefix(line, "<!--"):
			p.lines = p.lines[1:]
		case strings.HasPrefix(line, fenceMark):
			n := 1
			for n < len(p.lines) && !strings.HasPrefix(p.lines[n], fenceMark) {
				n++
			}
			p.blocks = append(p.blocks, block{kind: code, lines: p.lines[1:n]})
			p.lines = p.lines[min(n+1, len(p.lines)):]
		case strings.HasPrefix(line, indent):
			b := block{kind: code}
			for len(p.lines) > 0 && strings.HasPrefix(p.lines[0], indent) {
				b.lines = append(b.lines, strings.TrimPrefix(p.lines[0], indent))
				p.lines = p.lines[1:]
			}
			p.blocks = append(p.blocks, b)
		case head != nil:
			p.lines = p.lines[1:]
			p.add(block{kind: heading, level: len(head[1])}, head[2])
		case isRow(line) && len(p.lines) > 1 && ruleLine().MatchString(strings.TrimSpace(p.lines[1])):
			p.table()
		case listed != nil:
			p.lines[0] = listed[2]
			p.add(block{kind: item, marker: listed[1]}, p.text())
		default:
			p.add(block{kind: paragraph}, p.text())
		}
	}
	return p.blocks
}

// add appends b with the spans of text.
func (p *parser) add(b block, text string) {
	b.spans = p.link(parseSpans(text))
	p.blocks = append(p.blocks, b)
}

// text returns the lines up to the next block, joined by spaces. The first line
// is always included.
func (p *parser) text() string {
	n := 1
	for n < len(p.lines) && !p.starts(p.lines[n]) {
		n++
	}
	var b strings.Builder
	for i, line := range p.lines[:n] {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strings.TrimSpace(line))
	}
	p.lines = p.lines[n:]
	return b.String()
}

// starts reports whether a line ends the current paragraph.
func (p *parser) starts(line string) bool {
	return strings.TrimSpace(line) == "" || strings.HasPrefix(line, fenceMark) || isRow(line) ||
		headLine().MatchString(line) || itemLine().MatchString(line)
}

// isRow reports whether a line belongs to a table.
func isRow(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " "), "|") }

// table reads a table.
func (p *parser) table() {
	var b block
	b.kind, b.nested = table, strings.HasPrefix(p.lines[0], " ")
	for n := 0; len(p.lines) > 0 && isRow(p.lines[0]); n++ {
		if n != 1 { // the line that separates head and body
			b.rows = append(b.rows, p.row(p.lines[0]))
		}
		p.lines = p.lines[1:]
	}
	p.blocks = append(p.blocks, b)
}

// row returns the cells of a line of a table. Within a cell, "\|" is a bar, also
// in code.
func (p *parser) row(line string) (cells []cell) {
	const bar = "\x00"
	line = strings.ReplaceAll(strings.TrimSpace(line), `\|`, bar)
	line = strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|")
	for text := range strings.SplitSeq(line, "|") {
		text = strings.ReplaceAll(strings.TrimSpace(text), bar, "|")
		cells = append(cells, p.link(parseSpans(text)))
	}
	return cells
}

// link translates the targets of links. It drops a target that is equal to the
// text of its link. If the target only ends with the text, link drops the text.
func (p *parser) link(spans []span) []span {
	var out []span
	for _, s := range spans {
		if s.style != target {
			out = append(out, s)
			continue
		}
		shown := p.resolve(s.text)
		last := len(out) - 1
		switch {
		case shown == "":
		case last >= 0 && strings.HasSuffix(shown, "/"+out[last].text):
			out[last] = span{shown, out[last].style}
		case last < 0 || out[last].text != shown:
			out = append(out, span{" (" + shown + ")", target})
		}
	}
	return out
}

// Parts of a line that are not plain text.
var (
	codeSpan = lazily("^(`+)(.+?)(`+)")
	autoSpan = lazily(`^<(https?://[^>\s]+)>`)
	linkSpan = lazily(`^!?\[((?:[^]\\]|\\.)*)\]\(([^)\s]+)\)`)
	boldSpan = lazily(`^\*\*(\S(?:[^*]*[^*\s])?)\*\*`)
	thinSpan = lazily(`^\*([^*\s](?:[^*]*[^*\s])?)\*`)
)

var entities = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&amp;", "&")

// parseSpans returns the spans of text. Each link is followed by a span of the
// style target.
func parseSpans(text string) (spans []span) {
	var run strings.Builder
	flush := func() {
		if run.Len() > 0 {
			spans = append(spans, span{entities.Replace(run.String()), regular})
			run.Reset()
		}
	}
	for text != "" {
		found, rest := spanAt(text)
		if rest == len(text) && found == nil { // plain
			n := 1
			if text[0] == '\\' && len(text) > 1 && strings.IndexByte("\\`*_[]()#+-.!|<>{}~\"", text[1]) >= 0 {
				text = text[1:]
			}
			run.WriteString(text[:n])
			text = text[n:]
			continue
		}
		flush()
		spans = append(spans, found...)
		text = text[len(text)-rest:]
	}
	flush()
	return spans
}

// spanAt returns the spans at the start of text that are not plain, and the
// length of the text after them. If there are none, it returns nil and the
// length of text.
func spanAt(text string) (found []span, rest int) {
	if m := codeSpan().FindStringSubmatch(text); m != nil && m[1] == m[3] {
		inner := m[2]
		if len(m[1]) > 1 {
			inner = strings.TrimSpace(inner)
		}
		return []span{{inner, literal}}, len(text) - len(m[0])
	}
	if m := autoSpan().FindStringSubmatch(text); m != nil {
		return []span{{m[1], address}}, len(text) - len(m[0])
	}
	if m := linkSpan().FindStringSubmatch(text); m != nil {
		return append(parseSpans(m[1]), span{m[2], target}), len(text) - len(m[0])
	}
	for _, re := range []*regexp.Regexp{boldSpan(), thinSpan()} {
		if m := re.FindStringSubmatch(text); m != nil {
			return []span{{plain(parseSpans(m[1])), strong}}, len(text) - len(m[0])
		}
	}
	return nil, len(text)
}
