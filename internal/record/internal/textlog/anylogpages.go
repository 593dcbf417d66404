package textlog

import (
	"bytes"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// In a line of any log, this file distinguishes absolute URLs of pages from
// URLs that only accompany a request: the referer, and the address in the agent
// of a bot.

// hasDash reports whether head, the part of a line before what looks like a
// request, has "-" and a status. The server has then written "-" in place of
// a request that it did not see, and the text that looks like a request is
// the agent of a client.
func hasDash(head []byte) bool {
	for {
		_, rest, found := bytes.Cut(head, []byte(`"-"`))
		if !found || len(rest) > len(" ") && rest[1] != '-' && isStatus(rest) {
			return found
		}
		head = rest
	}
}

// isApart reports whether a line without a request has its target in a separate field,
// apart from the method: a path and at least two of a method, a version, a status and
// the agent of a browser. The absolute URLs of the line are then no pages.
func isApart(rec []byte) bool {
	const between = " \t\"'|,;[](){}"
	var path, method, version, status, browser int
	for pos := 0; pos < len(rec); {
		end := len(rec)
		if n := bytes.IndexAny(rec[pos:], between); n >= 0 {
			end = pos + n
		}
		switch word := rec[pos:end]; {
		case len(word) == 0:
		case word[0] == '/':
			path = 1
		case bytes.HasPrefix(word, locate.Version[1:]):
			version = 1
		case bytes.HasPrefix(word, []byte("Mozilla/")):
			browser = 1
		case len(word) == len("200") && word[0]-'1' < 5 && locate.AllDigits(word):
			status = 1
		case methodBefore(rec, end) == pos:
			method = 1
		}
		pos = end + 1
	}
	return path > 0 && method+version+status+browser >= 2
}

// isAside reports whether before, the part of a line before an absolute URL, says that
// the URL is no page: a label of the referer, or the beginning of an agent, such as
// Mozilla/5.0 (compatible; bot/1.0; +http://…).
func isAside(before []byte) bool {
	if bytes.HasSuffix(before, []byte("+")) {
		return true
	}
	label := bytes.TrimRight(before, ` :="'`)
	for _, name := range [...]string{"referer", "referrer"} {
		if n := len(label) - len(name); n >= 0 && locate.EqualLower(label[n:], name) && (n == 0 || !locate.IsAlnum(label[n-1])) {
			return true
		}
	}
	field := before[bytes.LastIndexAny(before, "\"\t|")+1:]
	for pos := 0; ; pos++ {
		n := bytes.IndexByte(field[pos:], '/')
		if n < 0 {
			return false
		}
		pos += n
		name := field[bytes.LastIndexAny(field[:pos], " (;")+1 : pos]
		if len(name) > 0 && locate.IsLetter(name[0]) && locate.IsToken(name) && pos+1 < len(field) && locate.IsDigit(field[pos+1]) {
			return bytes.ContainsAny(field[pos:], "(;") && string(name) != "HTTP"
		}
	}
}
