package record

import "bytes"

// A span is a half-open range of offsets in a record.
type span struct{ start, end int }

func (s span) in(b []byte) []byte { return b[s.start:s.end:s.end] }

// A role is what a URL is to its record.
type role uint8

const (
	roleURL     role = iota // the record's URL: lines, jsonl, csv, tsv
	roleTarget              // a request target
	roleReferer             // the Referer field
	roleWhole               // scheme, host and target written as one
)

// A site is where a URL stands in a record.
type site struct {
	span
	role role
	enc  encoding
	stop byte // ends the field unless it is escaped: a table's separator, the start of a layout's next literal; 0 if none
}

// found is what locate found in a record. Its sites are in the order of the
// record.
type found struct {
	sites   [2]site
	n       int
	form    Form // of the request field, as far as it shows before the target is read
	method  span
	scheme  span // of the request, if the record says so
	port    span
	hosts   [numHosts]span // of the request, best first
	base    span           // of the URL, if the record has one
	enc     encoding       // of base
	host    span           // what stands for the host in the job's base, if the record has it: jsonl, csv, tsv
	hostEnc encoding       // of host
}

func (f *found) add(s span, r role, e encoding) {
	f.sites[f.n] = site{span: s, role: r, enc: e}
	f.n++
}

// locate finds the URLs of a record without its line end, and fills w.found. If
// the record is not of the format, it says why, and where in the record.
func (w *Worker) locate(body, head []byte) (Reason, int) {
	j, f := w.job, &w.found
	*f = found{}
	switch j.kind {
	case kindLines:
		f.add(trim(body), roleURL, encNone)
		return 0, 0
	case kindJSONL:
		return w.locateJSON(body)
	case kindTable:
		return w.locateCell(body, head)
	case kindLayout:
		return j.layout.locate(f, body, j.request, j.referer)
	}
	return j.locateLog(f, body)
}

// trim returns body without ASCII white space at both ends.
func trim(body []byte) span {
	s := span{0, len(body)}
	for s.start < s.end && isSpace(body[s.start]) {
		s.start++
	}
	for s.end > s.start && isSpace(body[s.end-1]) {
		s.end--
	}
	return s
}

// isSpace reports whether c is ASCII white space.
func isSpace(c byte) bool { return c == ' ' || c-'\t' < 5 }

// locateLog finds the request and the referer of the three named log formats:
//
//	[vhost[:port] ]host ident user [time] "request" status bytes "referer" "agent"…
//
// It looks for anchors, not for fields, so that it lives with user names that
// hold spaces, with other fields in front and behind, with lighttpd's counters
// between bytes and referer, and with lines that end early.
func (j *Job) locateLog(f *found, body []byte) (Reason, int) {
	open := requestQuote(body)
	if open < 0 {
		return Unparsed, 0
	}
	end := requestEnd(body, open, j.enc.backslash())
	if end < 0 {
		return Unparsed, open
	}
	if j.kind == kindVhost {
		f.hosts[0].end = max(0, bytes.IndexByte(body[:open], ' '))
	}
	if j.request {
		f.addRequest(body, span{open, end}, j.enc)
	}
	if j.referer {
		if s := refererSpan(body, end+1, j.enc.backslash()); s.end > s.start {
			f.addReferer(body, s, j.enc)
		}
	}
	return 0, 0
}

// requestQuote returns the offset after the quote that opens the request: the
// one behind "[time] ", with something in front of the time. It is -1 if there
// is none.
func requestQuote(body []byte) int {
	for from := 0; ; {
		q := bytes.IndexByte(body[from:], '"')
		if q < 0 {
			return -1
		}
		q += from
		from = q + 1
		if q < 4 || body[q-1] != ' ' || body[q-2] != ']' {
			continue
		}
		t := bytes.LastIndexByte(body[:q-2], '[')
		if t >= 2 && body[t-1] == ' ' && t+1 < q-2 {
			return from
		}
	}
}

// requestEnd returns the offset of the quote that closes the request which
// starts at from: the first one followed by a status that is not escaped. An old
// log may hold raw quotes, and a backslash that escapes nothing: if no quote
// will do, an escaped one does. It is -1 if there is none at all.
func requestEnd(body []byte, from int, backslash bool) int {
	escaped := -1
	for i := from; ; i++ {
		n := bytes.IndexByte(body[i:], '"')
		if n < 0 {
			return escaped
		}
		i += n
		if !isStatus(body[i+1:]) {
			continue
		}
		if !backslash || !isEscaped(body[from:i]) {
			return i
		}
		if escaped < 0 {
			escaped = i
		}
	}
}

// isStatus reports whether s is a space, three digits or '-', and then a space
// or nothing.
func isStatus(s []byte) bool {
	if len(s) < 2 || s[0] != ' ' {
		return false
	}
	n := 2
	if s[1] != '-' {
		if len(s) < 4 || !isDigit(s[1]) || !isDigit(s[2]) || !isDigit(s[3]) {
			return false
		}
		n = 4
	}
	return len(s) == n || s[n] == ' '
}

func isDigit(c byte) bool { return c-'0' < 10 }

// isEscaped reports whether what follows before is escaped: before ends in an
// odd number of backslashes.
func isEscaped(before []byte) bool {
	n := len(before)
	for n > 0 && before[n-1] == '\\' {
		n--
	}
	return (len(before)-n)&1 == 1
}

// refererSpan returns the inside of the first quoted field behind from. It ends
// at the first quote that is not escaped and is followed by another quoted
// field; failing that, at the last quote of the record.
func refererSpan(body []byte, from int, backslash bool) span {
	n := bytes.Index(body[from:], []byte(` "`))
	if n < 0 {
		return span{}
	}
	start := from + n + 2
	for i := start; ; i++ {
		n := bytes.IndexByte(body[i:], '"')
		if n < 0 {
			break
		}
		i += n
		rest := body[i+1:]
		if (len(rest) == 0 || len(rest) > 1 && rest[0] == ' ' && rest[1] == '"') && !(backslash && isEscaped(body[start:i])) {
			return span{start, i}
		}
	}
	return span{start, max(start, bytes.LastIndexByte(body, '"'))}
}

// addReferer adds the referer, unless it says that there was none.
func (f *found) addReferer(body []byte, s span, e encoding) {
	if t := s.in(body); len(t) > 1 || len(t) == 1 && t[0] != '-' {
		f.add(s, roleReferer, e)
	}
}
