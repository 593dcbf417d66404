package template

import (
	"errors"
	"strconv"
	"strings"

	"github.com/urlfold/urlfold/codec/percent"
)

// A Set is path templates of a user, ready for use. It is immutable and may be
// used by any number of goroutines at once. A nil *Set and the zero Set hold none.
type Set struct{ list []template }

// A template is one of them: the text after the first slash, cut at slashes.
type template struct {
	text     string
	segments []templateSegment
}

type templateSegment struct {
	class   segmentClass
	literal string // of a literalSegment
}

// Texts returns the templates as they were given, in their order.
func (ts *Set) Texts() []string {
	if ts == nil {
		return nil
	}
	texts := make([]string, len(ts.list))
	for i := range ts.list {
		texts[i] = ts.list[i].text
	}
	return texts
}

// Compile makes templates ready for use. Each begins with '/' and is
// cut into segments at '/'; a segment is either {name} or literal. {int},
// {uuid}, {hex}, {date} and {token} stand for a segment of the class that
// [Append] writes by that name (one that is of several classes fits each
// of them), any other name for any segment that is not empty. Names are of a-z,
// 0-9 and '_'. Literals stand as they do in the path of a normal form.
//
// The error tells all mistakes: it joins a *Error for each.
func Compile(texts []string) (*Set, error) {
	ts := &Set{list: make([]template, 0, len(texts))}
	var errs []error
	for i, text := range texts {
		t, at, reason := compileTemplate(text)
		for j, earlier := range texts[:i] {
			if reason == "" && earlier == text {
				at, reason = 0, "is template "+strconv.Itoa(j)+" again"
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

// An Error says why Compile refused a template.
type Error struct {
	Index  int    // which one, from 0
	At     int    // the byte offset in it
	Reason string // without the text of the template
}

// Error returns the place and the reason.
func (e *Error) Error() string {
	return "path template " + strconv.Itoa(e.Index) + ", byte " + strconv.Itoa(e.At) + ": " + e.Reason
}

// compileTemplate returns a reason and its place if text is no template.
func compileTemplate(text string) (t template, at int, reason string) {
	if !strings.HasPrefix(text, "/") {
		return t, 0, "does not begin with '/'"
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
		return segment, brace, "a placeholder is a whole segment"
	case s[0] == '}':
		return segment, 0, "'}' without '{'"
	case end < 0:
		return segment, 0, "'{' without '}'"
	case end < len(s)-1:
		return segment, end + 1, "a placeholder is a whole segment"
	}
	name := s[1 : len(s)-1]
	if name == "" {
		return segment, 1, "a placeholder has a name"
	}
	for i := range len(name) {
		if c := name[i]; !isLower(c) && !isDigit(c) && c != '_' {
			return segment, 1 + i, "a name is of a-z, 0-9 and '_'"
		}
	}
	return templateSegment{class: classNamed(name)}, 0, ""
}

// pathRules normalize the escapes of a path (RFC 3986 §6.2.2).
var pathRules = percent.Rules{Add: percent.RFC3986Path, Malformed: percent.MalformedEncode, Upper: true, Unreserved: true}

// checkLiteral refuses a literal that no path in normal form has: a template
// with it would never fit. The place is where it parts from its normal form.
func checkLiteral(s string) (at int, reason string) {
	if s == "." || s == ".." {
		return 0, "a normal form has no dot segment"
	}
	normal, _ := percent.AppendNormal(nil, []byte(s), pathRules)
	if string(normal) == s {
		return 0, ""
	}
	for at < min(len(s), len(normal)) && normal[at] == s[at] {
		at++
	}
	return at, "does not stand like this in a normal form"
}

// classNamed returns the class of that name, or anySegment.
func classNamed(name string) segmentClass {
	for c := intSegment; c <= tokenSegment; c++ {
		if segmentNames[c] == name {
			return c
		}
	}
	return anySegment
}

// Append appends the first of the templates that fits the whole of path, which is
// in normal form. If none fits, it appends what the function [Append] does.
func (ts *Set) Append(dst, path []byte) []byte {
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
		end := segmentEnd(path)
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
