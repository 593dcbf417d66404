package codec

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/urlfold/urlfold/codec/percent"
)

// This file groups paths by their shape: /user/17 and /user/42 are one page of a
// program, /user/{int}.
//
// Classes are told from the bytes of one segment as they stand in a normal form,
// without a dictionary and without counting, so that a path has the same
// template on every machine and on every day. A segment with an escape is
// literal. No normal form has a brace raw in its path, so a template cannot be
// mistaken for a path, and the template of a template is itself.

// A segmentClass is what a segment of a path is, by its shape.
type segmentClass uint8

// The classes, in the order in which they are tried.
const (
	literalSegment segmentClass = iota
	intSegment                  // digits only, any number: so 20261121 is no date
	uuidSegment                 // 8-4-4-4-12 hex digits, RFC 9562 §4
	hexSegment                  // 16 hex digits or more, in either case
	dateSegment                 // a day of the calendar as YYYY-MM-DD, RFC 3339 §5.6
	tokenSegment                // random text, see isToken
	anySegment                  // anything but nothing; user templates only
)

var segmentNames = [...]string{
	intSegment: "int", uuidSegment: "uuid", hexSegment: "hex", dateSegment: "date", tokenSegment: "token",
}

// is reports whether segment, which is not empty, can be taken for one of the
// class. A segment can be of several.
func (c segmentClass) is(segment []byte) bool {
	switch c {
	case intSegment:
		return isInt(segment)
	case uuidSegment:
		return isUUID(segment)
	case hexSegment:
		return isLongHex(segment)
	case dateSegment:
		return isDate(segment)
	case tokenSegment:
		return isToken(segment)
	}
	return c == anySegment
}

// classOf returns the first class that segment can be taken for.
func classOf(segment []byte) segmentClass {
	if len(segment) == 0 {
		return literalSegment
	}
	for c := intSegment; c <= tokenSegment; c++ {
		if c.is(segment) {
			return c
		}
	}
	return literalSegment
}

// AppendTemplate appends the template of a path in normal form: each segment that
// is a number, a UUID, a long hex string, a date or a random token becomes
// {int}, {uuid}, {hex}, {date} or {token}; the others stay, and so do all
// slashes.
//
//	/user/17/orders/2026-11-21   becomes   /user/{int}/orders/{date}
//
// The classes are tried in that order. A number is digits only, of any length
// (20261121 is one). Hex is 16 hex digits or more, so that words stay. A token is
// base64url (RFC 4648 §5) of 22 characters or more (128 bits), with '=' behind it
// or not, that has a digit, a lower-case letter, and an upper-case letter right
// behind a lower-case letter or a digit: slugs and titles have not.
func AppendTemplate(dst, path []byte) []byte {
	for {
		end := segmentEnd(path)
		if c := classOf(path[:end]); c != literalSegment {
			dst = append(append(append(dst, '{'), segmentNames[c]...), '}')
		} else {
			dst = append(dst, path[:end]...)
		}
		if end == len(path) {
			return dst
		}
		dst = append(dst, '/')
		path = path[end+1:]
	}
}

// segmentEnd returns the length of the first segment of path.
func segmentEnd(path []byte) int {
	if i := bytes.IndexByte(path, '/'); i >= 0 {
		return i
	}
	return len(path)
}

func isInt(segment []byte) bool {
	for _, c := range segment {
		if !isDigit(c) {
			return false
		}
	}
	return true
}

func isLongHex(segment []byte) bool {
	for _, c := range segment {
		if !percent.IsHex(c) {
			return false
		}
	}
	return len(segment) >= 16
}

func isUUID(segment []byte) bool {
	if len(segment) != len("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx") {
		return false
	}
	for i, c := range segment {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (c == '-') || !dash && !percent.IsHex(c) {
			return false
		}
	}
	return true
}

// isDate reports whether segment is a full-date of RFC 3339 §5.6, and the day
// one that there is in the Gregorian calendar.
func isDate(segment []byte) bool {
	if len(segment) != len("2026-11-21") {
		return false
	}
	var parts [3]int
	part := 0
	for i, c := range segment {
		switch {
		case i == 4 || i == 7:
			if c != '-' {
				return false
			}
			part++
		case isDigit(c):
			parts[part] = 10*parts[part] + int(c-'0')
		default:
			return false
		}
	}
	year, month, day := parts[0], parts[1], parts[2]
	return 1 <= month && month <= 12 && 1 <= day && day <= daysIn(year, month)
}

