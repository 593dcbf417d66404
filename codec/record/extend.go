package record

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"
)

// An Extension is a field that RenderExtend adds to a record, and the name that it
// has there.
type Extension struct {
	Name  string // of the member or column
	Field string // one of FieldNames
}

// An extension is an Extension made ready for use.
type extension struct {
	field fieldID
	// The names that its value can have: the second is for one that is not UTF-8,
	// which stands in JSON in base64. As they are, and as the inside of a JSON
	// string.
	names   [2][]byte
	escaped [2][]byte
}

// ofRecord is the set of the fields that a record without a URL has.
const ofRecord fieldSet = 1<<fRecord | 1<<fFile | 1<<fLine | 1<<fOffset | 1<<fProfile

// setExtend reads Extend.
func (j *Job) setExtend(c *Config) error {
	if c.Render != RenderExtend {
		if len(c.Extend) > 0 {
			return wrong("Extend", "fields are added to records by the rendering extend alone")
		}
		return nil
	}
	var errs []error
	if j.kind != kindJSONL && j.kind != kindTable && j.kind != kindUnknown {
		errs = append(errs, wrong("Render", "fields can be added to records of jsonl, csv and tsv: those of other formats have no room for them"))
	}
	if len(j.urlPath) > 0 && j.urlPath[0].name == nil {
		errs = append(errs, wrong("Render", "fields can be added to objects: these records are arrays, says the path of the URL"))
	}
	if len(c.Extend) == 0 {
		errs = append(errs, wrong("Extend", "the rendering extend needs fields to add"))
	}
	seen := map[string]bool{}
	for k, e := range c.Extend {
		i, err := lookup("field", fieldNames, e.Field)
		switch {
		case err != nil:
		case e.Name == "" || !utf8.ValidString(e.Name):
			err = fmt.Errorf("the field %s that is added to records needs a name in UTF-8", e.Field)
		case seen[e.Name] || seen[e.Name+"_b64"]:
			err = fmt.Errorf("two fields of the name %q cannot be added to records; %q_b64 would be what is not UTF-8", e.Name, e.Name)
		}
		errs = append(errs, in(fmt.Sprintf("Extend[%d]", k), err))
		seen[e.Name], seen[e.Name+"_b64"] = true, true
		x := extension{field: fieldID(i)}
		for k, suffix := range []string{"", "_b64"} {
			x.names[k] = []byte(e.Name + suffix)
			x.escaped[k] = appendString(nil, x.names[k])
		}
		j.extend = append(j.extend, x)
		j.wants |= 1 << i
	}
	return errors.Join(errs...)
}

// extend appends the record with the fields of its URL added.
func (w *Worker) extend(out, dead, rec []byte, at Position, st *Stats) (o, d []byte) {
	var v verdict
	var s *site
	if w.found.n > 0 {
		s = &w.found.sites[0]
		w.read(s, rec, &v, st)
	}
	w.close(&v, st)
	if v.bad != 0 && w.job.divert {
		st.Dead++
		return out, w.deadLine(dead, rec, &v, at)
	}
	st.Emitted++
	if w.job.kind == kindTable {
		out = w.extendRow(out, s, rec, at)
	} else {
		w.evaluate(s, rec, at)
		out = w.extendObject(out, rec)
	}
	if v.urls > 0 {
		w.countKeys(st)
	}
	return out, dead
}

// part appends rec[from:to], with its passwords hidden if the job redacts.
func (w *Worker) part(out, rec []byte, from, to int) []byte {
	if w.job.redact {
		return w.appendHidden(out, rec, from, to)
	}
	return append(out, rec[from:to]...)
}

// extendRow appends a record of a table with a cell for each extension. A table
// stays rectangular: a field that is absent is an empty cell.
func (w *Worker) extendRow(out []byte, s *site, rec []byte, at Position) []byte {
	j, end := w.job, len(trimEnd(rec))
	w.members = w.members[:0]
	for i := range j.extend {
		w.members = append(w.members, j.sep)
		if f := j.extend[i].field; s != nil || ofRecord.has(f) {
			w.members = encCell.escape(w.members, w.plainValue(f, s, rec, at), j.sep)
		}
	}
	out = w.part(out, rec, 0, end)
	return append(append(out, w.members...), rec[end:]...)
}

