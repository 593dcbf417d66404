package codec

import (
	"bytes"
	"encoding/binary"

	"github.com/urlfold/urlfold/codec/internal/scan"
	"github.com/urlfold/urlfold/codec/percent"
)

// parseClean is the fast path. It accepts src if it is an absolute http or
// https URL that every rule of every RFC 3986 profile leaves unchanged and that
// has no flag, and fills u. It may give up on such a URL, but must not accept
// any other. If it returns false, that says nothing about src, and the content
// of u is undefined, except as described below.
//
// It accepts "http://" or "https://" in lower case; a host of up to 63
// lower-case letters, digits, hyphens and dots, without consecutive hyphens or
// dots and without one at either end (hence without empty labels and without
// "xn--"), whose last label cannot be a number, or an IPv4 address; a path that
// starts with "/" and in which no "." follows a "/"; a query and a fragment.
// Path, query and fragment may contain the bytes that RFC 3986 allows there,
// and escapes that are in normal form and have no flag. It accepts neither
// userinfo nor a port.
//
// It tolerates one flag: entity is the offset of the first "&amp;" in the
// query, or -1. If parseClean gives up after it has reached a delimiter that
// follows the host, end is the length of the prefix that it accepted, and u has
// scheme and host. If it gives up earlier, end is 0.
func parseClean(src []byte, u *URL) (end, entity int, ok bool) {
	i := cleanScheme(src)
	if i == 0 {
		return 0, -1, false
	}
	start := i
	i, odd := cleanHostLabels(src, start)
	kind := RegName
	switch {
	case odd || i-start > 63:
		return 0, -1, false
	case cleanHostEnd(src[start:i]):
	case isDottedDecimal(src[start:i]):
		kind = IPv4
	default:
		return 0, -1, false
	}
	*u = URL{kind: kind, flags: hasAuthority}
	u.set(Scheme, 0, start-3)
	u.set(Host, start, i)
	switch {
	case i < len(src) && src[i] == '/':
		return cleanTail(src, i, u)
	case i == len(src) || src[i] == ':' || src[i] == '?' || src[i] == '#':
		return i, -1, false
	}
	return 0, -1, false
}

// cleanHostLabels returns the end of the clean bytes of a host that begins at
// i, and whether a '.' or a '-' is at one of its ends or next to another one.
func cleanHostLabels(src []byte, i int) (end int, odd bool) {
	if end, pauses := cleanHostSet.Labels(src, i); end > i {
		return end, pauses&(pauses<<1|1|1<<(end-i-1)) != 0
	}
	// bad gets pauseByte for consecutive '.' and '-', and for one at the start.
	last, bad := uint16(pauseByte), uint16(0)
	for i < len(src) {
		c := class[src[i]]
		if c&cleanHost == 0 {
			break
		}
		bad |= last & c
		last = c
		i++
	}
	return i, (bad|last)&pauseByte != 0
}

// "https://" and "http://" as little-endian integers.
const (
	httpsSlashes = uint64('h') | 't'<<8 | 't'<<16 | 'p'<<24 | 's'<<32 | ':'<<40 | '/'<<48 | '/'<<56
	httpSlashes  = uint64('h') | 't'<<8 | 't'<<16 | 'p'<<24 | ':'<<32 | '/'<<40 | '/'<<48
)

// cleanScheme returns the length of "http://" or "https://", or 0.
func cleanScheme(src []byte) int {
	if len(src) < 8 {
		return 0
	}
	switch x := binary.LittleEndian.Uint64(src); {
	case x == httpsSlashes:
		return 8
	case x&(1<<56-1) == httpSlashes:
		return 7
	}
	return 0
}

// cleanHostEnd returns false if the last label of host might be a number: it
// starts with a digit and contains only hex digits and 'x'. In most labels the
// last byte already rules that out.
func cleanHostEnd(host []byte) bool {
	i := len(host) - 1
	for i > 0 && (percent.IsHex(host[i]) || host[i]|0x20 == 'x') {
		i--
	}
	if host[i] == '.' {
		i++
	}
	return i < len(host) && !isDigit(host[i])
}

// cleanTail parses path, query and fragment; src[i] is the first '/' of the
// path.
func cleanTail(src []byte, i int, u *URL) (end, entity int, ok bool) {
	start := i
	entity = -1
	if i, ok = cleanPathEnd(src, i); !ok {
		return i, -1, false
	}
	u.set(Path, start, i)
	if i < len(src) && src[i] == '?' {
		start = i + 1
		i, entity = cleanEnd(src, start, cleanQuerySet)
		u.set(Query, start, i)
	}
	if i < len(src) && src[i] == '#' {
		start = i + 1
		i, _ = cleanEnd(src, start, cleanFragSet)
		u.set(Fragment, start, i)
	}
	return i, entity, i == len(src)
}

