package codec

import (
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/percent"
)

// A QueryEncoding encodes the characters of queries in a legacy encoding, as
// browsers do with the links of a page in that encoding. It must be safe for
// concurrent use.
type QueryEncoding interface {
	// AppendQuery appends text, which is valid UTF-8, in the encoding. It
	// replaces each character that the encoding lacks with "%26%23", the
	// character's number in decimal, and "%3B"
	// (https://url.spec.whatwg.org/#string-percent-encode-after-encoding). It
	// leaves ASCII from 0x20 to 0x7E unchanged. It must not keep a reference to
	// text.
	AppendQuery(dst, text []byte) []byte
}

// WithQueryEncoding makes the WHATWG parser encode the characters of queries in
// an encoding other than UTF-8. By the standard this applies only to the
// schemes http, https, ftp and file. Bytes that are not valid UTF-8 are escaped
// as they are. The profile's Standard must be WHATWG. Bases are parsed with
// UTF-8, so resolve against a base in normal form. A nil QueryEncoding means
// UTF-8, the default.
func WithQueryEncoding(e QueryEncoding) Option {
	return func(n *Normalizer) error {
		n.queries = e
		return nil
	}
}

// encodedQuery writes the query p.in[p.i:end] in the encoding.
func (p *parser) encodedQuery(end int, esc percent.EscapeRules) {
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

// validUTF8 returns the length of the longest prefix of b that is valid UTF-8.
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
