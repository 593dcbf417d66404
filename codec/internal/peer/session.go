package peer

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/internal/ascii"
)

// ASPSession returns the length of the session id of ASP.NET at the start of a path in
// lower case, "(…)" with 24 letters and digits, or 0.
func ASPSession(path []byte) int {
	const n = 24
	if len(path) < n+2 || path[0] != '(' || path[n+1] != ')' || !ascii.IsAlnum(path[1:n+1]) {
		return 0
	}
	return n + 2
}

// ASPSessions returns the length of "(a(…)b(…))" at the start of a path in lower case: one
// or more ids, as [ASPSession] finds them, each after a letter. Without one, it returns 0.
func ASPSessions(path []byte) int {
	if len(path) == 0 || path[0] != '(' {
		return 0
	}
	n := 1
	for n < len(path) && 'a' <= path[n] && path[n] <= 'z' {
		id := ASPSession(path[n+1:])
		if id == 0 {
			return 0
		}
		n += 1 + id
	}
	if n == 1 || n == len(path) || path[n] != ')' {
		return 0
	}
	return n + 1
}

// WWW returns the length of "www." at the start of a host, also with digits as in "www2.",
// or 0.
func WWW(host []byte) int {
	if !bytes.HasPrefix(host, []byte("www")) {
		return 0
	}
	n := len("www")
	for n < len(host) && ascii.IsDigit(host[n]) {
		n++
	}
	if n < len(host) && host[n] == '.' {
		return n + 1
	}
	return 0
}
