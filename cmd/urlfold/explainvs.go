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

// writeLevel writes the keys of one level, and what keeps them apart.
func (x *explainer) writeLevel(w *bufio.Writer, lv codec.Level, a, b *explanation) {
	ka, kb := a.keys[lv], b.keys[lv]
	name := x.paint(bold, lv.String()) + indent
	if ka.text == kb.text {
		x.line(w, name+x.paint(green, "equal")+indent+ka.key.String())
		x.line(w, indent+indent+x.hide(ka.text))
		return
	}
	x.line(w, name+x.paint(yellow, "apart"))
	x.line(w, indent+indent+"A "+ka.key.String()+indent+x.hide(ka.text))
	x.line(w, indent+indent+"B "+kb.key.String()+indent+x.hide(kb.text))
	for _, d := range x.differences(ka.text, kb.text) {
		room := max(12, (x.width-26)/2)
		before, after := shorten(x.escapeText(d.before), x.escapeText(d.after), room, x.pick("…", "..."))
		x.line(w, fmt.Sprintf("    %-9s A %s   B %s", d.component, before, after))
	}
}

// meeting says in a sentence whether a and b share the profile's key.
func (x *explainer) meeting(a, b *explanation) string {
	profile := fmt.Sprintf("profile %s (%v)", x.norm.Profile().Name, x.level())
	first, meet := meetingLevel(a, b)
	switch {
	case x.sharesKey(a, b) && first == codec.K0:
		return fmt.Sprintf("They share the key of %s. They meet at k0 already: the same URL in every scheme.", profile)
	case x.sharesKey(a, b):
		return fmt.Sprintf("They share the key of %s. They meet at %v: the rules of the scheme make them one.", profile, first)
	case meet:
		return fmt.Sprintf("They do not share the key of %s. They meet at %v.", profile, first)
	}
	last := codec.Level(codec.NumLevels - 1)
	var names []string
	for _, d := range differences(a.keys[last].text, b.keys[last].text) {
		names = append(names, d.component)
	}
	verb := "keeps"
	if len(names) > 1 {
		verb = "keep"
	}
	return fmt.Sprintf("They do not share the key of %s. At no level do they meet: %s %s them apart.", profile, strings.Join(names, " and "), verb)
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
