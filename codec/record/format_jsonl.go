package record

import (
	"bytes"
	"encoding/json"
	"errors"
)

// jsonFormat is the format with one JSON text (RFC 8259) per line.
type jsonFormat struct{}

// Name implements [Format].
func (jsonFormat) Name() string { return "jsonl" }

// Detect implements [Format].
func (jsonFormat) Detect(s *Sample) Fit {
	return s.count(looksLikeJSON, func(body []byte) bool { return looksJSON(body) || beginsHugeObject(body) })
}

// hugeRecord is the length of a record whose end need not be in a sample.
const hugeRecord = 1 << 20

// beginsHugeObject reports whether body is so long that its end may be missing, and
// begins with an object that has a member.
func beginsHugeObject(body []byte) bool {
	if len(body) < hugeRecord || !opensObject(body) {
		return false
	}
	at := skipSpace(body, trim(body).start+1)
	return at < len(body) && body[at] == '"'
}

// looksJSON reports whether body is a JSON object.
func looksJSON(body []byte) bool {
	if !opensObject(body) {
		return false
	}
	var s scanner
	v, ok := s.find(body, nil)
	return ok && isBlank(body[v.end:])
}

// opensObject reports whether body, which is not blank, begins with an object.
func opensObject(body []byte) bool { return body[trim(body).start] == '{' }

// Open implements [Format].
func (jsonFormat) Open(c *Config) (Reader, error) {
	if !c.URL.IsZero() {
		return openParts(c)
	}
	r := &jsonReader{}
	errs := []error{r.setPaths(c), c.refuseDialect(), c.refuseReferer()}
	if name, _, ok := c.baseHost(); ok {
		var err error
		r.host, err = parsePath(name)
		errs = append(errs, in("Base", err))
	}
	r.setExtensions(c)
	if r.extends && len(r.url) > 0 && r.url[0].name == nil {
		errs = append(errs, wrong("Render", "fields can be added only to objects, but the URL field path starts with an index, so the records are arrays"))
	}
	return r, errors.Join(errs...)
}

// setExtensions sets the members to add from c.Extend.
func (j *jsonReader) setExtensions(c *Config) {
	if c.Render != RenderExtend {
		return
	}
	j.extends = true
	for _, e := range c.Extend {
		j.names = append(j.names, [2][]byte{[]byte(e.Name), []byte(e.Name + "_b64")})
	}
}

// setPaths sets the field paths from c.URLField and c.BaseField.
func (j *jsonReader) setPaths(c *Config) error {
	if c.URLField == "" {
		return wrong("URLField", "missing: jsonl needs the path of the field with the URL, such as url or request.uri")
	}
	var err, errBase error
	j.url, err = parsePath(c.URLField)
	if c.BaseField != "" {
		j.base, errBase = parsePath(c.BaseField)
	}
	return errors.Join(in("URLField", err), in("BaseField", errBase))
}

// jsonReader reads JSON texts, one per line.
type jsonReader struct {
	LineFraming
	url, base, host []step // base and host are nil if not configured
	extends         bool   // the job adds members
	// Names of the added members. The second name is for a value that is not
	// valid UTF-8, which is written in base64.
	names [][2][]byte
}

// valid implements [validator].
func (*jsonReader) valid(rec []byte) bool { return json.Valid(rec) }

// Locator implements [Reader].
func (j *jsonReader) Locator() Locator { return &jsonLocator{jsonReader: j} }

// jsonLocator is a jsonReader with scratch memory.
type jsonLocator struct {
	*jsonReader
	scan    scanner
	own     []ownMember
	ownEnd  int    // offset after the last member of the current record
	ownNone bool   // the record has no member
	members []byte // values of the added members
	slots   []span // ranges in members, two for each extension; see evaluate
}

// Locate implements [Locator].
func (j *jsonLocator) Locate(f *Found, body []byte, _ *Position) (Reason, int) {
	s := &j.scan
	if j.base != nil {
		v, ok := s.find(body, j.base)
		if s.broken {
			return Unparsed, s.pos
		}
		if ok && v.end-v.start > 2 && body[v.start] == '"' {
			f.base, f.baseDialect = span{v.start + 1, v.end - 1}, jsonDialect
		}
	}
	if j.host != nil && f.base.end == 0 {
		v, ok := s.find(body, j.host)
		if s.broken {
			return Unparsed, s.pos
		}
		if ok && v.end-v.start > 2 && body[v.start] == '"' {
			f.host, f.hostDialect = span{v.start + 1, v.end - 1}, jsonDialect
		}
	}
	if j.extends && !j.ownMembers(body, span{0, len(body)}) {
		return Unparsed, s.pos
	}
	v, ok := s.find(body, j.url)
	switch {
	case s.broken:
		return Unparsed, s.pos
	case !ok:
		return NoField, 0
	case body[v.start] == '"':
		if v.end-v.start > 2 {
			f.add(span{v.start + 1, v.end - 1}, roleURL, jsonDialect)
		}
	case body[v.start] != 'n':
		return NoField, v.start
	}
	return 0, 0
}

