package explain

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/ground/terminal"
)

// text returns the verdict of a standard on a URL. kind is the standard's term
// for what it parses, such as "URI".
func (v view) text(kind string) string {
	switch v.standing {
	case failure:
		return "cannot be parsed: " + v.err.Error()
	case invalid:
		return "input is not a valid " + kind + ": " + strings.ReplaceAll(string(v.faults.AppendTo(nil)), ",", ", ")
	}
	return "input is a valid " + kind
}

// writeStandings writes the verdicts of both standards on the input.
func (t *TextWriter) writeStandings(e *Explanation) {
	kind := "URI"
	var r codec.Result
	if _ = codec.Parse(e.src, &r); !r.In.Has(codec.Scheme) {
		kind = "relative reference"
	}
	t.named("RFC 3986", e.rfc.text(kind))
	t.named("browsers", e.whatwg.text("URL"))
}

// writeStandards writes the components in which the standards differ, side by
// side.
func (t *TextWriter) writeStandards(e *Explanation) {
	if e.rfc.standing == failure || e.whatwg.standing == failure {
		return
	}
	apart := differences(e.rfc.k1, e.whatwg.k1)
	if len(apart) == 0 {
		return
	}
	t.head("the standards differ")
	const nameColumn = 10
	column := (t.Width - len(indent) - nameColumn) / 2
	row := func(name, a, b string) {
		gap := max(2, column-utf8.RuneCountInString(a))
		t.line(fmt.Sprintf("%-*s%s%s%s", nameColumn, name, a, strings.Repeat(" ", gap), b))
	}
	row("", "RFC 3986", "browsers")
	hosts := false
	for _, d := range t.hideDifferences(e.inViews(apart)) {
		a, b := shorten(t.Escape(d.before), t.Escape(d.after), column-2, t.Pick("…", "..."))
		row(d.component, a, b)
		hosts = hosts || d.component == codec.Host.String() && d.before != absent && d.after != absent
	}
	if hosts {
		t.emit("\n")
		t.line(t.Paint(terminal.Red, fmt.Sprintf("Browsers connect to %s, but by RFC 3986 the host is %s.", t.hostOf(e.whatwg.k1), t.hostOf(e.rfc.k1))))
	}
}
