package formats

import (
	"bytes"

	"github.com/urlfold/urlfold/internal/record/internal/jsonlines"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
	"github.com/urlfold/urlfold/internal/record/internal/textlog"
	"github.com/urlfold/urlfold/internal/record/internal/wire"
)

// This file reads lines of known formats that a log collector has put into a
// member of a JSON object: docker+combined is a combined line in the member log
// of an object that Docker's driver json-file has written. The line has two
// layers of escapes: its own, and the escapes of the JSON string.

// jsonLine is a kind of object with a line.
type jsonLine struct {
	name   string
	member string
}

// jsonLines are the objects whose member can be a line of another format.
var jsonLines = []jsonLine{
	{"docker", "log"},
	{"journald", "MESSAGE"},
	{"filebeat", "message"},
}

// jsonLineFormat is a format of lines in such objects.
type jsonLineFormat struct {
	jsonLine
	inner locate.Format
}

// Name implements [locate.Format].
func (l jsonLineFormat) Name() string { return l.name + locate.PrefixSeparator + l.inner.Name() }

// Detect implements [locate.Format]. It never fits, because the function Detect
// finds these formats in another way: it looks at the lines in JSON objects.
func (jsonLineFormat) Detect(*locate.Sample) locate.Fit { return locate.Fit{} }

// detectLine returns the guess for the lines in the objects of a sample.
func detectLine(s *locate.Sample) (best Guess, ok bool) {
	for _, kind := range jsonLines {
		var lines locate.Sample
		l := jsonLineLocator{path: jsonlines.MustParsePath(kind.member)}
		for _, rec := range s.Records {
			if raw, ok := l.find(rec); ok {
				text, _, _ := locate.JSONDialect.Unescape(nil, raw.In(rec), nil)
				if !locate.IsBlank(text) {
					lines.Records = append(lines.Records, text)
				}
			}
		}
		if best, ok = detectInner(&lines, kind.name, len(s.Records)); ok {
			return best, true
		}
	}
	return best, false
}

// detectInner returns the guess for s, the lines in records of a kind of
// object. records is the number of these records; at least half of them must
// have a line.
func detectInner(s *locate.Sample, kind string, records int) (best Guess, ok bool) {
	if len(s.Records)*2 < records {
		return best, false
	}
	certainty := uint8(0)
	for _, f := range Builtin {
		if _, isAny := f.(textlog.AnyLogFormat); isAny || !fitsInJSON(f) {
			continue // the object can have a field with the URL
		}
		if fit := f.Detect(s); fit.Records > 0 && fit.Records*2 >= len(s.Records) && fit.Certainty > certainty {
			certainty, ok = fit.Certainty, true
			best = Guess{Format: kind + locate.PrefixSeparator + f.Name(), Records: records, Fit: fit.Records}
		}
	}
	return best, ok
}

// fitsInJSON reports whether lines of a format can be in a JSON object.
func fitsInJSON(f locate.Format) bool {
	switch f.(type) {
	case *textlog.FixedLog, textlog.CEFFormat:
		return true
	}
	return prefixable(f)
}

// jsonLineFormats returns all combinations of objects and formats.
func jsonLineFormats(formats []locate.Format) (all []locate.Format) {
	for _, kind := range jsonLines {
		for _, f := range formats {
			if fitsInJSON(f) {
				all = append(all, jsonLineFormat{kind, f})
			}
		}
	}
	return all
}

// Open implements [locate.Format].
func (l jsonLineFormat) Open(c *locate.Settings) (locate.Reader, error) {
	inner := *c
	inner.Format = l.inner.Name()
	if err := c.RefuseExtend(); err != nil {
		return nil, err
	}
	r, err := l.inner.Open(&inner)
	return jsonLineReader{jsonLine: l.jsonLine, inner: r}, err
}

// jsonLineReader reads JSON objects that hold a log line in one member.
type jsonLineReader struct {
	locate.LineFraming
	jsonLine
	inner locate.Reader
}

// Locator implements [locate.Reader].
func (r jsonLineReader) Locator() locate.Locator {
	return &jsonLineLocator{path: jsonlines.MustParsePath(r.member), inner: r.inner.Locator(), both: map[*locate.Dialect]*locate.Dialect{}}
}

// Attributes implements [locate.Attributed].
func (r jsonLineReader) Attributes() uint16 { return attributesOf(r.inner) }

// jsonLineLocator finds the URLs of the log lines in JSON objects.
type jsonLineLocator struct {
	path  []jsonlines.Step
	inner locate.Locator
	scan  jsonlines.Scanner
	text  []byte // the line, with its JSON escapes decoded
	runs  []locate.Run
	both  map[*locate.Dialect]*locate.Dialect // maps a dialect of the line to the same dialect in a JSON string
}

