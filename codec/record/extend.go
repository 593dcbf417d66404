package record

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/urlfold/urlfold/internal/ground/suggest"
)

// Extension is a field that RenderExtend adds to each record, and its name
// there.
type Extension struct {
	Name  string // name of the new member or column
	Field string // one of FieldNames
}

// ofRecord is the set of fields that exist for records without a URL.
const ofRecord fieldSet = 1<<fRecord | 1<<fFile | 1<<fLine | 1<<fOffset | ofJob | ofAttrs

// setExtend sets the extensions from c.Extend.
func (j *Job) setExtend(c *Config) error {
	if c.Render != RenderExtend {
		if len(c.Extend) > 0 {
			return wrong("Extend", "fields can be added to records only with the rendering extend")
		}
		return nil
	}
	var errs []error
	if len(c.Extend) == 0 && c.Note == (Note{}) {
		errs = append(errs, wrong("Extend", "missing fields: the rendering extend needs at least one field to add"))
	}
	seen := map[string]bool{}
	for k, e := range c.Extend {
		i, err := suggest.Index("field", fieldNames, e.Field)
		switch {
		case err != nil:
		case e.Name == "" || !utf8.ValidString(e.Name):
			err = fmt.Errorf("invalid name for the added field %s: must be non-empty and valid UTF-8", e.Field)
		case seen[e.Name] || seen[e.Name+"_b64"]:
			err = fmt.Errorf("duplicate name %q of an added field (%q_b64 is reserved for values that are not valid UTF-8)", e.Name, e.Name)
		}
		errs = append(errs, in(fmt.Sprintf("Extend[%d]", k), err))
		seen[e.Name], seen[e.Name+"_b64"] = true, true
		j.extend = append(j.extend, fieldID(i))
		j.wants |= 1 << i
	}
	return errors.Join(errs...)
}

// extend appends the record with the fields of its URL added.
func (w *Worker) extend(out, dead, rec []byte, at *Position, st *Stats) (o, d []byte) {
	var v verdict
	s := w.found.first()
	if s != nil && !w.read(s, rec, &v, st) && !v.left && w.n.cur.why == 0 {
		s = nil // the target is not a URL
	}
	if w.job.where != nil && w.left(rec, &v, st) {
		return out, dead
	}
	w.close(&v, st)
	if v.bad != 0 && w.job.divert {
		st.Dead++
		return out, w.r.deadLine(dead, rec, &v, at)
	}
	st.Emitted++
	out = w.adder.addFields(out, &w.r, s, rec, at)
	if v.urls > 0 {
		w.n.countKeys(st)
	}
	return out, dead
}

// part appends rec[from:to], with passwords hidden if the job redacts.
func (red *redactor) part(out, rec []byte, from, to int) []byte {
	if red.job.redact {
		return red.appendHidden(out, rec, from, to)
	}
	return append(out, rec[from:to]...)
}
