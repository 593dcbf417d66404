package record

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/internal/ground/suggest"
)

// This file reads lines of known formats after the prefix that a log collector
// adds: syslog+combined is a combined line after a syslog header. The prefix is
// never changed.

// linePrefix is a kind of prefix.
type linePrefix struct {
	name string
	find func(line []byte) int // length of the prefix of line, or -1
	json bool                  // precedes only JSON
}

// linePrefixes are the prefixes that can precede the lines of a format.
var linePrefixes = []linePrefix{
	{name: "syslog", find: syslogPrefix},
	{name: "compose", find: composePrefix},
	{name: "cri", find: criPrefix},
	{name: "any", find: bracePrefix, json: true},
}

// prefixSeparator is between the names of a prefix and of a format.
const prefixSeparator = "+"

// prefixedFormat is a format of lines behind a prefix.
type prefixedFormat struct {
	linePrefix
	inner Format
}

// Name implements [Format].
func (p prefixedFormat) Name() string { return p.name + prefixSeparator + p.inner.Name() }

// Detect implements [Format]. Records without the prefix do not fit. A program
// can write its access log among other JSON objects, which fit a JSON log.
func (p prefixedFormat) Detect(s *Sample) Fit {
	stripped := p.strip(s)
	if len(stripped.Records) == 0 {
		return Fit{}
	}
	fit := p.inner.Detect(stripped)
	switch p.inner.(type) {
	case jsonLogFormat:
		if fit.Records > 0 {
			fit.Records = stripped.count(0, looksJSON).Records
		}
	case jsonFormat:
		fit.Certainty = looksLikePrefixedJSON
		if !slices.ContainsFunc(stripped.Records, mayHoldURL) {
			return Fit{}
		}
	}
	return fit
}

