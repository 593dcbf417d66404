package record

import (
	"bytes"

	"github.com/urlfold/urlfold/codec"
)

// stars replaces a password. '*' is a sub-delim, which userinfo may contain
// (RFC 3986 §3.2.1).
const stars = "***"

// redactor hides passwords and secrets.
type redactor struct {
	job     *Job
	found   *Found // in the current record
	secrets *secrets

	// Scratch.
	side      []byte       // normal form that is not used
	scrub     codec.Result // components of that normal form's input
	hidden    []byte       // text with its password hidden
	inside    []byte       // the same, also in nested URLs
	plainText []byte       // unescaped URL
	plainRuns []run
	whole     []byte // record with its passwords hidden
	ends      []int  // of the cells of a record
}

// hide returns text, an unescaped URL, with its password replaced by stars. If
// there is no password, it returns text itself, otherwise scratch.
//
// hide takes the password that the URL Standard finds or, if it finds none, the
// one that RFC 3986 finds. If the URL cannot be parsed, hide takes what looks
// like a password.
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

// hideAll is like hide, but also hides what looks like a password in a URL nested
// in text, and secrets.
func (red *redactor) hideAll(text []byte) []byte { return red.hideIn(text, inPath) }

// hideIn is hideAll for a text that begins at a place.
func (red *redactor) hideIn(text []byte, where place) []byte {
	text = red.hide(text)
	if len(red.secrets.names) == 0 && !mayNest(text) {
		return text
	}
	red.inside = red.secrets.mask(red.inside[:0], text, where)
	return red.inside
}

// mayNest reports whether text can hold a password in a nested URL.
func mayNest(text []byte) bool { return bytes.IndexByte(text, '@') >= 0 || bytes.Contains(text, hex40) }

var hex40 = []byte("40") // of an encoded '@'

// appendText appends text of unknown structure, or with URLs besides those that
// were read, with passwords and secrets hidden.
func (red *redactor) appendText(dst, text []byte) []byte {
	return red.secrets.mask(dst, text, inText)
}

// appendBeside is appendText for rec[from:to], which lies beside the URLs of a
// record. In a table no value goes beyond its cell, lest columns be lost.
func (red *redactor) appendBeside(dst, rec []byte, from, to int) []byte {
	if t, ok := red.job.reader.(*tableReader); ok {
		var read bool
		if red.ends, read = t.of(trimEnd(rec)).cellEnds(red.ends[:0], rec); read || red.found.n > 0 {
			for _, end := range red.ends {
				if from <= end && end < to {
					dst = append(red.appendText(dst, rec[from:end]), t.sep)
					from = end + 1
				}
			}
		}
	}
	return red.appendText(dst, rec[from:to])
}

// appendStars appends stars for a password. It keeps backslashes: a backslash
// ends the host for browsers, so the URL would have another host without it.
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

// likelyPassword finds what looks like a password in a URL that cannot be
// parsed: the text from the first ':' after the scheme and slashes to the last
// '@' before path, query and fragment.
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

// isSlash is the set of bytes that browsers skip between scheme and host.
var isSlash = [256]bool{'/': true, '\\': true, '\t': true, '\n': true, '\r': true, ' ': true}

// appendRedacted appends src with everything that looks like a password of a
// URL replaced by stars. It is for text of unknown structure, and for text with
// URLs besides those that were read, such as a user agent. It looks for "//",
// or for "\/\/", which some JSON writers produce, then for the last '@' in the
// authority, then for the first ':' before that. plain says that a backslash in
// src is literal and not part of an escape.
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

// authorityEnd returns the offset of the first byte at or after pos that must
// end an authority in raw text. An escaped quote does not end it.
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

// appendNested appends src with the passwords of percent-encoded URLs in it
// replaced by stars, as in ?u=http%3A%2F%2Fuser%3Apassword%40h%2F.
func appendNested(dst, src []byte) []byte {
	from, run := 0, 0
	for i := 0; i < len(src); {
		c, n, depth := character(src[i:])
		i += n
		if run++; c != '/' {
			run = 0
		}
		if run < 2 || depth == 0 {
			continue
		}
		colon, at := 0, 0 // end of the first ':' and start of the last '@'
		for j := i; j < len(src); {
			c, n, d := character(src[j:])
			if d <= depth && (c == '/' || c == '?' || c == '#' || c == '&' || c == '"' || c <= ' ' && src[j] != '+') {
				break
			}
			switch {
			case c == '@':
				at = j
			case c == ':' && colon == 0:
				colon = j + n
			}
			j += n
		}
		if colon > 0 && at >= colon {
			dst = append(append(dst, src[from:colon]...), stars...)
			from, i, run = at, at, 0
		}
	}
	return append(dst, src[from:]...)
}

// redactTail hides the passwords in out[start:].
func (red *redactor) redactTail(out []byte, start int) []byte {
	red.hidden = append(red.hidden[:0], out[start:]...)
	return red.appendText(out[:start], red.hidden)
}

// redactRecord returns rec, or the beginning of a record, with its passwords
// hidden, in scratch. It unescapes the URLs that the Locator found before it
// searches them.
func (red *redactor) redactRecord(rec []byte) []byte {
	red.whole = red.appendHidden(red.whole[:0], rec, 0, len(rec))
	return red.whole
}

// appendHidden appends rec[from:to] with its passwords hidden. No URL that the
// Locator found may cross either end of the range.
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
		where := inPath
		if s.role == roleQuery {
			where = inQuery
		}
		now := red.hideIn(text, where)
		dst, from = red.replace(dst, rec, from, s, now, bytes.Equal(now, text))
	}
	return red.appendBeside(dst, rec, from, to)
}

// redactCut hides the passwords in out[start:], a record without its end. It
// also hides what may be the beginning of a password at the cut.
func (red *redactor) redactCut(out []byte, start int) []byte {
	authority := start + bytes.LastIndexByte(out[start:], '/') + 1
	colon := bytes.IndexByte(out[authority:], ':')
	if authority > start && colon >= 0 && authorityEnd(out, authority) == len(out) {
		out = append(out[:authority+colon+1], stars...)
	}
	return red.redactTail(out, start)
}

// replace appends rec from offset from to the end of s, with now in place of s
// unless same is set. It may append less if nothing changes. It returns the
// offset from which the caller must continue.
func (red *redactor) replace(out, rec []byte, from int, s *site, now []byte, same bool) ([]byte, int) {
	switch {
	case red.job.redact:
		out = red.appendBeside(out, rec, from, s.start)
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

// browser implements the URL Standard without any additional rules.
var browser = func() *codec.Normalizer {
	p, _ := codec.Lookup("whatwg")
	n, err := codec.New(p)
	if err != nil {
		panic("BUG: the built-in profile whatwg is invalid") // every test would fail
	}
	return n
}()
