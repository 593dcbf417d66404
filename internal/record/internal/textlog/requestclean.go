package textlog

import (
	"bytes"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// clfStamp is the length of the text from the time of a record up to and
// including the quote before the request.
const clfStamp = len(`[02/Nov/2026:06:25:15 +0100] "`)

// CleanRequest returns the ranges of the target and of the request of a record
// whose time and request have the usual form. The target may have escapes. The
// ranges are the same as those of LogReader, or empty for records of other
// forms.
func CleanRequest(rec []byte) (target, request locate.Span) {
	open := bytes.IndexByte(rec, '"') + 1
	if open < clfStamp+len("h ") {
		return locate.Span{}, locate.Span{}
	}
	head := rec[:open]
	if t := open - clfStamp; head[t] != '[' || head[t-1] != ' ' || head[open-2] != ' ' || head[open-3] != ']' ||
		bytes.IndexByte(head[t+1:], '[') >= 0 {
		return locate.Span{}, locate.Span{}
	}
	n := bytes.IndexByte(rec[open:], '"')
	if n < 0 {
		return locate.Span{}, locate.Span{}
	}
	return usualTarget(rec, locate.Between(open, open+n))
}

// usualTarget returns the range of the target of a request of the usual form, and the
// range of the request. The ranges are empty if the request or the status behind it has
// another form.
func usualTarget(rec []byte, request locate.Span) (target, _ locate.Span) {
	line := request.In(rec)
	start, end := methodLen(line), len(line)-len(" HTTP/1.1")
	if start == 0 || end <= start || string(line[end:len(line)-1]) != " HTTP/1." || !locate.IsDigit(line[len(line)-1]) || !isStatus(rec[request.End+1:]) {
		return locate.Span{}, locate.Span{}
	}
	return locate.Between(request.Start+start, request.Start+end), request
}

// methodLen returns the length of the method and the space with which a request
// begins, if it is a common one, or 0.
func methodLen(request []byte) int {
	switch {
	case len(request) >= 4 && string(request[:4]) == "GET ":
		return 4
	case len(request) >= 5 && (string(request[:5]) == "POST " || string(request[:5]) == "HEAD "):
		return 5
	}
	return 0
}

// Tell sets the method of the request, which ends at methodEnd, and adds the
// attributes of the line.
func (l *LogReader) Tell(f *locate.Found, line []byte, request locate.Span, methodEnd int) {
	f.Attrs.Set = 0
	f.Method = locate.Between(request.Start, methodEnd)
	l.addAttrs(f, locate.TrimEnd(line), request.Start, request.End)
}