// daysIn returns the length of a month in days.
func daysIn(year, month int) int {
	switch month {
	case 2:
		return 28 + b2i(year%4 == 0 && (year%100 != 0 || year%400 == 0))
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// isToken reports whether segment looks like random bytes in base64url. Of 22
// random characters some 97 in 100 pass: the others lack a digit.
func isToken(segment []byte) bool {
	for range 2 { // RFC 4648 §3.2: padding
		segment = bytes.TrimSuffix(segment, padding)
	}
	var hasDigit, hasLower, inner bool
	for i, c := range segment {
		switch {
		case isDigit(c):
			hasDigit = true
		case isUpper(c):
			inner = inner || i > 0 && (isDigit(segment[i-1]) || isLower(segment[i-1]))
		case isLower(c):
			hasLower = true
		case c != '-' && c != '_':
			return false
		}
	}
	return len(segment) >= 22 && hasDigit && hasLower && inner
}

var padding = []byte("=")

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }

// Templates are path templates of a user, ready for use. They are immutable and
// may be used by any number of goroutines at once. A nil *Templates and the zero
// Templates hold none.
type Templates struct{ list []template }

// A template is one of them: the text after the first slash, cut at slashes.
type template struct {
	text     string
	segments []templateSegment
}

type templateSegment struct {
	class   segmentClass
	literal string // of a literalSegment
}

// texts returns the templates as they were given, in their order.
func (ts *Templates) texts() []string {
	if ts == nil {
		return nil
	}
	texts := make([]string, len(ts.list))
	for i := range ts.list {
		texts[i] = ts.list[i].text
	}
	return texts
}

// CompileTemplates makes templates ready for use. Each begins with '/' and is
// cut into segments at '/'; a segment is either {name} or literal. {int},
// {uuid}, {hex}, {date} and {token} stand for a segment of the class that
// [AppendTemplate] tells by that name (one that is of several classes fits each
// of them), any other name for any segment that is not empty. Names are of a-z,
// 0-9 and '_'. Literals stand as they do in the path of a normal form.
//
// The error tells all mistakes: it joins a *TemplateError for each.
func CompileTemplates(texts []string) (*Templates, error) {
	ts := &Templates{list: make([]template, 0, len(texts))}
	var errs []error
	for i, text := range texts {
		t, at, reason := compileTemplate(text)
		for j, earlier := range texts[:i] {
			if reason == "" && earlier == text {
				at, reason = 0, "is template "+strconv.Itoa(j)+" again"
			}
		}
		if reason != "" {
			errs = append(errs, &TemplateError{Index: i, At: at, Reason: reason})
		}
		ts.list = append(ts.list, t)
	}
	if errs != nil {
		return nil, errors.Join(errs...)
	}
	return ts, nil
}

// A TemplateError says why CompileTemplates refused a template.
type TemplateError struct {
	Index  int    // which one, from 0
	At     int    // the byte offset in it
	Reason string // without the text of the template
}

// Error returns the place and the reason.
func (e *TemplateError) Error() string {
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

// checkLiteral refuses a literal that no path in normal form has: a template
// with it would never fit. The place is where it parts from its normal form.
func checkLiteral(s string) (at int, reason string) {
	if s == "." || s == ".." {
		return 0, "a normal form has no dot segment"
	}
	normal, _ := percent.AppendNormal(nil, []byte(s), syntax.escapes[Path])
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
// in normal form. If none fits, it appends what [AppendTemplate] does.
func (ts *Templates) Append(dst, path []byte) []byte {
	if ts != nil {
		for i := range ts.list {
			if t := &ts.list[i]; t.fits(path) {
				return append(dst, t.text...)
			}
		}
	}
	return AppendTemplate(dst, path)
}

func (t *template) fits(path []byte) bool {
	if !hasPrefix(path, '/') {
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
