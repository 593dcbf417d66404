package explain

import (
	"fmt"
	"strings"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/ground/terminal"
)

// WritePair writes a comparison of the keys of two URLs.
func (t *TextWriter) WritePair(p *Pair) {
	t.separate()
	t.emit(t.Paint(terminal.Bold, "A") + "\n")
	t.drawComponents(p.a)
	t.head("B")
	t.drawComponents(p.b)
	for i, e := range []*Explanation{p.a, p.b} {
		if e.err != nil {
			t.head(cannotBeParsed)
			t.line("AB"[i:i+1] + ": " + t.Paint(terminal.Red, e.err.Error()))
		}
	}
	if !p.parsed() {
		return
	}
	t.head("keys")
	for _, lv := range t.levels() {
		t.writeLevel(lv, p)
	}
	t.emit("\n")
	for _, l := range terminal.Wrap(t.meeting(p), t.Width-len(indent)) {
		t.line(l)
	}
}

// writeLevel writes the keys of one level and their differences. It does not
// repeat strings that equal the previous level's.
func (t *TextWriter) writeLevel(lv codec.Level, p *Pair) {
	a, b := p.a, p.b
	ka, kb := &a.keys[lv], &b.keys[lv]
	name := t.levelName(lv)
	same := lv > codec.LevelSyntax && lv != codec.LevelShape && ka.text == a.keys[lv-1].text && kb.text == b.keys[lv-1].text
	switch {
	case ka.text == kb.text:
		t.line(name + t.Paint(terminal.Green, "equal") + indent + t.written(ka))
		if !same {
			t.line(indent + indent + terminal.Printable(t.hide(ka.text)))
		}
		return
	case same:
		t.line(name + t.Paint(terminal.Yellow, "different") + indent + t.Paint(terminal.Dim, "same strings as "+(lv-1).String()))
		return
	}
	t.line(name + t.Paint(terminal.Yellow, "different"))
	t.line(indent + indent + "A " + t.written(ka) + indent + terminal.Printable(t.hide(ka.text)))
	t.line(indent + indent + "B " + t.written(kb) + indent + terminal.Printable(t.hide(kb.text)))
	for _, d := range t.hideDifferences(p.apart(lv)) {
		room := max(12, (t.Width-26)/2)
		before, after := shorten(t.Escape(d.before), t.Escape(d.after), room, t.Pick("…", "..."))
		t.line(fmt.Sprintf("    %-9s A %s   B %s", d.component, before, after))
	}
}

// meeting returns the conclusion: whether the keys of the requested level are
// equal, the lowest level at which the keys are equal, and why.
func (t *TextWriter) meeting(p *Pair) string {
	text := fmt.Sprintf("The keys of profile %s (%v) differ.", t.norm.Profile().Name, t.level)
	if p.shares {
		text = fmt.Sprintf("The keys of profile %s (%v) are equal.", t.norm.Profile().Name, t.level)
	}
	first, meet := p.meetingLevel()
	switch {
	case !meet:
		var names []string
		for _, d := range p.apart(codec.LevelPage) {
			names = append(names, d.component)
		}
		if p.shares {
			return text + " The levels syntax to page differ in " + joinWords(names) + "."
		}
		return text + " They differ at every level in " + joinWords(names) + "."
	case first == codec.LevelSyntax:
		return text + " They are equal at every level: " + p.meetsAtOnce() + "."
	}
	by := p.mergers(first)
	return text + fmt.Sprintf(" They are equal from %v on because of ", first) + t.Escape(t.hideSecrets(joinWords(by))) + "."
}

// meetsAtOnce returns why the syntax keys of two URLs are equal.
func (p *Pair) meetsAtOnce() string {
	if p.a.rfc.standing == failure || p.b.rfc.standing == failure || p.a.rfc.k0 != p.b.rfc.k0 {
		return "browsers treat them as the same URL"
	}
	return "they are equivalent in every scheme"
}

// joinWords joins words with commas and "and".
func joinWords(words []string) string {
	n := len(words)
	if n < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
}
