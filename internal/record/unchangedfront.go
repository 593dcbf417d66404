package record

import (
	"bytes"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/percent"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// This file is the part of AppendRun for absolute URLs that change only in their
// scheme and authority, as in https://www.example.com:443/a. In some logs each URL has
// the default port.

// changedFront says how a scheme and an authority change. Nearly every record
// repeats them.
type changedFront struct {
	old, now []byte
	text     []byte // now, with the escapes of the record
	ok       bool
	applied  codec.Rules
	dialect  *Dialect // see site
	stop     byte
}

// isFrontOf reports whether url, which is at s, begins with the scheme and
// authority that f describes.
func (f *changedFront) isFrontOf(url []byte, s *locate.Site) bool {
	end := len(f.old)
	return end > 0 && end < len(url) && url[end] == '/' && bytes.HasPrefix(url, f.old) && f.dialect == s.Dialect && f.stop == s.Stop
}

// keepsTail reports whether at most the scheme and the authority change in the
// absolute URL at s, and the URL has no flag. If the scheme or the authority
// changes, keepsTail sets n.fronted.
func (n *normalizer) keepsTail(s *locate.Site, rec []byte) bool {
	url, f := s.In(rec), &n.moved
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
	n.fronted = locate.Between(s.Start, s.Start+len(f.old))
	return true
}

// readFront determines how the scheme and the authority of url, which is at s, change.
func (n *normalizer) readFront(url []byte, s *locate.Site) {
	f := &n.moved
	f.old, f.dialect, f.stop = append(f.old[:0], url[:frontEnd(url)]...), s.Dialect, s.Stop
	n.full, n.norm, f.ok = n.job.keepsOrigin(n.full, n.norm, f.old, &n.res)
	if f.ok {
		f.now, f.applied = append(f.now[:0], n.norm[:len(n.norm)-len("/")]...), n.res.Applied()
		f.text = f.dialect.Escape(f.text[:0], f.now, f.stop)
		f.ok = !bytes.Equal(f.old, f.now) && n.staysPlain(s)
	}
}

// staysPlain reports whether the rest of a URL at s needs no escapes.
func (n *normalizer) staysPlain(s *locate.Site) bool {
	n.text = s.Dialect.Escape(n.text[:0], plainInURL, s.Stop)
	return bytes.Equal(n.text, plainInURL)
}

// plainInURL has the bytes of the paths and queries that codec.Normalizer.Keeps
// accepts, except '%': the function escaped looks for that.
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
	if n < 0 || !locate.IsHost(url[start:start+n]) {
		return 0
	}
	return start + n
}

// appendFronted is the part of appendKept for a URL whose scheme and authority,
// at w.n.fronted, change.
func (w *Worker) appendFronted(c *copier, st *Stats) {
	st.Changed++
	countHits(w.n.moved.applied, st)
	c.drop(w.n.fronted)
	c.out = append(c.out, w.n.moved.text...)
}

// keptHost holds the result of normalizer.keepsHost for a host. Nearly every
// record has the same host as the previous one.
type keptHost struct {
	origin
	ok   bool
	same bool // the normal form has the same scheme and authority
}

// keepsHost reports whether a target that keepsTarget accepts stays unchanged
// on the host of a record. If so, it adds the flags of the URL to n.cur.
func (n *normalizer) keepsHost(host []byte) bool {
	k := &n.kept
	if !bytes.Equal(host, k.host) {
		k.host = append(k.host[:0], host...)
		if k.ok = len(host) > 1 && locate.MarkLen(host) == 0 && locate.IsHost(host); k.ok {
			n.keepOrigin(k)
		}
	}
	return n.keptOrigin(k)
}

// keepsOrigin is keepsHost for the scheme and authority in n.found or else in
// the job. If written is set, a scheme and authority in the record must also
// stay unchanged.
func (n *normalizer) keepsOrigin(rec []byte, written bool) bool {
	f, k := n.found, &n.kept
	host := requestHost(f, rec)
	if host == nil {
		return n.baseKept
	}
	if n.copyKey != nil {
		return false // copyKey has only the origin of the job
	}
	if !k.isOf(f, host, rec) {
		k.read(f, host, rec)
		n.keepOrigin(k)
	}
	return (k.same || !written) && n.keptOrigin(k)
}

// keepOrigin determines how an origin that has been read changes.
func (n *normalizer) keepOrigin(k *keptHost) {
	k.compose(n.job.base.scheme)
	n.full, n.norm, k.ok = n.job.keepsOrigin(n.full, n.norm, k.text, &n.res)
	k.same = k.ok && bytes.Equal(n.full, n.norm)
}

// keptOrigin returns k.ok. If k.ok is set, keptOrigin adds the flags of a URL with
// that origin to n.cur.
func (n *normalizer) keptOrigin(k *keptHost) bool {
	if k.ok && k.guessed {
		n.cur.flags = n.cur.flags.With(codec.FlagSchemeGuessed)
	}
	return k.ok
}

// originKept reports whether a target that keepsTarget accepts stays unchanged
// after the scheme and authority of the job.
func (j *Job) originKept() bool {
	if j.base.origin == nil {
		return true // the origin is the placeholder
	}
	_, _, ok := j.keepsOrigin(nil, nil, j.base.origin, new(codec.Result))
	return ok
}

// maxOrigin is the length of the longest scheme and authority that keepsOrigin
// accepts. codec.Normalizer.KeepsTarget allows for this length.
const maxOrigin = 64

// keepsOrigin reports whether text, a scheme and an authority, followed by "/"
// raises no flag and keeps the path "/". It also returns that URL and its
// normal form, in the scratch buffers src and norm.
func (j *Job) keepsOrigin(src, norm, text []byte, r *codec.Result) (_, _ []byte, ok bool) {
	src = append(append(src[:0], text...), '/')
	norm, err := j.norm.Append(norm[:0], src, r)
	ok = err == nil && len(text) <= maxOrigin && r.Flags.IsZero() && isWeb(r.Out.Bytes(norm, codec.Scheme)) &&
		!r.In.Has(codec.Username) && string(r.Out.Bytes(norm, codec.Path)) == "/"
	return src, norm, ok
}
