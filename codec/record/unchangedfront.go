package record

import (
	"bytes"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/percent"
)

// This file is the part of AppendRun for absolute URLs that change only in their
// scheme and authority, as in https://www.example.com:443/a. In some logs each URL has
// the default port.

// changedFront says how a scheme and an authority change. Nearly every record has
// those of the one before.
type changedFront struct {
	old, now []byte
	text     []byte // now as the record has it, with escapes
	ok       bool
	applied  codec.Rules
	dialect  *Dialect // see site
	stop     byte
}

// isFrontOf reports whether f says how url, which is at s, changes.
func (f *changedFront) isFrontOf(url []byte, s *site) bool {
	end := len(f.old)
	return end > 0 && end < len(url) && url[end] == '/' && bytes.HasPrefix(url, f.old) && f.dialect == s.dialect && f.stop == s.stop
}

// keepsTail reports whether nothing changes in the absolute URL at s but the scheme and
// the authority, and whether the URL has no flag. If these change, it sets n.fronted.
func (n *normalizer) keepsTail(s *site, rec []byte) bool {
	url, f := s.in(rec), &n.moved
	if !f.ok || !f.isFrontOf(url, s) {
		if n.keeps(url) {
			return true
		}
		if !f.isFrontOf(url, s) {
			n.readFront(url, s)
		}
	}
	if !f.ok || n.copyKey != nil {
		return false
	}
	query, ok := n.job.norm.KeepsTarget(url[len(f.old):], &n.res)
	if !ok || query != nil && !n.keepsQuery(query) {
		return false
	}
	n.fronted = span{s.start, s.start + len(f.old)}
	return true
}

// readFront finds out how the scheme and the authority of url, which is at s, change.
func (n *normalizer) readFront(url []byte, s *site) {
	f := &n.moved
	f.old, f.dialect, f.stop = append(f.old[:0], url[:frontEnd(url)]...), s.dialect, s.stop
	n.full, n.norm, f.ok = n.job.keepsOrigin(n.full, n.norm, f.old, &n.res)
	if f.ok {
		f.now, f.applied = append(f.now[:0], n.norm[:len(n.norm)-len("/")]...), n.res.Applied()
		f.text = f.dialect.escape(f.text[:0], f.now, f.stop)
		f.ok = !bytes.Equal(f.old, f.now) && n.staysPlain(s)
	}
}

// staysPlain reports whether the rest of a URL at s needs no escapes.
func (n *normalizer) staysPlain(s *site) bool {
	n.text = s.dialect.escape(n.text[:0], plainInURL, s.stop)
	return bytes.Equal(n.text, plainInURL)
}

// plainInURL has the bytes of the paths and queries that codec.Normalizer.Keeps accepts,
// except '%', for which see site.escaped.
var plainInURL = func() (text []byte) {
	for c := byte('!'); c < utf8.RuneSelf; c++ {
		if c != '%' && !(percent.RFC3986Path.Has(c) && percent.RFC3986Query.Has(c)) {
			text = append(text, c)
		}
	}
	return text
}()

// frontEnd returns the length of the scheme and the authority of an absolute URL with a
// path, or 0.
func frontEnd(url []byte) int {
	start := bytes.IndexByte(url, ':') + len("://")
	if start > len(url) || !bytes.HasSuffix(url[:start], []byte("://")) {
		return 0
	}
	n := bytes.IndexByte(url[start:], '/')
	if n < 0 || !isHost(url[start:start+n]) {
		return 0
	}
	return start + n
}

// appendFronted is the part of appendKept for a URL that begins with w.n.fronted.
func (w *Worker) appendFronted(c *copier, st *Stats) {
	st.Changed++
	countHits(w.n.moved.applied, st)
	c.drop(w.n.fronted)
	c.out = append(c.out, w.n.moved.text...)
}
