package codec

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/internal/ip"
)

// split finds the components of src by the grammar of RFC 3986, extended so
// that every byte string has components: the scheme, up to a ':' that follows
// only scheme characters; after "//" the authority, up to "/", "?" or "#"; then
// path, query and fragment. The components and their delimiters together are
// src, byte for byte.
//
// It fills all of u even if it returns ErrHostInvalid; at is then the offset of
// the error.
func split(src []byte, u *URL) (at int, err Error) {
	i, at, err := splitFront(src, u)
	splitTail(src, i, u)
	return at, err
}

// splitFront finds the scheme and the authority, and returns the offset after
// them.
func splitFront(src []byte, u *URL) (behind, at int, err Error) {
	*u = URL{}
	i := schemeEnd(src)
	if i > 0 {
		u.set(Scheme, 0, i-1)
	}
	if i+1 < len(src) && src[i] == '/' && src[i+1] == '/' {
		start := i + 2
		end := start + authorityEnd(src[start:])
		at, err = splitAuthority(src, start, end, u)
		i = end
	}
	return i, at, err
}

// schemeEnd returns the offset after the ':' of the scheme, or 0 if src has no
// scheme (RFC 3986 §3.1).
func schemeEnd(src []byte) int {
	if len(src) == 0 || !isAlpha(src[0]) {
		return 0
	}
	for i := 1; i < len(src); i++ {
		if src[i] == ':' {
			return i + 1
		}
		if !isSchemeByte(src[i]) {
			return 0
		}
	}
	return 0
}

// authorityEnd returns the length of the authority at the start of b: up to
// "/", "?", "#" or the end (RFC 3986 §3.2).
func authorityEnd(b []byte) int {
	for i, c := range b {
		if c == '/' || c == '?' || c == '#' {
			return i
		}
	}
	return len(b)
}

// splitTail finds path, query and fragment in src[i:].
func splitTail(src []byte, i int, u *URL) {
	end := len(src)
	if f := bytes.IndexByte(src[i:], '#'); f >= 0 {
		u.set(Fragment, i+f+1, end)
		end = i + f
	}
	if q := bytes.IndexByte(src[i:end], '?'); q >= 0 {
		u.set(Query, i+q+1, end)
		end = i + q
	}
	u.set(Path, i, end)
}

// splitAuthority finds userinfo, host and port in src[start:end]. The userinfo
// ends at the last '@'. The port starts after the last ':' if only digits
// follow it.
func splitAuthority(src []byte, start, end int, u *URL) (at int, err Error) {
	u.flags |= hasAuthority
	if i := bytes.LastIndexByte(src[start:end], '@'); i >= 0 {
		splitUserinfo(src, start, start+i, u)
		start += i + 1
	}
	hostEnd := portStart(src, start, end)
	if hostEnd < end {
		u.set(Port, hostEnd+1, end)
		u.readPort(src)
	}
	u.set(Host, start, hostEnd)
	return u.readHost(src)
}

func splitUserinfo(src []byte, start, end int, u *URL) {
	if i := bytes.IndexByte(src[start:end], ':'); i >= 0 {
		u.set(Username, start, start+i)
		u.set(Password, start+i+1, end)
		return
	}
	u.set(Username, start, end)
}

// portStart returns the offset of the ':' before the port, or end without a
// port.
func portStart(src []byte, start, end int) int {
	i := end
	for i > start && isDigit(src[i-1]) {
		i--
	}
	if i > start && src[i-1] == ':' {
		return i - 1
	}
	return end
}

// readPort sets the port number from the digits of the port component.
func (u *URL) readPort(src []byte) {
	digits := u.spans[Port].In(src)
	n := 0
	for _, c := range digits {
		if n = n*10 + int(c-'0'); n > 65535 {
			return
		}
	}
	if len(digits) > 0 {
		u.port = uint16(n)
		u.flags |= portOK
	}
}

// readHost classifies the host and checks its brackets (RFC 3986 §3.2.2).
func (u *URL) readHost(src []byte) (at int, err Error) {
	s := u.spans[Host]
	host := s.In(src)
	if len(host) == 0 {
		return 0, 0
	}
	if host[0] == '[' {
		i := bytes.IndexByte(host, ']')
		if i < 0 {
			return int(s.Start), ErrHostInvalid
		}
		if i != len(host)-1 {
			return int(s.Start) + i + 1, ErrHostInvalid
		}
		u.kind = literalKind(host[1:i])
		return 0, 0
	}
	for i, c := range host {
		if c == '[' || c == ']' {
			return int(s.Start) + i, ErrHostInvalid
		}
	}
	u.kind = HostRegName
	if isDigit(host[0]) && ip.IsV4(host) {
		u.kind = HostIPv4
	}
	return 0, 0
}
