package main

import (
	"bufio"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/params"
)

// An explainedKey is the canonical string of a level, its hash, and the rules
// that made it of the string of the level before.
type explainedKey struct {
	text  string
	key   codec.Key
	steps []codec.KeyStep
}

// written returns the hash of k in the form that is asked for.
func (x *explainer) written(k *explainedKey) string { return string(x.form.Append(nil, k.key)) }

// explainKeys finds the keys of e.
func (x *explainer) explainKeys(e *explanation) {
	for lv := range codec.Level(codec.NumLevels) {
		e.keys[lv] = explainedKey{
			text:  string(x.norm.AppendKey(nil, lv, e.src, e.norm, &e.res)),
			key:   x.norm.Key(lv, e.src, e.norm, &e.res),
			steps: x.norm.TraceKey(lv, e.src, e.norm, &e.res),
		}
	}
}

// whole returns the canonical string of a level so that its components can be
// found: K3 leaves out the scheme of web pages, and the slashes behind it.
func (e *explanation) whole(lv codec.Level, text string) string {
	if lv != codec.K3 {
		return text
	}
	var r codec.Result
	_ = codec.Parse([]byte(e.keys[codec.K2].text), &r) // a key can be parsed
	switch scheme := string(r.In.Bytes([]byte(e.keys[codec.K2].text), codec.Scheme)); scheme {
	case "", "http", "https":
		if r.In.HasAuthority() {
			return "//" + text
		}
	}
	return text
}

// wholeKey returns what whole does of the key of a level.
func (e *explanation) wholeKey(lv codec.Level) string { return e.whole(lv, e.keys[lv].text) }

// stepDifferences returns the components that a step has changed.
func (e *explanation) stepDifferences(lv codec.Level, st *codec.KeyStep) []difference {
	after := st.After
	if lv == codec.K3 && st.Rule.String() == "https-http" {
		after = e.whole(lv, after)
	}
	return differences(st.Before, after)
}

// writeKeys writes the key of each level. A string that is that of the level
// before is not written again.
func (x *explainer) writeKeys(w *bufio.Writer, e *explanation) {
	x.head(w, "keys")
	before := ""
	for lv := range codec.Level(codec.NumLevels) {
		k := &e.keys[lv]
		note := ""
		if lv == x.level {
			note = x.paint(dim, "  the profile's key")
			if x.level != x.norm.Profile().Key {
				note = x.paint(dim, "  the key asked for")
			}
		}
		x.line(w, x.paint(bold, lv.String())+indent+x.written(k)+indent+x.norm.KeyFunction(lv)+note)
		if lv > codec.K0 && k.text == before {
			x.line(w, indent+indent+x.paint(dim, "the string of "+(lv-1).String()))
			continue
		}
		before = k.text
		x.long(w, indent+indent+printable(x.hide(k.text)))
	}
}

// isTold reports whether a step to a key says nothing new: the normal form has
// the same one, or K3 leaves out "http:", which it always does.
func isTold(e *explanation, lv codec.Level, st *codec.KeyStep) bool {
	if lv < codec.K2 || st.Rule == codec.DropUserinfo || st.Rule == codec.DropFragment {
		return slices.ContainsFunc(e.walk, func(s codec.Step) bool { return s.Rule == st.Rule })
	}
	return lv == codec.K3 && st.Rule.String() == "https-http" && !strings.HasPrefix(st.Before, "https:")
}

// writeKeySteps writes what the keys leave out or spell otherwise.
func (x *explainer) writeKeySteps(w *bufio.Writer, e *explanation) {
	told, listed := false, false
	for lv := range codec.Level(codec.NumLevels) {
		for i := range e.keys[lv].steps {
			st := &e.keys[lv].steps[i]
			if isTold(e, lv, st) {
				continue
			}
			if !told {
				x.head(w, "what the keys change, rule by rule")
				told = true
			}
			x.writeKeyStep(w, e, lv, st)
			listed = listed || st.Rule.String() == "q-drop"
		}
	}
	if listed {
		x.emit(w, "\n")
		x.named(w, "lists", strings.ReplaceAll(x.norm.Policy().Versions(), ";", ", "))
		if n := len(x.skipped()); n > 0 {
			x.named(w, "skipped", plural(int64(n), "item", "items")+" of these lists not, or not quite, taken over as rules; --json names them")
		}
	}
}

// skipped returns what was not taken over of the lists of the policy.
func (x *explainer) skipped() []params.Skipped {
	p := x.norm.Policy()
	return append(p.Params.Skipped(), p.SiteParams.Skipped()...)
}

