package record

import (
	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// A Condition decides which records a job keeps. It must be safe for concurrent
// use.
type Condition interface {
	// Fields returns the output fields that Keep reads, as indexes in
	// [FieldNames]. The worker computes no others.
	Fields() []int
	// Keep reports whether to keep the record that v shows. It must not retain
	// v.
	Keep(v *View) bool
}

// View shows the output fields of one record, with the values that the output
// format jsonl would write for the first URL. For a record without a URL, View
// shows the fields that come from the record itself.
type View struct {
	w        *Worker
	present  fieldSet // fields that the record can have
	why      Reason   // why the record was rejected before its URL was read; 0 if it was not
	site     *locate.Site
	rec      []byte
	first    []byte // scratch for the first of two fields
	kept     []kept
	computed []*Computed

	had    uint16 // attributes that Field has found since count was called; lacked counts the records without an attribute, by attribute
	lacks  bool
	lacked [locate.NumAttrs]int64
}

// kept is what a Memory keeps for a worker.
type kept struct {
	owner *owner
	value any
}

// An owner identifies a Memory by its address. Its byte makes the addresses
// of two owners differ.
type owner struct{ _ byte }

// A Memory is what a [Condition] keeps from one record to the next: a value for each
// worker, so that it needs no lock.
type Memory[T any] struct {
	owner owner
	first func() T
}

// NewMemory returns a Memory whose values are made by first.
func NewMemory[T any](first func() T) *Memory[T] { return &Memory[T]{first: first} }

// Of returns the value for the worker whose record v shows.
func (m *Memory[T]) Of(v *View) T {
	for i := range v.kept {
		if v.kept[i].owner == &m.owner {
			return v.kept[i].value.(T)
		}
	}
	value := m.first()
	v.kept = append(v.kept, kept{&m.owner, value})
	return value
}

// show makes v show a record, and returns v.
func (v *View) show(present fieldSet, why Reason, s *locate.Site, rec []byte) *View {
	v.present, v.why, v.site, v.rec = present, why, s, rec
	return v
}

// Field returns the value of the output field FieldNames()[i], and whether the
// record has it. The value is the text that the output format tsv writes,
// without its escapes. It is valid until the next call of a method of v.
func (v *View) Field(i int) (value []byte, ok bool) {
	f := fieldID(i)
	if f >= numFields {
		return v.computedField(i - int(numFields))
	}
	value, ok = v.field(f)
	if canLack.has(f) && v.present.has(f) {
		v.note(f, ok)
	}
	return value, ok
}

// note remembers whether the record has the attribute that f shows.
func (v *View) note(f fieldID, ok bool) {
	if ok {
		v.had |= 1 << attrOf(f)
		return
	}
	v.lacks = true
	v.lacked[attrOf(f)]++
}

// Has reports whether the record has the output field FieldNames()[i]. Unlike
// Field, it does not affect Stats.Having and Stats.Lacking.
func (v *View) Has(i int) bool {
	if i >= int(numFields) {
		_, ok := v.computedField(i - int(numFields))
		return ok
	}
	_, ok := v.field(fieldID(i))
	return ok
}

// count adds to st the attributes that Field has found or missed since the last
// call.
func (v *View) count(st *Stats) {
	st.Having |= v.had
	v.had = 0
	if v.lacks {
		v.countLacking(st)
	}
}

func (v *View) countLacking(st *Stats) {
	for i, n := range v.lacked {
		st.Lacking[i] += n
	}
	v.lacks, v.lacked = false, [locate.NumAttrs]int64{}
}

// field is Field without its counts.
func (v *View) field(f fieldID) (value []byte, ok bool) {
	switch {
	case !v.present.has(f):
		return nil, false
	case f == fMethod:
		return v.w.v.method(v.site, v.rec)
	default:
		return v.other(f)
	}
}

// other is Field for a field that the record can have, and that is not the method.
func (v *View) other(f fieldID) (value []byte, ok bool) {
	switch {
	case ofAttrs.has(f):
		return v.w.v.attr(f, v.rec)
	case v.why != 0 && f == fError:
		return v.w.v.word(v.why.String()), true
	}
	return v.w.v.plainValue(f, v.site, v.rec, &v.w.at)
}

// Pair returns two fields as Field does. ok reports whether the record has
// both.
func (v *View) Pair(i, j int) (a, b []byte, ok bool) {
	a, ok = v.Field(i)
	if !ok {
		return nil, nil, false
	}
	v.first = append(v.first[:0], a...)
	b, ok = v.Field(j)
	return v.first, b, ok
}

// HasFlag reports whether the URL has the flag.
func (v *View) HasFlag(f codec.Flag) bool {
	return v.present.has(fFlags) && v.w.n.cur.flags.Has(f)
}

// Changed reports whether the normal form differs from the URL in the record.
func (v *View) Changed() bool {
	c := &v.w.n.cur
	return v.present.has(fNorm) && c.why == 0 && c.differs()
}

const (
	ofAll      = 1<<numFields - 1
	withoutURL = ofRecord | 1<<fMethod | 1<<fForm
	// rejected are the fields of a record that was rejected before its URL was
	// read: those that the output format jsonl shows. located is the subset that is
	// the same for each piece of a record that is too long.
	located  fieldSet = 1<<fError | 1<<fFile | 1<<fLine
	rejected          = located | 1<<fRecord
)

// sharedLine is the error for records that cannot be removed one by one.
const sharedLine = "records of this format share a line, from which they cannot be removed: use another output format, such as jsonl"

// setWhere sets the condition and the fields that it needs.
func (j *Job) setWhere(c *Config) error {
	j.keeps.where = j.setRoute(c.Where, c.Route)
	if j.keeps.where == nil {
		return j.setShard(c)
	}
	for _, i := range j.keeps.where.Fields() {
		j.reads |= 1 << i
		j.keeps.asksWhy = j.keeps.asksWhy || fieldID(i) == fError
	}
	j.keeps.asksWhy = j.keeps.asksWhy || j.keeps.routes
	if err := j.checkShared(c); err != nil {
		return err
	}
	return j.setShard(c)
}

// keeps asks the condition about the record whose first URL is at s and has
// been parsed.
func (w *Worker) keeps(s *locate.Site, rec []byte) bool {
	return w.job.keeps.where.Keep(w.view.show(ofAll, 0, s, rec))
}

// keepsBare asks the condition about a record without a URL.
func (w *Worker) keepsBare(rec []byte) bool {
	cur := w.n.cur
	w.n.cur = reading{form: w.found.Form, hash: -1}
	keep := w.job.keeps.where.Keep(w.view.show(withoutURL, 0, &noSite, rec))
	w.n.cur = cur
	return keep
}

// noSite replaces the site of a record without a URL.
var noSite = locate.Site{Role: locate.RoleTarget}

// keepsRejected asks the condition about a record that was rejected before its
// URL was read. Such records are kept unless the condition reads the field
// error: otherwise every condition would silently remove the records that it
// knows nothing about. Refused records have passed the condition already,
// and the name of an unreadable input is not a record.
func (w *Worker) keepsRejected(why Reason, rec []byte) bool {
	if !w.job.keeps.asksWhy || why == Refused || why == FirstRefused || why == Unreadable {
		return true
	}
	present := rejected
	if why == TooLong || why == Panic {
		present = located
	}
	return w.job.keeps.where.Keep(w.view.show(present, why, &noSite, rec))
}

// read reads the URL at s and counts it. It returns false in three cases: there is
// no URL; the URL is rejected, and v holds the reason; or the condition drops the
// record, and v.left is set.
func (w *Worker) read(s *locate.Site, rec []byte, v *verdict, st *Stats) bool {
	if v.left || !w.n.parse(s, rec) {
		return false
	}
	if w.job.keeps.where != nil && !v.asked {
		v.asked = true
		if v.left = !w.keeps(s, rec); v.left {
			return false
		}
	}
	if !w.n.accept(s, v, st) {
		return false
	}
	if w.job.id.on {
		w.identify(s, rec, v)
		if w.job.id.level > codec.LevelEquivalent {
			w.n.countKeys(st)
		}
	}
	return true
}

// refersFirst reports whether the referer precedes the request in the record.
func refersFirst(f *Found) bool { return f.N > 1 && f.Sites[0].Role == locate.RoleReferer }

// askAhead asks the condition about a record in which the referer precedes the
// request. The URL of the request counts as the first URL nevertheless.
func (w *Worker) askAhead(rec []byte, v *verdict) {
	if s := w.found.First(); w.n.parse(s, rec) {
		v.asked = true
		v.left = !w.keeps(s, rec)
	}
}
