package record

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/params"
)

// maskSecrets replaces the values of secret parameters in dst[start:], a query
// or a fragment, by stars. Names are compared form-decoded and without regard to
// ASCII case, as policies do.
func (w *Worker) maskSecrets(dst []byte, start int) []byte {
	if len(w.job.secrets) == 0 || bytes.IndexByte(dst[start:], '=') < 0 {
		return dst
	}
	w.masked = append(w.masked[:0], dst[start:]...)
	text, at := w.masked, 0
	dst = dst[:start]
	w.pairs = params.AppendPairs(w.pairs[:0], text, params.Ampersand)
	for _, p := range w.pairs {
		if !p.Eq || !w.isSecret(p.Name(text)) {
			continue
		}
		w.cur.masked = true
		dst = append(append(dst, text[at:p.NameEnd+1]...), stars...)
		at = int(p.End)
	}
	return append(dst, text[at:]...)
}

// isSecret reports whether the raw name of a parameter is one of the job's. A
// fragment may put a path in front: "#/login?token=x".
func (w *Worker) isSecret(raw []byte) bool {
	if i := bytes.LastIndexByte(raw, '?'); i >= 0 {
		raw = raw[i+1:]
	}
	w.name = params.AppendName(w.name[:0], raw)
	w.name = appendLower(w.name[:0], w.name)
	for _, s := range w.job.secrets {
		if bytes.Equal(w.name, s) {
			return true
		}
	}
	return false
}

// appendLower appends s with A to Z made small, and no other letter. dst may be
// the start of s.
func appendLower[T string | []byte](dst []byte, s T) []byte {
	for i := range len(s) {
		c := s[i]
		if c-'A' < 26 {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}
