package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/ground/terminal"
)

// writeKeys writes the key of each level. It does not repeat a string that
// equals the previous level's.
func (t *TextWriter) writeKeys(e *Explanation) {
	t.head("keys")
	before, last := "", ""
	for i, lv := range t.levels() {
		k := &e.keys[lv]
		note := ""
		if lv == t.level {
			note = t.Paint(terminal.Dim, "  the profile's key")
			if t.level != t.norm.Profile().Key {
				note = t.Paint(terminal.Dim, "  the requested key")
			}
		}
		t.line(t.levelName(lv) + t.written(k) + indent + t.norm.KeyFunction(lv) + note)
		if i > 0 && k.text == before {
			t.line(indent + indent + t.Paint(terminal.Dim, "same string as "+last))
			last = lv.String()
			continue
		}
		before, last = k.text, lv.String()
		t.long(indent + indent + terminal.Printable(t.hide(k.text)))
	}
}

// levelColumn is the width of the longest name of a level, and of the space after it.
const levelColumn = len("equivalent") + len(indent)

// levelName returns the name of a level in bold, as wide as levelColumn.
func (t *TextWriter) levelName(lv codec.Level) string {
	name := lv.String()
	return t.Paint(terminal.Bold, name) + strings.Repeat(" ", levelColumn-len(name))
}

// isKnown reports whether a step to a key adds no information: the same rule
// was applied for the normal form, or the step only drops "http:", which level
// page always does.
func isKnown(e *Explanation, lv codec.Level, st *codec.Step) bool {
	if lv < codec.LevelFetch || st.Rule == codec.RuleDropUserinfo || st.Rule == codec.RuleDropFragment {
		return slices.ContainsFunc(e.steps, func(s codec.Step) bool { return s.Rule == st.Rule })
	}
	return lv == codec.LevelPage && st.Rule.String() == "https-http" && st.Before != "https"
}

// writeKeySteps writes the rules applied for the keys and their changes. The
// rules of shape, which apply to nearly every URL, are written on request.
func (t *TextWriter) writeKeySteps(e *Explanation) {
	begun, listed := false, false
	levels := []codec.Level{codec.LevelSyntax, codec.LevelEquivalent, codec.LevelFetch, codec.LevelPage}
	if t.level == codec.LevelShape {
		levels = append(levels, codec.LevelShape)
	}
	for _, lv := range levels {
		for i := range e.keys[lv].steps {
			st := &e.keys[lv].steps[i]
			if isKnown(e, lv, st) {
				continue
			}
			if !begun {
				t.head("applied key rules")
				begun = true
			}
			t.writeKeyStep(e, lv, st)
			listed = listed || st.Rule.String() == "q-drop"
		}
	}
	if listed {
		t.emit("\n")
		t.named("lists", strings.ReplaceAll(t.norm.Policy().Versions(), ";", ", "))
		if n := len(t.skipped()); n > 0 {
			t.named("skipped", terminal.Plural(int64(n), "item", "items")+" of these lists cannot be expressed exactly as rules; --to jsonl lists them")
		}
	}
}

// writeKeyStep writes an applied rule and its change.
func (t *TextWriter) writeKeyStep(e *Explanation, lv codec.Level, st *codec.Step) {
	rule := t.Escape(t.hideSecrets(keyRule(st)))
	source := t.Escape(t.clause(st.Clause()))
	if st.Reason != "" {
		source += ": " + t.Escape(st.Reason)
	}
	const column = 16
	head := fmt.Sprintf("%-*v", levelColumn, lv) + t.Paint(terminal.Bold, rule) + strings.Repeat(" ", max(2, column-len([]rune(rule))))
	room := t.Width - len(indent) - max(column, len([]rune(rule))+2) - levelColumn
	lines := terminal.Wrap(source, max(20, room))
	if len(lines) > 1 && len(lines[0]) > room {
		lines = terminal.Wrap(source, t.Width-3*len(indent)-4)
		t.line(strings.TrimRight(head, " "))
		head = strings.Repeat(" ", 6)
	}
	for i, l := range lines {
		if i > 0 {
			head = strings.Repeat(" ", 6)
		}
		t.line(head + l)
	}
	t.writeDifference(t.hideDifference(stepDifference(st)))
}

// writeForms writes other forms of the URL that differ from the normal form.
func (t *TextWriter) writeForms(e *Explanation) {
	t.head("other forms")
	f := t.formsOf(e)
	if f.iri != string(e.norm) {
		t.named("display", t.Escape(t.hide(f.iri)))
	}
	if f.site != "" {
		t.named("site", t.hideSecrets(f.site))
	}
	t.named("SURT", t.hideSecrets(f.surt))
	if f.template != string(e.res.Out.Bytes(e.norm, codec.Path)) {
		t.named("template", t.hideSecrets(f.template))
	}
}
