package codec

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/urlfold/urlfold/codec/internal/ip"
	"github.com/urlfold/urlfold/codec/percent"
	"github.com/urlfold/urlfold/internal/ground/scan"
)

// parseClean is the fast path. It accepts src if it is an absolute http or
// https URL that every rule of every RFC 3986 profile leaves unchanged and that
// raises no flag, and fills u. It must not accept any other URL, but may give
// up on such a URL, so false says nothing about src. Callers apply the rules of
// other profiles, such as frag-drop.
//
// It accepts "http://" or "https://" in lower case; a host that ends within the
// first 63 bytes of src; a path that starts with "/" and in which no "." follows a
// "/"; a query and a fragment. The host is an IPv4 address, or consists of lower-case
// letters, digits, hyphens and dots. Hyphens and dots must not be consecutive, nor at
// either end of the host, so the host has no empty label and no "xn--". Its last label
// must not look like a number. Path, query and fragment may contain the bytes that
// RFC 3986 allows there, and escapes that are in normal form and have no flag. A port
// is in normal form if it has no leading zero and differs from the scheme's default.
// parseClean accepts no userinfo, and no more than keepBytes bytes.
//
// parseClean also accepts a URL whose only flag is FlagHTMLEntity: entity is
// the offset of the first "&amp;" in the query, or -1.
//
// If ok is false, o is what parseOpening returned, and u and sv are as it left
// them.
func parseClean(src []byte, u *URL, sv *scan.Survey) (o opening, entity int, ok bool) {
	if !scan.HasVectors() {
		if entity, ok = parseCleanByLoops(src, u); ok {
			return o, entity, true
		}
	}
	o = parseOpening(src, u, sv)
	switch {
	case o.odd != 0:
		return o, -1, false
	case o.special == len(src):
		return o, -1, true
	}
	entity, ok = cleanTail(src, o.special, u, sv)
	return o, entity, ok
}

// An opening is what parseOpening found about scheme, host and port.
type opening struct {
	path     int    // offset of the path, or 0
	special  int    // offset of the first special byte at or after path
	capitals uint64 // bit k: byte k of the host is a capital letter
	odd      uint8  // why the URL is not clean, regardless of what follows the opening
}

// Bits of opening.odd.
const (
	oddScheme   = 1 << iota // the scheme has capital letters
	oddCapitals             // the host has capital letters, and they are in opening.capitals
	oddName                 // the host may have capital letters, or bytes other than letters, digits, hyphens and dots
	oddPort                 // the port is the default of the scheme
	oddPath                 // the path is empty
	oddHash                 // the fragment contains a '#'
	oddOther                // parseOpening gave up
)

// parseOpening parses an absolute http or https URL with a plain host and at most
// keepBytes bytes. It fills u with all components, and sv with the survey of src. It
// gives up on other URLs, and returns an opening without a path.
func parseOpening(src []byte, u *URL, sv *scan.Survey) opening {
	if len(src) < 8 || len(src) > keepBytes {
		return opening{odd: oddOther}
	}
	start, odd := webSchemeOf(binary.LittleEndian.Uint64(src))
	if start == 0 {
		return opening{odd: oddOther}
	}
	sv.Read(src, start, webClasses)
	n, pauses, capitals := sv.Labels.From(start)
	if uint(n-1) >= 63 || pauses&(pauses<<1|1|1<<(n-1)) != 0 {
		return opening{odd: oddOther}
	}
	i, kind := start+n, HostRegName
	if last := start + bits.Len64(pauses); isDigit(src[last]) && !cleanHostEnd(src[start:i]) {
		if kind = HostIPv4; !ip.IsV4(src[start:i]) {
			return opening{odd: oddOther}
		}
	}
	*u = URL{kind: kind, flags: hasAuthority}
	u.set(Scheme, 0, start-len("://"))
	u.set(Host, start, i)
	odd |= uint8(b2i(capitals != 0) * oddCapitals)
	if i == len(src) || src[i] != '/' {
		if i, odd = afterHost(src, i, u, odd); odd&oddOther != 0 {
			return opening{odd: oddOther}
		}
	}
	special, hashes := u.setTail(len(src), i, sv)
	return opening{i, special, capitals, odd | hashes}
}

