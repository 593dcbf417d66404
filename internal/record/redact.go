package record

import (
	"bytes"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/ground/redact"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// stars replaces a password. '*' is a sub-delim, which userinfo may contain
// (RFC 3986 §3.2.1).
const stars = redact.Stars

// redactor hides passwords and secrets.
type redactor struct {
	job     *Job
	found   *Found // URLs in the current record
	secrets *secrets
	masker  *redact.Masker // nil: there are no patterns
	divider locate.Divider // the Locator, if it is one

	// Scratch.
	side      []byte       // normal form that is not used
	scrub     codec.Result // components of that normal form's input
	hidden    []byte       // text with its password hidden
	inside    []byte       // hidden, with the passwords of nested URLs replaced, too
	veiled    []byte       // inside, before the patterns apply
	unhosted  []byte       // inside, without an address
	plainText []byte       // unescaped URL
	plainRuns []locate.Run
	whole     []byte        // record with its passwords hidden
	between   []locate.Span // separators between the fields of a record
	field     []byte        // a field, or the whole record
}

// hide returns text, an unescaped URL, with its password replaced by stars. If
// there is no password, it returns text itself, otherwise scratch.
//
// hide takes the password that the URL Standard finds or, if it finds none, the
// password that RFC 3986 finds. If the URL cannot be parsed, hide takes what looks
// like a password.
func (red *redactor) hide(text []byte) []byte {
	if bytes.IndexByte(text, '@') < 0 {
		return text
	}
	var err error
	red.side, err = locate.Browser.Append(red.side[:0], text, &red.scrub)
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

// hideIn is hideAll for a text of the kind that where names.
func (red *redactor) hideIn(text []byte, where place) []byte {
	text = red.hide(text)
	if red.masker == nil && len(red.secrets.names) == 0 && !mayNest(text) {
		return text
	}
	if s := red.addressIn(text); s.Len() > 0 {
		red.unhosted = append(append(append(red.unhosted[:0], text[:s.Start]...), stars...), text[s.End:]...)
		text = red.unhosted
	}
	red.inside = red.mask(red.inside[:0], text, where)
	return red.inside
}

// mask appends text. It replaces by stars the passwords of nested URLs, secrets, and the
// text that the patterns match.
func (red *redactor) mask(dst, text []byte, where place) []byte {
	if red.masker == nil {
		return red.secrets.mask(dst, text, where)
	}
	red.veiled = red.secrets.mask(red.veiled[:0], text, where)
	return red.masker.Append(dst, red.veiled, where == inValue)
}

// addressIn returns the host of a URL if the patterns hide IP addresses and the host is
// an IP address, in any notation.
func (red *redactor) addressIn(text []byte) (s codec.Span) {
	if red.masker == nil || !red.masker.HidesHosts() {
		return s
	}
	var err error
	red.side, err = locate.Browser.AppendRef(red.side[:0], placeholder, text, &red.scrub)
	if err == nil && red.masker.HidesHost(red.scrub.Out.Bytes(red.side, codec.Host)) {
		return red.scrub.In.Span(codec.Host)
	}
	return s
}

// mayNest reports whether text can hold a password in a nested URL.
func mayNest(text []byte) bool { return bytes.IndexByte(text, '@') >= 0 || bytes.Contains(text, hex40) }

var hex40 = []byte("40") // the digits of an encoded '@'

// appendText appends text with passwords and secrets hidden. The text has an unknown
// structure, or contains URLs that were not read.
func (red *redactor) appendText(dst, text []byte) []byte {
	return red.mask(dst, text, inText)
}

// appendBeside is appendText for rec[from:to], which contains none of the URLs that
// were read.
func (red *redactor) appendBeside(dst, rec []byte, from, to int) []byte {
	last := locate.Between(from, from) // what precedes the current field
	if red.divider != nil {
		red.between = red.divider.Divide(red.between[:0], rec, red.found)
		for _, s := range red.between {
			if last.End <= s.Start && s.End <= to {
				dst = red.appendField(dst, rec[last.Start:s.Start], last.End-last.Start)
				last = s
			}
		}
	}
	return red.appendField(dst, rec[last.Start:to], last.End-last.Start)
}

// appendField is appendText for the field text[n:]. The n bytes before the field stay
// as they are. They can hold the name of a secret or the start of a URL, as in the
// log format token=%b.
func (red *redactor) appendField(dst, text []byte, n int) []byte {
	start := len(dst)
	dst = red.appendText(append(dst, text[:n]...), text[n:])
	if !bytes.ContainsAny(text[:n], "=/") {
		return dst
	}
	red.field = append(red.field[:0], dst[start:]...)
	if dst = red.appendText(dst[:start], red.field); bytes.HasPrefix(dst[start:], text[:n]) {
		return dst
	}
	return append(append(dst[:start], text[:n]...), stars...)
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
	if i := bytes.IndexByte(text, ':'); i > 0 && locate.IsScheme(bytes.TrimLeft(text[:i], " \t")) {
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

// appendPasswords appends src with everything that looks like a password of a URL
// replaced by stars, including passwords in percent-encoded URLs, as in
// ?u=http%3A%2F%2Fuser%3Apassword%40h%2F. It looks for two slashes, then for the last
// '@' in the authority, then for the first ':' before that. plain says that a backslash
// in src is literal and not part of an escape.
func appendPasswords(dst, src []byte, plain bool) []byte {
	from, slashes := 0, 0
	for i := 0; i < len(src); {
		c, n, depth := character(src[i:])
		i += n
		if slashes++; c != '/' {
			slashes = 0
		}
		if slashes < 2 {
			continue
		}
		colon, at := 0, 0 // end of the first ':' and start of the last '@'
		for j := i; j < len(src); {
			c, n, d := character(src[j:])
			if d <= depth && endsAuthority(src[j:j+n], c, depth) {
				break
			}
			switch {
			case d > 0 && depth == 0:
			case c == '@':
				at = j
			case c == ':' && colon == 0:
				colon = j + n
			}
			j += n
		}
		if colon == 0 || at < colon {
			continue
		}
		dst = append(dst, src[from:colon]...)
		if plain && depth == 0 {
			dst = appendStars(dst, src[colon:at])
		} else {
			dst = append(dst, stars...)
		}
		from, i, slashes = at, at, 0
	}
	return append(dst, src[from:]...)
}

// endsAuthority reports whether the character c, written as raw, ends an authority that
// is percent-encoded depth times. Only a raw byte ends an authority that is not
// percent-encoded.
func endsAuthority(raw []byte, c byte, depth int) bool {
	if depth == 0 {
		last := raw[len(raw)-1]
		return last == '/' || len(raw) == 1 && (last == '?' || last == '#' || last == '"' || last <= ' ')
	}
	return c == '/' || c == '?' || c == '#' || c == '&' || c == '"' || c <= ' ' && raw[0] != '+'
}

// redactTail hides the passwords in out[start:].
func (red *redactor) redactTail(out []byte, start int) []byte {
	red.hidden = append(red.hidden[:0], out[start:]...)
	return red.appendText(out[:start], red.hidden)
}

// redactRecord returns rec, or the beginning of a record, with its passwords
// hidden, in scratch. It first unescapes the URLs that the Locator found, then
// searches them.
func (red *redactor) redactRecord(rec []byte) []byte {
	red.whole = red.appendHidden(red.whole[:0], rec, 0, len(rec))
	if red.masker != nil && red.divider == nil { // in prose, a URL can end within a value
		red.field = append(red.field[:0], red.whole...)
		red.whole = red.masker.Append(red.whole[:0], red.field, false)
	}
	return red.whole
}

// appendHidden appends rec[from:to] with its passwords hidden. No URL that the
// Locator found may cross either end of the range.
func (red *redactor) appendHidden(dst, rec []byte, from, to int) []byte {
	for i := range red.found.N {
		s := &red.found.Sites[i]
		if s.Start < from || s.End > to {
			continue
		}
		text, runs, escaped := s.Dialect.Unescape(red.plainText, s.In(rec), red.plainRuns)
		red.plainRuns = runs
		if escaped {
			red.plainText = text
		}
		where := inPath
		if s.Role == locate.RoleQuery {
			where = inQuery
		}
		now := red.hideIn(text, where)
		dst, from = red.replace(dst, rec, from, s, now, bytes.Equal(now, text))
	}
	return red.appendBeside(dst, rec, from, to)
}

// redactCut hides the passwords in out[start:], a truncated record. It also
// hides what may be the beginning of a password or value at the cut.
func (red *redactor) redactCut(out []byte, start int) []byte {
	authority := start + bytes.LastIndexByte(out[start:], '/') + 1
	colon := bytes.IndexByte(out[authority:], ':')
	if authority > start && colon >= 0 && !bytes.ContainsAny(out[authority:], "?#\" \t") {
		out = append(out[:authority+colon+1], stars...)
	}
	return red.redactTail(red.hideLast(out, start), start)
}

// hideLast replaces the last word of out[start:], a truncated record, by stars
// if there are patterns: the word may be the beginning of what they match.
func (red *redactor) hideLast(out []byte, start int) []byte {
	if red.masker == nil || len(out) == start {
		return out
	}
	i := len(out)
	for i > start && !endsValue[inText][out[i-1]] {
		i--
	}
	return append(out[:i], stars...)
}

// replace appends rec from offset from to the end of s, with now in place of s
// unless same is set. It may append less if nothing changes. It returns the
// offset from which the caller must continue.
func (red *redactor) replace(out, rec []byte, from int, s *locate.Site, now []byte, same bool) ([]byte, int) {
	switch {
	case red.job.redact:
		out = red.appendBeside(out, rec, from, s.Start)
	case same:
		return out, from
	default:
		out = append(out, rec[from:s.Start]...)
	}
	if same {
		return append(out, s.In(rec)...), s.End
	}
	return s.Dialect.Escape(out, now, s.Stop), s.End
}
