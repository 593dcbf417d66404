package codec

import (
	"bytes"
	"encoding/binary"

	"github.com/urlfold/urlfold/codec/internal/scan"
	"github.com/urlfold/urlfold/codec/percent"
)

// parseClean is the fast path. It reads src if src is an absolute http or https
// URL that every rule of every RFC profile leaves as it is and that has no flag,
// and fills u. It may only give up, never decide: where it returns false nothing
// is said about src, and u holds anything.
//
// What it accepts: "http://" or "https://" in lower case; a host of up to 63
// lower-case letters, digits, hyphens and dots, no two of the latter together,
// none of them at an end (so no empty label, and no "xn--"), whose last label
// cannot be a number, or an IPv4 address; a path from "/" on in which no "."
// follows a "/"; a query and a fragment; in these, the bytes that RFC 3986 allows
// there, and escapes that are in normal form and mean no harm. No userinfo, no
// port.
//
// One flag it can live with: entity is the offset of the first "&amp;" in the
// query, or -1. If it gives up, end is how far it came, or 0 where that was not
// to a delimiter behind the host; then u has scheme and host.
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

// cleanHostLabels returns the end of the clean bytes of a host that begins at i, and
// whether a '.' or a '-' is at one of its ends or next to another one.
func cleanHostLabels(src []byte, i int) (end int, odd bool) {
	if end, pauses := cleanHostSet.Labels(src, i); end > i {
		return end, pauses&(pauses<<1|1|1<<(end-i-1)) != 0
	}
	last, bad := uint16(pauseByte), uint16(0) // bad gets pauseByte where '.' and '-' stand together or in front
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

// "https://" and "http://" as the little-endian number that they are.
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

// cleanHostEnd gives up on hosts whose last label might be a number: it starts
// with a digit, and all of it are hex digits and 'x'. Most labels show at their end
// that they are none.
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

// cleanTail reads path, query and fragment; src[i] is the first '/' of the path.
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

// The bytes that a clean URL may have raw. A path may have dots, too: which of them
// begin a dot segment, the scan tells.
var (
	cleanHostSet  = scan.NewSet(func(c byte) bool { return class[c]&cleanHost != 0 })
	cleanPathSet  = scan.NewSet(func(c byte) bool { return class[c]&cleanPath != 0 || c == '.' })
	cleanQuerySet = scan.NewSet(func(c byte) bool { return class[c]&cleanQuery != 0 })
	cleanFragSet  = scan.NewSet(func(c byte) bool { return class[c]&cleanFrag != 0 })
)

// cleanPathEnd returns the end of the clean part of a path that begins at i, and
// whether no '.' follows a '/' in it.
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

// cleanEnd returns the end of the clean part of a query or fragment that begins at
// i, and the offset of the first "&amp;" of a query, or -1.
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

// The classes of the byte that an escape stands for, in escapes.
const (
	escapeNever       = iota // the escape has a flag or another normal form
	escapeOutsidePath        // '/' or '\\', which are telling in a path
	escapeAnywhere           // any other ASCII that is not unreserved
	escapeLead2              // begins a character of two bytes
	escapeLead3              // begins a character of three bytes, none of which is a surrogate or a noncharacter
)

// escapes classes the byte that an escape stands for. What begins longer
// characters, and the three-byte ones that need a second look, is escapeNever.
var escapes = func() (t [256]uint8) {
	for c := 0x20; c < 0x7F; c++ {
		if !percent.IsUnreserved(byte(c)) && c != '%' {
			t[c] = escapeAnywhere
		}
	}
	t['/'], t['\\'] = escapeOutsidePath, escapeOutsidePath
	for c := 0xC2; c <= 0xDF; c++ {
		t[c] = escapeLead2
	}
	for c := 0xE1; c <= 0xEE; c++ {
		t[c] = escapeLead3
	}
	t[0xED] = escapeNever
	return t
}()

// cleanEscape returns the length of the escape, or of the escapes of one
// character, that b begins with, if they are in normal form and have no flag:
// upper-case digits, neither unreserved nor a control, no '%', whole UTF-8. If
// not, it returns 0. least is the least class of an ASCII byte that is clean.
func cleanEscape(b []byte, least uint8) int {
	v, ok := upperTriplet(b)
	if !ok {
		return 0
	}
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

// characterEscapes returns how many escapes, in upper or lower case, make the
// character of UTF-8 beyond ASCII that b begins with, or 0 if they make none or one
// that takes a second look. v is what the first of them stands for.
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

// upperTriplet reads an escape with upper-case digits.
func upperTriplet(b []byte) (v byte, ok bool) {
	if len(b) < 3 || b[0] != '%' || b[1] >= 'a' || b[2] >= 'a' || !percent.IsHex(b[1]) || !percent.IsHex(b[2]) {
		return 0, false
	}
	return percent.Unhex(b[1])<<4 | percent.Unhex(b[2]), true
}
