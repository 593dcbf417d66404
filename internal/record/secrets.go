package record

import (
	"bytes"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/internal/ground/redact"
)

// This file masks the values of parameters that hold a secret, in URLs and in
// other text. A parameter can be anywhere: in the path (;token=x), in a query, in a
// fragment, or in a URL that is itself the value of a parameter, percent-encoded
// any number of times.

// place is the kind of the scanned text, which determines where a value ends.
type place uint8

const (
	inText  place = iota // text of unknown structure
	inPath               // a URL, before its query
	inQuery              // a query or a fragment
	inValue              // a decoded value of a parameter, where a secret extends to the end of the value
)

// placeOf maps components to their places.
var placeOf = [codec.Fragment + 1]place{codec.Username: inPath, codec.Path: inPath, codec.Query: inQuery, codec.Fragment: inQuery}

// endsValue has the characters that end a value, by place.
var endsValue = [...][256]bool{
	inText: setOf("&;\"'`<>\x00\t\n\v\f\r "), inPath: setOf("&;/?#"), inQuery: setOf("&#"), inValue: {},
}

// inName is the set of characters that change a name if they precede it: mytoken is not
// token, but a[token] is.
var inName = func() (t [256]bool) {
	t = setOf("abcdefghijklmnopqrstuvwxyz0123456789_-.$~")
	for c := 0x80; c < len(t); c++ {
		t[c] = true
	}
	return t
}()

func setOf(chars string) (t [256]bool) {
	for _, c := range []byte(chars) {
		t[c] = true
	}
	return t
}

// maxIndexes limits the indexes after a name, as in token[0][a], that named
// skips to find the name.
const maxIndexes = 8

// secrets masks the values of the named parameters. It compares form-decoded names
// and ignores ASCII case, as policies do.
type secrets struct {
	names   [][]byte // lower case
	longest int
	tail    []byte // the last characters read, decoded, in lower case

	nested []byte // scratch: text without the passwords of nested URLs
}

// set sets the names.
func (s *secrets) set(names [][]byte) {
	s.names = names
	for _, name := range names {
		s.longest = max(s.longest, len(name))
	}
}

// mask appends text with the passwords of nested URLs, and secret values, replaced
// by stars.
func (s *secrets) mask(dst, text []byte, where place) []byte {
	if mayNest(text) {
		s.nested = appendPasswords(s.nested[:0], text, where != inText)
		text = s.nested
	}
	if len(s.names) == 0 {
		return append(dst, text...)
	}
	return s.append(dst, text, where)
}

// append appends text with each secret value replaced by stars.
func (s *secrets) append(dst, text []byte, where place) []byte {
	s.tail = s.tail[:0]
	from := 0
	for i := 0; i < len(text); {
		c, n, depth := character(text[i:])
		if i += n; c == '=' && s.named(where) {
			dst = append(append(dst, text[from:i]...), stars...)
			i = valueEnd(text, i, depth, where)
			from = i
		} else if where == inPath && depth == 0 && (c == '?' || c == '#') {
			where = inQuery
		} else if where != inText && isTab(c) {
			continue // browsers remove these bytes from URLs
		}
		s.push(c)
	}
	return append(dst, text[from:]...)
}

// push adds a character to the tail.
func (s *secrets) push(c byte) {
	if most := s.longest + 256; len(s.tail) == 2*most {
		s.tail = append(s.tail[:0], s.tail[most:]...)
	}
	if c-'A' < 26 {
		c += 'a' - 'A'
	}
	s.tail = append(s.tail, c)
}

// named reports whether the tail ends with the name of a secret: as it is, as the
// index in a[token], or before indexes as in token[0].
func (s *secrets) named(where place) bool {
	t := s.tail
	for range maxIndexes {
		if s.endsWithName(t, where) {
			return true
		}
		if len(t) == 0 || t[len(t)-1] != ']' {
			return false
		}
		if s.endsWithName(t[:len(t)-1], where) {
			return true
		}
		t = t[:max(0, bytes.LastIndexByte(t, '['))]
	}
	return false
}

// endsWithName reports whether t ends with the name of a secret, and not with a longer
// name that only has the same end. A segment of a path, as /token=x, is no parameter.
func (s *secrets) endsWithName(t []byte, where place) bool {
	for _, name := range s.names {
		before, ok := bytes.CutSuffix(t, name)
		if !ok {
			continue
		}
		if len(before) == 0 {
			return true
		}
		if c := before[len(before)-1]; !inName[c] && (c != '/' || where == inText) {
			return true
		}
	}
	return false
}

// valueEnd returns the end of the value at i, after a '=' that was percent-encoded
// depth times: a character that was encoded more than depth times is a part of the
// value.
func valueEnd(text []byte, i, depth int, where place) int {
	for i < len(text) {
		c, n, d := character(text[i:])
		if d <= depth && endsValue[where][c] {
			return i
		}
		i += n
	}
	return i
}

// character is [redact.Character] of text, except that a '+' is a space, as in forms.
func character(text []byte) (c byte, n, depth int) {
	if text[0] == '+' {
		return ' ', 1, 0
	}
	return redact.Character(text)
}

// isSecret reports whether the raw name of a parameter is one of the secrets.
func (s *secrets) isSecret(raw []byte) bool {
	s.tail = params.AppendName(s.tail[:0], raw)
	s.tail = appendLower(s.tail[:0], s.tail)
	return s.named(inQuery)
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
