package record

import "bytes"

// This file reads lines of known formats that a log collector has put into a
// member of a JSON object: docker+combined is a combined line in the member log
// of an object that Docker's driver json-file has written. The line has two
// layers of escapes: its own, and those of the JSON string.

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
	inner Format
}

// Name implements [Format].
func (l jsonLineFormat) Name() string { return l.name + prefixSeparator + l.inner.Name() }

// Detect implements [Format]. The function Detect finds these formats without
// it: their records are JSON objects, and it looks at the lines in them.
func (jsonLineFormat) Detect(*Sample) Fit { return Fit{} }

// detectLine returns the guess for the lines in the objects of a sample.
func (s *Sample) detectLine() (best Guess, ok bool) {
	for _, kind := range jsonLines {
		var lines Sample
		l := jsonLineLocator{path: mustParsePath(kind.member)}
		for _, rec := range s.Records {
			if raw, ok := l.find(rec); ok {
				text, _, _ := jsonDialect.unescape(nil, raw.in(rec), nil)
				if !isBlank(text) {
					lines.Records = append(lines.Records, text)
				}
			}
		}
		if best, ok = lines.detectInner(kind.name, len(s.Records)); ok {
			return best, true
		}
	}
	return best, false
}

// detectInner returns the guess for the lines of a sample, which records of the
// kind with that name hold. records is the number of these records, of which
// half must have a line.
func (s *Sample) detectInner(kind string, records int) (best Guess, ok bool) {
	if len(s.Records)*2 < records {
		return best, false
	}
	certainty := uint8(0)
	for _, f := range builtin {
		if _, isAny := f.(anyLogFormat); isAny || !fitsInJSON(f) {
			continue // the object can have a field with the URL
		}
		if fit := f.Detect(s); fit.Records > 0 && fit.Records*2 >= len(s.Records) && fit.Certainty > certainty {
			certainty, ok = fit.Certainty, true
			best = Guess{Format: kind + prefixSeparator + f.Name(), Records: records, Fit: fit.Records}
		}
	}
	return best, ok
}

// fitsInJSON reports whether lines of a format can be in a JSON object.
func fitsInJSON(f Format) bool {
	switch f.(type) {
	case *textLog, cefFormat:
		return true
	}
	return prefixable(f)
}

// jsonLineFormats returns all combinations of objects and formats.
func jsonLineFormats(formats []Format) (all []Format) {
	for _, kind := range jsonLines {
		for _, f := range formats {
			if fitsInJSON(f) {
				all = append(all, jsonLineFormat{kind, f})
			}
		}
	}
	return all
}

// Open implements [Format].
func (l jsonLineFormat) Open(c *Config) (Reader, error) {
	inner := *c
	inner.Format = l.inner.Name()
	if c.Render == RenderExtend {
		return nil, errNoRoom()
	}
	r, err := l.inner.Open(&inner)
	return jsonLineReader{jsonLine: l.jsonLine, inner: r}, err
}

// jsonLineReader reads objects with a line.
type jsonLineReader struct {
	LineFraming
	jsonLine
	inner Reader
}

// Locator implements [Reader].
func (r jsonLineReader) Locator() Locator {
	return &jsonLineLocator{path: mustParsePath(r.member), inner: r.inner.Locator(), both: map[*Dialect]*Dialect{}}
}

// jsonLineLocator finds the URLs of lines in objects.
type jsonLineLocator struct {
	path  []step
	inner Locator
	scan  scanner
	text  []byte // the line, without the escapes of JSON
	runs  []run
	both  map[*Dialect]*Dialect // dialects of the line, in a JSON string
}

