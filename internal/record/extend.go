package record

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// ofRecord is the set of fields that exist for records without a URL.
const ofRecord fieldSet = 1<<fRecord | 1<<fFile | 1<<fLine | 1<<fOffset | ofJob | ofAttrs

// setExtend sets the extensions from c.Extend.
func (j *Job) setExtend(c *Config) error {
	if c.Render != RenderExtend {
		if len(c.Extend) > 0 {
			return locate.Wrong("Extend", "fields can be added to records only with the output format extend")
		}
		return nil
	}
	var errs []error
	if len(c.Extend) == 0 && c.Note == (Note{}) {
		errs = append(errs, locate.Wrong("Extend", "missing fields: the output format extend needs at least one field to add"))
	}
	seen := map[string]bool{}
	for k, e := range c.Extend {
		i, err := j.fieldNamed(e.Field)
		switch {
		case err != nil:
		case e.Name == "" || !utf8.ValidString(e.Name):
			err = fmt.Errorf("invalid name for the added field %s: must be non-empty and valid UTF-8", e.Field)
		case seen[e.Name] || seen[e.Name+"_b64"]:
			err = fmt.Errorf("duplicate name %q of an added field (%q is reserved for values that are not valid UTF-8)", e.Name, e.Name+"_b64")
		}
		errs = append(errs, locate.About(fmt.Sprintf("Extend[%d]", k), err))
		seen[e.Name], seen[e.Name+"_b64"] = true, true
		j.extend = append(j.extend, i)
		j.wants |= 1 << i
	}
	return errors.Join(errs...)
}

// extend appends the record with the fields of its URL added.
func (w *Worker) extend(out, dead, rec []byte, at *Position, st *Stats) (o, d []byte) {
	var v verdict
	s := w.found.First()
	if s != nil && !w.read(s, rec, &v, st) && !v.left && w.n.cur.why == 0 {
		s = nil // the target is not a URL
	}
	if dead, done := w.conclude(dead, rec, &v, at, st); done {
		return out, dead
	}
	w.close(&v, st)
	st.Emitted++
	w.adding = adding{w, s, rec, at}
	out = w.adder.AddFields(out, rec, &w.adding)
	w.adding = adding{}
	if v.urls > 0 {
		w.n.countKeys(st)
	}
	return out, dead
}

// adding is the addition to the current record.
type adding struct {
	w   *Worker
	s   *locate.Site // site of the URL, or nil
	rec []byte
	at  *Position
}

// AppendMember implements [locate.Addition].
func (e *adding) AppendMember(dst []byte, i int) []byte {
	if f := e.w.job.extend[i]; e.s != nil || ofRecord.has(f) {
		return e.w.r.member(dst, "", f, e.s, e.rec, e.at)
	}
	return dst
}

// Text implements [locate.Addition].
func (e *adding) Text(i int) (text []byte) {
	if f := e.w.job.extend[i]; e.s != nil || ofRecord.has(f) {
		text, _ = e.w.v.plainValue(f, e.s, e.rec, e.at)
	}
	return text
}

// Note implements [locate.Addition].
func (e *adding) Note() (value, member []byte) { return e.w.job.notes.value, e.w.job.notes.member }

// AppendPart implements [locate.Addition].
func (e *adding) AppendPart(dst, rec []byte, from, to int) []byte {
	if e.w.job.redact {
		return e.w.red.appendHidden(dst, rec, from, to)
	}
	return append(dst, rec[from:to]...)
}

// setNote sets the note.
func (j *Job) setNote(n Note) error {
	if n == (Note{}) {
		return nil
	}
	switch j.render {
	case RenderJSONL, RenderTSV, RenderCSV, RenderExtend, RenderKeys:
	default:
		return locate.Wrong("Note", "the output format "+j.render.String()+" cannot hold a field: use jsonl, tsv, csv, extend or keys")
	}
	j.notes.value = []byte(n.Value)
	j.notes.name = []byte(n.Name)
	j.notes.member = append(append(locate.AppendString([]byte{'"'}, j.notes.name), `":`...), n.Value...)
	return nil
}

// noteCell appends the note as the last cell of a row.
func (j *Job) noteCell(out []byte, sep byte) []byte {
	if j.notes.value == nil {
		return out
	}
	return append(append(out, sep), j.notes.value...)
}

// noteColumn appends the name of the note as the last cell of a header.
func (j *Job) noteColumn(out []byte, sep byte) []byte {
	if j.notes.value == nil {
		return out
	}
	return append(append(out, sep), j.notes.name...)
}
