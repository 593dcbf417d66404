package template

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/urlfold/urlfold/codec/percent"
)

// Templates are a compiled list of user-defined templates. It is immutable and safe
// for concurrent use. A nil *Templates and the zero Templates contain no templates.
type Templates struct{ list []template }

// A template is a compiled template: the text after the first slash, split at
// slashes.
type template struct {
	text     string
	segments []templateSegment
}

type templateSegment struct {
	class   segmentClass
	literal string // the text of a literalSegment
}

// Texts returns the source texts of the templates, in order.
func (ts *Templates) Texts() []string {
	if ts == nil {
		return nil
	}
	texts := make([]string, len(ts.list))
	for i := range ts.list {
		texts[i] = ts.list[i].text
	}
	return texts
}

// Compile compiles templates. A template starts with '/' and is split into
// segments at '/'. A segment is either a placeholder {name} or a literal.
// {int}, {uuid}, {hex}, {date} and {token} match a segment that fits the class
// which [Append] writes under that name; a segment that fits several classes
// matches each of them. Any other name matches any nonempty segment. Names
// consist of a-z, 0-9 and '_'. Literals must be written as in the path of a
// normal form.
//
// The error reports all mistakes: it joins one *Error for each.
func Compile(texts []string) (*Templates, error) {
	ts := &Templates{list: make([]template, 0, len(texts))}
	var errs []error
	for i, text := range texts {
		t, at, reason := compileTemplate(text)
		for j, earlier := range texts[:i] {
			if reason == "" && earlier == text {
				at, reason = 0, "duplicate of path template "+strconv.Itoa(j)
			}
		}
		if reason != "" {
			errs = append(errs, &Error{Index: i, At: at, Reason: reason})
		}
		ts.list = append(ts.list, t)
	}
	if errs != nil {
		return nil, errors.Join(errs...)
	}
	return ts, nil
}

// An Error reports why Compile rejected a template.
type Error struct {
	Index  int    // index of the template, from 0
	At     int    // byte offset in the template
	Reason string // what is wrong; does not contain the text of the template
}

// Error returns the index, the offset and the reason.
func (e *Error) Error() string {
	return "path template " + strconv.Itoa(e.Index) + ", byte " + strconv.Itoa(e.At) + ": " + e.Reason
}

// compileTemplate compiles text. If text is not a valid template, it returns a
// reason and an offset.
func compileTemplate(text string) (t template, at int, reason string) {
	if !strings.HasPrefix(text, "/") {
		return t, 0, "must begin with '/'"
	}
	t.text = text
	at = 1
	for s := range strings.SplitSeq(text[1:], "/") {
		segment, bad, reason := compileSegment(s)
		if reason != "" {
			return t, at + bad, reason
		}
		t.segments = append(t.segments, segment)
		at += len(s) + 1
	}
	return t, 0, ""
}

func compileSegment(s string) (segment templateSegment, at int, reason string) {
	brace := strings.IndexAny(s, "{}")
	if brace < 0 {
		at, reason = checkLiteral(s)
		return templateSegment{literal: s}, at, reason
	}
	switch end := strings.IndexByte(s, '}'); {
	case brace > 0:
		return segment, brace, "a placeholder must be a whole segment"
	case s[0] == '}':
		return segment, 0, "'}' without '{'"
	case end < 0:
		return segment, 0, "'{' without '}'"
	case end < len(s)-1:
		return segment, end + 1, "a placeholder must be a whole segment"
	}
	name := s[1 : len(s)-1]
	if name == "" {
		return segment, 1, "missing placeholder name: write {name}"
	}
	for i := range len(name) {
		if c := name[i]; !isLower(c) && !isDigit(c) && c != '_' {
			return segment, 1 + i, "invalid placeholder name: use a-z, 0-9 and '_'"
		}
	}
	return templateSegment{class: classNamed(name)}, 0, ""
}

// pathRules normalizes the escapes of a path (RFC 3986 §6.2.2).
var pathRules = percent.EscapeRules{Add: percent.RFC3986Path, Malformed: percent.MalformedEncode, Upper: true, Unreserved: true}

// checkLiteral returns a reason if s cannot occur in a normal form, so that a
// template with it would never match. at is the offset of the first difference
// from the normal form of s.
func checkLiteral(s string) (at int, reason string) {
	if s == "." || s == ".." {
		return 0, "dot segments never match: normal forms contain none"
	}
	normal, _ := percent.AppendNormal(nil, []byte(s), pathRules)
	if string(normal) == s {
		return 0, ""
	}
	for at < min(len(s), len(normal)) && normal[at] == s[at] {
		at++
	}
	return at, "never matches: write the literal as in a normal form"
}

// classNamed returns the class with the given name, or anySegment.
func classNamed(name string) segmentClass {
	for c := intSegment; c <= tokenSegment; c++ {
		if segmentNames[c] == name {
			return c
		}
	}
	return anySegment
}

// Append appends the first template that matches all of path, the path of a
// normal form, and returns the extended slice. If none matches, it appends what
// the function [Append] does.
func (ts *Templates) Append(dst, path []byte) []byte {
	if ts != nil {
		for i := range ts.list {
			if t := &ts.list[i]; t.fits(path) {
				return append(dst, t.text...)
			}
		}
	}
	return Append(dst, path)
}

func (t *template) fits(path []byte) bool {
	if len(path) == 0 || path[0] != '/' {
		return false
	}
	path = path[1:]
	for i, s := range t.segments {
		end := bytes.IndexByte(path, '/')
		if end < 0 {
			end = len(path)
		}
		if !s.fits(path[:end]) {
			return false
		}
		if end == len(path) {
			return i == len(t.segments)-1
		}
		path = path[end+1:]
	}
	return false
}

func (s templateSegment) fits(segment []byte) bool {
	if s.class == literalSegment {
		return string(segment) == s.literal
	}
	return len(segment) > 0 && s.class.is(segment)
}
