package codec

import (
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/percent"
)

// A QueryEncoding is a legacy encoding that the characters of queries are
// written in: what browsers do with the links of a page that is in one. It must
// be good for any number of goroutines at once.
type QueryEncoding interface {
	// AppendQuery appends text, which is UTF-8, in the encoding, and for each
	// character that the encoding lacks "%26%23", its number in decimal, and "%3B"
	// (https://url.spec.whatwg.org/#string-percent-encode-after-encoding). ASCII
	// from 20 to 7E stays as it is. Nothing of text is kept.
	AppendQuery(dst, text []byte) []byte
}

// WithQueryEncoding has the whatwg reading write the characters of queries in an
// encoding other than UTF-8. By the standard that is done for the schemes http,
// https, ftp and file only. Bytes that are not UTF-8 become escapes as they are.
// The profile must be of the whatwg reading. Bases are read with UTF-8: resolve
// against one in normal form. Nil is UTF-8, the default.
func WithQueryEncoding(e QueryEncoding) Option { return func(n *Normalizer) { n.queries = e } }

// encodedQuery writes the query, which goes from the pointer to end, in the
// encoding.
func (p *parser) encodedQuery(end int, esc percent.Rules) {
	s := &p.r.scratch
	s.query = s.query[:0]
	text := p.in[p.i:end]
	for len(text) > 0 {
		n := validUTF8(text)
		if n > 0 {
			s.query = p.queries.AppendQuery(s.query, text[:n])
		}
		for text = text[n:]; len(text) > 0 && validUTF8(text) == 0; text = text[1:] {
			s.query = append(s.query, text[0])
		}
	}
	p.rewrote(ruleCharset, Query, p.in[p.i:end], s.query)
	p.restAs(Query, '?', end, s.query, esc)
}

// validUTF8 returns the length of the longest prefix of b that is UTF-8.
func validUTF8(b []byte) int {
	i := 0
	for i < len(b) {
		if b[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		i += size
	}
	return i
}
