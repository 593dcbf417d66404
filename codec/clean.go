package codec

import "encoding/binary"

// parseClean is the fast path. It reads src if src is an absolute http or https
// URL that every rule of every RFC profile leaves as it is and that has no flag,
// and fills u. It may only give up, never decide: where it returns false nothing
// is said about src, and u holds anything.
//
// What it accepts: "http://" or "https://" in lower case; a host of up to 63
// lower-case letters, digits, hyphens and dots, no two of the latter together,
// none of them at an end (so no empty label, and no "xn--"), whose last label
// begins with a letter; a path from "/" on of pchar and "/" in which no "." follows a "/"; a
// query and a fragment of the bytes that RFC 3986 allows there. No userinfo, no
// port, no escape.
func parseClean(src []byte, u *URL) bool {
	i := cleanScheme(src)
	if i == 0 {
		return false
	}
	start := i
	last, bad := uint16(pauseByte), uint16(0) // bad gets pauseByte where '.' and '-' stand together or in front
	for i < len(src) {
		c := class[src[i]]
		if c&cleanHost == 0 {
			break
		}
		bad |= last & c
		last = c & pauseByte
		i++
	}
	if bad|last != 0 || i == len(src) || src[i] != '/' || i-start > 63 || !cleanHostEnd(src[start:i]) {
		return false
	}
	*u = URL{kind: RegName, flags: hasAuthority}
	u.set(Scheme, 0, start-3)
	u.set(Host, start, i)
	return cleanTail(src, i, u)
}

// cleanScheme returns the length of "http://" or "https://", or 0.
func cleanScheme(src []byte) int {
	const (
		httpsSlashes = uint64('h') | 't'<<8 | 't'<<16 | 'p'<<24 | 's'<<32 | ':'<<40 | '/'<<48 | '/'<<56
		httpSlashes  = uint64('h') | 't'<<8 | 't'<<16 | 'p'<<24 | ':'<<32 | '/'<<40 | '/'<<48
	)
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
// with a digit.
func cleanHostEnd(host []byte) bool {
	i := len(host)
	for i > 0 && host[i-1] != '.' {
		i--
	}
	return i < len(host) && !isDigit(host[i])
}

// cleanTail reads path, query and fragment; src[i] is the first '/' of the path.
func cleanTail(src []byte, i int, u *URL) bool {
	start := i
	var last, dots uint16 // dots gets dotByte where a '.' follows a '/'
	for i < len(src) {
		c := class[src[i]]
		if c&cleanPath == 0 {
			break
		}
		dots |= last << 1 & c
		last = c & slashByte
		i++
	}
	if dots != 0 {
		return false // a dot segment, perhaps
	}
	u.set(Path, start, i)
	if i < len(src) && src[i] == '?' {
		start = i + 1
		for i = start; i < len(src) && class[src[i]]&cleanQuery != 0; {
			i++
		}
		u.set(Query, start, i)
	}
	if i < len(src) && src[i] == '#' {
		start = i + 1
		for i = start; i < len(src) && class[src[i]]&cleanFrag != 0; {
			i++
		}
		u.set(Fragment, start, i)
	}
	return i == len(src)
}