// strip returns the records of s that have the prefix, without it.
func (p linePrefix) strip(s *Sample) *Sample {
	stripped := &Sample{}
	for _, r := range s.Records {
		if n := p.find(r); n >= 0 && !isBlank(r[n:]) {
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

// Open implements [Format].
func (p prefixedFormat) Open(c *Config) (Reader, error) {
	inner := *c
	inner.Format = p.inner.Name()
	if c.Render == RenderExtend {
		return nil, errNoRoom()
	}
	r, err := p.inner.Open(&inner)
	return prefixedReader{linePrefix: p.linePrefix, inner: r}, err
}

// canPrecede reports whether p can precede each line of f.
func (p linePrefix) canPrecede(f Format) bool {
	switch f.(type) {
	case jsonFormat:
		return true
	case jsonLogFormat:
		return prefixable(f)
	}
	return prefixable(f) && !p.json
}

// prefixable is the set of formats whose lines stand alone and can be distinguished
// from other lines.
func prefixable(f Format) bool {
	switch f := f.(type) {
	case logFormat, logfmtFormat, anyLogFormat:
		return true
	case *textLog:
		return !f.compiled[0].floats // those that float find their start themselves
	case jsonLogFormat:
		return f.wrapped == ""
	}
	return false
}

// prefixedFormats returns all combinations of prefixes and formats.
func prefixedFormats(formats []Format) (all []Format) {
	for _, p := range linePrefixes {
		for _, f := range formats {
			if p.canPrecede(f) {
				all = append(all, prefixedFormat{p, f})
			}
		}
	}
	return all
}

// prefixedFormat returns the format with a name such as syslog+combined. ok is
// false if the name does not begin with a prefix.
func (c *Config) prefixedFormat() (f Format, ok bool) {
	if !strings.Contains(c.Format, prefixSeparator) {
		return nil, false
	}
	for _, f := range c.combinations() {
		if f.Name() == c.Format {
			return f, true
		}
	}
	return nil, false
}

// combinations returns all formats with a prefix in their names.
func (c *Config) combinations() []Format {
	formats := c.formats()
	return slices.Concat(prefixedFormats(formats), jsonLineFormats(formats), journalFormats(formats))
}

// prefixError says what is wrong with a name such as syslog+lines, which is not that of
// a format. formats are the names without a prefix. The error is nil if the name has no
// prefix.
func (c *Config) prefixError(formats []string) error {
	prefix, format, found := strings.Cut(c.Format, prefixSeparator)
	if !found {
		return nil
	}
	var prefixes, inner []string // inner can follow the prefix
	for _, f := range c.combinations() {
		p, name, _ := strings.Cut(f.Name(), prefixSeparator)
		if p == prefix {
			inner = append(inner, name)
		}
		if !slices.Contains(prefixes, p) {
			prefixes = append(prefixes, p)
		}
	}
	switch {
	case len(inner) == 0:
		_, err := suggest.Index("prefix", prefixes, prefix)
		return err
	case slices.Contains(formats, format):
		return fmt.Errorf("the prefix %q cannot be combined with the format %q (must be one of: %s)", prefix, format, strings.Join(inner, ", "))
	}
	_, err := suggest.Index("format after the prefix "+prefix+":", inner, format)
	return err
}

// prefixedReader reads lines after a prefix.
type prefixedReader struct {
	LineFraming
	linePrefix
	inner Reader
}

// Locator implements [Reader].
func (r prefixedReader) Locator() Locator {
	return &prefixedLocator{linePrefix: r.linePrefix, inner: r.inner.Locator()}
}

// prefixedLocator finds the URLs of lines after a prefix.
type prefixedLocator struct {
	linePrefix
	inner Locator
}

// Locate implements [Locator].
func (l *prefixedLocator) Locate(f *Found, rec []byte, at *Position) (Reason, int) {
	n := l.find(rec)
	if n < 0 || isBlank(rec[n:]) {
		return Unparsed, 0
	}
	why, pos := l.inner.Locate(f, rec[n:], at)
	f.move(func(at int) int { return at + n })
	return why, pos + n
}

// WithoutPrefix returns the lines of text without the prefix that a format such as
// syslog+jsonl adds to those of jsonl. Lines without the prefix are left out. ok is
// false if the format is neither jsonl nor jsonl after a prefix.
func WithoutPrefix(format string, text []byte) (lines []byte, ok bool) {
	name, isPrefixed := strings.CutSuffix(format, prefixSeparator+(jsonFormat{}).Name())
	if !isPrefixed {
		return text, format == (jsonFormat{}).Name()
	}
	for _, p := range linePrefixes {
		if p.name != name {
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

// bracePrefix finds any text before a JSON object that ends the line.
func bracePrefix(line []byte) int {
	for at := 0; ; at++ {
		n := bytes.IndexByte(line[at:], '{')
		if n < 0 {
			return -1
		}
		at += n
		next := at + 1
		for next < len(line) && line[next] == ' ' {
			next++
		}
		if at > 0 && next < len(line) && (line[next] == '"' || line[next] == '}') {
			return at
		}
	}
}

// composePrefix finds the prefix of docker compose logs: "web-1  | ".
func composePrefix(line []byte) int {
	i := 0
	for i < len(line) && (isAlnum(line[i]) || i > 0 && (line[i] == '-' || line[i] == '_' || line[i] == '.')) {
		i++
	}
	at := i
	for at < len(line) && line[at] == ' ' {
		at++
	}
	if i == 0 || at == i || !bytes.HasPrefix(line[at:], []byte("| ")) {
		return -1
	}
	return at + len("| ")
}

// criPrefix finds the prefix that container runtimes write to log files for
// Kubernetes: a time, the stream, and a tag, which is F for a full line.
func criPrefix(line []byte) int {
	stamp := wordEnd(line, 0)
	if !isTimestamp(line[:stamp]) {
		return -1
	}
	for _, s := range [...]string{" stdout F ", " stderr F "} {
		if len(line)-stamp >= len(s) && string(line[stamp:stamp+len(s)]) == s {
			return stamp + len(s)
		}
	}
	return -1
}

// syslogPrefix finds the header of a syslog message, with or without its
// priority, as RFC 5424 or RFC 3164 defines it; the latter also without a host,
// and with a time as in RFC 3339, as rsyslog writes it.
func syslogPrefix(line []byte) int {
	at := 0
	if len(line) > 2 && line[0] == '<' {
		end := bytes.IndexByte(line[:min(len(line), 5)], '>')
		if end < 2 || !allDigits(line[1:end]) {
			return -1
		}
		if at = end + 1; bytes.HasPrefix(line[at:], []byte("1 ")) {
			return header5424(line, at+2)
		}
	}
	if at = syslogTime(line, at); at < 0 {
		return -1
	}
	host := wordEnd(line, at)
	tag := wordEnd(line, min(host+1, len(line)))
	switch {
	case host == at || host == len(line):
		return -1
	case tag > host+1 && tag < len(line) && line[tag-1] == ':':
		return tag + 1
	case line[host-1] == ':': // syslogd of BSD writes no host
		return host + 1
	}
	return -1
}

// syslogTime returns the offset after the time at offset at and its space, or
// -1.
func syslogTime(line []byte, at int) int {
	if end := wordEnd(line, at); end < len(line) && isTimestamp(line[at:end]) {
		return end + 1
	}
	const form = "Feb 29 23:59:59 "
	if len(line)-at <= len(form) {
		return -1
	}
	for i := range len(form) {
		switch c := line[at+i]; form[i] {
		case ' ', ':':
			if c != form[i] {
				return -1
			}
		default:
			if digit := isDigit(form[i]); digit != (isDigit(c) || i == 4 && c == ' ') || !digit && !isLetter(c) {
				return -1
			}
		}
	}
	return at + len(form)
}

// header5424 returns the offset after a header of RFC 5424 whose time begins at
// offset at, or -1: time, host, program, process, message, and structured data.
func header5424(line []byte, at int) int {
	for range 5 {
		end := wordEnd(line, at)
		if end == at || end == len(line) {
			return -1
		}
		at = end + 1
	}
	switch {
	case at < len(line) && line[at] == '-':
		at++
	case at < len(line) && line[at] == '[':
		for quoted := false; ; at++ {
			if at == len(line) {
				return -1
			}
			c := line[at]
			if quoted && c == '\\' {
				at = min(at+1, len(line)-1)
				continue
			}
			if c == '"' {
				quoted = !quoted
			}
			if c == ']' && !quoted && (at+1 == len(line) || line[at+1] != '[') {
				at++
				break
			}
		}
	default:
		return -1
	}
	if at == len(line) || line[at] != ' ' {
		return -1
	}
	return at + 1 + markLen(line[at+1:])
}

// isTimestamp reports whether word looks like a time of RFC 3339.
func isTimestamp(word []byte) bool {
	return len(word) >= len("2006-01-02T15:04:05Z") && word[4] == '-' && word[7] == '-' && word[10] == 'T' && word[13] == ':' && isDigit(word[0]) && isDigit(word[18])
}
