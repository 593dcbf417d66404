package locate

import (
	"bytes"
	"html"
	"unicode/utf8"
)

// DecodeReference appends the characters that the reference at the start of s
// encodes, or '&' if s starts with no reference. It returns the number of bytes
// of s that it has decoded.
func DecodeReference(dst, s []byte) ([]byte, int) {
	if len(s) > 1 && s[1] == '#' {
		return decodeNumber(dst, s)
	}
	end := 1
	for end < len(s) && end <= MaxReference && IsAlnum(s[end]) {
		end++
	}
	name := s[1:end]
	if end < len(s) && s[end] == ';' {
		end++
		name = s[1:end]
	} else if end < len(s) && s[end] == '=' {
		return append(dst, '&'), 1 // "&copy=" is a parameter
	}
	if len(name) == 0 || end > MaxReference {
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

// namedReference returns the characters that ref, such as "&eacute;", encodes,
// or "" if it is not a reference as a whole. Package html replaces references
// without a semicolon in front of other letters too, which the standard does
// not do in attributes. The result then ends with these letters.
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

// decodeNumber is DecodeReference for "&#233;" and "&#xE9;"
// (https://html.spec.whatwg.org/#numeric-character-reference-end-state).
func decodeNumber(dst, s []byte) ([]byte, int) {
	i, base := 2, rune(10)
	if i < len(s) && s[i]|0x20 == 'x' {
		i, base = i+1, 16
	}
	start, r := i, rune(0)
	for ; i < len(s) && rune(Unhex[s[i]]) < base; i++ {
		r = min(r*base+rune(Unhex[s[i]]), utf8.MaxRune+1)
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

// numericC1 maps the references &#x80; to &#x9F; to characters, as windows-1252
// does. If an entry is 0, the reference stands for its own code point.
var numericC1 = [32]rune{
	0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017D, 0,
	0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E, 0x0178,
}

// DecodeClosed is DecodeReference for references that end with a semicolon.
func DecodeClosed(dst, s []byte) ([]byte, int) {
	decoded, n := DecodeReference(dst, s)
	if s[n-1] != ';' {
		return append(dst, '&'), 1
	}
	return decoded, n
}

// EntityDialect decodes character references that end with a semicolon, and
// references that decoding produces, as in "&amp;amp;".
var EntityDialect = &Dialect{Mark: '&', Decode: decodeNested}

// decodeNested is the Decode of EntityDialect.
func decodeNested(dst, s []byte) ([]byte, int) {
	start, taken, ref := len(dst), 1, s
	var next [MaxReference]byte
	for {
		decoded, n := DecodeClosed(dst[:start], ref)
		if taken += n - 1; n == 1 || string(decoded[start:]) != "&" {
			return decoded, taken
		}
		dst, ref = decoded, append(append(next[:0], '&'), s[taken:min(len(s), taken+MaxReference-1)]...)
	}
}
