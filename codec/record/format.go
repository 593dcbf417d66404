package record

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/internal/record"
)

// Format is a record format that is defined outside this module. Its functions must be
// safe for concurrent use. Programs pass it in [Job].Formats or app.Options.Formats, which
// refuse a Format without a usable name, a name that is used already, and a Certainty
// that is out of range.
type Format struct {
	// Name selects the format. It consists of ASCII letters, digits, '-' and '_'.
	Name string
	// These say which of the fields URLField, BaseField, Dialect and Target of
	// [Config] the format uses. If a user sets one that it does not use, the format is
	// not opened.
	UsesURLField, UsesBaseField, UsesDialect, UsesTarget bool
	// Detect returns how many of s.Records fit the format. Detect must not
	// retain s. If Detect is nil, the format is used only where it is named.
	Detect func(s *Sample) int
	// Certainty says how strongly a record that fits indicates the format, from 1 to 100.
	// Detection considers the formats that fit at least half of the records, and chooses
	// the format with the highest Certainty: 100 is unmistakable; JSON lines have 90,
	// combined logs 70, tables with a header 50, and lists of URLs 40.
	Certainty uint8
	// Open checks c, and returns how records end (nil: each line is a record) and a function
	// that returns a new Locator for each goroutine. It must not retain c.
	Open func(c *Config) (*Framing, func() Locator, error)
}

// Config holds the settings of a user for a [Format]. Except Name, only fields that the
// Format uses can be set.
type Config struct {
	Name      string // name of the format
	URLField  string // the field that holds the URL
	BaseField string // the field that holds the base of the URL
	Dialect   Dialect
	// Target says which URLs of a request are wanted. A Locator calls AddTarget,
	// AddURL and AddReferer for every URL; these methods ignore unwanted URLs.
	Target Target
}

// Sample is the beginning of a stream.
type Sample struct {
	Head    []byte   // the bytes as they are
	Records [][]byte // at most 50 lines of Head, without line ends and blank lines
}

// Framing says how the records of a stream are separated. Its functions have no state.
type Framing struct {
	// Next returns the length of the first record in block, with its terminator, or 0
	// if the record does not end in block. Any number outside block counts as 0.
	// Bytes after the last end are the last record of the stream. Nil: each line is a
	// record.
	Next func(block []byte) int
	// Head returns the length of the header at the start of a stream, or 0 if there is no
	// header or block does not hold all of it. Nil: there is no header.
	Head func(block []byte) int
}

// A Locator finds the URLs in records. It is used by one goroutine.
type Locator interface {
	// Locate adds what it finds in rec to f. The record is without a line end and not
	// blank. If it matches the format, Locate returns "" and 0; otherwise Unparsed or
	// NoField, and the offset in rec where the match failed. It must not retain f or rec,
	// nor change rec.
	Locate(f *Found, rec []byte) (Reason, int)
}

// Found collects the URLs and fields of one record. All ranges are offsets in the record
// that was passed to Locate. A range outside the record is a bug of the Locator,
// and so are URLs that overlap or that are not added in the order in which they occur.
// Such a bug ends the run with an error that names the format.
type Found struct {
	to     *record.Found
	rec    []byte
	head   []byte
	from   int // end of the last URL
	target Target
	bug    error
}

// AddURL adds a URL, which is absolute or relative to the base. d describes its escapes;
// nil: there are none.
func (f *Found) AddURL(start, end int, d *Escaping) {
	if f.next("AddURL", start, end) && f.target != TargetReferer {
		f.to.AddURL(start, end, d.engine())
	}
}

// AddTarget adds the target of a request, such as /a?b. "-" and an empty target count as
// absent.
func (f *Found) AddTarget(start, end int, d *Escaping) {
	if f.next("AddTarget", start, end) && f.target != TargetReferer {
		f.to.AddTarget(f.rec, start, end, d.engine())
	}
}

// AddReferer adds the referer of a request. "-" and an empty referer count as absent.
func (f *Found) AddReferer(start, end int, d *Escaping) {
	if f.next("AddReferer", start, end) && f.target != TargetRequest {
		f.to.AddReferer(f.rec, start, end, d.engine())
	}
}

// SetBase sets the URL that the record's URLs are relative to.
func (f *Found) SetBase(start, end int, d *Escaping) {
	if f.within("SetBase", start, end) {
		f.to.SetBase(start, end, d.engine())
	}
}

// Set sets a field that the record states: FieldMethod, FieldScheme, FieldHost or FieldPort
// of the request, which complete its target, or FieldTime, FieldStatus, FieldBytes,
// FieldDuration (in seconds), FieldClient, FieldAgent, FieldReferer, FieldVHost or
// FieldRequestID. Only the last six can have escapes.
func (f *Found) Set(field Field, start, end int, d *Escaping) {
	if f.within("Set", start, end) && !record.SetField(f.to, int(field), start, end, d.engine()) {
		f.fail("Set(%v): records cannot state this field", field)
	}
}

