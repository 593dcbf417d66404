package urlcanon

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/internal/peer"
)

func httpsToHTTP(c *canonicalizer) {
	if string(c.url.scheme) == "https" {
		c.url.scheme = http
	}
}

// stripWWW removes "www", digits and a dot from the start of the host.
func stripWWW(c *canonicalizer) {
	c.url.host = c.url.host[peer.WWW(c.url.host):]
}

func lowerPath(c *canonicalizer) {
	c.lowerPart(&c.url.path)
}

func lowerQuery(c *canonicalizer) {
	c.lowerPart(&c.url.query)
}

// stripQuerySessions removes session ids, which are whole fields. The field
// after a removed field stays even if it is a session id.
func stripQuerySessions(c *canonicalizer) {
	query := c.url.query
	start := len(c.arena)
	for i := 0; i < len(query); {
		at := i
		if query[i] == '&' {
			at++
		}
		n := 0
		if i == 0 || at > i {
			n = sessionLen(query[at:])
		}
		if n == 0 {
			c.arena = append(c.arena, query[i])
			i++
			continue
		}
		c.arena = append(c.arena, query[i:at]...)
		if i = at + n; i < len(query) {
			c.arena = append(c.arena, '&')
			i++
		}
	}
	c.url.query = c.since(start)
}

// sessionLen returns the length of the session id at the start of a query in
// lower case, or 0. The id ends a field or the query.
func sessionLen(q []byte) int {
	for _, s := range []struct {
		name string
		min  int
		also byte
	}{{"jsessionid=", 10, '$'}, {"sessionid=", 16, 0}, {"phpsessid=", 16, 0}, {"sid=", 16, 0}} {
		if value, ok := bytes.CutPrefix(q, []byte(s.name)); ok {
			return fieldEnd(q, len(s.name), idLen(value, s.also), s.min)
		}
	}
	if rest, ok := bytes.CutPrefix(q, []byte("aspsessionid")); ok {
		const n = 8
		if len(rest) <= n || rest[n] != '=' || bytes.ContainsFunc(rest[:n], func(r rune) bool { return r < 'a' || r > 'z' }) {
			return 0
		}
		return fieldEnd(q, len(q)-len(rest)+n+1, idLen(rest[n+1:], 0), 16)
	}
	rest, ok := bytes.CutPrefix(q, []byte("cfid="))
	n := 0
	for n < len(rest) && '0' <= rest[n] && rest[n] <= '9' {
		n++
	}
	token, cf := bytes.CutPrefix(rest[n:], []byte("&cftoken="))
	if !ok || n == 0 || !cf {
		return 0
	}
	return fieldEnd(q, len(q)-len(token), idLen(token, '-'), 1)
}

// fieldEnd returns start+n if n is at least least and an '&' or the end follows,
// otherwise 0.
func fieldEnd(q []byte, start, n, least int) int {
	if n < least || start+n < len(q) && q[start+n] != '&' {
		return 0
	}
	return start + n
}

// idLen returns the number of letters, digits and bytes of also at the start of
// text.
func idLen(text []byte, also byte) int {
	n := 0
	for n < len(text) && ('a' <= text[n] && text[n] <= 'z' || '0' <= text[n] && text[n] <= '9' || also != 0 && text[n] == also) {
		n++
	}
	return n
}

// stripPathSessions removes the session ids of ASP.NET and Java.
func stripPathSessions(c *canonicalizer) {
	u := &c.url
	if bytes.HasSuffix(u.path, []byte(".aspx")) {
		start := len(c.arena)
		for i := 0; i < len(u.path); {
			if n := aspSegment(u.path[i:]); n > 0 && i > 0 && u.path[i-1] == '/' {
				i += n
				continue
			}
			c.arena = append(c.arena, u.path[i])
			i++
		}
		u.path = c.since(start)
	}
	const id = ";jsessionid="
	if i := len(u.path) - len(id) - 32; i >= 0 && string(u.path[i:i+len(id)]) == id && idLen(u.path[i+len(id):], 0) == 32 {
		u.path = u.path[:i]
	}
}

// aspSegment returns the length of the session ids that peer.ASPSession or peer.ASPSessions
// finds and the slash after them, or 0.
func aspSegment(path []byte) int {
	n := peer.ASPSession(path)
	if n == 0 {
		n = peer.ASPSessions(path)
	}
	if n == 0 || n == len(path) || path[n] != '/' {
		return 0
	}
	return n + 1
}

func stripSlash(c *canonicalizer) {
	if n := len(c.url.path); n > 1 && c.url.path[n-1] == '/' {
		c.url.path = c.url.path[:n-1]
	}
}

func removeAmpersands(c *canonicalizer) {
	c.url.query = bytes.Trim(c.url.query, "&")
	c.drop(&c.url.query, func(before, b byte) bool { return before == '&' && b == '&' })
}

func omitQuestionMark(c *canonicalizer) {
	if len(c.url.query) == 0 {
		c.url.questionMark = nil
	}
}
