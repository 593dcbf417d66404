package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// JournalFormat is the format of journalctl -o export:
// https://systemd.io/JOURNAL_EXPORT_FORMATS/. An entry consists of fields up to
// an empty line. A field is a line NAME=value or, if the value is not plain
// text, a line with the name, the length of the value in 64 bits, the value and
// a line feed. The field MESSAGE holds what the program logged, which can be a
// line of another format.
type JournalFormat struct {
	Inner locate.Format // format of the lines in MESSAGE; nil if the job names the field with the URL
}

// JournalName is the name of the format if the job names the field with the
// URL.
const JournalName = "journal-export"

// Names of journal fields.
var (
	journalMessage  = []byte("MESSAGE")
	journalRealtime = []byte("__REALTIME_TIMESTAMP")
)

// journalStarts are the beginnings of entries that come from a journal file.
var journalStarts = [][]byte{[]byte("__CURSOR="), []byte("__REALTIME_TIMESTAMP=")}

// Name implements [locate.Format].
func (j JournalFormat) Name() string {
	if j.Inner == nil {
		return JournalName
	}
	return JournalName + locate.PrefixSeparator + j.Inner.Name()
}

// Detect implements [locate.Format]. The function Detect finds the format of the lines
// in MESSAGE.
func (j JournalFormat) Detect(s *locate.Sample) locate.Fit {
	if j.Inner != nil {
		return locate.Fit{}
	}
	head := s.Head[locate.LineEnds(s.Head):]
	for _, start := range journalStarts {
		if bytes.HasPrefix(head, start) {
			return s.All(locate.LooksUnmistakable)
		}
	}
	var message journalField
	e := readJournal(head, func(f journalField) {
		if bytes.Equal(f.name.In(head), journalMessage) {
			message = f
		}
	})
	if e.state == locate.HeaderSound && message.name.End > 0 {
		return s.All(locate.LooksUnmistakable)
	}
	return locate.Fit{}
}

// Unlined implements [locate.Unlined].
func (JournalFormat) Unlined() locate.Reader { return &JournalReader{} }

// JournalMessages returns the lines in the field MESSAGE of the first entries of a sample.
func JournalMessages(s *locate.Sample) (lines [][]byte) {
	for head := s.Head; len(lines) < locate.DetectRecords; {
		head = head[locate.LineEnds(head):]
		var text []byte
		e := readJournal(head, func(f journalField) {
			if text == nil && bytes.Equal(f.name.In(head), journalMessage) {
				text = f.line(head).In(head)
			}
		})
		if e.state != locate.HeaderSound {
			break
		}
		if !locate.IsBlank(text) {
			lines = append(lines, text)
		}
		head = head[e.end:]
	}
	return lines
}

// Open implements [locate.Format].
func (j JournalFormat) Open(c *locate.Settings) (locate.Reader, error) {
	errs := []error{c.RefuseResizing("parts"), c.RefuseExtend()}
	if j.Inner != nil {
		inner := *c
		inner.Format = j.Inner.Name()
		r, err := j.Inner.Open(&inner)
		return &JournalReader{field: journalMessage, inner: r, zone: c.Zone, year: c.Year}, errors.Join(append(errs, err)...)
	}
	errs = append(errs, c.RefuseDialect(), c.RefuseReferer(), c.RefuseBaseField())
	if c.URLField == "" {
		errs = append(errs, locate.Wrong("URLField", "missing: journal-export needs the name of the field with the URL, or the format of the lines in MESSAGE, such as journal-export+combined"))
	} else if strings.Trim(c.URLField, journalLetters) != "" {
		errs = append(errs, locate.Wrong("URLField", "the names of journal fields consist of the letters A to Z, digits and _"))
	}
	return &JournalReader{field: []byte(c.URLField)}, errors.Join(errs...)
}

// journalLetters are the characters of field names.
const journalLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// JournalReader reads journal entries. journal_frame.go finds where they
// end.
type JournalReader struct {
	field []byte        // name of the field with the line or the URL
	inner locate.Reader // reader of the line; nil if the field holds the URL
	zone  locate.ZoneFunc
	year  int
}

// Locator implements [locate.Reader].
func (r *JournalReader) Locator() locate.Locator {
	l := &journalLocator{JournalReader: r}
	if r.inner != nil {
		l.inner = r.inner.Locator()
	}
	return l
}

// Multiline implements [locate.LineCounter].
func (*JournalReader) Multiline() {}

// journalLocator finds the URLs of journal entries.
type journalLocator struct {
	*JournalReader
	inner locate.Locator
}

// Locate implements [locate.Locator]. The offset of an error points to the
// first damaged byte, or the length of the record if the entry is cut.
func (l *journalLocator) Locate(f *locate.Found, rec []byte, at *locate.Position) (locate.Reason, int) {
	var field journalField
	var realtime locate.Span
	for pos := 0; pos < len(rec); {
		one, end, state := readJournalField(rec, pos)
		if state != locate.HeaderSound {
			return locate.Unparsed, end
		}
		pos = end
		switch name := one.name.In(rec); {
		case field.name.End == 0 && bytes.Equal(name, l.field):
			field = one
		case realtime.End == 0 && bytes.Equal(name, journalRealtime):
			realtime = one.value
		}
	}
	line := field.line(rec)
	switch {
	case field.name.End == 0:
		return locate.NoField, 0
	case locate.IsBlank(line.In(rec)):
		return locate.Unparsed, line.Start
	}
	why, pos := l.locateLine(f, line.In(rec), at)
	hasTime := l.hasTime(f, line.In(rec))
	f.Move(func(n int) int { return n + line.Start })
	if !hasTime && realtime.End > 0 {
		f.Attrs.Set &^= 1 << locate.AttrTime
		f.AddText(locate.AttrTime, realtime)
	}
	if field.size.End > 0 {
		f.AddLength(field.size, field.value.End, -1)
	}
	return why, pos + line.Start
}

// locateLine finds the URLs in the line.
func (l *journalLocator) locateLine(f *locate.Found, line []byte, at *locate.Position) (locate.Reason, int) {
	if l.inner != nil {
		return l.inner.Locate(f, line, at)
	}
	f.Add(locate.Between(0, len(line)), locate.RoleURL, journalDialect)
	return 0, 0
}

// hasTime reports whether the line has a complete time, or the job does not
// need the time.
func (l *journalLocator) hasTime(f *locate.Found, line []byte) bool {
	if !f.Needs(locate.AttrTime) {
		return true
	}
	a := f.Attr(locate.AttrTime, line)
	if a == nil {
		return false
	}
	var t locate.Stamp
	return t.Parse(a.In(line), a.Clock.In(line)) && t.Complete(l.zone, l.year)
}

// journalDialect percent-encodes line ends in URLs, because a raw one would end
// the field.
var journalDialect = &locate.Dialect{Encode: locate.EncodeFolding}

// Resize updates the lengths of values in out, which is the entry rec with
// rewritten URLs. Only values in f.Lengths have changed.
func Resize(f *locate.Found, out, rec []byte) {
	for _, l := range f.Lengths { // only one value has URLs
		binary.LittleEndian.PutUint64(out[l.Start:], uint64(l.End-l.Span.End+len(out)-len(rec)))
	}
}
