package formats

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/internal/ground/suggest"
	"github.com/urlfold/urlfold/internal/record/internal/jsonlines"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
	"github.com/urlfold/urlfold/internal/record/internal/textlog"
)

// This file reads lines of known formats after the prefix that a log collector
// adds: syslog+combined is a combined line after a syslog header. The prefix is
// never changed.

// linePrefix is a kind of prefix.
type linePrefix struct {
	ID   string
	find func(line []byte) int // length of the prefix of line, or -1
	json bool                  // precedes only JSON
}

// LinePrefixes are the prefixes that can precede the lines of a format.
var LinePrefixes = []linePrefix{
	{ID: "syslog", find: locate.SyslogPrefix},
	{ID: "compose", find: locate.ComposePrefix},
	{ID: "cri", find: locate.CriPrefix},
	{ID: "any", find: locate.BracePrefix, json: true},
}

// prefixedFormat is a format of lines behind a prefix.
type prefixedFormat struct {
	linePrefix
	inner locate.Format
}

// Name implements [locate.Format].
func (p prefixedFormat) Name() string { return p.ID + locate.PrefixSeparator + p.inner.Name() }

// Detect implements [locate.Format]. Records without the prefix do not fit. For
// a JSON log, all JSON objects after the prefix fit, because a program can
// write its access log among other objects.
func (p prefixedFormat) Detect(s *locate.Sample) locate.Fit {
	stripped := p.strip(s)
	if len(stripped.Records) == 0 {
		return locate.Fit{}
	}
	fit := p.inner.Detect(stripped)
	switch p.inner.(type) {
	case jsonlines.LogFormat:
		if fit.Records > 0 {
			fit.Records = stripped.Count(0, jsonlines.LooksJSON).Records
		}
	case jsonlines.Format:
		fit.Certainty = locate.LooksLikePrefixedJSON
		if !slices.ContainsFunc(stripped.Records, mayHoldURL) {
			return locate.Fit{}
		}
	}
	return fit
}

// strip returns the records of s that have the prefix, without the prefix.
func (p linePrefix) strip(s *locate.Sample) *locate.Sample {
	stripped := &locate.Sample{}
	for _, r := range s.Records {
		if n := p.find(r); n >= 0 && !locate.IsBlank(r[n:]) {
			stripped.Records = append(stripped.Records, r[n:])
		}
	}
	return stripped
}

// mayHoldURL reports whether a JSON text may have a string that is a URL or a
// path.
func mayHoldURL(text []byte) bool {
	return bytes.Contains(text, []byte("://")) || bytes.Contains(text, []byte(`:\/\/`)) || bytes.Contains(text, []byte(`"/`))
}

// Open implements [locate.Format].
func (p prefixedFormat) Open(c *locate.Settings) (locate.Reader, error) {
	inner := *c
	inner.Format = p.inner.Name()
	if err := c.RefuseExtend(); err != nil {
		return nil, err
	}
	r, err := p.inner.Open(&inner)
	return prefixedReader{linePrefix: p.linePrefix, inner: r}, err
}

// canPrecede reports whether p can precede each line of f.
func (p linePrefix) canPrecede(f locate.Format) bool {
	switch f.(type) {
	case jsonlines.Format:
		return true
	case jsonlines.LogFormat:
		return prefixable(f)
	}
	return prefixable(f) && !p.json
}

// prefixable reports whether each line of f is a record by itself and can be
// distinguished from other lines.
func prefixable(f locate.Format) bool {
	switch f := f.(type) {
	case textlog.LogFormat, textlog.LogfmtFormat, textlog.AnyLogFormat:
		return true
	case *textlog.FixedLog:
		return !f.Compiled[0].Floats // floating formats find their start themselves
	case jsonlines.LogFormat:
		return f.Wrapped == ""
	}
	return false
}

// prefixedFormats returns all combinations of prefixes and formats.
func prefixedFormats(formats []locate.Format) (all []locate.Format) {
	for _, p := range LinePrefixes {
		for _, f := range formats {
			if p.canPrecede(f) {
				all = append(all, prefixedFormat{p, f})
			}
		}
	}
	return all
}

// prefixedFormatNamed returns the format with a name such as syslog+combined. ok is
// false if the name does not begin with a prefix.
func prefixedFormatNamed(name string, formats []locate.Format) (f locate.Format, ok bool) {
	if !strings.Contains(name, locate.PrefixSeparator) {
		return nil, false
	}
	for _, f := range combinations(formats) {
		if f.Name() == name {
			return f, true
		}
	}
	return nil, false
}

