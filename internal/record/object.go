package record

import (
	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// This file writes the members of JSON objects that most jobs ask for. Each function
// gives the same result as renderer.member, but reads each byte only once.

// nameParts holds the beginning of a member for each field: text before a
// string, and bare before any other value.
var nameParts = func() (t [numFields]struct{ text, bare string }) {
	for f, name := range fieldNames {
		t[f].bare = `"` + name + `":`
		t[f].text = t[f].bare + `"`
	}
	return t
}()

// members caches values that are the same for many URLs.
type members struct {
	flags     codec.Flags // the flags that flagsText shows
	flagsText []byte      // empty at first
}

// object appends a JSON object for the current URL, and a line feed.
func (r *renderer) object(out []byte, s *locate.Site, rec []byte, at *Position) []byte {
	c := &r.n.cur
	plainNorm := c.why == 0 && !r.job.redact && locate.PlainText.End(c.norm, 0) == len(c.norm)
	out = append(out, '{')
	for _, f := range r.job.fields {
		switch {
		case f == fError:
			out = r.appendWhy(out)
		case c.why != 0:
			out = r.member(out, r.job.memberName(f), f, s, rec, at)
		default:
			out = r.commonMember(out, f, plainNorm, s, rec, at)
		}
	}
	if c.why != 0 && !r.job.wants.has(fError) {
		out = r.appendWhy(out)
	}
	if r.job.notes.value != nil {
		out = append(append(out, r.job.notes.member...), ',')
	}
	return closeObject(out)
}

// commonMember is member for a URL with a normal form. plainNorm says that the
// normal form is plain text and can be shown as it is.
func (r *renderer) commonMember(out []byte, f fieldID, plainNorm bool, s *locate.Site, rec []byte, at *Position) []byte {
	c := &r.n.cur
	switch f {
	case fURL:
		if plainNorm && c.same {
			return appendPlainMember(out, f, c.url)
		}
	case fNorm:
		if plainNorm {
			return appendPlainMember(out, f, r.v.normShown())
		}
	case fKey:
		if !r.n.hasKey() {
			return out
		}
		out = r.job.keyForm.Append(append(out, nameParts[f].text...), r.n.keyOf())
		return append(out, `",`...)
	case fLevel:
		return append(append(append(out, nameParts[f].text...), r.job.level.String()...), `",`...)
	case fChange:
		return append(append(append(out, nameParts[f].text...), c.change.String()...), `",`...)
	case fFlags:
		return r.appendFlagsMember(out)
	case fDiagnostics:
		if c.hash < 0 && !c.mended && len(r.n.res.Diagnostics) == 0 && len(r.n.params.diagnostics) == 0 {
			return append(append(out, nameParts[f].bare...), `[],`...)
		}
	case fScheme, fUsername, fHost, fPort, fPath, fQuery, fFragment:
		switch part, ok := r.v.component(f); {
		case !ok:
			return out
		case plainNorm:
			return appendPlainMember(out, f, part)
		}
	}
	return r.member(out, r.job.memberName(f), f, s, rec, at)
}

// appendPlainMember appends a member with a string that needs no escapes.
func appendPlainMember(out []byte, f fieldID, text []byte) []byte {
	return append(append(append(out, nameParts[f].text...), text...), `",`...)
}

// appendFlagsMember appends the member flags, which is often the same as for
// the previous URL.
func (r *renderer) appendFlagsMember(out []byte) []byte {
	m := &r.members
	if flags := r.n.cur.flags; flags != m.flags || len(m.flagsText) == 0 {
		m.flags = flags
		m.flagsText = r.appendFlags(append(m.flagsText[:0], nameParts[fFlags].bare...))
	}
	return append(out, m.flagsText...)
}
