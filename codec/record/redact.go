package record

import (
	"bytes"

	"github.com/urlfold/urlfold/codec"
)

// stars stands where a password was. '*' is a sub-delim and may stand in
// userinfo (RFC 3986 §3.2.1).
const stars = "***"

// A redactor hides passwords.
type redactor struct {
	job   *Job
	found *Found // in the record at hand

	// Scratch.
	side      []byte       // a normal form of no interest
	scrub     codec.Result // its parts
	hidden    []byte       // text with its passwords hidden
	inside    []byte       // the same, with those of URLs inside a URL
	plainText []byte       // of a URL without the escapes of its record
	plainRuns []run
	whole     []byte // a record with its passwords hidden
}

// hide returns text, one URL without the escapes of its record, with its
// password replaced by stars: text itself if there is none, else scratch.
//
// What browsers take for the password goes first, and what RFC 3986 takes for
// one where browsers see none. Of a URL that browsers have no reading of, what
// looks like one.
func (red *redactor) hide(text []byte) []byte {
	if bytes.IndexByte(text, '@') < 0 {
		return text
	}
	var err error
	red.side, err = browser.Append(red.side[:0], text, &red.scrub)
	if err == nil && !red.scrub.In.Has(codec.Password) {
		err = codec.Parse(text, &red.scrub)
		if err == nil && !red.scrub.In.Has(codec.Password) {
			return text
		}
	}
	p := red.scrub.In.Span(codec.Password)
	if err != nil {
		var ok bool
		if p, ok = likelyPassword(text); !ok {
			return text
		}
	}
	red.hidden = appendStars(append(red.hidden[:0], text[:p.Start]...), p.In(text))
	red.hidden = append(red.hidden, text[p.End:]...)
	return red.hidden
}

// hideAll is hide for a URL that is written back: what looks like the password
// of another URL inside it goes too.
func (red *redactor) hideAll(text []byte) []byte {
	text = red.hide(text)
	if bytes.IndexByte(text, '@') < 0 {
		return text
	}
	red.inside = appendRedacted(red.inside[:0], text, true)
	return red.inside
}

// appendStars appends stars for a password. A backslash in it stays: it ends the
// host for browsers, and without it the URL would be one of another host.
func appendStars(dst, password []byte) []byte {
	for {
		i := bytes.IndexByte(password, '\\')
		if i < 0 {
			return append(dst, stars...)
		}
		if i > 0 {
			dst = append(dst, stars...)
		}
		dst = append(dst, '\\')
		if password = password[i+1:]; len(password) == 0 {
			return dst
		}
	}
}

// likelyPassword finds what looks like the password of a URL that has no
// reading: from the first ':' behind scheme and slashes to the last '@' in front
// of path, query and fragment.
func likelyPassword(text []byte) (p codec.Span, ok bool) {
	start := 0
	if i := bytes.IndexByte(text, ':'); i > 0 && isScheme(bytes.TrimLeft(text[:i], " \t")) {
		start = i + 1
	}
	for start < len(text) && isSlash[text[start]] {
		start++
	}
	authority := text[start:]
	if i := bytes.IndexAny(authority, "/?#"); i >= 0 {
		authority = authority[:i]
	}
	at := max(0, bytes.LastIndexByte(authority, '@'))
	colon := bytes.IndexByte(authority[:at], ':')
	return codec.Span{Start: uint32(start + colon + 1), End: uint32(start + at)}, colon >= 0
}

// isSlash marks what browsers pass over between a scheme and a host.
var isSlash = [256]bool{'/': true, '\\': true, '\t': true, '\n': true, '\r': true, ' ': true}

