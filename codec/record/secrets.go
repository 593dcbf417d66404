package record

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/params"
)

// maskSecrets replaces the values of secret parameters in dst[start:], a query
// or fragment, by stars. It compares form-decoded names and ignores ASCII case,
// as policies do.
func (n *normalizer) maskSecrets(dst []byte, start int) []byte {
	if len(n.job.secrets) == 0 || bytes.IndexByte(dst[start:], '=') < 0 {
		return dst
	}
	n.masked = append(n.masked[:0], dst[start:]...)
	text, at := n.masked, 0
	dst = dst[:start]
	n.pairs = params.AppendPairs(n.pairs[:0], text)
	for _, p := range n.pairs {
		if !p.Eq || !n.isSecret(p.Name(text)) {
			continue
		}
		n.cur.masked = true
		dst = append(append(dst, text[at:p.NameEnd+1]...), stars...)
		at = int(p.End)
	}
	return append(dst, text[at:]...)
}

// isSecret reports whether the raw name of a parameter is one of the job's
// secrets. It ignores a path before the name, as in the fragment
// "#/login?token=x".
func (n *normalizer) isSecret(raw []byte) bool {
	if i := bytes.LastIndexByte(raw, '?'); i >= 0 {
		raw = raw[i+1:]
	}
	n.name = params.AppendName(n.name[:0], raw)
	n.name = appendLower(n.name[:0], n.name)
	for _, s := range n.job.secrets {
		if bytes.Equal(n.name, s) {
			return true
		}
	}
	return false
}

// appendLower appends s with ASCII letters in lower case. dst may be a prefix
// of s.
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
