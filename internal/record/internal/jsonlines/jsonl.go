// Package jsonlines reads JSON texts, most of them one per line. Either the
// user names the fields with the URL, or the text is the log of a program whose
// fields the table Logs names. Its Scanner also serves other formats that
// contain JSON.
package jsonlines

import (
	"bytes"
	"errors"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// Format is the format with one JSON text (RFC 8259) per line.
type Format struct{}

// Name implements [locate.Format].
func (Format) Name() string { return "jsonl" }

// Detect implements [locate.Format].
func (Format) Detect(s *locate.Sample) locate.Fit {
	return s.Count(locate.LooksLikeJSON, func(body []byte) bool { return LooksJSON(body) || beginsHugeObject(body) })
}

// HugeRecord is the length in bytes from which on the end of a record need not
// be in a sample.
const HugeRecord = 1 << 20

// beginsHugeObject reports whether body is so long that it may be truncated,
// and starts with an object that has a member.
func beginsHugeObject(body []byte) bool {
	if len(body) < HugeRecord || !opensObject(body) {
		return false
	}
	at := locate.SkipSpace(body, locate.Trim(body).Start+1)
	return at < len(body) && body[at] == '"'
}

// LooksJSON reports whether body is a JSON object.
func LooksJSON(body []byte) bool {
	if !opensObject(body) {
		return false
	}
	var s Scanner
	v, ok := s.Find(body, nil)
	return ok && locate.IsBlank(body[v.End:])
}

// opensObject reports whether body, which is not blank, starts with an object.
func opensObject(body []byte) bool { return body[locate.Trim(body).Start] == '{' }

// Open implements [locate.Format].
func (Format) Open(c *locate.Settings) (locate.Reader, error) {
	if !c.URL.IsZero() {
		return openParts(c)
	}
	r := &Reader{}
	errs := []error{r.setPaths(c), r.attrs.addAttrs(c), c.RefuseDialect(), c.RefuseReferer()}
	if name, _, ok := c.BaseHost(); ok {
		var err error
		r.host, err = ParsePath(name)
		errs = append(errs, locate.About("Base", err))
	}
	r.setExtensions(c)
	if r.extends && len(r.url) > 0 && r.url[0].Name == nil {
		errs = append(errs, locate.Wrong("Render", "fields can be added only to objects, but the URL field path starts with an index, so the records are arrays"))
	}
	return r, errors.Join(errs...)
}

// setExtensions sets the members to add from c.Extend.
func (j *Reader) setExtensions(c *locate.Settings) {
	if c.Render != locate.RenderExtend {
		return
	}
	j.extends = true
	for _, e := range c.Extend {
		j.Names = append(j.Names, [2][]byte{[]byte(e.Name), []byte(e.Name + "_b64")})
	}
}

// setPaths sets the field paths from c.URLField and c.BaseField.
func (j *Reader) setPaths(c *locate.Settings) error {
	if c.URLField == "" {
		return locate.Wrong("URLField", "missing: jsonl needs the path of the field with the URL, such as url or request.uri")
	}
	var err, errBase error
	j.url, err = ParsePath(c.URLField)
	if c.BaseField != "" {
		j.base, errBase = ParsePath(c.BaseField)
	}
	return errors.Join(locate.About("URLField", err), locate.About("BaseField", errBase))
}

// Reader reads JSON texts, one per line.
type Reader struct {
	locate.LineFraming
	url, base, host []Step // base and host are nil if not configured
	attrs           fieldPlan
	extends         bool // the job adds members
	// Names of the added members. The second name is for a value that is not
	// valid UTF-8, which is written in base64.
	Names [][2][]byte
}

// Valid implements [locate.Validator].
func (*Reader) Valid(rec []byte) bool {
	l := Locator{scan: Scanner{B: rec}}
	l.scan.Space()
	l.scan.Skip()
	return l.atEnd()
}

// Locator implements [locate.Reader].
func (j *Reader) Locator() locate.Locator {
	return &Locator{Reader: j, attrValues: make([]locate.FieldValue, j.attrs.Tree.Values)}
}

// Locator is a Reader with scratch memory.
type Locator struct {
	*Reader
	scan    Scanner
	own     []ownMember
	ownEnd  int           // offset after the last member of the current record
	ownNone bool          // the object is empty: no comma precedes an added member
	members []byte        // values of the added members
	slots   []locate.Span // ranges in members, two for each extension; see evaluate

	attrValues []locate.FieldValue // attributes of a record
}

// Locate implements [locate.Locator].
func (j *Locator) Locate(f *locate.Found, body []byte, _ *locate.Position) (locate.Reason, int) {
	s := &j.scan
	if f.Attrs.Needed != 0 {
		j.readAttrs(f, body)
	}
	if j.base != nil {
		if f.Base = j.text(body, j.base); s.Broken {
			return locate.Unparsed, s.Pos
		}
		f.BaseDialect = locate.JSONDialect
	}
	if j.host != nil && f.Base.End == 0 {
		if f.Host = j.text(body, j.host); s.Broken {
			return locate.Unparsed, s.Pos
		}
		f.HostDialect = locate.JSONDialect
	}
	if j.extends && !j.ownMembers(body, locate.Between(0, len(body))) {
		return locate.Unparsed, s.Pos
	}
	v, ok := s.Find(body, j.url)
	switch {
	case s.Broken:
		return locate.Unparsed, s.Pos
	case !ok:
		return locate.NoField, 0
	case body[v.Start] == '"':
		if v.End-v.Start > 2 {
			f.AddField(body, locate.Between(v.Start+1, v.End-1), locate.RoleURL, locate.JSONDialect)
		}
	case body[v.Start] != 'n':
		return locate.NoField, v.Start
	}
	return 0, 0
}

// text returns the inside of the string at a path, or an empty span without one.
func (j *Locator) text(body []byte, path []Step) (s locate.Span) {
	if v, ok := j.scan.Find(body, path); ok && v.End-v.Start > 2 && body[v.Start] == '"' {
		s = locate.Between(v.Start+1, v.End-1)
	}
	return s
}

// readAttrs adds the attributes of a record. It ignores errors, which Locate
// reports.
func (j *Locator) readAttrs(f *locate.Found, body []byte) {
	clear(j.attrValues)
	j.scan.Begin(body)
	j.scan.Space()
	j.attrs.Tree.Find(&j.scan, j.attrValues)
	j.attrs.composer.Attach(f, body, j.attrValues)
}

// AddNames implements [locate.Adder]. Every line is data, so there are no names to
// add.
func (*Locator) AddNames(out, rec []byte) []byte { return append(out, rec...) }

// Move implements the interface mover of package record.
func (j *Locator) Move(n int) {
	for i := range j.own {
		j.own[i].Start += n
		j.own[i].End += n
	}
	j.ownEnd += n
}

// AddFields implements [locate.Adder]. The value of an extension replaces the values
// of all existing members with its name, so that it does not matter which one a
// reader uses. Without a value, existing members become null and no member is
// added.
func (j *Locator) AddFields(out, rec []byte, more locate.Addition) []byte {
	j.evaluate(more)
	from := 0
	for _, m := range j.own {
		out = more.AppendPart(out, rec, from, m.Start)
		from = m.End
		if value := j.slots[m.slot]; value.End > value.Start {
			out = append(out, value.In(j.members)...)
		} else {
			out = append(out, "null"...)
		}
	}
	out = more.AppendPart(out, rec, from, j.ownEnd)
	for i, value := range j.slots {
		if value.End == value.Start || j.owns(i) {
			continue
		}
		if !j.ownNone {
			out = append(out, ',')
		}
		j.ownNone = false
		out = append(locate.AppendString(append(out, '"'), j.Names[i/2][i%2]), `":`...)
		out = append(out, value.In(j.members)...)
	}
	if _, note := more.Note(); note != nil {
		if !j.ownNone {
			out = append(out, ',')
		}
		out = append(out, note...)
	}
	return more.AppendPart(out, rec, j.ownEnd, len(rec))
}

// ownMember is an existing member of the record that has the name of an
// extension.
type ownMember struct {
	locate.Span     // range of the value
	slot        int // index in Locator.slots; see evaluate
}

// ownMembers collects in j.own those members of an object that have the name of
// an extension. The object is in the range at of body. ownMembers sets j.ownEnd
// to the end of its last member. It returns false if the text in the range is
// not valid JSON; the error is then in j.scan. A text that is not an object
// contributes no members.
func (j *Locator) ownMembers(body []byte, at locate.Span) bool {
	s := &j.scan
	s.Begin(body[:at.End])
	s.Pos = at.Start
	j.own, j.ownEnd, j.ownNone = j.own[:0], 0, false
	s.Space()
	if s.Peek() != '{' {
		s.Skip()
		return j.atEnd()
	}
	j.ownEnd, j.ownNone = s.Pos+len("{"), true
	if s.EnterEmpty('}') {
		return j.atEnd()
	}
	j.ownNone = false
	for more := true; more; more = s.More('}') {
		slot := j.slotOf(s.RawName())
		if s.Broken {
			return false
		}
		start := s.Pos
		if s.Skip(); s.Broken {
			return false
		}
		j.ownEnd = s.Pos
		if slot >= 0 {
			j.own = append(j.own, ownMember{locate.Between(start, s.Pos), slot})
		}
	}
	return j.atEnd()
}

// atEnd reports whether only white space remains of the JSON text.
func (j *Locator) atEnd() bool {
	s := &j.scan
	if !s.Broken {
		s.Space()
	}
	s.Broken = s.Broken || s.Pos < len(s.B)
	return !s.Broken
}

// slotOf returns the slot for a name that can have escapes, or -1.
func (j *Locator) slotOf(name []byte, escaped bool) int {
	if j.scan.Broken {
		return -1
	}
	if escaped {
		name = j.scan.Plain(name)
	}
	for i := range j.Names {
		for k, own := range j.Names[i] {
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
func (j *Locator) evaluate(more locate.Addition) {
	j.members, j.slots = j.members[:0], j.slots[:0]
	for i := range j.Names {
		start := len(j.members)
		j.members = more.AppendMember(j.members, i)
		var slots [2]locate.Span
		member, end := j.members[start:], len(j.members)-1
		switch {
		case bytes.HasPrefix(member, unnamed):
			slots[0] = locate.Between(start+len(unnamed), end)
		case bytes.HasPrefix(member, unnamedB64):
			slots[1] = locate.Between(start+len(unnamedB64), end)
		}
		j.slots = append(j.slots, slots[0], slots[1])
	}
}

var unnamed, unnamedB64 = []byte(`"":`), []byte(`"_b64":`)

// owns reports whether the record has a member for the slot.
func (j *Locator) owns(slot int) bool {
	for _, m := range j.own {
		if m.slot == slot {
			return true
		}
	}
	return false
}

// Mapped implements [locate.Mapped].
func (*Reader) Mapped() {}
