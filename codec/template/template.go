// Package template groups paths by their shape: /user/17 and /user/42 both have
// the template /user/{int}.
//
// The class of a segment depends only on its bytes in a normal form, not on a
// dictionary or on counts, so a path has the same template on every machine at
// any time. A segment with an escape is a literal. The path of a normal form
// contains no raw braces, so a template cannot be mistaken for a path, and the
// template of a template is the template itself.
package template

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/percent"
)

// A segmentClass is the class of a path segment, determined by its shape.
type segmentClass uint8

// The classes, in the order in which they are tried.
const (
	literalSegment segmentClass = iota
	intSegment                  // digits only, of any length: so 20261121 is not a date
	uuidSegment                 // 8-4-4-4-12 hex digits, RFC 9562 §4
	hexSegment                  // 16 hex digits or more, in either case
	dateSegment                 // a calendar day as YYYY-MM-DD, RFC 3339 §5.6
	tokenSegment                // random text: see isToken
	anySegment                  // any nonempty segment; user templates only
)

var segmentNames = [...]string{
	intSegment: "int", uuidSegment: "uuid", hexSegment: "hex", dateSegment: "date", tokenSegment: "token",
}

// is reports whether segment, which is not empty, fits the class. A segment can
// fit several classes.
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

// classOf returns the first class that segment fits.
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

// Append appends the template of path, the path of a normal form, and returns
// the extended slice. A segment that is a number, a UUID, a long hex string, a
// date or a random token becomes {int}, {uuid}, {hex}, {date} or {token}. Other
// segments and all slashes stay. dst and path must not overlap.
//
//	/user/17/orders/2026-11-21   becomes   /user/{int}/orders/{date}
//
// The classes are tried in that order. A number consists of digits only, of any
// length: 20261121 is a number. A hex string has at least 16 hex digits, so
// that words stay. A date is a valid calendar day as YYYY-MM-DD. A token is
// base64url (RFC 4648 §5) of at least 22 characters (128 bits), with or without
// trailing '=', that contains a digit, a lower-case letter, and an upper-case
// letter directly after a lower-case letter or a digit; slugs and titles do
// not.
func Append(dst, path []byte) []byte {
	copied := 0 // path[:copied] is in dst
	for start := 0; start < len(path); {
		i, seen := start, uint8(0)
		for i < len(path) && path[i] != '/' {
			seen |= byteClass[path[i]]
			i++
		}
		if mayHaveClass(seen, i-start) {
			if c := classOf(path[start:i]); c != literalSegment {
				dst = append(append(append(append(dst, path[copied:start]...), '{'), segmentNames[c]...), '}')
				copied = i
			}
		}
		start = i + 1
	}
	return append(dst, path[copied:]...)
}

// Classes of the bytes that a segment with a class can contain.
const (
	digitByte   uint8 = 1 << iota
	hexByte           // A to F, a to f
	tokenByte         // other letters, and "-_="
	literalByte       // in no class
)

var byteClass = func() (t [256]uint8) {
	for i := range t {
		switch c := byte(i); {
		case isDigit(c):
			t[i] = digitByte
		case percent.IsHex(c):
			t[i] = hexByte
		case isLower(c), isUpper(c), c == '-', c == '_', c == '=':
			t[i] = tokenByte
		default:
			t[i] = literalByte
		}
	}
	return t
}()

// mayHaveClass reports whether a segment of n bytes, whose classes are seen, can
// be more than a literal. Most segments are words, so this is asked first.
func mayHaveClass(seen uint8, n int) bool {
	switch {
	case n == 0 || seen&literalByte != 0:
		return false
	case seen == digitByte:
		return true
	case n < len("2026-11-21"):
		return false
	}
	return seen&digitByte != 0 || seen == hexByte || n == uuidLen // a UUID can lack digits
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

const uuidLen = len("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx")

func isUUID(segment []byte) bool {
	if len(segment) != uuidLen {
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

// isDate reports whether segment is a full-date of RFC 3339 §5.6 that exists in
// the Gregorian calendar.
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

// daysIn returns the number of days of a month.
func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// isToken reports whether segment looks like random bytes in base64url. About
// 97 of 100 texts of 22 random characters pass; most of the others contain no
// digit.
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

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
