package record

import (
	"bytes"

	"github.com/urlfold/urlfold/codec"
)

// This file reads and writes URLs whose parts are in several fields of a
// record: join and compareParts read them, and pieces writes each part of the
// normal form back into its own field.

// join returns text, the URL at s, followed by its query, which is in its own
// field q.
func (n *normalizer) join(rec []byte, s, q *site, text []byte, escaped bool) []byte {
	query, runs, inQuery := q.dialect.unescape(n.queryText, q.in(rec), n.queryRuns)
	n.queryRuns = runs
	if inQuery {
		n.queryText = query
	} else {
		runs = append(runs, run{0, 0, 1})
		n.queryRuns = runs[:0]
	}
	if !escaped {
		text, n.runs = append(n.text[:0], text...), append(n.runs[:0], run{0, 0, 1})
	}
	n.joint = len(text)
	raw := q.start - s.start
	if len(query) == 0 || query[0] != '?' {
		n.runs = append(n.runs, run{len(text), raw, 0})
		text = append(text, '?')
	}
	for _, r := range runs {
		n.runs = append(n.runs, run{r.text + len(text), r.raw + raw, r.step})
	}
	n.text = append(text, query...)
	return n.text
}

// divide splits now, the replacement for a URL whose query is in its own field
// q, into the contents of the two fields. ok is false if the fields cannot hold
// it.
func (n *normalizer) divide(rec []byte, q *site, now []byte) (path, query []byte, ok bool) {
	url, absent := n.cur.url, dash
	if n.found.blank {
		absent = nil
	}
	i := bytes.IndexByte(now, '?')
	switch {
	case bytes.IndexByte(url, '?') != n.joint || bytes.IndexByte(url[:n.joint], '#') >= 0, bytes.ContainsAny(now, " \t"):
		return nil, nil, false
	case i < 0:
		return now, absent, bytes.IndexByte(now, '#') < 0
	}
	path, query = now[:i], now[i+1:]
	if raw := q.in(rec); raw[0] == '?' {
		query = now[i:]
	}
	return path, query, len(path) > 0 && len(query) > 0 && string(query) != "-"
}

// dash is the content of a field of an access log that has no value.
var dash = []byte("-")

// compareParts sets c.parted for a URL in origin form.
func (n *normalizer) compareParts(rec []byte) {
	c := &n.cur
	for r := roleHost; r <= roleScheme; r++ {
		if s := n.found.part(r); s != nil {
			now, ok := n.partNow(r, rec)
			c.parted = c.parted || ok && !bytes.Equal(now, n.partText(s, rec))
		}
	}
}

// partText returns the scheme or the host in the field s without escapes.
func (n *normalizer) partText(s *site, rec []byte) []byte {
	if s.role == roleHost && n.found.nameDialect != nil {
		return n.found.unescapedName(s.in(rec))
	}
	return s.in(rec)
}

// partNow returns the scheme or the host of the current URL's normal form, as
// its field holds it. ok is false if the field stays as it is.
//
// The port is a part of the host field if it was one before. If the record has
// no scheme, such a port stays even if the normal form has none, because
// reading the record again would guess another scheme without it.
func (n *normalizer) partNow(r role, rec []byte) (now []byte, ok bool) {
	c, u := &n.cur, &n.res.Out
	if c.why != 0 || c.nohost || !c.composed || c.form != formOrigin {
		return nil, false
	}
	if r == roleScheme {
		return u.Bytes(c.norm, codec.Scheme), true
	}
	host := u.Bytes(c.norm, codec.Host)
	old := n.host
	if bytes.Equal(old, host) {
		return host, true // the most common case
	}
	if isBareIPv6(old) {
		return n.bareIPv6(old, bytes.Trim(host, "[]")), true
	}
	colon := bytes.LastIndexByte(old, ':')
	switch {
	case colon <= bytes.LastIndexByte(old, ']') || colon < len(old)-1 && !allDigits(old[colon+1:]):
		return host, true // without a port
	case u.Has(codec.Port):
		return c.norm[u.Span(codec.Host).Start:u.Span(codec.Path).Start], true
	case isScheme(n.found.scheme.in(rec)) || n.found.tls || n.found.plain || n.job.scheme != nil:
		return host, true
	}
	n.part = append(append(n.part[:0], host...), old[colon:]...)
	return n.part, true
}

// bareIPv6 returns the address now without brackets, in the notation of old: a URL
// escapes the '%' before the zone (RFC 6874).
func (n *normalizer) bareIPv6(old, now []byte) []byte {
	const escaped = "%25"
	at := bytes.IndexByte(now, '%')
	if at < 0 || !bytes.HasPrefix(now[at:], []byte(escaped)) || bytes.Contains(old, []byte(escaped)) {
		return now
	}
	n.part = append(append(append(n.part[:0], now[:at]...), '%'), now[at+len(escaped):]...)
	return n.part
}

// pieces holds the bytes that replace the parts of the current URL.
type pieces struct {
	fit     bool // the fields can hold the parts; otherwise they stay unchanged
	text    [numRoles][]byte
	changed [numRoles]bool // otherwise the field stays as it is
}

// set stores a copy of now as the replacement for the part r, unless it is the
// same. It copies because the referer may be read before the part is written.
func (p *pieces) set(r role, now []byte, same bool) {
	if p.changed[r] = !same; !same {
		p.text[r] = append(p.text[r][:0], now...)
	}
}

// readParts reads the URL whose parts are in several fields and sets w.pieces.
func (w *Worker) readParts(rec []byte, v *verdict, st *Stats) {
	p, c, f := &w.pieces, &w.n.cur, &w.found
	p.fit, p.changed = true, [numRoles]bool{}
	target := f.part(roleTarget)
	ok := w.read(target, rec, v, st)
	now := c.url
	if ok {
		now = c.back
	}
	if w.job.redact {
		now = w.red.hideAll(now)
	}
	same := bytes.Equal(now, c.url)
	q := f.part(roleQuery)
	switch {
	case q == nil:
		p.set(roleTarget, now, same)
	case !same:
		w.dividePieces(rec, q, now, st)
	}
	if !p.fit || !c.parted && !w.job.redact {
		return
	}
	for r := roleHost; r <= roleScheme; r++ {
		s := f.part(r)
		if s == nil {
			continue
		}
		old := w.n.partText(s, rec)
		now, ok := w.n.partNow(r, rec)
		if !ok || !c.parted {
			now = old
		}
		if w.job.redact {
			now = w.red.hideIn(now, inText)
		}
		p.set(r, now, bytes.Equal(now, old))
	}
}

// dividePieces sets the pieces for path and query from now. If the two fields
// cannot hold now, all parts of the URL stay unchanged.
func (w *Worker) dividePieces(rec []byte, q *site, now []byte, st *Stats) {
	path, query, ok := w.n.divide(rec, q, now)
	if w.pieces.fit = ok; !ok {
		st.Unwritten++
		return
	}
	url, joint := w.n.cur.url, w.n.joint
	w.pieces.set(roleTarget, path, bytes.Equal(path, url[:joint]))
	at := len(url) - len(query)
	w.pieces.set(roleQuery, query, bytes.HasSuffix(url, query) && at >= joint && at <= joint+1)
}