// PassThrough says that the record holds no data, as a comment does.
func (f *Found) PassThrough() { f.to.PassThrough() }

// Head returns the header of the stream, or nil. It is valid until Locate
// returns.
func (f *Found) Head() []byte { return f.head }

// next checks the range of a URL, which must follow the last URL.
func (f *Found) next(call string, start, end int) bool {
	if !f.within(call, start, end) {
		return false
	}
	if start < f.from {
		f.fail("%s(%d, %d): overlaps or precedes a URL that ends at %d", call, start, end, f.from)
		return false
	}
	f.from = end
	return true
}

// within checks a range.
func (f *Found) within(call string, start, end int) bool {
	if 0 <= start && start <= end && end <= len(f.rec) {
		return true
	}
	f.fail("%s(%d, %d): not a range of the record, which has %d bytes", call, start, end, len(f.rec))
	return false
}

// fail records the first error.
func (f *Found) fail(format string, args ...any) {
	f.bug = cmp.Or(f.bug, fmt.Errorf(format, args...))
}

// Escaping describes how a format escapes bytes. Make it once with [NewEscaping]; it is safe
// for concurrent use. A nil Escaping escapes nothing.
type Escaping struct{ d record.Dialect }

// NewEscaping returns an Escaping whose escapes begin with mark. decode appends
// the decoded form of the escape at the start of s, at least one byte, and
// returns the length of the escape in s, at least 1; a mark that starts no
// escape is literal. encode appends text and escapes the bytes that need it,
// including stop, the byte that ends the field (0: none); if encode is nil,
// text is written as it is. Both must be safe for concurrent use.
func NewEscaping(mark byte, decode func(dst, s []byte) ([]byte, int), encode func(dst, text []byte, stop byte) []byte) *Escaping {
	return &Escaping{record.Dialect{Mark: mark, Decode: decode, Encode: encode}}
}

func (d *Escaping) engine() *record.Dialect {
	if d == nil {
		return nil
	}
	return &d.d
}

func init() {
	record.Outside = func(formats any) ([]record.Format, error) { return adapt(formats.([]Format)) }
}

// adapt returns formats in the form that the engine, package internal/record,
// uses. The error joins an error for each invalid format.
func adapt(formats []Format) (list []record.Format, err error) {
	var errs []error
	names := record.Formats()
	for i, f := range formats {
		if err := f.check(names); err != nil {
			errs = append(errs, fmt.Errorf("format %q: %w", cmp.Or(f.Name, fmt.Sprintf("Formats[%d]", i)), err))
		}
		names = append(names, f.Name)
		list = append(list, adapted{f})
	}
	return list, errors.Join(errs...)
}

// check returns what is wrong with f. taken are the names of other formats.
func (f *Format) check(taken []string) error {
	var errs []error
	other := func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}
	switch {
	case f.Name == "" || strings.ContainsFunc(f.Name, other):
		errs = append(errs, errors.New("invalid name: must be ASCII letters, digits, '-' and '_'"))
	case slices.Contains(taken, f.Name):
		errs = append(errs, errors.New("duplicate name: choose another"))
	}
	if f.Certainty > 100 || f.Certainty == 0 && f.Detect != nil {
		errs = append(errs, fmt.Errorf("invalid Certainty %d: must be from 1 to 100", f.Certainty))
	}
	if f.Open == nil {
		errs = append(errs, errors.New("missing function Open"))
	}
	return errors.Join(errs...)
}

// adapted is the engine's form of a Format. It has only the methods that every
// Format supplies, because the engine looks for optional methods.
type adapted struct{ f Format }

// Name implements the engine's Format.
func (a adapted) Name() string { return a.f.Name }

// Detect implements the engine's Format.
func (a adapted) Detect(s *record.Sample) record.Fit {
	if a.f.Detect == nil {
		return record.Fit{}
	}
	fit := a.f.Detect(&Sample{s.Head, s.Records})
	return record.Fit{Records: min(fit, len(s.Records)), Certainty: a.f.Certainty}
}

// Open implements the engine's Format.
func (a adapted) Open(c *record.Config) (record.Reader, error) {
	if err := a.refuse(c); err != nil {
		return nil, err
	}
	own := &Config{Name: a.f.Name, URLField: c.URLField, BaseField: c.BaseField, Dialect: Dialect(slices.Index(dialectNames, c.Dialect)), Target: Target(c.Target)}
	framing, locator, err := a.f.Open(own)
	switch {
	case err != nil:
		return nil, fmt.Errorf("format %s: %w", a.f.Name, err)
	case locator == nil:
		return nil, fmt.Errorf("BUG: format %s: Open returned no function for Locators", a.f.Name)
	}
	r := lineReader{name: a.f.Name, target: own.Target, locator: locator}
	if framing == nil {
		return r, nil
	}
	return framedReader{r, *framing}, nil
}

