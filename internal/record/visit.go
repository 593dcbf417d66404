package record

import (
	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// A Visit reads records one at a time without writing them, and computes only
// the values that are asked for. It is not safe for concurrent use. Results of
// its methods are valid until the next call of a method.
type Visit struct {
	w    *Worker
	rec  []byte
	body []byte // rec, or nil if there is nothing to read in it
	why  Reason
	pos  int
	site int // index in found.Sites of the URL that was parsed last, or -1
	is   bool
}

// NewVisit returns a Visit that can show all fields. c selects how records are read;
// its settings of the output are ignored.
func (c Config) NewVisit() (*Job, *Visit, error) {
	c.Render, c.Fields, c.Extend, c.Where, c.Route = RenderJSONL, fieldNames, nil, nil, nil
	j, err := New(c)
	if err != nil {
		return nil, nil, err
	}
	return j, &Visit{w: j.NewWorker()}, nil
}

// Next returns the length of the first record of in: see [Worker.Next].
func (v *Visit) Next(in []byte) int { return v.w.Next(in) }

// Lines is [Worker.Lines].
func (v *Visit) Lines(rec []byte) int64 { return v.w.Lines(rec) }

// Read finds the URLs of rec, which must stay unchanged until the next call of
// Read or Reject. After an error, the job cannot read further records.
func (v *Visit) Read(rec []byte, at *Position) error {
	w := v.w
	w.begin(at)
	v.rec, v.body, v.why, v.pos, v.site = rec, rec, 0, 0, -1
	w.atURL, w.lines = *at, 0
	if w.job.lengths == nil {
		v.body = locate.TrimEnd(rec)
		if locate.HoleLen(rec) == len(rec) || locate.IsBlank(v.body[w.mark(v.body):]) {
			v.body = nil
			w.found.Reset()
			return nil
		}
	}
	v.why, v.pos = w.locate(v.body)
	if err := w.found.Err; v.why != 0 && err != nil {
		w.found.Err = nil
		return err
	}
	if v.why != 0 || w.found.Passes {
		v.body = nil
	}
	return nil
}

// Reject is Read for a record that the caller cannot read. rec is its beginning.
func (v *Visit) Reject(rec []byte, why Reason, at *Position) {
	v.w.begin(at)
	v.w.found.Reset()
	v.rec, v.body, v.why, v.pos, v.site = rec, nil, why, 0, -1
}

// Why returns the reason why the record cannot be read, or 0, and the offset in
// the record at which the problem was found.
func (v *Visit) Why() (Reason, int) { return v.why, v.pos }

// Blank reports whether the record holds no data: a blank line or a directive.
func (v *Visit) Blank() bool { return v.body == nil && v.why == 0 }

// Text returns the record as the field record shows it.
func (v *Visit) Text() []byte { return v.w.v.rawRecord(v.rec) }

// Sites returns an upper limit for the number of URLs. The numbers that URL
// takes are less than this limit.
func (v *Visit) Sites() int {
	if v.body == nil {
		return 0
	}
	return v.w.found.N
}

// order returns the index of URL number i: the referer is the last.
func (v *Visit) order(i int) int {
	sites := v.w.found.Sites[:v.w.found.N]
	for k := range sites {
		switch {
		case sites[k].Role != locate.RoleReferer:
		case i == len(sites)-1:
			return k
		case i >= k:
			return i + 1
		}
	}
	return i
}

// URL reads URL number i and makes it the current one. It returns false if
// that URL is part of another one, or a target that is not a URL, such as
// "*".
func (v *Visit) URL(i int) bool {
	i = v.order(i)
	if v.site != i {
		s := &v.w.found.Sites[i]
		v.site, v.is = i, !s.Role.IsPart() && v.w.n.parse(s, v.rec)
	}
	return v.is
}

// first makes the first URL of the record the current one.
func (v *Visit) first() bool {
	for i := range v.Sites() {
		if v.URL(i) {
			return true
		}
	}
	v.site = -1
	return false
}

// Field returns the value of FieldNames()[i] of the current URL or, if it lacks the
// field, of the record, as [View.Field] does. If first is set, the first URL becomes
// the current one.
func (v *Visit) Field(i int, first bool) ([]byte, bool) {
	w, f := v.w, fieldID(i)
	if i < 0 || f >= numFields {
		return nil, false
	}
	if v.body != nil && ofAttrs.has(f) {
		return w.v.attr(f, v.rec)
	}
	switch {
	case v.why != 0:
		return w.view.show(rejected, v.why, &noSite, v.rec).Field(i)
	case v.body == nil:
		return w.view.show(located&^(1<<fError)|1<<fRecord|1<<fOffset|ofJob, 0, &noSite, v.rec).Field(i)
	case first && !v.first():
		w.n.cur = reading{form: w.found.Form, hash: -1}
		return w.view.show(withoutURL, 0, &noSite, v.rec).Field(i)
	}
	s := &w.found.Sites[v.site]
	if f == fLine || f == fOffset {
		if w.each && s.Start < w.lines {
			w.atURL, w.lines = w.at, 0
		}
		return w.v.plainValue(f, s, v.rec, w.position(s, v.rec, &w.at))
	}
	return w.view.show(ofAll, 0, s, v.rec).Field(i)
}

// Time returns the field time of the record, since 1970.
func (v *Visit) Time() (seconds, nanoseconds int64, ok bool) {
	if v.body == nil {
		return 0, 0, false
	}
	at := v.w.v.time(v.rec)
	return at.Seconds, int64(at.Nanos), at.Known
}

// Source returns the current URL as it is in the record, without the escapes of
// the format, and the range of its bytes in the record.
func (v *Visit) Source() (text []byte, start, end int) {
	s := &v.w.found.Sites[v.site]
	return v.w.n.cur.url, s.Start, s.End
}

// Norm returns the normal form of the current URL, or why it cannot be parsed.
func (v *Visit) Norm() ([]byte, Reason) {
	if why := v.w.n.cur.why; why != 0 {
		return nil, why
	}
	return v.w.v.normShown(), 0
}

// Flags returns the flags of the current URL.
func (v *Visit) Flags() codec.Flags { return v.w.n.cur.flags }

// Key returns the key of the current URL at a level. ok is false if the URL has
// no key.
func (v *Visit) Key(lv codec.Level) (_ codec.Key, ok bool) {
	n := &v.w.n
	if n.cur.why != 0 || n.cur.flags.Has(codec.FlagMaybeTruncated) || !n.res.HasKey(lv) {
		return codec.Key{}, false
	}
	return n.keyAt(lv), true
}

// Result returns the codec's result for the current URL, and the normal form.
// Both are nil if the URL has no normal form, or if it is a request target
// whose host is unknown.
func (v *Visit) Result() (_ *codec.Result, norm []byte) {
	if c := &v.w.n.cur; c.why == 0 && !c.nohost {
		return &v.w.n.res, c.norm
	}
	return nil, nil
}
