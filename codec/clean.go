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
// It accepts "http://" or "https://" in lower case; a host of lower-case letters,
// digits, hyphens and dots that ends within the first 63 bytes of src, without
// consecutive hyphens or dots and without one at either end (hence without empty
// labels and without "xn--"), whose last label cannot be a number, or an IPv4
// address; a path that starts with "/" and in which no "." follows a "/"; a query
// and a fragment. Path, query and fragment may contain the bytes that RFC 3986
// allows there, and escapes that are in normal form and have no flag. A port is in
// normal form if it has no leading zero and is not that of the scheme. It accepts
// no userinfo, nor more than keepBytes bytes.
//
// It tolerates one flag: entity is the offset of the first "&amp;" in the
// query, or -1. If parseClean gives up after it has reached a delimiter that
// follows the host, end is the length of the prefix that it accepted, and u has
// scheme and host; if it also has a path, it has query and fragment. If it gives
// up earlier, end is 0. If end is not 0 and ok is false, sv has the survey of src.
func parseClean(src []byte, u *URL, sv *scan.Survey) (end, entity int, ok bool) {
	if !scan.HasVectors() {
		if end, entity, ok = parseCleanByLoops(src, u); !ok && end > 0 {
			sv.Read(src, end, webClasses)
		}
		return end, entity, ok
	}
	start := cleanScheme(src)
	if start == 0 || len(src) > keepBytes {
		return 0, -1, false
	}
	sv.Read(src, 0, webClasses)
	i, pauses, capitals := sv.Labels(start)
	if i == 64 || i == start || capitals != 0 || pauses&(pauses<<1|1|1<<(i-start-1)) != 0 {
		return 0, -1, false
	}
	if !u.setFront(src, start, i) {
		return 0, -1, false
	}
	switch {
	case i == len(src) || src[i] == '?' || src[i] == '#':
		return i, -1, false
	case src[i] == ':':
		path, byDefault := u.setPort(src, i+1)
		if path == 0 {
			return i, -1, false
		}
		splitWeb(src, path, u, sv)
		end, entity, ok = cleanTail(src, path, u, sv)
		return end, entity, ok && !byDefault // onePass has nothing else to do
	case src[i] != '/':
		return 0, -1, false
	}
	splitWeb(src, i, u, sv)
	return cleanTail(src, i, u, sv)
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

// setFront sets u to the scheme and the host src[start:end], unless the host may
// be an IPv4 address in an unusual notation.
func (u *URL) setFront(src []byte, start, end int) bool {
	kind := RegName
	switch {
	case cleanHostEnd(src[start:end]):
	case isDottedDecimal(src[start:end]):
		kind = IPv4
	default:
		return false
	}
	*u = URL{kind: kind, flags: hasAuthority}
	u.set(Scheme, 0, start-len("://"))
	u.set(Host, start, end)
	return true
}

// setPort sets the port of u, which begins at start, if it has no leading zero and
// a path follows. It returns the offset of the path, or 0, and whether the port is
// that of the scheme.
func (u *URL) setPort(src []byte, start int) (path int, byDefault bool) {
	end, n := readPort(src, start)
	if end == 0 || end == len(src) || src[end] != '/' {
		return 0, false
	}
	u.set(Port, start, end)
	u.port, u.flags = uint16(n), u.flags|portOK
	return end, u.isDefaultPort(n)
}

// readPort returns the end of the port that begins at start, and its number. end
// is 0 if that is not a number from 1 to 65535 without leading zeros.
func readPort(src []byte, start int) (end, n int) {
	end = start
	for end < len(src) && isDigit(src[end]) && end-start <= 5 {
		n = n*10 + int(src[end]-'0')
		end++
	}
	if end == start || n > 65535 || src[start] == '0' {
		return 0, 0
	}
	return end, n
}

// isDefaultPort reports whether n is the port of the scheme of u, http or https.
func (u *URL) isDefaultPort(n int) bool {
	secure := u.spans[Scheme].Len() == len("https")
	return n == 443 && secure || n == 80 && !secure
}

// cleanTail goes through the marks of sv in path, query and fragment, of which u
// has the spans. The path begins at i. Most clean URLs have no mark.
func cleanTail(src []byte, i int, u *URL, sv *scan.Survey) (end, entity int, ok bool) {
	entity = -1
	i = sv.Special.Next(i)
	for i < int(u.spans[Path].End) {
		n := cleanInPath(src, i)
		if n == 0 {
			return i, -1, false
		}
		i = sv.Special.Next(i + n)
	}
	for i < int(u.spans[Query].End) {
		n := cleanInQuery(src, i)
		if n == 0 {
			return i, entity, false
		}
		if src[i] == ';' && entity < 0 && bytes.HasSuffix(src[:i+1], htmlAmp) {
			entity = i + 1 - len(htmlAmp)
		}
		i = sv.Special.Next(i + n)
	}
	if !u.Has(Fragment) {
		return i, entity, true
	}
	hash := sv.Delims.Next(int(u.spans[Fragment].Start)) // a second one is not allowed
	for hash < len(src) && src[hash] == '?' {
		hash = sv.Delims.Next(hash + 1)
	}
	for i < hash {
		n := cleanInFragment(src, i)
		if n == 0 {
			break
		}
		i = sv.Special.Next(i + n)
	}
	i = min(i, hash)
	return i, entity, i == len(src)
}

// cleanInPath returns the length of the clean text that begins at src[i], a byte
// of the path that the survey marks, or 0. A '.' after a '/' may begin a dot
// segment.
func cleanInPath(src []byte, i int) int {
	switch c := src[i]; c {
	case '%':
		return cleanEscape(src[i:], escapeAnywhere)
	case '.':
		return b2i(src[i-1] != '/')
	default:
		return b2i(class[c]&cleanPath != 0)
	}
}

// cleanInQuery is cleanInPath for the query.
func cleanInQuery(src []byte, i int) int {
	switch c := src[i]; c {
	case '%':
		return cleanEscape(src[i:], escapeOutsidePath)
	case ';':
		return 1
	default:
		return b2i(class[c]&cleanQuery != 0)
	}
}

// cleanInFragment is cleanInPath for the fragment.
func cleanInFragment(src []byte, i int) int {
	if src[i] == '%' {
		return cleanEscape(src[i:], escapeOutsidePath)
	}
	return b2i(class[src[i]]&cleanFrag != 0)
}

// Classes of the byte that an escape stands for, in escapes.
const (
	escapeOther       = iota // the escape has a flag beyond its spelling, or needs another check
	escapeControl            // a control, which has a flag
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
	for c := range 0x20 {
		t[c] = escapeControl
	}
	t[0x7F] = escapeControl
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
