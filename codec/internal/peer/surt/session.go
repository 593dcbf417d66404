package surt

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/internal/ascii"
	"github.com/urlfold/urlfold/codec/internal/peer"
)

// stripPathSession removes the session id of ASP.NET from a path in lower case:
// "(24 characters)", or several with a letter in front in more parentheses, as
// a segment before a name that ends in ".aspx".
func stripPathSession(path []byte) []byte {
	path = stripSegment(path, peer.ASPSessions)
	return stripSegment(path, peer.ASPSession)
}

// stripSegment removes the last segment of the length that match returns, if
// ".aspx" follows it.
func stripSegment(path []byte, match func([]byte) int) []byte {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] != '/' {
			continue
		}
		n := match(path[i+1:])
		end := i + 1 + n
		if n > 0 && end < len(path) && path[end] == '/' && hasPage(path[end+1:]) {
			return append(path[:i+1], path[end+1:]...)
		}
	}
	return path
}

// hasPage reports whether text contains ".aspx" after at least one byte and
// before any '?'.
func hasPage(text []byte) bool {
	text, _, _ = bytes.Cut(text, []byte{'?'})
	const suffix = ".aspx"
	return len(text) > 0 && bytes.Contains(text[1:], []byte(suffix))
}

// stripQuerySessions removes the last occurrence of each kind of session id,
// anywhere in the query, if it ends the query or an '&' follows it.
func stripQuerySessions(query []byte) []byte {
	for _, match := range []func([]byte) int{
		func(q []byte) int { return fixedLen(q, "jsessionid=", 32) },
		func(q []byte) int { return fixedLen(q, "phpsessid=", 32) },
		func(q []byte) int { return fixedLen(q, "sid=", 32) },
		aspLen,
		coldFusionLen,
	} {
		query = stripLast(query, match)
	}
	return query
}

func stripLast(query []byte, match func([]byte) int) []byte {
	for i := len(query) - 1; i >= 0; i-- {
		n := match(query[i:])
		switch {
		case n == 0:
		case i+n == len(query):
			return query[:i]
		case query[i+n] == '&':
			return append(query[:i], query[i+n+1:]...)
		}
	}
	return query
}

// fixedLen returns the length of name and n letters or digits, or 0.
func fixedLen(q []byte, name string, n int) int {
	if !hasPrefixFold(q, name) || len(q) < len(name)+n || !ascii.IsAlnum(q[len(name):len(name)+n]) {
		return 0
	}
	return len(name) + n
}

func aspLen(q []byte) int {
	const name, letters, id = "aspsessionid", 8, 24
	const n = len(name) + letters + 1 + id
	other := func(r rune) bool { return r >= 0x80 || !ascii.IsAlpha(byte(r)) }
	if !hasPrefixFold(q, name) || len(q) < n || bytes.ContainsFunc(q[len(name):len(name)+letters], other) || q[len(name)+letters] != '=' || bytes.ContainsFunc(q[n-id:n], other) {
		return 0
	}
	return n
}

func coldFusionLen(q []byte) int {
	if !hasPrefixFold(q, "cfid=") {
		return 0
	}
	id := fieldLen(q)
	if id == len("cfid=") || id == len(q) || !hasPrefixFold(q[id+1:], "cftoken=") {
		return 0
	}
	token := fieldLen(q[id+1:])
	if token == len("cftoken=") {
		return 0
	}
	return id + 1 + token
}

// fieldLen returns the length of the text before the first '&'.
func fieldLen(q []byte) int {
	if i := bytes.IndexByte(q, '&'); i >= 0 {
		return i
	}
	return len(q)
}

func hasPrefixFold(text []byte, prefix string) bool {
	return len(text) >= len(prefix) && bytes.EqualFold(text[:len(prefix)], []byte(prefix))
}
