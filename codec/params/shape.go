package params

import (
	"bytes"
	"strings"
)

// shape describes the form of a value. Rules for names that have several
// meanings require a shape. Session IDs and the variable segments of path
// templates are recognized by their shapes.
type shape uint8

// Shapes of a value. Each one constrains every byte.
const (
	shapeAny       shape = iota // any value, including none
	shapeInt                    // 1 to 20 digits
	shapeDate                   // YYYY-MM-DD with a month from 1 to 12 and a day from 1 to 31
	shapeUUID                   // 8-4-4-4-12 hexadecimal digits, with or without braces
	shapeHex32                  // 32 hexadecimal digits, such as an MD5 or a PHP or Java session
	shapeHex16                  // at least 16 hexadecimal digits
	shapeAlnum16                // at least 16 letters and digits, optionally followed by '.' and a node name of letters and digits
	shapeBase64URL              // at least 22 bytes (128 bits) of base64url (RFC 4648 §5) with a digit and letters of both cases
	shapeToken                  // UUID, Alnum16 or Base64URL
	shapeDotted                 // 4 to 6 parts with a '.' between them, each of letters, digits and "_-/~!", such as a position in a site
	numShapes
)

var shapeNames = [numShapes]string{"any", "int", "date", "uuid", "hex32", "hex16", "alnum16", "base64url", "token", "dotted"}

// String returns the name of the shape in plain lists: "hex32".
func (s shape) String() string {
	if s < numShapes {
		return shapeNames[s]
	}
	return "unknown"
}

// parseShape returns the shape with the given name.
func parseShape(name string) (s shape, ok bool) {
	for i, n := range shapeNames {
		if n == name {
			return shape(i), true
		}
	}
	return shapeAny, false
}

// matches reports whether a form-decoded value has the shape.
func (s shape) matches(value []byte) bool {
	switch s {
	case shapeAny:
		return true
	case shapeInt:
		return len(value) >= 1 && len(value) <= 20 && allOf(value, kindDigit)
	case shapeDate:
		return isDate(value)
	case shapeUUID:
		return isUUID(value)
	case shapeHex32:
		return len(value) == 32 && allOf(value, kindHex)
	case shapeHex16:
		return len(value) >= 16 && allOf(value, kindHex)
	case shapeAlnum16:
		return isAlnum16(value)
	case shapeBase64URL:
		return isBase64URL(value)
	case shapeToken:
		return isUUID(value) || isAlnum16(value) || isBase64URL(value)
	case shapeDotted:
		return isDotted(value)
	}
	return false
}

// Kinds of bytes in values.
const (
	kindDigit uint8 = 1 << iota
	kindHex
	kindAlnum
	kindBase64 // base64url
	kindUpper
	kindLower
)

var kinds = func() (t [256]uint8) {
	set := func(chars string, kind uint8) {
		for i := range len(chars) {
			t[chars[i]] |= kind
		}
	}
	const small = "abcdefghijklmnopqrstuvwxyz"
	set("0123456789", kindDigit|kindHex|kindAlnum|kindBase64)
	set("abcdefABCDEF", kindHex)
	set(small, kindAlnum|kindBase64|kindLower)
	set(strings.ToUpper(small), kindAlnum|kindBase64|kindUpper)
	set("-_", kindBase64)
	return t
}()

// allOf reports whether every byte of b has the given kind.
func allOf(b []byte, kind uint8) bool {
	for _, c := range b {
		if kinds[c]&kind == 0 {
			return false
		}
	}
	return true
}

func isDate(v []byte) bool {
	if len(v) != 10 || v[4] != '-' || v[7] != '-' || !allOf(v[:4], kindDigit) || !allOf(v[5:7], kindDigit) || !allOf(v[8:], kindDigit) {
		return false
	}
	month, day := (v[5]-'0')*10+v[6]-'0', (v[8]-'0')*10+v[9]-'0'
	return 1 <= month && month <= 12 && 1 <= day && day <= 31
}

func isUUID(v []byte) bool {
	if len(v) == 38 && v[0] == '{' && v[37] == '}' {
		v = v[1:37]
	}
	if len(v) != 36 {
		return false
	}
	for i, c := range v {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
		} else if kinds[c]&kindHex == 0 {
			return false
		}
	}
	return true
}

// isAlnum16 accepts a node suffix, which application servers add to name the
// server that holds the session.
func isAlnum16(v []byte) bool {
	n := 0
	for n < len(v) && kinds[v[n]]&kindAlnum != 0 {
		n++
	}
	if n < 16 {
		return false
	}
	return n == len(v) || v[n] == '.' && n+1 < len(v) && allOf(v[n+1:], kindAlnum)
}

// isBase64URL requires all three kinds of characters, because a
// long-worded-slug is base64url too.
func isBase64URL(v []byte) bool {
	var seen uint8
	for _, c := range v {
		if kinds[c]&kindBase64 == 0 {
			return false
		}
		seen |= kinds[c]
	}
	const all = kindDigit | kindUpper | kindLower
	return len(v) >= 22 && seen&all == all
}

func isDotted(v []byte) bool {
	parts := 0
	for part := range bytes.SplitSeq(v, []byte{'.'}) {
		for _, c := range part {
			if kinds[c]&kindBase64 == 0 && c != '/' && c != '~' && c != '!' {
				return false
			}
		}
		if parts++; len(part) == 0 {
			return false
		}
	}
	return 4 <= parts && parts <= 6
}
