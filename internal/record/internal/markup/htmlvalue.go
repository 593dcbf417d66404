package markup

import (
	"bytes"
	"unicode/utf8"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// This file decodes the values of attributes and finds the URLs in them.

// htmlDialect decodes character references of attributes in UTF-8
// (https://html.spec.whatwg.org/#character-reference-state).
var htmlDialect = &locate.Dialect{Mark: '&', Decode: locate.DecodeReference}

// charsetDecoder decodes the values of attributes in a legacy encoding. Like a
// browser, it keeps queries in that encoding, with escapes
// (https://url.spec.whatwg.org/#query-state).
type charsetDecoder struct {
	charset     locate.Charset
	char, query []byte
}

// decode implements Dialect.Text.
func (d *charsetDecoder) decode(dst, raw []byte, runs []locate.Run) ([]byte, []locate.Run, bool) {
	if !needsDecoding(raw) {
		return raw, runs[:0], false
	}
	dst, runs = dst[:0], append(runs[:0], locate.Run{Text: 0, Raw: 0, Step: 1})
	inQuery := false
	for i := 0; i < len(raw); {
		c := raw[i]
		if c < utf8.RuneSelf && c != '&' {
			inQuery = c == '?' || inQuery && c != '#'
			dst = append(dst, c)
			i++
			continue
		}
		at, n := len(dst), 0
		if c == '&' {
			d.char, n = locate.DecodeReference(d.char[:0], raw[i:])
		} else {
			d.char, n = d.charset.AppendChar(d.char[:0], raw[i:])
		}
		if inQuery && d.char[0] >= utf8.RuneSelf {
			d.query = d.charset.AppendQuery(d.query[:0], d.char)
			dst = appendEscaped(dst, d.query)
		} else {
			dst = append(dst, d.char...)
		}
		runs = append(runs, locate.Run{Text: at, Raw: i, Step: 0})
		i += n
		runs = append(runs, locate.Run{Text: len(dst), Raw: i, Step: 1})
	}
	return dst, runs, true
}

// needsDecoding reports whether raw has bytes beyond ASCII or references.
func needsDecoding(raw []byte) bool {
	for _, c := range raw {
		if c >= utf8.RuneSelf || c == '&' {
			return true
		}
	}
	return false
}

// appendEscaped appends text with bytes beyond ASCII percent-encoded.
func appendEscaped(dst, text []byte) []byte {
	return locate.AppendPercent(dst, text, func(c byte) bool { return c >= utf8.RuneSelf })
}

// SrcsetNext returns the range of the first URL in text at or after pos, and
// the offset after its candidate, which ends with a comma
// (https://html.spec.whatwg.org/#parse-a-srcset-attribute).
func SrcsetNext(text []byte, pos int) (url locate.Span, next int, ok bool) {
	for pos < len(text) && (locate.IsHTMLSpace[text[pos]] || text[pos] == ',') {
		pos++
	}
	if pos == len(text) {
		return url, pos, false
	}
	url = locate.Between(pos, pos)
	for url.End < len(text) && !locate.IsHTMLSpace[text[url.End]] {
		url.End++
	}
	if next = url.End; text[next-1] == ',' {
		for text[url.End-1] == ',' {
			url.End--
		}
		return url, next, true
	}
	for parens := false; next < len(text); next++ {
		switch c := text[next]; {
		case c == '(':
			parens = true
		case c == ')':
			parens = false
		case c == ',' && !parens:
			return url, next + 1, true
		}
	}
	return url, next, true
}

// wordNext returns the range of the first word in text at or after pos, for
// attributes that list URLs between spaces.
func wordNext(text []byte, pos int) (url locate.Span, next int, ok bool) {
	pos = locate.SkipSpace(text, pos)
	url = locate.Between(pos, pos)
	for url.End < len(text) && !locate.IsHTMLSpace[text[url.End]] {
		url.End++
	}
	return url, url.End, url.End > pos
}

// cssNext returns the range of the URL in text, which may be written as in CSS:
// url('a.png').
func cssNext(text []byte, pos int) (url locate.Span, next int, ok bool) {
	url = locate.Trim(text)
	if t := url.In(text); len(t) > len("url()") && locate.EqualLower(t[:4], "url(") && t[len(t)-1] == ')' {
		url.Start, url.End = url.Start+len("url("), url.End-len(")")
		if t = url.In(text); len(t) > 1 && t[0] == t[len(t)-1] && (t[0] == '"' || t[0] == '\'') {
			url.Start, url.End = url.Start+1, url.End-1
		}
	}
	return url, len(text) + 1, pos == 0
}

// RefreshURL returns the range of the URL in the content of a meta element with
// http-equiv="refresh", such as "5; url='/a'"
// (https://html.spec.whatwg.org/#shared-declarative-refresh-steps).
func RefreshURL(text []byte) (url locate.Span, ok bool) {
	i := locate.SkipSpace(text, 0)
	digits := i
	for i < len(text) && locate.IsDigit(text[i]) {
		i++
	}
	if i == digits && (i == len(text) || text[i] != '.') {
		return url, false
	}
	for i < len(text) && (locate.IsDigit(text[i]) || text[i] == '.') {
		i++
	}
	if i == len(text) || text[i] != ';' && text[i] != ',' && !locate.IsHTMLSpace[text[i]] {
		return url, false
	}
	i = locate.SkipSpace(text, i)
	if i < len(text) && (text[i] == ';' || text[i] == ',') {
		i = locate.SkipSpace(text, i+1)
	}
	if i == len(text) {
		return url, false
	}
	url = locate.Between(i, len(text))
	if text[i]|0x20 == 'u' {
		if len(text)-i < 3 || !locate.EqualLower(text[i:i+3], "url") {
			return url, true
		}
		if i = locate.SkipSpace(text, i+3); i == len(text) || text[i] != '=' {
			return url, true
		}
		i = locate.SkipSpace(text, i+1)
	}
	url.Start = i
	if i < len(text) && (text[i] == '"' || text[i] == '\'') {
		url.Start++
		if n := bytes.IndexByte(text[url.Start:], text[i]); n >= 0 {
			url.End = url.Start + n
		}
	}
	return url, true
}

// parameter returns the value of the parameter called name, such as charset, in
// a content type, such as "text/html; charset=koi8-r"
// (https://html.spec.whatwg.org/#algorithm-for-extracting-a-character-encoding-from-a-meta-element).
func parameter(content []byte, name string) []byte {
	for i := 0; i+len(name) <= len(content); i++ {
		if !locate.EqualLower(content[i:i+len(name)], name) {
			continue
		}
		rest := content[i+len(name):]
		rest = rest[locate.SkipSpace(rest, 0):]
		if len(rest) == 0 || rest[0] != '=' {
			continue
		}
		rest = rest[1:]
		rest = rest[locate.SkipSpace(rest, 0):]
		if len(rest) > 0 && (rest[0] == '"' || rest[0] == '\'') {
			if n := bytes.IndexByte(rest[1:], rest[0]); n >= 0 {
				return rest[1 : 1+n]
			}
			return nil
		}
		end := 0
		for end < len(rest) && !locate.IsHTMLSpace[rest[end]] && rest[end] != ';' {
			end++
		}
		return rest[:end]
	}
	return nil
}

// IsSkipped reports whether a link is not a URL to follow: it is empty, leads
// to a fragment of the same document, or holds code, data or an address instead
// of the address of a resource. Like a browser, it ignores white space and
// controls in front, and tabs and line ends everywhere.
func IsSkipped(text []byte) bool {
	for len(text) > 0 && text[0] <= ' ' {
		text = text[1:]
	}
	if len(text) == 0 || text[0] == '#' {
		return true
	}
	var scheme [16]byte
	n := 0
	for _, c := range text {
		switch {
		case c == '\t' || c == '\n' || c == '\r':
			continue
		case c == ':':
			for _, s := range skippedSchemes {
				if locate.EqualLower(scheme[:n], s) {
					return true
				}
			}
			return false
		case n == len(scheme) || !locate.IsLetter(c):
			return false
		}
		scheme[n] = c
		n++
	}
	return false
}

// skippedSchemes are the schemes of links that lead to no resource.
var skippedSchemes = [...]string{"javascript", "vbscript", "data", "blob", "about", "cid", "mailto", "tel", "sms"}
