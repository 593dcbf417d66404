package record

import (
	"bytes"
	"slices"

	"github.com/urlfold/urlfold/internal/record/internal/textlog"
)

// This file renders request targets in normal form. It writes what renderer.item
// would write.

// A plan describes the output for a usual target. Most of the output is text that is
// the same for each record.
type plan struct {
	steps  []planStep
	end    []byte // text after the last step
	fixed  int    // length of all texts, and room for a key and the names of parts
	copies int    // number of steps that may copy the whole target
}

// A planStep writes a text and a value.
type planStep struct {
	text  []byte
	value planValue
	field fieldID // if value is planMember or planCell
}

// planValue is the value that a planStep writes.
type planValue uint8

const (
	planTarget planValue = iota
	planPath
	planQuery       // without its delimiter, if there is one
	planQueryMember // the whole member, if there is a query
	planKey
	planMember // the whole member of the field, which renderer.member writes
	planCell   // the cell of the field
)

// ofTarget, besideTarget and ofOrigin are the fields that a plan can have: parts of the
// target, fields of the record, and fields that are the same for all targets in normal
// form.
const (
	ofTarget     fieldSet = 1<<fURL | 1<<fNorm | 1<<fKey | 1<<fPath | 1<<fQuery
	besideTarget fieldSet = 1<<fRecord | 1<<fFile | 1<<fLine | 1<<fOffset | 1<<fMethod | ofAttrs&^(1<<fVHost)
	ofOrigin     fieldSet = 1<<fLevel | 1<<fChange | 1<<fFlags | 1<<fDiagnostics | 1<<fError | 1<<fFragment |
		1<<fScheme | 1<<fUsername | 1<<fHost | 1<<fPort | 1<<fSite | 1<<fTarget | 1<<fForm | ofJob
)

// newPlan returns the plan of the job, or nil. The format must be clf or combined. The
// text that is the same for all targets is taken from the target "/". A job that hides
// passwords gets no plan if the origin or a field may hold a password that the steps do
// not hide.
func (w *Worker) newPlan() *plan {
	j := w.job
	l, ok := j.reader.(*textlog.LogReader)
	if !ok || l.Format.Vhost || j.wants&^(ofTarget|besideTarget|ofOrigin) != 0 {
		return nil
	}
	if j.redact && (j.wants.has(fRecord) || bytes.IndexByte(j.base.origin, '@') >= 0) {
		return nil
	}
	if j.wants.has(fKey) || j.render == RenderKeys {
		if w.n.planKey = j.newCopyKey(j.level); w.n.planKey == nil {
			return nil
		}
	}
	p := &plan{}
	if !w.n.readMissed([]byte("/")) || !bytes.Equal(w.n.cur.norm, w.n.cur.src) {
		return nil
	}
	switch j.render {
	case RenderURLs:
		p.step(string(j.base.origin), planTarget)
	case RenderKeys:
		p.step("", planKey)
		p.step("\t"+string(j.base.origin), planTarget)
		p.end = j.noteCell(p.end, '\t')
	case RenderTSV:
		for i, f := range j.fields {
			if i > 0 {
				p.end = append(p.end, j.separator())
			}
			p.cell(&w.r, f)
		}
		p.end = j.noteCell(p.end, j.separator())
	case RenderJSONL:
		p.end = append(p.end, '{')
		for _, f := range j.fields {
			p.member(&w.r, f)
		}
		if j.notes.value != nil {
			p.end = append(append(p.end, j.notes.member...), ',')
		}
	default:
		return nil
	}
	p.fixed += len(p.end)
	return p
}

// step adds a step that writes value after text.
func (p *plan) step(text string, value planValue) {
	p.end = append(p.end, text...)
	p.fixed += len(p.end)
	switch value {
	case planKey:
		p.fixed += maxKeyText
	case planTarget, planPath, planQuery, planQueryMember:
		p.copies++
		p.fixed += len(nameParts[fQuery].text) + len(`",`)
	}
	p.steps, p.end = append(p.steps, planStep{text: padded(p.end), value: value}), nil
}

// maxKeyText is the length of the longest text of a key.
const maxKeyText = 32