// appendRedacted appends src to dst, and stars for what looks like the password
// of a URL: in text that has no known structure, or has URLs beside the ones that
// were read, such as a user agent. It looks for "//", or "\/\/" as some JSON
// writers have it, then for the last '@' before the authority must end, then
// for the first ':' before that. If src is plain, a backslash in it is one, and
// no part of an escape.
func appendRedacted(dst, src []byte, plain bool) []byte {
	from := 0
	for pos := 0; ; {
		n := bytes.IndexByte(src[pos:], '/')
		if n < 0 {
			return append(dst, src[from:]...)
		}
		pos += n + 1
		switch {
		case pos < len(src) && src[pos] == '/':
			pos++
		case pos+1 < len(src) && src[pos] == '\\' && src[pos+1] == '/':
			pos += 2
		default:
			continue
		}
		authority := src[pos:authorityEnd(src, pos)]
		at := bytes.LastIndexByte(authority, '@')
		if at < 0 {
			continue
		}
		if colon := bytes.IndexByte(authority[:at], ':'); colon >= 0 {
			dst = append(dst, src[from:pos+colon+1]...)
			from = pos + at
			if plain {
				dst = appendStars(dst, src[pos+colon+1:from])
			} else {
				dst = append(dst, stars...)
			}
		}
		pos += at
	}
}

// authorityEnd returns the offset of the first byte at or behind pos that must
// end an authority in raw text. An escaped quote does not.
func authorityEnd(b []byte, pos int) int {
	for i := pos; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"' && isEscaped(b[pos:i]):
		case c == '/' || c == '?' || c == '#' || c == '"' || c <= ' ':
			return i
		}
	}
	return len(b)
}

// redactTail hides the passwords in out[start:].
func (red *redactor) redactTail(out []byte, start int) []byte {
	red.hidden = append(red.hidden[:0], out[start:]...)
	return appendRedacted(out[:start], red.hidden, false)
}

// redactRecord returns rec, or the beginning of it, with its passwords hidden, in
// scratch. The URLs that were found in it are looked at without their escapes.
func (red *redactor) redactRecord(rec []byte) []byte {
	red.whole = red.appendHidden(red.whole[:0], rec, 0, len(rec))
	return red.whole
}

// appendHidden appends rec[from:to] with its passwords hidden. No URL that was
// found lies across its ends.
func (red *redactor) appendHidden(dst, rec []byte, from, to int) []byte {
	for i := range red.found.n {
		s := &red.found.sites[i]
		if s.start < from || s.end > to {
			continue
		}
		text, runs, escaped := s.dialect.unescape(red.plainText, s.in(rec), red.plainRuns)
		red.plainRuns = runs
		if escaped {
			red.plainText = text
		}
		now := red.hideAll(text)
		dst, from = red.replace(dst, rec, from, s, now, bytes.Equal(now, text))
	}
	return appendRedacted(dst, rec[from:to], false)
}

// redactCut hides the passwords in out[start:], a record without its end: what
// may be the beginning of a password at the cut goes too.
func (red *redactor) redactCut(out []byte, start int) []byte {
	authority := start + bytes.LastIndexByte(out[start:], '/') + 1
	colon := bytes.IndexByte(out[authority:], ':')
	if authority > start && colon >= 0 && authorityEnd(out, authority) == len(out) {
		out = append(out[:authority+colon+1], stars...)
	}
	return red.redactTail(out, start)
}

// replace appends rec from an offset on up to the end of s, with text now where
// s was, unless that is the same. Where nothing changes it may append less: it
// returns the offset to go on from.
func (red *redactor) replace(out, rec []byte, from int, s *site, now []byte, same bool) ([]byte, int) {
	switch {
	case red.job.redact:
		out = appendRedacted(out, rec[from:s.start], false)
	case same:
		return out, from
	default:
		out = append(out, rec[from:s.start]...)
	}
	if same {
		return append(out, s.in(rec)...), s.end
	}
	return s.dialect.escape(out, now, s.stop), s.end
}

// browser reads as browsers do, and changes nothing else.
var browser = func() *codec.Normalizer {
	p, _ := codec.Lookup("whatwg")
	n, err := codec.New(p)
	if err != nil {
		panic("BUG: the profile whatwg contradicts itself") // every test would fail
	}
	return n
}()