// extendHead appends the header record of a table with the names of the
// extensions.
func (w *Worker) extendHead(out, rec []byte, st *Stats) []byte {
	st.Records++
	st.Emitted++
	end := len(trimEnd(rec))
	out = append(out, rec[:end]...)
	for i := range w.job.extend {
		out = encCell.escape(append(out, w.job.sep), w.job.extend[i].names[0], w.job.sep)
	}
	return append(out, rec[end:]...)
}

// An ownMember is a member of the record whose name is that of an extension.
type ownMember struct {
	span     // of its value
	slot int // see evaluate
}

// ownMembers notes the members of the object body that have the name of an
// extension, and where the last member ends. It is false if body is no JSON, and
// then w.scan says where. What is no object has none.
func (w *Worker) ownMembers(body []byte) bool {
	s := &w.scan
	s.b, s.pos, s.broken = body, 0, false
	w.own, w.ownEnd = w.own[:0], 0
	s.space()
	if s.peek() != '{' {
		s.skip()
		return w.atEnd()
	}
	s.pos++
	s.space()
	if s.peek() == '}' {
		s.pos++
		return w.atEnd()
	}
	for {
		slot := w.slotOf(s.rawName())
		if s.broken {
			return false
		}
		start := s.pos
		if s.skip(); s.broken {
			return false
		}
		w.ownEnd = s.pos
		if slot >= 0 {
			w.own = append(w.own, ownMember{span{start, s.pos}, slot})
		}
		s.space()
		if s.peek() != ',' {
			s.expect('}')
			return w.atEnd()
		}
		s.pos++
		s.space()
	}
}

// atEnd reports whether nothing but space is left of the JSON text.
func (w *Worker) atEnd() bool {
	s := &w.scan
	if !s.broken {
		s.space()
	}
	s.broken = s.broken || s.pos < len(s.b)
	return !s.broken
}

// slotOf returns the slot of a name as it stands in the record, or -1.
func (w *Worker) slotOf(raw []byte) int {
	if w.scan.broken {
		return -1
	}
	name := w.scan.plain(raw)
	for i := range w.job.extend {
		for k, own := range w.job.extend[i].names {
			if bytes.Equal(name, own) {
				return 2*i + k
			}
		}
	}
	return -1
}

// evaluate puts the values of the extensions into w.members, as JSON, and where
// they lie into w.slots: two for each, the second for a value that is not UTF-8,
// in base64. A value that is absent is an empty span.
func (w *Worker) evaluate(s *site, rec []byte, at Position) {
	w.members, w.slots = w.members[:0], w.slots[:0]
	for i := range w.job.extend {
		f := w.job.extend[i].field
		start := len(w.members)
		if s != nil || ofRecord.has(f) {
			w.members = w.member(w.members, "", f, s, rec, at) // "":value, or "_b64":value,
		}
		var slots [2]span
		member, end := w.members[start:], len(w.members)-1
		switch {
		case bytes.HasPrefix(member, unnamed):
			slots[0] = span{start + len(unnamed), end}
		case bytes.HasPrefix(member, unnamedB64):
			slots[1] = span{start + len(unnamedB64), end}
		}
		w.slots = append(w.slots, slots[0], slots[1])
	}
}

var unnamed, unnamedB64 = []byte(`"":`), []byte(`"_b64":`)

// extendObject appends the object rec with the values of w.slots. Each takes the
// place of all members of its name: whichever of them a reader believes, it is
// ours. If there is no value, they become null, and no member is added.
func (w *Worker) extendObject(out, rec []byte) []byte {
	from := 0
	for _, m := range w.own {
		out = w.part(out, rec, from, m.start)
		from = m.end
		if v := w.slots[m.slot]; v.end > v.start {
			out = append(out, v.in(w.members)...)
		} else {
			out = append(out, "null"...)
		}
	}
	out = w.part(out, rec, from, w.ownEnd)
	for i, v := range w.slots {
		if v.end == v.start || w.owns(i) {
			continue
		}
		out = append(append(out, `,"`...), w.job.extend[i/2].escaped[i%2]...)
		out = append(append(out, `":`...), v.in(w.members)...)
	}
	return w.part(out, rec, w.ownEnd, len(rec))
}

// owns reports whether the record has a member for the slot.
func (w *Worker) owns(slot int) bool {
	for _, m := range w.own {
		if m.slot == slot {
			return true
		}
	}
	return false
}