// combinations returns all formats with a prefix in their names.
func combinations(formats []locate.Format) []locate.Format {
	return slices.Concat(prefixedFormats(formats), jsonLineFormats(formats), journalFormats(formats), documentFormats())
}

// documentFormats returns the JSON logs in documents.
func documentFormats() (all []locate.Format) {
	for i := range jsonlines.Logs {
		all = append(all, jsonlines.DocumentFormat{Log: &jsonlines.Logs[i]})
	}
	return all
}

// prefixError says what is wrong with a name such as syslog+lines, which names no
// format. names lists the formats, without a prefix. The error is nil if the name has
// no prefix.
func prefixError(name string, names []string, formats []locate.Format) error {
	prefix, format, found := strings.Cut(name, locate.PrefixSeparator)
	if !found {
		return nil
	}
	var prefixes, inner []string // inner can follow the prefix
	for _, f := range combinations(formats) {
		p, after, _ := strings.Cut(f.Name(), locate.PrefixSeparator)
		if p == prefix {
			inner = append(inner, after)
		}
		if !slices.Contains(prefixes, p) {
			prefixes = append(prefixes, p)
		}
	}
	switch {
	case len(inner) == 0:
		_, err := suggest.Index("prefix", prefixes, prefix)
		return err
	case slices.Contains(names, format):
		return fmt.Errorf("the prefix %q cannot be combined with the format %q (must be one of: %s)", prefix, format, strings.Join(inner, ", "))
	}
	_, err := suggest.Index("format after the prefix "+prefix+":", inner, format)
	return err
}

// prefixedReader reads lines after a prefix.
type prefixedReader struct {
	locate.LineFraming
	linePrefix
	inner locate.Reader
}

// Locator implements [locate.Reader].
func (r prefixedReader) Locator() locate.Locator {
	return &prefixedLocator{linePrefix: r.linePrefix, inner: r.inner.Locator()}
}

// Attributes implements [locate.Attributed].
func (r prefixedReader) Attributes() uint16 { return attributesOf(r.inner) }

// attributesOf returns the attributes that the records of a reader can have.
func attributesOf(r locate.Reader) uint16 {
	if known, ok := r.(locate.Attributed); ok {
		return known.Attributes()
	}
	return locate.AllAttrs
}

// Mapped implements [locate.Mapped].
func (prefixedReader) Mapped() {}

// prefixedLocator finds the URLs of lines after a prefix.
type prefixedLocator struct {
	linePrefix
	inner locate.Locator
}

// Locate implements [locate.Locator].
func (l *prefixedLocator) Locate(f *locate.Found, rec []byte, at *locate.Position) (locate.Reason, int) {
	n := l.find(rec)
	if n < 0 || locate.IsBlank(rec[n:]) {
		return locate.Unparsed, 0
	}
	why, pos := l.inner.Locate(f, rec[n:], at)
	f.Move(func(at int) int { return at + n })
	return why, pos + n
}

// WithoutPrefix returns the lines of text without the prefix that a format such as
// syslog+jsonl adds to JSON lines. Lines without the prefix are left out. ok is
// false if the format is neither jsonl nor jsonl after a prefix.
func WithoutPrefix(format string, text []byte) (lines []byte, ok bool) {
	if format == jsonlines.DocumentName {
		objects, _ := jsonlines.Elements(text)
		for _, o := range objects {
			lines = append(append(lines, bytes.ReplaceAll(o, []byte("\n"), []byte(" "))...), '\n')
		}
		return lines, true
	}
	name, isPrefixed := strings.CutSuffix(format, locate.PrefixSeparator+(jsonlines.Format{}).Name())
	if !isPrefixed {
		return text, format == (jsonlines.Format{}).Name()
	}
	for _, p := range LinePrefixes {
		if p.ID != name {
			continue
		}
		for line := range bytes.Lines(text) {
			if n := p.find(line); n >= 0 {
				lines = append(lines, line[n:]...)
			}
		}
		return lines, true
	}
	return nil, false
}

// Divide implements [locate.Divider]. The last two bytes of the prefix, such as
// ": ", are a separator.
func (l *prefixedLocator) Divide(dst []locate.Span, rec []byte, f *locate.Found) []locate.Span {
	n := l.find(rec)
	if n < 0 {
		return dst
	}
	dst = append(dst, locate.Between(max(0, n-2), n))
	if inner, ok := l.inner.(locate.Divider); ok {
		start := len(dst)
		dst = inner.Divide(dst, rec[n:], f)
		for i := range dst[start:] {
			dst[start+i].Start += n
			dst[start+i].End += n
		}
	}
	return dst
}
