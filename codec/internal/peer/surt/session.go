package surt

import "bytes"

// stripPathSession removes the session id of ASP.NET from a path in lower case:
// "(24 characters)", or several with a letter in front in more parentheses, as
// a segment before a name that ends in ".aspx".
func stripPathSession(path []byte) []byte {
	path = stripSegment(path, lettersLen)
	return stripSegment(path, plainLen)
}

// stripSegment removes the last segment of the length that match returns, if
// ".aspx" follows it.
func stripSegment(path []byte, match func([]byte) int) []byte {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] != '/' {
			continue
		}
		if n := match(path[i+1:]); n > 0 && hasPage(path[i+1+n:]) {
			return append(path[:i+1], path[i+1+n:]...)
		}
	}
	return path
}

// plainLen returns the length of "(…)/" at the start of text, or 0.
func plainLen(text []byte) int {
	if n := idLen(text); n > 0 && n < len(text) && text[n] == '/' {
		return n + 1
	}
	return 0
}

// lettersLen returns the length of "(a(…)b(…))/" at the start of text, or 0.
func lettersLen(text []byte) int {
	if len(text) == 0 || text[0] != '(' {
		return 0
	}
	n := 1
	for n < len(text) && 'a' <= text[n] && text[n] <= 'z' {
		id := idLen(text[n+1:])
		if id == 0 {
			return 0
		}
		n += 1 + id
	}
	if n == 1 || !bytes.HasPrefix(text[n:], []byte(")/")) {
		return 0
	}
	return n + 2
}

// idLen returns the length of "(…)" with 24 letters and digits, or 0.
func idLen(text []byte) int {
	const n = 24
	if len(text) < n+2 || text[0] != '(' || text[n+1] != ')' || !all(text[1:n+1], isAlnum) {
		return 0
	}
	return n + 2
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
	if !hasPrefixFold(q, name) || len(q) < len(name)+n || !all(q[len(name):len(name)+n], isAlnum) {
		return 0
	}
	return len(name) + n
}

func aspLen(q []byte) int {
	const name, letters, id = "aspsessionid", 8, 24
	const n = len(name) + letters + 1 + id
	if !hasPrefixFold(q, name) || len(q) < n || !all(q[len(name):len(name)+letters], isLetter) || q[len(name)+letters] != '=' || !all(q[n-id:n], isLetter) {
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

func all(text []byte, is func(byte) bool) bool {
	for _, b := range text {
		if !is(b) {
			return false
		}
	}
	return true
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }
func isAlnum(b byte) bool  { return isLetter(b) || '0' <= b && b <= '9' }
