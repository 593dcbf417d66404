package main

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/urlfold/urlfold/codec"
)

// writePair writes at which level the keys of a and b meet.
func (x *explainer) writePair(w *bufio.Writer, a, b *explanation, asJSON bool) {
	if asJSON {
		o := x.object(a)
		o.VS = x.pairObject(a, b)
		writeJSON(w, o)
		return
	}
	x.emit(w, x.paint(bold, "A")+"\n")
	x.drawComponents(w, a)
	x.head(w, "B")
	x.drawComponents(w, b)
	for i, e := range []*explanation{a, b} {
		if e.err != nil {
			x.head(w, "no reading")
			x.line(w, "AB"[i:i+1]+": "+x.paint(red, e.err.Error()))
		}
	}
	if a.err != nil || b.err != nil {
		return
	}
	x.head(w, "keys")
	for lv := range codec.Level(codec.NumLevels) {
		x.writeLevel(w, lv, a, b)
	}
	x.emit(w, "\n")
	for _, l := range wrap(x.meeting(a, b), x.width-len(indent)) {
		x.line(w, l)
	}
}

// writeLevel writes the keys of one level, and what keeps them apart. Strings
// that are those of the level before are not written again.
func (x *explainer) writeLevel(w *bufio.Writer, lv codec.Level, a, b *explanation) {
	ka, kb := &a.keys[lv], &b.keys[lv]
	name := x.paint(bold, lv.String()) + indent
	same := lv > codec.K0 && ka.text == a.keys[lv-1].text && kb.text == b.keys[lv-1].text
	switch {
	case ka.text == kb.text:
		x.line(w, name+x.paint(green, "equal")+indent+x.written(ka))
		if !same {
			x.line(w, indent+indent+printable(x.hide(ka.text)))
		}
		return
	case same:
		x.line(w, name+x.paint(yellow, "apart")+indent+x.paint(dim, "by the strings of "+(lv-1).String()))
		return
	}
	x.line(w, name+x.paint(yellow, "apart"))
	x.line(w, indent+indent+"A "+x.written(ka)+indent+printable(x.hide(ka.text)))
	x.line(w, indent+indent+"B "+x.written(kb)+indent+printable(x.hide(kb.text)))
	for _, d := range x.differences(a.wholeKey(lv), b.wholeKey(lv)) {
		room := max(12, (x.width-26)/2)
		before, after := shorten(x.escapeText(d.before), x.escapeText(d.after), room, x.pick("…", "..."))
		x.line(w, fmt.Sprintf("    %-9s A %s   B %s", d.component, before, after))
	}
}

// meeting says in a sentence whether a and b share the key that was asked for,
// at which level they meet, and what brings them together there.
func (x *explainer) meeting(a, b *explanation) string {
	text := fmt.Sprintf("They do not share the key of profile %s (%v).", x.norm.Profile().Name, x.level)
	if x.sharesKey(a, b) {
		text = fmt.Sprintf("They share the key of profile %s (%v).", x.norm.Profile().Name, x.level)
	}
	first, meet := meetingLevel(a, b)
	switch {
	case !meet:
		var names []string
		for _, d := range differences(a.wholeKey(codec.K3), b.wholeKey(codec.K3)) {
			names = append(names, d.component)
		}
		return text + " At no level do they meet: " + joinWords(names) + verb(names, " keeps", " keep") + " them apart."
	case first == codec.K0:
		return text + " They meet at k0 already: " + x.meetsAtOnce(a, b) + "."
	}
	by := mergers(first, a, b)
	return text + fmt.Sprintf(" They meet at %v: ", first) + x.escapeText(x.hideSecrets(joinWords(by))) + verb(by, " makes", " make") + " them one."
}

// meetsAtOnce says why two URLs have the same K0.
func (x *explainer) meetsAtOnce(a, b *explanation) string {
	if a.rfc.standing == failure || b.rfc.standing == failure || a.rfc.k0 != b.rfc.k0 {
		return "browsers read them as one URL"
	}
	return "the same URL in every scheme"
}

// joinWords joins words as people do.
func joinWords(words []string) string {
	n := len(words)
	if n < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
}

// verb returns the form that goes with so many subjects.
func verb(subjects []string, one, more string) string {
	if len(subjects) == 1 {
		return one
	}
	return more
}

// meetingLevel returns the first level at which the keys are equal.
func meetingLevel(a, b *explanation) (codec.Level, bool) {
	for lv := range codec.Level(codec.NumLevels) {
		if a.keys[lv].text == b.keys[lv].text {
			return lv, true
		}
	}
	return 0, false
}