// afterHost finishes the work of parseOpening if no path begins at i, the
// offset after the host: it parses the port. It returns the offset of the path,
// and odd with further bits of opening.odd.
func afterHost(src []byte, i int, u *URL, odd uint8) (path int, _ uint8) {
	if i < len(src) && src[i] == ':' {
		end, n := readPort(src, i+1)
		if end == 0 {
			return 0, oddOther
		}
		u.set(Port, i+1, end)
		u.port, u.flags = uint16(n), u.flags|portOK
		secure := u.spans[Scheme].Len() - len("http")
		odd |= uint8(b2i(n == 80+(443-80)*secure) * oddPort)
		i = end
	}
	switch {
	case i == len(src) || src[i] == '?' || src[i] == '#':
		odd |= oddPath
	case src[i] != '/':
		return 0, oddOther
	}
	return i, odd
}

// setTail sets path, query and fragment of u, a URL of size bytes; the path begins at i.
// It returns the offset of the first special byte from there on, and oddHash if the
// fragment contains a '#'.
func (u *URL) setTail(size, i int, sv *scan.Survey) (special int, odd uint8) {
	first := sv.First()
	special, hash := first.Special, first.Hash
	question := min(first.Question, hash)
	u.set(Path, i, question)
	u.setIf(question < hash, Query, question+1, hash)
	if hash < size {
		u.set(Fragment, hash+1, size)
		odd = uint8(b2i(sv.NextHash(hash+1) < size) * oddHash)
	}
	if special < i { // the special byte is in the host
		special = sv.Next(i)
	}
	return special, odd
}

// setIf does what set does if so is true; otherwise it leaves c absent. It does
// not branch, because the CPU cannot predict whether a URL has a query or a
// fragment.
func (u *URL) setIf(so bool, c Component, start, end int) {
	n := uint32(b2i(so))
	u.spans[c] = Span{uint32(start) & -n, uint32(end) & -n}
	u.present |= uint8(n) << c
}

// "https://" and "http://" as little-endian integers.
const (
	httpsSlashes = uint64('h') | 't'<<8 | 't'<<16 | 'p'<<24 | 's'<<32 | ':'<<40 | '/'<<48 | '/'<<56
	httpSlashes  = uint64('h') | 't'<<8 | 't'<<16 | 'p'<<24 | ':'<<32 | '/'<<40 | '/'<<48

	// These bits distinguish upper and lower case. In bytes that are not
	// letters, they distinguish ':' from a control character.
	httpCase  = uint64(0x20_20_20_20)
	httpsCase = httpCase | 0x20<<32
)

// webScheme returns the length of "http://" or "https://" in any case, or 0, and
// oddScheme if it has capital letters.
func webScheme(src []byte) (start int, odd uint8) {
	if len(src) < 8 {
		return 0, 0
	}
	return webSchemeOf(binary.LittleEndian.Uint64(src))
}

// webSchemeOf is webScheme for the first eight bytes of a text. The compiler
// inlines it.
func webSchemeOf(x uint64) (start int, odd uint8) {
	lower := x | httpCase
	secure := b2i(x|httpsCase == httpsSlashes)
	if secure|b2i(lower&(1<<56-1) == httpSlashes) == 0 {
		return 0, 0
	}
	lower |= uint64(secure) * (httpsCase &^ httpCase)
	return len("http://") + secure, uint8(b2i(x != lower) * oddScheme)
}

// cleanScheme returns the length of "http://" or "https://", or 0.
func cleanScheme(src []byte) int {
	start, odd := webScheme(src)
	return start * b2i(odd == 0)
}

