package record

import (
	"bytes"

	"github.com/urlfold/urlfold/codec"
)

// stars stands where a password was. '*' is a sub-delim and may stand in
// userinfo (RFC 3986 §3.2.1).
const stars = "***"

// hide returns text with the password of the URL that it is replaced by stars:
// text itself if there is none, else scratch.
func (w *Worker) hide(text []byte) []byte {
	if bytes.IndexByte(text, '@') < 0 {
		return text
	}
	if err := codec.Parse(text, &w.scrub); err != nil {
		w.hidden = appendRedacted(w.hidden[:0], text)
		return w.hidden
	}
	p := w.scrub.In.Span(codec.Password)
	if !w.scrub.In.Has(codec.Password) {
		return text
	}
	w.hidden = append(append(w.hidden[:0], text[:p.Start]...), stars...)
	w.hidden = append(w.hidden, text[p.End:]...)
	return w.hidden
}

// appendRedacted appends src to dst, and stars for what looks like the password
// of a URL: in text that has no known structure, or has URLs beside the ones that
// were read, such as a user agent. It looks for "//", or "\/\/" as some JSON
// writers have it, then for the last '@' before the authority must end, then
// for the first ':' before that.
func appendRedacted(dst, src []byte) []byte {
	from := 0
	for pos := 0; ; {
		n := bytes.IndexByte(src[pos:], '/')
		if n < 0 {
			return append(dst, src[from:]...)
		}
		pos += n + 1
		switch {
		case pos < len(src) && src[pos] == '/':
			pos++
		case pos+1 < len(src) && src[pos] == '\\' && src[pos+1] == '/':
			pos += 2
		default:
			continue
		}
		authority := src[pos:authorityEnd(src, pos)]
		at := bytes.LastIndexByte(authority, '@')
		if at < 0 {
			continue
		}
		if colon := bytes.IndexByte(authority[:at], ':'); colon >= 0 {
			dst = append(append(dst, src[from:pos+colon+1]...), stars...)
			from = pos + at
		}
		pos += at
	}
}

// authorityEnd returns the offset of the first byte at or behind pos that must
// end an authority in raw text. An escaped quote does not.
func authorityEnd(b []byte, pos int) int {
	for i := pos; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"' && isEscaped(b[pos:i]):
		case c == '/' || c == '?' || c == '#' || c == '"' || c <= ' ':
			return i
		}
	}
	return len(b)
}

// redactTail hides the passwords in out[start:].
func (w *Worker) redactTail(out []byte, start int) []byte {
	w.hidden = append(w.hidden[:0], out[start:]...)
	return appendRedacted(out[:start], w.hidden)
}

// redactRecord returns rec, or the beginning of it, with its passwords hidden, in
// scratch. The URLs that were found in it are looked at without their escapes.
func (w *Worker) redactRecord(rec []byte) []byte {
	w.whole = w.whole[:0]
	from := 0
	for _, s := range w.found.sites[:w.found.n] {
		text, runs, escaped := s.enc.unescape(w.plainText, s.in(rec), w.plainRuns)
		w.plainRuns = runs
		if !escaped {
			continue
		}
		w.plainText = text
		if hidden := w.hide(text); !bytes.Equal(hidden, text) {
			w.whole = append(w.whole, rec[from:s.start]...)
			w.whole = s.enc.escape(w.whole, hidden, w.job.sep)
			from = s.end
		}
	}
	w.whole = append(w.whole, rec[from:]...)
	w.hidden = appendRedacted(w.hidden[:0], w.whole)
	return w.hidden
}