// refuse returns an error for each setting in c that the format does not use.
func (a adapted) refuse(c *record.Config) error {
	var errs []error
	for _, s := range []struct {
		field string
		wrong bool
	}{
		{"URLField", c.URLField != "" && !a.f.UsesURLField},
		{"BaseField", c.BaseField != "" && !a.f.UsesBaseField},
		{"Dialect", c.Dialect != "" && c.Dialect != "none" && !a.f.UsesDialect},
		{"Target", c.Target == record.TargetReferer && !a.f.UsesTarget}, // TargetAll is valid: it reads the URLs that the record has
		{"URL", !c.URL.IsZero()},
		{"Base", strings.Contains(c.Base, "{")},
		{"Render", c.Render == record.RenderExtend},
	} {
		if s.wrong {
			errs = append(errs, &record.ConfigError{Field: s.field, Err: errors.New(refusal(s.field, a.f.Name))})
		}
	}
	return errors.Join(errs...)
}

// refusal says why a format does not accept a setting.
func refusal(field, name string) string {
	switch field {
	case "Base":
		return "the base of the format " + name + " cannot depend on a field of the record"
	case "Render":
		return "no fields can be added to records of the format " + name
	}
	return "the format " + name + " does not use this setting"
}

// lineReader is the engine's Reader for records that are lines.
type lineReader struct {
	record.LineFraming
	name    string
	target  Target
	locator func() Locator
}

// Locator implements the engine's Reader.
func (r lineReader) Locator() record.Locator {
	return &locator{name: r.name, target: r.target, inner: r.locator()}
}

// framedReader is the engine's Reader for other records.
type framedReader struct {
	lineReader
	f Framing
}

// Multiline says that a record is not always one line.
func (framedReader) Multiline() {}

// Head implements the engine's Framing.
func (r framedReader) Head(block []byte) int {
	if r.f.Head == nil {
		return 0
	}
	return inside(r.f.Head(block), block)
}

// Cut implements the engine's Framing.
func (r framedReader) Cut(block []byte) (at int) {
	if r.f.Next == nil {
		return r.lineReader.Cut(block)
	}
	for {
		n := inside(r.f.Next(block[at:]), block[at:])
		if n == 0 {
			return at
		}
		at += n
	}
}

// Next implements the engine's Reader.
func (r framedReader) Next(in []byte) int {
	if r.f.Next == nil {
		return r.lineReader.Next(in)
	}
	return cmp.Or(inside(r.f.Next(in), in), len(in))
}

// inside returns n, or 0 if n is not the length of a part of block.
func inside(n int, block []byte) int {
	if n < 0 || n > len(block) {
		return 0
	}
	return n
}

// locator is the engine's Locator.
type locator struct {
	name   string
	target Target
	inner  Locator
	found  Found
}

// Locate implements the engine's Locator.
func (l *locator) Locate(f *record.Found, rec []byte, at *record.Position) (record.Reason, int) {
	l.found = Found{to: f, rec: rec, head: at.Head, target: l.target}
	why, pos := l.inner.Locate(&l.found, rec)
	var reason record.Reason
	switch why {
	case "":
	case Unparsed:
		reason = record.Unparsed
	case NoField:
		reason = record.NoField
	default:
		l.found.fail("Locate returned the reason %q: must be Unparsed or NoField", string(why))
	}
	if pos < 0 || pos > len(rec) {
		l.found.fail("Locate returned the offset %d in a record of %d bytes", pos, len(rec))
	}
	if l.found.bug != nil {
		f.Err = fmt.Errorf("BUG: format %s: %w", l.name, l.found.bug)
		return record.Unparsed, 0
	}
	l.found = Found{} // release the caller's memory
	return reason, pos
}

// Detect guesses the format of a stream from its first bytes, head, among the built-in
// formats and more. The error says that no format fits, or that a format in more is
// invalid. It does not retain head.
func Detect(head []byte, more ...Format) (Guess, error) {
	formats, err := adapt(more)
	if err != nil {
		return Guess{}, err
	}
	g, ok := record.Detect(head, formats...)
	if !ok && len(bytes.TrimSpace(head)) > 0 {
		if g.Format, ok = record.DetectHeader(head); ok {
			g.Records, g.Fit = 1, 1
		}
	}
	if !ok {
		return Guess{}, ErrNoFormat
	}
	return Guess(g), nil
}

// Guess is a format that was detected.
type Guess struct {
	Format  string // name of the format
	Records int    // number of records that were examined
	Fit     int    // number of examined records that fit the format
}

// ErrNoFormat says that no format fits the beginning of a stream.
var ErrNoFormat = errors.New("cannot detect the record format: name it")

// Formats returns the names of the built-in formats in a new slice.
func Formats() []string { return record.Formats() }
