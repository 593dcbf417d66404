package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
)

// journalFormat is the format of journalctl -o export:
// https://systemd.io/JOURNAL_EXPORT_FORMATS/. An entry consists of fields up to
// an empty line. A field is a line NAME=value or, if the value is not plain
// text, a line with the name, the length of the value in 64 bits, the value and
// a line feed. The field MESSAGE holds what the program logged, which can be a
// line of another format.
type journalFormat struct {
	inner Format // of the lines in MESSAGE; nil if the job names the field with the URL
}

const journalName = "journal-export"

// Names of journal fields.
var (
	journalMessage  = []byte("MESSAGE")
	journalRealtime = []byte("__REALTIME_TIMESTAMP")
)

// journalStarts are the beginnings of entries that come from a journal file.
var journalStarts = [][]byte{[]byte("__CURSOR="), []byte("__REALTIME_TIMESTAMP=")}

// Name implements [Format].
func (j journalFormat) Name() string {
	if j.inner == nil {
		return journalName
	}
	return journalName + prefixSeparator + j.inner.Name()
}

// Detect implements [Format]. The function Detect finds the format of the lines
// in MESSAGE: see detectMessage.
func (j journalFormat) Detect(s *Sample) Fit {
	if j.inner != nil {
		return Fit{}
	}
	head := s.Head[lineEnds(s.Head):]
	for _, start := range journalStarts {
		if bytes.HasPrefix(head, start) {
			return Fit{len(s.Records), looksUnmistakable}
		}
	}
	var message journalField
	e := readJournal(head, func(f journalField) {
		if bytes.Equal(f.name.in(head), journalMessage) {
			message = f
		}
	})
	if e.state == headerSound && message.name.end > 0 {
		return Fit{len(s.Records), looksUnmistakable}
	}
	return Fit{}
}

// unlined implements [unlined].
func (journalFormat) unlined() Reader { return &journalReader{} }

// detectMessage returns the guess for the lines in the field MESSAGE of the
// entries of a sample.
func (s *Sample) detectMessage() (Guess, bool) {
	var lines Sample
	for head := s.Head; len(lines.Records) < detectRecords; {
		head = head[lineEnds(head):]
		var text []byte
		e := readJournal(head, func(f journalField) {
			if text == nil && bytes.Equal(f.name.in(head), journalMessage) {
				text = f.line(head).in(head)
			}
		})
		if e.state != headerSound {
			break
		}
		if !isBlank(text) {
			lines.Records = append(lines.Records, text)
		}
		head = head[e.end:]
	}
	return lines.detectInner(journalName, len(lines.Records))
}

// journalFormats returns the format for each format of lines in MESSAGE.
func journalFormats(formats []Format) (all []Format) {
	for _, f := range formats {
		if fitsInJSON(f) {
			all = append(all, journalFormat{f})
		}
	}
	return all
}

// Open implements [Format].
func (j journalFormat) Open(c *Config) (Reader, error) {
	errs := c.refuseResizing()
	if c.Render == RenderExtend {
		errs = append(errs, errNoRoom())
	}
	if j.inner != nil {
		inner := *c
		inner.Format = j.inner.Name()
		r, err := j.inner.Open(&inner)
		return &journalReader{field: journalMessage, inner: r, zone: c.Zone, year: c.Year}, errors.Join(append(errs, err)...)
	}
	errs = append(errs, c.refuseDialect(), c.refuseReferer(), c.refuseBaseField())
	if c.URLField == "" {
		errs = append(errs, wrong("URLField", "missing: journal-export needs the name of the field with the URL, or the format of the lines in MESSAGE, such as journal-export+combined"))
	} else if strings.Trim(c.URLField, journalLetters) != "" {
		errs = append(errs, wrong("URLField", "the names of journal fields consist of the letters A to Z, digits and _"))
	}
	return &journalReader{field: []byte(c.URLField)}, errors.Join(errs...)
}

// journalLetters are the characters of field names.
const journalLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// journalReader reads journal entries. format_journal_frame.go finds where they
// end.
type journalReader struct {
	field []byte // with the line or the URL
	inner Reader // of the line; nil if the field holds the URL
	zone  ZoneFunc
	year  int
}

// Locator implements [Reader].
func (r *journalReader) Locator() Locator {
	l := &journalLocator{journalReader: r}
	if r.inner != nil {
		l.inner = r.inner.Locator()
	}
	return l
}

// multiline implements [lineCounter].
func (*journalReader) multiline() {}

// journalLocator finds the URLs of journal entries.
type journalLocator struct {
	*journalReader
	inner Locator
}

// Locate implements [Locator]. The offset of an error is that of the first
// damaged byte, or the length of the record if the entry is cut.
func (l *journalLocator) Locate(f *Found, rec []byte, at *Position) (Reason, int) {
	var field journalField
	var realtime span
	for pos := 0; pos < len(rec); {
		one, end, state := readJournalField(rec, pos)
		if state != headerSound {
			return Unparsed, end
		}
		pos = end
		switch name := one.name.in(rec); {
		case field.name.end == 0 && bytes.Equal(name, l.field):
			field = one
		case realtime.end == 0 && bytes.Equal(name, journalRealtime):
			realtime = one.value
		}
	}
	line := field.line(rec)
	switch {
	case field.name.end == 0:
		return NoField, 0
	case isBlank(line.in(rec)):
		return Unparsed, line.start
	}
	why, pos := l.locateLine(f, line.in(rec), at)
	hasTime := l.hasTime(f, line.in(rec))
	f.move(func(n int) int { return n + line.start })
	if !hasTime && realtime.end > 0 {
		f.attrs.set &^= 1 << attrTime
		f.addText(attrTime, realtime)
	}
	if field.size.end > 0 {
		f.addLength(field.size, field.value.end, -1)
	}
	return why, pos + line.start
}

// locateLine finds the URLs in the line.
func (l *journalLocator) locateLine(f *Found, line []byte, at *Position) (Reason, int) {
	if l.inner != nil {
		return l.inner.Locate(f, line, at)
	}
	f.add(span{0, len(line)}, roleURL, journalDialect)
	return 0, 0
}

// hasTime reports whether the line has all of its time, or the job does not need
// it.
func (l *journalLocator) hasTime(f *Found, line []byte) bool {
	if !f.needs(attrTime) {
		return true
	}
	a := f.attr(attrTime, line)
	if a == nil {
		return false
	}
	var t stamp
	return t.parse(a.in(line), a.clock.in(line)) && t.complete(l.zone, l.year)
}

// journalDialect percent-encodes line ends in URLs, because a raw one would end
// the field.
var journalDialect = &Dialect{Encode: encodeFolding}

// resize writes the lengths of the values in out, an entry in which only values
// in f.lengths have changed. rec is the entry before.
func (f *Found) resize(out, rec []byte) {
	for _, l := range f.lengths { // only one value has URLs
		binary.LittleEndian.PutUint64(out[l.start:], uint64(l.end-l.span.end+len(out)-len(rec)))
	}
}