// cleanHostEnd returns false if the last label of host might be a number: it
// starts with a digit and contains only hex digits and 'x'. In most hosts, the
// last byte already rules out a number.
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
	kind := HostRegName
	switch {
	case cleanHostEnd(src[start:end]):
	case ip.IsV4(src[start:end]):
		kind = HostIPv4
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
// the default of the scheme.
func (u *URL) setPort(src []byte, start int) (path int, byDefault bool) {
	end, n := readPort(src, start)
	if end == 0 || end == len(src) || src[end] != '/' {
		return 0, false
	}
	u.set(Port, start, end)
	u.port, u.flags = uint16(n), u.flags|portOK
	secure := u.spans[Scheme].Len() == len("https")
	return end, n == 443 && secure || n == 80 && !secure
}

// readPort returns the end of the port that begins at start, and its number. end is 0
// if the port is not a number from 1 to 65535 without leading zeros.
func readPort(src []byte, start int) (end, n int) {
	if start+8 > len(src) {
		return readShortPort(src, start)
	}
	// Compare eight bytes at a time, because the CPU cannot predict the length
	// of a port.
	const each = 0x01_01_01_01_01_01_01_01
	x := binary.LittleEndian.Uint64(src[start:]) ^ '0'*each
	digits := bits.TrailingZeros64((x&(0x7F*each)+0x76*each|x)&(0x80*each)) / 8
	if digits == 0 || digits > 5 || x&0xFF == 0 {
		return 0, 0
	}
	x <<= (64 - 8*digits) & 63 // pad with zeros in front
	x = x*10 + x>>8            // the value of each pair of digits
	x = ((x&0xFF_000000FF)*(1_000_000<<32+100) + (x>>16&0xFF_000000FF)*(10_000<<32+1)) >> 32
	if n = int(uint32(x)); n > 65535 {
		return 0, 0
	}
	return start + digits, n
}

// readShortPort is readPort for a port near the end of src.
func readShortPort(src []byte, start int) (end, n int) {
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

// cleanTail checks the bytes that sv marks in the path, query and fragment of
// u; the first such byte is at i. It returns the last two results of
// parseClean.
func cleanTail(src []byte, i int, u *URL, sv *scan.Survey) (entity int, ok bool) {
	entity = -1
	for i < int(u.spans[Path].End) {
		n := cleanInPath(src, i)
		if n == 0 {
			return -1, false
		}
		i = sv.Next(i + n)
	}
	for i < int(u.spans[Query].End) {
		n := cleanInQuery(src, i)
		if n == 0 {
			return entity, false
		}
		if src[i] == ';' && entity < 0 && bytes.HasSuffix(src[:i+1], htmlAmp) {
			entity = i + 1 - len(htmlAmp)
		}
		i = sv.Next(i + n)
	}
	if !u.Has(Fragment) {
		return entity, true
	}
	hash := sv.NextHash(int(u.spans[Fragment].Start)) // a fragment must not contain another '#'
	for i < hash {
		n := cleanInFragment(src, i)
		if n == 0 {
			break
		}
		i = sv.Next(i + n)
	}
	return entity, i >= len(src) && hash == len(src)
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

// Classes in the table escapes, which is indexed by the byte that an escape
// encodes.
const (
	escapePercent     = iota // '%', which may begin another escape
	escapeDot                // '.', which may be part of a dot segment
	escapeNUL                // NUL, which has a flag
	escapeControl            // another control
	escapeUnreserved         // an unreserved byte other than '.' and the hex digits
	escapeHexDigit           // a hex digit
	escapeOutsidePath        // '/' or '\\', which may have a flag in a path
	escapeAnywhere           // any other ASCII byte that is not a control, '.' or '%'
	escapeLead2              // first byte of a two-byte character
	escapeLead3              // first byte of a three-byte character that is not a surrogate or a noncharacter
	escapeNonASCII           // any other non-ASCII byte: it has a flag, or needs another check

	numEscapeClasses = iota
)

// escapes classifies the byte that an escape encodes. First bytes of longer
// characters, and of three-byte characters that may be surrogates or
// noncharacters, are escapeNonASCII.
var escapes = func() (t [256]uint8) {
	for c := 0x20; c < 0x7F; c++ {
		t[c] = escapeAnywhere
		switch {
		case percent.IsHex(byte(c)):
			t[c] = escapeHexDigit
		case percent.IsUnreserved(byte(c)):
			t[c] = escapeUnreserved
		}
	}
	for c := range 0x20 {
		t[c] = escapeControl
	}
	t[0], t[0x7F] = escapeNUL, escapeControl
	t['.'], t['%'] = escapeDot, escapePercent
	t['/'], t['\\'] = escapeOutsidePath, escapeOutsidePath
	for c := 0x80; c <= 0xFF; c++ {
		t[c] = escapeNonASCII
	}
	for c := 0xC2; c <= 0xDF; c++ {
		t[c] = escapeLead2
	}
	for c := 0xE1; c <= 0xEE; c++ {
		t[c] = escapeLead3
	}
	t[0xED] = escapeNonASCII
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
// character, at the start of b, if they are in normal form and have no flag:
// the hex digits are upper-case, and the bytes are either complete UTF-8, or
// ASCII of the class least or a later class. Otherwise it returns 0.
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
// the non-ASCII UTF-8 character at the start of b. It returns 0 if the escapes
// do not encode a character, or encode one that needs another check. v is the
// value of the first escape.
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
