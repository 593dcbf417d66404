package record

import (
	"bytes"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// This file reads and writes URLs whose parts are in several fields of a
// record: join and compareParts read them, and pieces writes each part of the
// normal form back into its own field.

// join returns text, the URL at s, with its query from the separate field q.
func (n *normalizer) join(rec []byte, s, q *locate.Site, text []byte, escaped bool) []byte {
	query, runs, inQuery := q.Dialect.Unescape(n.queryText, q.In(rec), n.queryRuns)
	n.queryRuns = runs
	if inQuery {
		n.queryText = query
	} else {
		runs = append(runs, locate.Run{Text: 0, Raw: 0, Step: 1})
		n.queryRuns = runs[:0]
	}
	if !escaped {
		text, n.runs = append(n.text[:0], text...), append(n.runs[:0], locate.Run{Text: 0, Raw: 0, Step: 1})
	}
	n.joint = len(text)
	raw := q.Start - s.Start
	if len(query) == 0 || query[0] != '?' {
		n.runs = append(n.runs, locate.Run{Text: len(text), Raw: raw, Step: 0})
		text = append(text, '?')
	}
	for _, r := range runs {
		n.runs = append(n.runs, locate.Run{Text: r.Text + len(text), Raw: r.Raw + raw, Step: r.Step})
	}
	n.text = append(text, query...)
	return n.text
}

// Divide splits now, the replacement for a URL whose query is in its own field
// q, into the contents of the two fields. ok is false if the fields cannot hold
// it.
func (n *normalizer) Divide(rec []byte, q *locate.Site, now []byte) (path, query []byte, ok bool) {
	url, absent := n.cur.url, dash
	if n.found.Blank {
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
	if raw := q.In(rec); raw[0] == '?' {
		query = now[i:]
	}
	return path, query, len(path) > 0 && len(query) > 0 && string(query) != "-"
}

// dash is the content of a field of an access log without a value.
var dash = []byte("-")

// compareParts sets n.cur.parted if the normal form of a target in origin form
// changes the field with its scheme or its host.
func (n *normalizer) compareParts(rec []byte) {
	c := &n.cur
	for r := locate.RoleHost; r <= locate.RoleScheme; r++ {
		if s := n.found.Part(r); s != nil {
			now, ok := n.partNow(r, rec)
			c.parted = c.parted || ok && !bytes.Equal(now, n.partText(s, rec))
		}
	}
}

// partText returns the scheme or the host in the field s without escapes.
func (n *normalizer) partText(s *locate.Site, rec []byte) []byte {
	if s.Role == locate.RoleHost && n.found.NameDialect != nil {
		return n.found.UnescapedName(s.In(rec))
	}
	return s.In(rec)
}

// partNow returns the new text of the field that holds the scheme or the host of
// the current URL, from the normal form. ok is false if the field stays as it is.
//
// A host field with a port gets the port of the normal form. In a record without a
// scheme, it keeps its port even if the normal form has none: without the port,
// another scheme would be guessed when the record is read again.
func (n *normalizer) partNow(r locate.Role, rec []byte) (now []byte, ok bool) {
	c, u := &n.cur, &n.res.Out
	if c.why != 0 || c.nohost || !c.composed || c.form != locate.FormOrigin {
		return nil, false
	}
	if r == locate.RoleScheme {
		return u.Bytes(c.norm, codec.Scheme), true
	}
	host := u.Bytes(c.norm, codec.Host)
	old := n.host
	if bytes.Equal(old, host) {
		return host, true // the most common case
	}
	if locate.IsBareIPv6(old) {
		return n.bareIPv6(old, bytes.Trim(host, "[]")), true
	}
	colon := bytes.LastIndexByte(old, ':')
	switch {
	case colon <= bytes.LastIndexByte(old, ']') || colon < len(old)-1 && !locate.AllDigits(old[colon+1:]):
		return host, true // without a port
	case u.Has(codec.Port):
		return c.norm[u.Span(codec.Host).Start:u.Span(codec.Path).Start], true
	case locate.IsScheme(n.found.Scheme.In(rec)) || n.found.TLS || n.found.Plain || n.job.base.scheme != nil:
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
	text    [locate.NumRoles][]byte
	changed [locate.NumRoles]bool // the fields that change
}

// set stores a copy of now as the replacement for the part r, unless it is the
// same. It copies because the referer may be read before the part is written.
func (p *pieces) set(r locate.Role, now []byte, same bool) {
	if p.changed[r] = !same; !same {
		p.text[r] = append(p.text[r][:0], now...)
	}
}

// readParts reads the URL whose parts are in several fields and sets w.pieces.
func (w *Worker) readParts(rec []byte, v *verdict, st *Stats) {
	p, c, f := &w.pieces, &w.n.cur, &w.found
	p.fit, p.changed = true, [locate.NumRoles]bool{}
	target := f.Part(locate.RoleTarget)
	ok := w.read(target, rec, v, st)
	now := c.url
	if ok {
		now = c.back
	}
	if w.job.redact {
		now = w.red.hideAll(now)
	}
	same := bytes.Equal(now, c.url) && (!ok || c.entity == 0)
	q := f.Part(locate.RoleQuery)
	switch {
	case q == nil:
		p.set(locate.RoleTarget, now, same)
	case !same:
		w.dividePieces(rec, q, now, st)
	}
	if !p.fit || !c.parted && !w.job.redact {
		return
	}
	for r := locate.RoleHost; r <= locate.RoleScheme; r++ {
		s := f.Part(r)
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
func (w *Worker) dividePieces(rec []byte, q *locate.Site, now []byte, st *Stats) {
	path, query, ok := w.n.Divide(rec, q, now)
	if w.pieces.fit = ok; !ok {
		st.Unwritten++
		return
	}
	url, joint, plain := w.n.cur.url, w.n.joint, w.n.cur.entity == 0
	w.pieces.set(locate.RoleTarget, path, plain && bytes.Equal(path, url[:joint]))
	at := len(url) - len(query)
	w.pieces.set(locate.RoleQuery, query, plain && bytes.HasSuffix(url, query) && at >= joint && at <= joint+1)
}