// writeKeyStep writes what one rule has changed.
func (x *explainer) writeKeyStep(w *bufio.Writer, e *explanation, lv codec.Level, st *codec.KeyStep) {
	rule := x.escapeText(x.hideSecrets(keyRule(st)))
	source := x.escapeText(x.clause(st.Clause()))
	if st.Reason != "" {
		source += ": " + x.escapeText(st.Reason)
	}
	const column = 16
	head := lv.String() + indent + x.paint(bold, rule) + strings.Repeat(" ", max(2, column-len([]rune(rule))))
	room := x.width - len(indent) - max(column, len([]rune(rule))+2) - 4
	lines := wrap(source, max(20, room))
	if len(lines) > 1 && len(lines[0]) > room {
		lines = wrap(source, x.width-3*len(indent)-4)
		x.line(w, strings.TrimRight(head, " "))
		head = strings.Repeat(" ", 6)
	}
	for i, l := range lines {
		if i > 0 {
			head = strings.Repeat(" ", 6)
		}
		x.line(w, head+l)
	}
	for _, d := range x.hideDifferences(e.stepDifferences(lv, st)) {
		x.writeDifference(w, d)
	}
}

// keyRule names a rule with the parameter that it removed.
func keyRule(st *codec.KeyStep) string {
	if st.Param == "" {
		return st.Rule.String()
	}
	return st.Rule.String() + " " + st.Param
}

// mergers returns the rules that make one key of a level out of two different
// ones of the level before: those that work on what was different.
func mergers(lv codec.Level, a, b *explanation) []string {
	apart := differences(a.wholeKey(lv-1), b.wholeKey(lv-1))
	ea, eb := edits(lv, a, apart), edits(lv, b, apart)
	var rules []string
	add := func(mine, other []edit) {
		for _, m := range mine {
			if !slices.Contains(other, m) && !slices.Contains(rules, m.rule) {
				rules = append(rules, m.rule)
			}
		}
	}
	add(ea, eb)
	add(eb, ea)
	return rules
}

// An edit is what a rule has done in a URL: the same edit in two of them does not
// bring them together.
type edit struct{ rule, cut, put string }

// edits returns what the steps to a level have done in the components that are
// apart.
func edits(lv codec.Level, e *explanation, apart []difference) []edit {
	var out []edit
	for i := range e.keys[lv].steps {
		st := &e.keys[lv].steps[i]
		for _, d := range e.stepDifferences(lv, st) {
			if slices.ContainsFunc(apart, func(o difference) bool { return o.component == d.component }) {
				cut, put := trimShared(d.before, d.after)
				out = append(out, edit{keyRule(st), cut, put})
			}
		}
	}
	return out
}

// trimShared cuts off what a and b begin and end with together, and the
// delimiters of what then remains.
func trimShared(a, b string) (string, string) {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	a, b = a[n:], b[n:]
	n = 0
	for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return strings.Trim(a[:len(a)-n], "&"), strings.Trim(b[:len(b)-n], "&")
}

// writeForms writes other forms of the URL, where they say something new.
func (x *explainer) writeForms(w *bufio.Writer, e *explanation) {
	x.head(w, "other forms")
	f := x.formsOf(e)
	if f.iri != string(e.norm) {
		x.named(w, "display", x.escapeText(x.hide(f.iri)))
	}
	if f.site != "" {
		x.named(w, "site", f.site)
	}
	x.named(w, "SURT "+x.level.String(), x.hideSecrets(f.surt))
	if f.template != string(e.res.Out.Bytes(e.norm, codec.Path)) {
		x.named(w, "template", x.hideSecrets(f.template))
	}
}

// forms is what can be made of a URL beside its normal form and its keys.
type forms struct{ iri, site, surt, template string }

// formsOf returns the forms of e.
func (x *explainer) formsOf(e *explanation) forms {
	out := &e.res.Out
	site, _ := codec.AppendSite(nil, out.Bytes(e.norm, codec.Host), true)
	key := []byte(e.wholeKey(x.level))
	var r codec.Result
	_ = codec.Parse(key, &r) // a key can be parsed
	return forms{
		iri:      string(codec.AppendIRI(nil, e.norm, out)),
		site:     string(site),
		surt:     string(codec.AppendSURT(nil, key, &r.In, codec.SURTOptions{})),
		template: string(x.norm.Policy().Templates.Append(nil, out.Bytes(e.norm, codec.Path))),
	}
}