// find returns the range of the line in rec, with its escapes and without a line
// end.
func (l *jsonLineLocator) find(rec []byte) (locate.Span, bool) {
	s, ok := l.scan.Find(rec, l.path)
	if !ok || s.End-s.Start < 2 || rec[s.Start] != '"' {
		return locate.Between(s.Start, s.Start), false
	}
	s.Start++
	s.End--
	for _, end := range []string{`\n`, `\r`} {
		if bytes.HasSuffix(s.In(rec), []byte(end)) && !locate.IsEscaped(rec[s.Start:s.End-len(`n`)-len(`\`)]) {
			s.End -= len(end)
		}
	}
	return s, true
}

// Locate implements [locate.Locator].
func (l *jsonLineLocator) Locate(f *locate.Found, rec []byte, at *locate.Position) (locate.Reason, int) {
	s, ok := l.find(rec)
	switch {
	case l.scan.Broken:
		return locate.Unparsed, l.scan.Pos
	case !ok:
		return locate.NoField, 0
	}
	text, runs, escaped := locate.JSONDialect.Unescape(l.text, s.In(rec), l.runs)
	if l.runs = runs; escaped {
		l.text = text
	}
	if locate.IsBlank(text) {
		return locate.Unparsed, s.Start
	}
	why, pos := l.inner.Locate(f, text, at)
	f.Move(func(n int) int { return s.Start + locate.RawOffset(l.runs, n) })
	for i := range f.N {
		f.Sites[i].Dialect = l.inJSON(f.Sites[i].Dialect)
	}
	for id := range locate.NumAttrs {
		if a := &f.Attrs.Values[id]; f.Attrs.Set>>id&1 != 0 {
			a.Dialect = l.inJSON(a.Dialect)
		}
	}
	f.BaseDialect, f.HostDialect, f.NameDialect = l.inJSON(f.BaseDialect), l.inJSON(f.HostDialect), l.inJSON(f.NameDialect)
	return why, s.Start + locate.RawOffset(l.runs, pos)
}

// inJSON returns the dialect of text that has the escapes of d and, around
// them, the escapes of a JSON string.
func (l *jsonLineLocator) inJSON(d *locate.Dialect) *locate.Dialect {
	both := l.both[d]
	if both == nil {
		both = &locate.Dialect{
			Text: func(dst, raw []byte, runs []locate.Run) ([]byte, []locate.Run, bool) {
				return unescapeBoth(d, dst, raw, runs)
			},
			Encode:    func(dst, text []byte, stop byte) []byte { return escapeBoth(d, dst, text, stop) },
			Backslash: d.EscapesQuotes(),
		}
		l.both[d] = both
		l.both[both] = both
	}
	return both
}

// unescapeBoth decodes the escapes of a JSON string, and then the escapes of d.
// It has the results of Dialect.Unescape.
func unescapeBoth(d *locate.Dialect, dst, raw []byte, runs []locate.Run) ([]byte, []locate.Run, bool) {
	text, runs, escaped := locate.JSONDialect.Unescape(dst, raw, runs)
	switch {
	case !escaped:
		return d.Unescape(dst, raw, runs)
	case d == nil || d.Mark == 0 || bytes.IndexByte(text, d.Mark) < 0:
		return text, runs, true
	}
	// Decoding makes no text longer, so it is done in place. The runs of the
	// result are appended to the runs of the JSON string.
	outer, k := len(runs), 0
	out := text[:0]
	for i := 0; i < len(text); {
		if n := bytes.IndexByte(text[i:], d.Mark); n != 0 {
			if n < 0 {
				n = len(text) - i
			}
			runs, k = appendPiece(runs, outer, k, locate.Between(i, i+n), len(out))
			out = append(out, text[i:i+n]...)
			i += n
			continue
		}
		at, from := len(out), locate.RawOffset(runs[:outer], i)
		var n int
		out, n = d.Decode(out, text[i:])
		runs = append(runs, locate.Run{Text: at, Raw: from, Step: 0})
		i += n
	}
	runs = append(runs, locate.Run{Text: len(out), Raw: len(raw), Step: 1})
	return out, runs[:copy(runs, runs[outer:])], true
}

// appendPiece appends runs for the text in s, which is at offset at of the
// result. The first outer runs describe the text. k is at most the number of the
// run in which s begins. appendPiece returns the number of the run in which s ends.
func appendPiece(runs []locate.Run, outer, k int, s locate.Span, at int) ([]locate.Run, int) {
	for ; ; k++ {
		r, next := runs[k], s.End
		if k+1 < outer {
			next = min(next, runs[k+1].Text)
		}
		if first := max(s.Start, r.Text); first < next {
			runs = append(runs, locate.Run{Text: at + first - s.Start, Raw: r.Raw + (first-r.Text)*r.Step, Step: r.Step})
		}
		if next == s.End {
			return runs, k
		}
	}
}

// escapeBoth encodes text with the escapes of d, and then as a JSON string.
func escapeBoth(d *locate.Dialect, dst, text []byte, stop byte) []byte {
	start := len(dst)
	dst = d.Escape(dst, text, stop)
	n := len(dst)
	dst = locate.JSONDialect.Encode(dst, dst[start:n], 0)
	return dst[:start+copy(dst[start:], dst[n:])]
}

// journalFormats returns the format of journal entries for each format of lines in MESSAGE.
func journalFormats(formats []locate.Format) (all []locate.Format) {
	for _, f := range formats {
		if fitsInJSON(f) {
			all = append(all, wire.JournalFormat{Inner: f})
		}
	}
	return all
}
