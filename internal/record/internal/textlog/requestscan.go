package textlog

import (
	"bytes"
	"math/bits"
	"strings"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// This file finds the request in a line of any log. A request is a method in
// capitals and a target, which is a path or an absolute URL:
//
//	"GET /a HTTP/1.1"   in quotes, as in access logs
//	POST     "/a"       only the target in quotes
//	GET /a HTTP/1.1     without quotes; the target then contains no escapes
//
// Colors can be before and after each part.

// requestSpan is where a request is in a line.
type requestSpan struct {
	method, target locate.Span
	end            int // offset after the request and its closing quote; 0 without a request
	quoted         bool
}

// requestMethods are the methods to look for, from HTTP and WebDAV.
var requestMethods = [...]string{
	"GET", "POST", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "CONNECT", "TRACE", "PROPFIND", "PROPPATCH", "REPORT",
	"MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK", "SEARCH", "QUERY", "PURGE",
}

// FindRequest finds the first request of rec.
func FindRequest(rec []byte) (r requestSpan, ok bool) {
	for pos := 0; ; pos++ {
		n := bytes.IndexByte(rec[pos:], ' ')
		if n < 0 {
			return requestSpan{}, false
		}
		pos += n
		if r, ok = requestAt(rec, pos); ok {
			return r, true
		}
	}
}

// requestAt returns the request of rec whose method ends at the offset end.
func requestAt(rec []byte, end int) (r requestSpan, ok bool) {
	if r, ok = usualRequest(rec, end); ok {
		return r, true
	}
	return anyRequest(rec, end)
}

// anyRequest is requestAt without a shortcut.
func anyRequest(rec []byte, end int) (r requestSpan, ok bool) {
	start := methodBefore(rec, end)
	if start < 0 {
		return requestSpan{}, false
	}
	r.method = locate.Between(start, end)
	r.setTarget(rec)
	return r, r.end > 0
}

// usualRequest is requestAt for a request as most access logs write it, such as
// "GET /a HTTP/1.1" in quotes. It may give up, but its result never differs
// from the result of anyRequest.
func usualRequest(rec []byte, end int) (r requestSpan, ok bool) {
	const version = len(" HTTP/1.1")
	target := end + len(" ")
	if end < 8 || target >= len(rec) || rec[target] != '/' {
		return r, false
	}
	n := quotedMethod(rec[end-8 : end])
	size := bytes.IndexByte(rec[target:], '"')
	if n == 0 || size <= version {
		return r, false
	}
	closing := target + size
	if at := closing - version; string(rec[at:closing-1]) == " HTTP/1." && locate.IsDigit(rec[closing-1]) {
		return requestSpan{method: locate.Between(end-n, end), target: locate.Between(target, at), end: closing + 1, quoted: true}, true
	}
	return r, false
}

// quotedMethod returns the length of the method with which eight bytes end, if it is a
// common one after a quote, or 0.
func quotedMethod(text []byte) int {
	switch {
	case string(text[4:8]) == `"GET`:
		return len("GET")
	case string(text[3:8]) == `"POST`, string(text[3:8]) == `"HEAD`:
		return len("POST")
	}
	return 0
}

// MarkedRequest is FindRequest for the current line, whose capitals and spaces are marked. It
// looks only at spaces after capitals.
func MarkedRequest(b *locate.Walk) (r requestSpan, ok bool) {
	body := b.Text[b.Start:b.End:b.End]
	first := b.Start >> 6
	for k := first; k <= b.End>>6; k++ {
		before := uint64(0)
		if k > 0 {
			before = b.Marks.Class[k-1] >> 63
		}
		w := b.Marks.Same[k] & (b.Marks.Class[k]<<1 | before)
		if k == first {
			w = w >> (b.Start & 63) << (b.Start & 63)
		}
		for ; w != 0; w &= w - 1 {
			at := k<<6 + bits.TrailingZeros64(w)
			if at >= b.End {
				return requestSpan{}, false
			}
			if r, ok = requestAt(body, at-b.Start); ok {
				return r, true
			}
		}
	}
	return requestSpan{}, false
}

// methodBefore returns where the method that ends at the offset end begins, or
// -1.
func methodBefore(rec []byte, end int) int {
	start := end
	for start > 0 && rec[start-1]-'A' < 26 {
		start--
	}
	if start > 0 && locate.ColorsStart(rec, start) == start {
		switch c := rec[start-1]; {
		case locate.IsAlnum(c), c == '_', c == '-', c == '/', c == '.', c == '%':
			return -1
		}
	}
	for _, m := range requestMethods {
		if string(rec[start:end]) == m {
			return start
		}
	}
	return -1
}

// setTarget finds the target after the method of r. Without a target, r.end
// stays 0.
func (r *requestSpan) setTarget(rec []byte) {
	at := locate.BlanksEnd(rec, r.method.End)
	before := locate.ColorsStart(rec, r.method.Start)
	r.quoted = before > 0 && rec[before-1] == '"'
	if !r.quoted && at < len(rec) && rec[at] == '"' {
		r.quoted = true
		at++
	}
	if !locate.BeginsTarget(rec[at:]) {
		return
	}
	end := -1
	if r.quoted {
		end = closingQuote(rec, at)
		r.end = end + 1
	}
	if end < 0 {
		r.quoted, end = false, bareEnd(rec, at)
		r.end = end
	}
	line := locate.WithoutColors(rec, locate.Between(at, end))
	r.target = locate.Between(at, at+locate.VersionAt(line.In(rec)))
}

// closingQuote returns the offset of the quote that ends the text at start, or
// -1: the quote after a version or, without a version, the first quote that no
// backslash escapes. Targets can have raw quotes.
func closingQuote(rec []byte, start int) int {
	first := -1
	for i := start; ; i++ {
		n := bytes.IndexByte(rec[i:], '"')
		if n < 0 {
			return first
		}
		i += n
		switch {
		case locate.IsEscaped(rec[start:i]):
			continue
		case locate.VersionAt(rec[start:i]) < i-start:
			return i
		case first < 0:
			first = i
		}
		if rest := rec[i+1:]; len(rest) == 0 || rest[0] != '&' && !locate.IsAlnum(rest[0]) && !isQuotedVersion(rest) {
			return first
		}
	}
}

// isQuotedVersion reports whether rest starts with the version of a request and
// its closing quote.
func isQuotedVersion(rest []byte) bool {
	n := bytes.IndexByte(rest, '"')
	return n > 0 && locate.VersionAt(rest[:n]) == 0
}

// bareEnd returns the end of a request without quotes: the end of its version,
// or the end of the word at start without the punctuation of the log.
func bareEnd(rec []byte, start int) int {
	end := start
	for end < len(rec) && rec[end] > ' ' && rec[end] != '"' && rec[end] != '\\' {
		end++
	}
	if rest := rec[end:]; bytes.HasPrefix(rest, locate.Version) {
		after := len(locate.Version)
		for after < len(rest) && (locate.IsDigit(rest[after]) || rest[after] == '.') {
			after++
		}
		if after > len(locate.Version) {
			return end + after
		}
	}
	return start + len(trimPunctuation(rec[start:end]))
}

// trimPunctuation returns word without the trailing punctuation of a log, and
// without closing brackets that have no opening one. It leaves at least one
// byte.
func trimPunctuation(word []byte) []byte {
	const opening, closing = "([{", ")]}"
	var surplus [len(closing)]int // of closing brackets
	var counted [len(closing)]bool
	for len(word) > 1 {
		last := word[len(word)-1]
		if kind := strings.IndexByte(closing, last); kind >= 0 {
			if !counted[kind] {
				surplus[kind] = bytes.Count(word, []byte{last}) - bytes.Count(word, []byte{opening[kind]})
				counted[kind] = true
			}
			if surplus[kind] <= 0 {
				break
			}
			surplus[kind]--
		} else if strings.IndexByte(",;:'", last) < 0 {
			break
		}
		word = word[:len(word)-1]
	}
	return word
}