// find returns the range of the line in rec, with its escapes and without a line
// end.
func (l *jsonLineLocator) find(rec []byte) (span, bool) {
	s, ok := l.scan.find(rec, l.path)
	if !ok || s.end-s.start < 2 || rec[s.start] != '"' {
		return span{s.start, s.start}, false
	}
	s.start++
	s.end--
	for _, end := range []string{`\n`, `\r`} {
		if bytes.HasSuffix(s.in(rec), []byte(end)) && !isEscaped(rec[s.start:s.end-len(`n`)-len(`\`)]) {
			s.end -= len(end)
		}
	}
	return s, true
}

// Locate implements [Locator].
func (l *jsonLineLocator) Locate(f *Found, rec []byte, at *Position) (Reason, int) {
	s, ok := l.find(rec)
	switch {
	case l.scan.broken:
		return Unparsed, l.scan.pos
	case !ok:
		return NoField, 0
	}
	text, runs, escaped := jsonDialect.unescape(l.text, s.in(rec), l.runs)
	if l.runs = runs; escaped {
		l.text = text
	}
	if isBlank(text) {
		return Unparsed, s.start
	}
	why, pos := l.inner.Locate(f, text, at)
	f.move(func(n int) int { return s.start + rawOffset(l.runs, n) })
	for i := range f.n {
		f.sites[i].dialect = l.inJSON(f.sites[i].dialect)
	}
	for id := range numAttrs {
		if a := &f.attrs.values[id]; f.attrs.set>>id&1 != 0 {
			a.dialect = l.inJSON(a.dialect)
		}
	}
	f.baseDialect, f.hostDialect, f.nameDialect = l.inJSON(f.baseDialect), l.inJSON(f.hostDialect), l.inJSON(f.nameDialect)
	return why, s.start + rawOffset(l.runs, pos)
}

// inJSON returns the dialect of a part of the line in a JSON string.
func (l *jsonLineLocator) inJSON(d *Dialect) *Dialect {
	both := l.both[d]
	if both == nil {
		both = &Dialect{
			text:      func(dst, raw []byte, runs []run) ([]byte, []run, bool) { return unescapeBoth(d, dst, raw, runs) },
			Encode:    func(dst, text []byte, stop byte) []byte { return escapeBoth(d, dst, text, stop) },
			backslash: d.escapesQuotes(),
		}
		l.both[d] = both
		l.both[both] = both
	}
	return both
}

// unescapeBoth decodes the escapes of a JSON string, and then those of d. It has
// the results of unescape.
func unescapeBoth(d *Dialect, dst, raw []byte, runs []run) ([]byte, []run, bool) {
	text, runs, escaped := jsonDialect.unescape(dst, raw, runs)
	switch {
	case !escaped:
		return d.unescape(dst, raw, runs)
	case d == nil || d.Mark == 0 || bytes.IndexByte(text, d.Mark) < 0:
		return text, runs, true
	}
	// Decoding makes no text longer, so it is done in place. The runs of the
	// result are appended to those of the JSON string.
	outer, k := len(runs), 0
	out := text[:0]
	for i := 0; i < len(text); {
		if n := bytes.IndexByte(text[i:], d.Mark); n != 0 {
			if n < 0 {
				n = len(text) - i
			}
			runs, k = appendPiece(runs, outer, k, span{i, i + n}, len(out))
			out = append(out, text[i:i+n]...)
			i += n
			continue
		}
		at, from := len(out), rawOffset(runs[:outer], i)
		var n int
		out, n = d.Decode(out, text[i:])
		runs = append(runs, run{at, from, 0})
		i += n
	}
	runs = append(runs, run{len(out), len(raw), 1})
	return out, runs[:copy(runs, runs[outer:])], true
}

// appendPiece appends runs for the text in s, which is at offset at of the
// result. The first outer runs describe the text; the run that s begins in is
// not before number k. appendPiece returns the number of the run that s ends in.
func appendPiece(runs []run, outer, k int, s span, at int) ([]run, int) {
	for ; ; k++ {
		r, next := runs[k], s.end
		if k+1 < outer {
			next = min(next, runs[k+1].text)
		}
		if first := max(s.start, r.text); first < next {
			runs = append(runs, run{at + first - s.start, r.raw + (first-r.text)*r.step, r.step})
		}
		if next == s.end {
			return runs, k
		}
	}
}

// escapeBoth encodes text with the escapes of d, and then with those of a JSON
// string.
func escapeBoth(d *Dialect, dst, text []byte, stop byte) []byte {
	start := len(dst)
	dst = d.escape(dst, text, stop)
	n := len(dst)
	dst = jsonDialect.Encode(dst, dst[start:n], 0)
	return dst[:start+copy(dst[start:], dst[n:])]
}

// move changes the offsets of everything that was found.
func (f *Found) move(to func(int) int) {
	for i := range f.n {
		f.sites[i].span.move(to)
	}
	for _, s := range []*span{&f.method, &f.scheme, &f.port, &f.base, &f.host} {
		s.move(to)
	}
	for i := range f.hosts {
		f.hosts[i].move(to)
	}
	for id := range numAttrs {
		if f.attrs.set>>id&1 != 0 {
			f.attrs.values[id].move(to)
			f.attrs.values[id].clock.move(to)
		}
	}
	for i := range f.lengths {
		l := &f.lengths[i]
		l.move(to)
		l.end = to(l.end)
	}
}

// move changes the offsets of s, unless it is not set.
func (s *span) move(to func(int) int) {
	if s.end > 0 {
		s.start, s.end = to(s.start), to(s.end)
	}
}