// addNames implements [adder]. Every line is data, so there are no names to
// add.
func (*jsonLocator) addNames(out, rec []byte) []byte { return append(out, rec...) }

// move implements [mover].
func (j *jsonLocator) move(n int) {
	for i := range j.own {
		j.own[i].start += n
		j.own[i].end += n
	}
	j.ownEnd += n
}

// addFields implements [adder]. The value of an extension replaces the values
// of all existing members with its name, so that it does not matter which one a
// reader uses. Without a value, existing members become null and no member is
// added.
func (j *jsonLocator) addFields(out []byte, r *renderer, s *site, rec []byte, at *Position) []byte {
	j.evaluate(r, s, rec, at)
	from := 0
	for _, m := range j.own {
		out = r.red.part(out, rec, from, m.start)
		from = m.end
		if value := j.slots[m.slot]; value.end > value.start {
			out = append(out, value.in(j.members)...)
		} else {
			out = append(out, "null"...)
		}
	}
	out = r.red.part(out, rec, from, j.ownEnd)
	for i, value := range j.slots {
		if value.end == value.start || j.owns(i) {
			continue
		}
		if !j.ownNone {
			out = append(out, ',')
		}
		j.ownNone = false
		out = append(appendString(append(out, '"'), j.names[i/2][i%2]), `":`...)
		out = append(out, value.in(j.members)...)
	}
	if r.job.note != nil {
		if !j.ownNone {
			out = append(out, ',')
		}
		out = append(out, r.job.noteMember...)
	}
	return r.red.part(out, rec, j.ownEnd, len(rec))
}

// ownMember is an existing member of the record that has the name of an
// extension.
type ownMember struct {
	span     // range of the value
	slot int // index in jsonLocator.slots; see evaluate
}

// ownMembers collects the members of the object at in body that have the name
// of an extension, and the offset at which the last member ends. It returns
// false if the text there is not valid JSON; the error is then in j.scan. A text
// that is not an object has no members.
func (j *jsonLocator) ownMembers(body []byte, at span) bool {
	s := &j.scan
	s.begin(body[:at.end])
	s.pos = at.start
	j.own, j.ownEnd, j.ownNone = j.own[:0], 0, false
	s.space()
	if s.peek() != '{' {
		s.skip()
		return j.atEnd()
	}
	s.pos++
	j.ownEnd, j.ownNone = s.pos, true
	s.space()
	if s.peek() == '}' {
		s.pos++
		return j.atEnd()
	}
	j.ownNone = false
	for {
		slot := j.slotOf(s.rawName())
		if s.broken {
			return false
		}
		start := s.pos
		if s.skip(); s.broken {
			return false
		}
		j.ownEnd = s.pos
		if slot >= 0 {
			j.own = append(j.own, ownMember{span{start, s.pos}, slot})
		}
		s.space()
		if s.peek() != ',' {
			s.expect('}')
			return j.atEnd()
		}
		s.pos++
		s.space()
	}
}

// atEnd reports whether only white space is left of the JSON text.
func (j *jsonLocator) atEnd() bool {
	s := &j.scan
	if !s.broken {
		s.space()
	}
	s.broken = s.broken || s.pos < len(s.b)
	return !s.broken
}

// slotOf returns the slot for a name that can have escapes, or -1.
func (j *jsonLocator) slotOf(name []byte, escaped bool) int {
	if j.scan.broken {
		return -1
	}
	if escaped {
		name = j.scan.plain(name)
	}
	for i := range j.names {
		for k, own := range j.names[i] {
			if bytes.Equal(name, own) {
				return 2*i + k
			}
		}
	}
	return -1
}

// evaluate appends the values of the extensions to j.members, as JSON, and sets
// j.slots to their ranges. Each extension has two slots; the second one is for
// a value in base64, which is not valid UTF-8. The range for an absent value is
// empty.
func (j *jsonLocator) evaluate(r *renderer, s *site, rec []byte, at *Position) {
	j.members, j.slots = j.members[:0], j.slots[:0]
	for i := range r.job.extend {
		f := r.job.extend[i]
		start := len(j.members)
		if s != nil || ofRecord.has(f) {
			j.members = r.member(j.members, "", f, s, rec, at) // appends "":value, or "_b64":value,
		}
		var slots [2]span
		member, end := j.members[start:], len(j.members)-1
		switch {
		case bytes.HasPrefix(member, unnamed):
			slots[0] = span{start + len(unnamed), end}
		case bytes.HasPrefix(member, unnamedB64):
			slots[1] = span{start + len(unnamedB64), end}
		}
		j.slots = append(j.slots, slots[0], slots[1])
	}
}

var unnamed, unnamedB64 = []byte(`"":`), []byte(`"_b64":`)

// owns reports whether the record has a member for the slot.
func (j *jsonLocator) owns(slot int) bool {
	for _, m := range j.own {
		if m.slot == slot {
			return true
		}
	}
	return false
}