// member adds the member f of a JSON object. r has the URL with the target "/".
func (p *plan) member(r *renderer, f fieldID) {
	name := nameParts[f].text
	switch {
	case f == fQuery:
		p.step("", planQueryMember)
		return
	case besideTarget.has(f):
		p.step("", planMember)
		p.steps[len(p.steps)-1].field = f
		return
	case ofOrigin.has(f):
		p.end = r.member(p.end, fieldNames[f], f, &noSite, nil, &Position{})
		return
	case f == fURL:
		p.step(name, planTarget)
	case f == fNorm:
		p.step(name+string(r.job.base.origin), planTarget)
	case f == fKey:
		p.step(name, planKey)
	case f == fPath:
		p.step(name, planPath)
	}
	p.end = append(p.end, `",`...)
}

// cell adds the cell of f in a row. r has the URL with the target "/". A cell
// needs no escape for text of a target in normal form.
func (p *plan) cell(r *renderer, f fieldID) {
	switch {
	case besideTarget.has(f):
		p.step("", planCell)
		p.steps[len(p.steps)-1].field = f
	case ofOrigin.has(f):
		if v, ok := r.v.plainValue(f, &noSite, nil, &Position{}); ok {
			p.end = r.cell(p.end, v)
		}
	case f == fURL:
		p.step("", planTarget)
	case f == fNorm:
		p.step(string(r.job.base.origin), planTarget)
	case f == fKey:
		p.step("", planKey)
	case f == fPath:
		p.step("", planPath)
	case f == fQuery:
		p.step("", planQuery)
	}
}

// planned appends what the rendering writes for rec, whose target keepsTarget
// has accepted.
func (w *Worker) planned(out, rec []byte, at *Position) []byte {
	p, target := w.plan, w.n.cur.url
	size := p.fixed + p.copies*len(target) + wideCopy
	out = slices.Grow(out, size)
	for i := range p.steps {
		s := &p.steps[i]
		out = appendWide(out, s.text)
		switch s.value {
		case planTarget:
			out = appendWide(out, target)
		case planPath:
			out = appendWide(out, target[:w.n.pathLen])
		case planQuery:
			out = appendWide(out, target[min(w.n.pathLen+1, len(target)):])
		case planQueryMember:
			if w.n.pathLen < len(target) {
				out = append(out, nameParts[fQuery].text...)
				out = append(appendWide(out, target[w.n.pathLen+1:]), `",`...)
			}
		case planKey:
			out = w.job.keyForm.Append(out, w.n.key)
		case planMember:
			out = slices.Grow(w.r.member(out, fieldNames[s.field], s.field, &noSite, rec, at), size)
		case planCell:
			if v, ok := w.r.v.plainValue(s.field, &noSite, rec, at); ok {
				out = slices.Grow(w.r.cell(out, v), size)
			}
		}
	}
	out = appendWide(out, p.end)
	if w.job.render == RenderJSONL {
		return closeObject(out)
	}
	return append(out, '\n')
}

// keyTarget sets n.key to the key of a target that stays unchanged, if the plan
// writes keys. It returns false if it cannot compute the key.
func (n *normalizer) keyTarget(target []byte) (ok bool) {
	switch {
	case n.planKey == nil:
		return true
	case n.copyKey != nil && n.copyKey.level == n.planKey.level:
		n.key = n.fact.Identity
		return true
	}
	n.key, ok = n.planKey.ofTarget(target, target[n.pathLen:])
	return ok
}

// wideCopy is the number of bytes that appendWide copies at a time.
const wideCopy = 32

// padded returns text with room for appendWide.
func padded(text []byte) []byte {
	return append(make([]byte, 0, len(text)+wideCopy), text...)
}

// appendWide is append for short texts. Where both slices have room, it copies more
// than needed, which is faster than a call of memmove.
func appendWide(dst, text []byte) []byte {
	start, n := len(dst), len(text)
	wide := (n + wideCopy - 1) &^ (wideCopy - 1)
	if wide > cap(text) || start+wide > cap(dst) {
		return append(dst, text...)
	}
	to, from := dst[start:start+wide], text[:wide]
	for len(from) >= wideCopy && len(to) >= wideCopy {
		// Assign 16 bytes at a time: for more, the compiler calls memmove.
		d, s := (*[wideCopy]byte)(to), (*[wideCopy]byte)(from)
		*(*[16]byte)(d[:]) = *(*[16]byte)(s[:])
		*(*[16]byte)(d[16:]) = *(*[16]byte)(s[16:])
		to, from = to[wideCopy:], from[wideCopy:]
	}
	return dst[:start+n]
}
