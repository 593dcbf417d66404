package record

import "bytes"

// canKeep implements [keeper]. A copyKey knows only the origin of the job, not that
// of a virtual host.
func (l *logReader) canKeep(j *Job) bool {
	if l.format.vhost {
		return l.request && !l.referer && !j.id.on
	}
	return l.request && !l.referer && j.originKept()
}

// keep implements [keeper].
func (l *logReader) keep(n *normalizer, in, _ []byte) int {
	size := bytes.IndexByte(in, '\n') + 1
	target, request := cleanRequest(in[:size])
	if request.end == 0 || l.format.vhost && !l.keepsHost(n, in[:request.start]) {
		return 0
	}
	kept := n.keepsTarget(in[target.start:target.end:len(in)])
	if n.tells {
		if markLen(in) > 0 {
			return 0 // it may not belong to the first field
		}
		l.tell(n.found, in[:size], request, target.start-len(" "))
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

// cleanRequest returns the ranges of the target and of the request of a record. The
// record has a time and a request of the usual form, which logReader finds as well, but
// the target may have escapes. The ranges are empty if that is not so.
func cleanRequest(rec []byte) (target, request span) {
	const (
		stamp   = len(`[02/Nov/2026:06:25:15 +0100] "`)
		version = len(` HTTP/1.1`)
	)
	open := bytes.IndexByte(rec, '"') + 1
	if open < stamp+len("h ") {
		return span{}, span{}
	}
	head := rec[:open]
	if t := open - stamp; head[t] != '[' || head[t-1] != ' ' || head[open-2] != ' ' || head[open-3] != ']' ||
		bytes.IndexByte(head[t+1:], '[') >= 0 {
		return span{}, span{}
	}
	start := open + methodLen(rec[open:])
	n := bytes.IndexByte(rec[start:], '"')
	if n <= version || start == open {
		return span{}, span{}
	}
	closing := start + n
	end := closing - version
	if string(rec[end:closing-1]) != " HTTP/1." || !isDigit(rec[closing-1]) || !isStatus(rec[closing+1:]) {
		return span{}, span{}
	}
	return span{start, end}, span{open, closing}
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
