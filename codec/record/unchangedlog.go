package record

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/internal/scan"
)

// canKeep implements [keeper]. A copyKey knows only the origin of the job, not that
// of a virtual host.
func (l *logReader) canKeep(j *Job) bool {
	if l.format.vhost {
		return l.request && !l.referer && !j.id.on
	}
	return l.request && !l.referer && j.originKept()
}

// marks implements [keeper]. Without vectors, cleanRequest is faster.
func (l *logReader) marks() *scan.Block {
	if !scan.HasVectors() {
		return nil
	}
	return scan.NewBlock(func(c byte) bool { return c == '"' || c == '[' || c == '\n' }, '"')
}

// keep implements [keeper].
func (l *logReader) keep(n *normalizer, pos, limit int, _ []byte) int {
	size := n.walk.line(pos, limit)
	rec := n.walk.block[pos : pos+size : limit]
	target, request := span{}, span{}
	switch {
	case size == 0:
		return 0
	case n.walk.marks != nil:
		target, request = n.walk.request()
	default:
		target, request = cleanRequest(rec)
	}
	if request.end == 0 || l.format.vhost && !l.keepsHost(n, rec[:request.start]) {
		return 0
	}
	kept := n.keepsTarget(rec[target.start:target.end:cap(rec)])
	if n.tells {
		if markLen(rec) > 0 {
			return 0 // it may not belong to the first field
		}
		l.tell(n.found, rec, request, target.start-len(" "))
	}
	if !kept {
		n.missed = missed{site{span: target, role: roleTarget, dialect: l.dialect}, size}
		return 0
	}
	return size
}

// keepsHost reports whether head, the part of a record before the request, begins with the
// virtual host of the last record.
func (l *logReader) keepsHost(n *normalizer, head []byte) bool {
	size := vhostLen(head)
	return size > 0 && n.keepsHost(head[:size])
}

// clfStamp is the length of the text from the time of a record to the quote before its request.
const clfStamp = len(`[02/Nov/2026:06:25:15 +0100] "`)

// request is cleanRequest for the current line, whose quotes and '[' are marked.
func (b *walk) request() (target, request span) {
	text, bracket := b.text, -1
	k, w := b.marks.Class.From(b.start)
	open, k, w := b.marks.Class.Step(k, w)
	for open < b.end && text[open] == '[' { // the client can have some, too
		bracket = open
		open, k, w = b.marks.Class.Step(k, w)
	}
	if open >= b.end || bracket != open+1-clfStamp || bracket < b.start+len("h ") ||
		text[bracket-1] != ' ' || text[open-1] != ' ' || text[open-2] != ']' {
		return span{}, span{}
	}
	closing, k, w := b.marks.Class.Step(k, w)
	for closing < b.end && text[closing] == '[' {
		closing, k, w = b.marks.Class.Step(k, w)
	}
	if closing >= b.end {
		return span{}, span{}
	}
	return usualTarget(text[b.start:b.end+1], span{open + 1 - b.start, closing - b.start})
}

// cleanRequest returns the ranges of the target and of the request of a record. The
// record has a time and a request of the usual form, which logReader finds as well, but
// the target may have escapes. The ranges are empty if that is not so.
func cleanRequest(rec []byte) (target, request span) {
	open := bytes.IndexByte(rec, '"') + 1
	if open < clfStamp+len("h ") {
		return span{}, span{}
	}
	head := rec[:open]
	if t := open - clfStamp; head[t] != '[' || head[t-1] != ' ' || head[open-2] != ' ' || head[open-3] != ']' ||
		bytes.IndexByte(head[t+1:], '[') >= 0 {
		return span{}, span{}
	}
	n := bytes.IndexByte(rec[open:], '"')
	if n < 0 {
		return span{}, span{}
	}
	return usualTarget(rec, span{open, open + n})
}

// usualTarget returns the range of the target of a request of the usual form, and that of
// the request. The ranges are empty if its form or that of the status after it is another.
func usualTarget(rec []byte, request span) (target, _ span) {
	line := request.in(rec)
	start, end := methodLen(line), len(line)-len(" HTTP/1.1")
	if start == 0 || end <= start || string(line[end:len(line)-1]) != " HTTP/1." || !isDigit(line[len(line)-1]) || !isStatus(rec[request.end+1:]) {
		return span{}, span{}
	}
	return span{request.start + start, request.start + end}, request
}

// methodLen returns the length of the method and the space with which a request
// begins, if it is a common one, or 0.
func methodLen(request []byte) int {
	for _, m := range [...]string{"GET ", "POST ", "HEAD "} {
		if len(request) >= len(m) && string(request[:len(m)]) == m {
			return len(m)
		}
	}
	return 0
}
