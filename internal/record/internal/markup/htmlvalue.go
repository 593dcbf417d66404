package markup

import (
	"bytes"
	"html"
	"unicode/utf8"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// This file decodes the values of attributes and finds the URLs in them.

// htmlDialect decodes character references of attributes in UTF-8
// (https://html.spec.whatwg.org/#character-reference-state).
var htmlDialect = &locate.Dialect{Mark: '&', Decode: decodeReference}

// decodeReference appends the characters that the reference at the start of s
// stands for, or '&' if there is none.
func decodeReference(dst, s []byte) ([]byte, int) {
	if len(s) > 1 && s[1] == '#' {
		return decodeNumber(dst, s)
	}
	end := 1
	for end < len(s) && end <= locate.MaxReference && locate.IsAlnum(s[end]) {
		end++
	}
	name := s[1:end]
	if end < len(s) && s[end] == ';' {
		end++
		name = s[1:end]
	} else if end < len(s) && s[end] == '=' {
		return append(dst, '&'), 1 // "&copy=" is a parameter
	}
	if len(name) == 0 || end > locate.MaxReference {
		return append(dst, '&'), 1
	}
	switch string(bytes.TrimSuffix(name, []byte(";"))) {
	case "amp":
		return append(dst, '&'), end
	case "lt":
		return append(dst, '<'), end
	case "gt":
		return append(dst, '>'), end
	case "quot":
		return append(dst, '"'), end
	}
	if text := namedReference(string(s[:end])); text != "" {
		return append(dst, text...), end
	}
	return append(dst, '&'), 1
}

// namedReference returns the characters that ref, such as "&eacute;", stands
// for, or "" if it is not a reference as a whole. Package html replaces
// references without a semicolon in front of other letters too, which the
// standard does not do in attributes. Such a result ends with these letters.
func namedReference(ref string) string {
	text := html.UnescapeString(ref)
	last := ref[len(ref)-1]
	switch {
	case ref == "&semi;":
		return ";"
	case last == ';' && text[len(text)-1] == ';':
		return ""
	case last != ';' && utf8.RuneCountInString(text) != 1: // every reference without a semicolon is one character
		return ""
	}
	return text
}

// decodeNumber is decodeReference for "&#233;" and "&#xE9;"
// (https://html.spec.whatwg.org/#numeric-character-reference-end-state).
func decodeNumber(dst, s []byte) ([]byte, int) {
	i, base := 2, rune(10)
	if i < len(s) && s[i]|0x20 == 'x' {
		i, base = i+1, 16
	}
	start, r := i, rune(0)
	for ; i < len(s) && rune(locate.Unhex[s[i]]) < base; i++ {
		r = min(r*base+rune(locate.Unhex[s[i]]), utf8.MaxRune+1)
	}
	if i == start {
		return append(dst, '&'), 1
	}
	if i < len(s) && s[i] == ';' {
		i++
	}
	switch {
	case r == 0 || r > utf8.MaxRune || r >= 0xD800 && r < 0xE000:
		r = utf8.RuneError
	case r >= 0x80 && r < 0xA0:
		if c := numericC1[r-0x80]; c != 0 {
			r = c
		}
	}
	return utf8.AppendRune(dst, r), i
}

// numericC1 maps the references from 0x80 on, which are those of windows-1252,
// to characters. 0 stands for the character of that number.
var numericC1 = [32]rune{
	0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017D, 0,
	0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E, 0x0178,
}

// charsetDecoder decodes the values of attributes in a legacy encoding. Like a
// browser, it keeps queries in that encoding, with escapes
// (https://url.spec.whatwg.org/#query-state).
type charsetDecoder struct {
	charset     locate.Charset
	char, query []byte
}

// decode implements Dialect.text.
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
			d.char, n = decodeReference(d.char[:0], raw[i:])
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
	for _, c := range text {
		if c >= utf8.RuneSelf {
			dst = append(dst, '%', locate.UpperHex[c>>4], locate.UpperHex[c&15])
		} else {
			dst = append(dst, c)
		}
	}
	return dst
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

// charsetLabel returns the label in a content type, such as "text/html;
// charset=koi8-r"
// (https://html.spec.whatwg.org/#algorithm-for-extracting-a-character-encoding-from-a-meta-element).
func charsetLabel(content []byte) []byte {
	for i := 0; i+len("charset") <= len(content); i++ {
		if !locate.EqualLower(content[i:i+len("charset")], "charset") {
			continue
		}
		rest := content[i+len("charset"):]
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
// to a fragment of its own document, or holds code, data or an address instead
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
