package record

import (
	"bytes"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/params"
)

// This file is the part of AppendNext for absolute URLs that change only in their
// scheme and authority, as in https://www.example.com:443/a. In some logs each URL has
// the default port.

// changedFront says how a scheme and an authority change. Nearly every record has
// those of the one before.
type changedFront struct {
	old, now []byte
	ok       bool
	applied  codec.Rules
}

// isFrontOf reports whether f says how url changes.
func (f *changedFront) isFrontOf(url []byte) bool {
	end := len(f.old)
	return end > 0 && end < len(url) && url[end] == '/' && bytes.HasPrefix(url, f.old)
}

// keepsTail reports whether nothing changes in the absolute URL at s but the scheme and
// the authority, and whether the URL has no flag. If these change, it sets n.fronted.
func (n *normalizer) keepsTail(s *site, rec []byte) bool {
	url, f := s.in(rec), &n.moved
	if !f.ok || !f.isFrontOf(url) {
		if n.keeps(url) {
			return true
		}
		if !f.isFrontOf(url) {
			n.readFront(url)
		}
	}
	if !f.ok || n.copyKey != nil {
		return false
	}
	query, ok := n.job.norm.KeepsTarget(url[len(f.old):], &n.res)
	if !ok || query != nil && params.EmptyPair(query) >= 0 {
		return false
	}
	n.fronted = *s
	return true
}

// readFront finds out how the scheme and the authority of url change.
func (n *normalizer) readFront(url []byte) {
	f := &n.moved
	f.old = append(f.old[:0], url[:frontEnd(url)]...)
	n.full, n.norm, f.ok = n.job.keepsOrigin(n.full, n.norm, f.old, &n.res)
	if f.ok {
		f.now, f.applied = append(f.now[:0], n.norm[:len(n.norm)-len("/")]...), n.res.Applied()
		f.ok = !bytes.Equal(f.old, f.now)
	}
}

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

// appendFronted is AppendNext for rec, whose URL is at w.n.fronted.
func (w *Worker) appendFronted(out, rec []byte, st *Stats) []byte {
	n, s := &w.n, &w.n.fronted
	w.err = nil
	st.Records++
	st.Emitted++
	st.URLs++
	st.Changed++
	countHits(n.moved.applied, st)
	n.norm = append(append(n.norm[:0], n.moved.now...), s.in(rec)[len(n.moved.old):]...)
	out = s.dialect.escape(append(out, rec[:s.start]...), n.norm, s.stop)
	return append(out, rec[s.end:]...)
}