// The bytes that a clean URL may contain raw. A path may also contain dots; the
// scan finds those that begin a dot segment.
var (
	cleanHostSet  = scan.NewSet(func(c byte) bool { return class[c]&cleanHost != 0 })
	cleanPathSet  = scan.NewSet(func(c byte) bool { return class[c]&cleanPath != 0 || c == '.' })
	cleanQuerySet = scan.NewSet(func(c byte) bool { return class[c]&cleanQuery != 0 })
	cleanFragSet  = scan.NewSet(func(c byte) bool { return class[c]&cleanFrag != 0 })
)

// cleanPathEnd returns the end of the clean part of the path that begins at i,
// and whether no '.' follows a '/' in it.
func cleanPathEnd(src []byte, i int) (end int, ok bool) {
	for {
		if i = cleanPathSet.PathEnd(src, i); i == len(src) {
			return i, true
		}
		if src[i] == '.' {
			return i, false
		}
		n := cleanEscape(src[i:], escapeAnywhere)
		if n == 0 {
			return i, true
		}
		i += n
	}
}

// cleanEnd returns the end of the clean part of the query or fragment that
// begins at i, and the offset of the first "&amp;" of a query, or -1.
func cleanEnd(src []byte, i int, clean *scan.Set) (end, entity int) {
	entity = -1
	for i = clean.End(src, i); i < len(src); i = clean.End(src, i) {
		n := cleanEscape(src[i:], escapeOutsidePath)
		if n == 0 {
			if src[i] != ';' || clean != cleanQuerySet {
				break
			}
			if n = 1; entity < 0 && bytes.HasSuffix(src[:i+1], htmlAmp) {
				entity = i + 1 - len(htmlAmp)
			}
		}
		i += n
	}
	return i, entity
}

// Classes of the byte that an escape stands for, in escapes.
const (
	escapeOther       = iota // the escape has a flag beyond its spelling, or needs another check
	escapeUnreserved         // an unreserved byte other than '.'
	escapeOutsidePath        // '/' or '\\', which may have a flag in a path
	escapeAnywhere           // any other ASCII byte that is not a control, '.' or '%'
	escapeLead2              // first byte of a two-byte character
	escapeLead3              // first byte of a three-byte character that is not a surrogate or a noncharacter
)

// escapes classifies the byte that an escape stands for. First bytes of longer
// characters, and of three-byte ones that need another check, are escapeOther.
var escapes = func() (t [256]uint8) {
	for c := 0x20; c < 0x7F; c++ {
		t[c] = escapeAnywhere
		if percent.IsUnreserved(byte(c)) {
			t[c] = escapeUnreserved
		}
	}
	t['.'], t['%'] = escapeOther, escapeOther
	t['/'], t['\\'] = escapeOutsidePath, escapeOutsidePath
	for c := 0xC2; c <= 0xDF; c++ {
		t[c] = escapeLead2
	}
	for c := 0xE1; c <= 0xEE; c++ {
		t[c] = escapeLead3
	}
	t[0xED] = escapeOther
	return t
}()

// digits holds the value of each hex digit, with digitLower for lower-case ones,
// and digitNone elsewhere.
var digits = func() (t [256]uint8) {
	for i := range t {
		c := byte(i)
		t[i] = digitNone
		if percent.IsHex(c) {
			t[i] = percent.Unhex(c) | uint8(b2i(c >= 'a'))*digitLower
		}
	}
	return t
}()

const (
	digitLower = 0x10
	digitNone  = 0x80
)

// cleanEscape returns the length of the escape, or of the escapes of one
// character, at the start of b, if they are in normal form and have no flag: upper-case digits, neither unreserved nor a control nor
// '%', and complete UTF-8. Otherwise it returns 0. least is the lowest class of
// ASCII bytes that counts as clean.
func cleanEscape(b []byte, least uint8) int {
	if len(b) < 3 || b[0] != '%' {
		return 0
	}
	high, low := digits[b[1]], digits[b[2]]
	if (high|low)&(digitNone|digitLower) != 0 {
		return 0
	}
	v := high<<4 | low
	class := escapes[v]
	if class < escapeLead2 {
		return 3 * b2i(class >= least)
	}
	n := characterEscapes(b, v)
	for i := 1; i < n; i++ {
		if hasLowerHex(b[3*i:]) {
			return 0
		}
	}
	return 3 * n
}

// characterEscapes returns the number of escapes, in upper or lower case, of
// the non-ASCII UTF-8 character at the start of b. It returns 0 if they do not
// encode a character, or one that needs another check. v is the value of the
// first escape.
func characterEscapes(b []byte, v byte) int {
	n := 0
	switch escapes[v] {
	case escapeLead2:
		n = 2
	case escapeLead3:
		n = 3
	}
	for i := 1; i < n; i++ {
		if !isTriplet(b[3*i:]) || tripletValue(b[3*i:])&0xC0 != 0x80 {
			return 0
		}
	}
	return n
}
