package record

import (
	"bytes"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/params"
)

// This file is the fast path for rewriting access logs: most of their lines have
// a request with a target in normal form. It may only give up, and never decide
// otherwise than Append.

// setCopies sets j.copies. It comes after all other settings.
func (j *Job) setCopies() {
	l, ok := j.reader.(*logReader)
	if !ok || l.format.vhost || !l.request || l.referer || j.render != RenderRewrite || j.norm == nil {
		return
	}
	if j.where != nil || j.facts || j.id.on || j.filters || j.mends || j.redact || j.readsParams || j.template != nil {
		return
	}
	j.copies = j.level <= codec.K1 && j.originKept()
}

// originKept reports whether the scheme and authority of the targets are those of
// a URL that is its own normal form without any flag.
func (j *Job) originKept() bool {
	if j.origin == nil {
		return true // the placeholder
	}
	var r codec.Result
	src := append(bytes.Clone(j.origin), '/')
	norm, err := j.norm.Append(nil, src, &r)
	return err == nil && bytes.Equal(norm, src) && r.Flags.IsZero() && isWeb(r.In.Bytes(src, codec.Scheme))
}

// Unchanged reads the first record of in if Append would copy it without a change
// and the job needs nothing else of it. It counts the record in st as Append does,
// and returns its length, including its line end. Otherwise it returns 0, and the
// caller must call Append, which may find that the record does not change either.
func (w *Worker) Unchanged(in []byte, st *Stats) int {
	if !w.job.copies {
		return 0
	}
	return w.unchanged(in, st)
}

func (w *Worker) unchanged(in []byte, st *Stats) int {
	target, closing := cleanRequest(in)
	if closing == 0 {
		return 0
	}
	query, ok := w.job.norm.KeepsTarget(target, &w.n.res)
	if !ok || query != nil && params.EmptyPair(query) >= 0 {
		return 0
	}
	n := bytes.IndexByte(in[closing:], '\n') + 1
	if n == 0 || w.job.maxRecord > 0 && closing+n > w.job.maxRecord {
		return 0
	}
	st.Records++
	st.Emitted++
	st.URLs++
	return closing + n
}

// cleanRequest returns the target of the first record of in, and the offset of the
// quote after the request. The record has a time and a request of the usual form,
// which logReader finds as well. closing is 0 if that is not so.
func cleanRequest(in []byte) (target []byte, closing int) {
	const (
		stamp   = len(`[02/Nov/2026:06:25:15 +0100] "`)
		version = len(` HTTP/1.1`)
	)
	open := bytes.IndexByte(in, '"') + 1
	if open < stamp+len("h ") {
		return nil, 0
	}
	head := in[:open]
	if t := open - stamp; head[t] != '[' || head[t-1] != ' ' || head[open-2] != ' ' || head[open-3] != ']' ||
		bytes.IndexByte(head[t+1:], '[') >= 0 || bytes.IndexByte(head, '\n') >= 0 {
		return nil, 0
	}
	start := open + methodLen(in[open:])
	n := bytes.IndexByte(in[start:], '"')
	if n <= version || start == open {
		return nil, 0
	}
	closing = start + n
	end := closing - version
	if string(in[end:closing-1]) != " HTTP/1." || !isDigit(in[closing-1]) || !isStatus(in[closing+1:]) {
		return nil, 0
	}
	return in[start:end], closing
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
