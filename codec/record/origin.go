package record

import (
	"bytes"

	"github.com/urlfold/urlfold/codec"
)

// This file composes the scheme and the authority of a target in origin form.

// origin is a scheme and an authority, with what the record says about them.
// Nearly every record of a log says the same as the one before, so that the
// normalizer keeps the last origin.
type origin struct {
	text    []byte // "https://www.example.com:8443"
	guessed bool   // nothing says what the scheme is

	host, port, scheme []byte // as in the record
	tls, plain         bool   // see found
}

// appendOrigin appends the scheme and authority of the target: those of the
// record or else of the base. If neither has a host, it appends the placeholder
// and returns nohost.
func (n *normalizer) appendOrigin(dst, rec []byte) (_ []byte, nohost bool) {
	f := n.found
	host := f.requestHost(rec)
	n.host, n.cur.composed = host, host != nil
	if host == nil {
		if n.job.origin != nil {
			return append(dst, n.job.origin...), false
		}
		return append(dst, placeholder...), true
	}
	o := &n.origin
	if !o.isOf(f, host, rec) {
		o.read(f, host, rec)
		o.compose(n.job.scheme)
	}
	if o.guessed {
		n.cur.flags = n.cur.flags.With(codec.SchemeGuessed)
	}
	return append(dst, o.text...), false
}

// isOf reports whether o was read from the same values as those of the record.
func (o *origin) isOf(f *Found, host, rec []byte) bool {
	return bytes.Equal(host, o.host) && bytes.Equal(f.port.in(rec), o.port) && bytes.Equal(f.scheme.in(rec), o.scheme) &&
		f.tls == o.tls && f.plain == o.plain
}

// read stores what the record says.
func (o *origin) read(f *Found, host, rec []byte) {
	o.host, o.port, o.scheme = append(o.host[:0], host...), append(o.port[:0], f.port.in(rec)...), append(o.scheme[:0], f.scheme.in(rec)...)
	o.tls, o.plain = f.tls, f.plain
}

// compose sets the text. A host without a scheme gets that of the job or, if it
// has none, https on port 443 and http on other ports; the scheme is guessed
// unless the port is 80 or 443.
func (o *origin) compose(ofJob []byte) {
	port := o.port
	own := []byte(nil) // the port in host, with its colon
	bare := isBareIPv6(o.host)
	if colon := bytes.LastIndexByte(o.host, ':'); !bare && colon >= 0 && colon > bytes.LastIndexByte(o.host, ']') {
		own, port = o.host[colon:], nil
	} else if !allDigits(port) {
		port = nil
	}
	scheme := o.scheme
	o.guessed = false
	switch {
	case isScheme(scheme):
	case o.tls:
		scheme = schemeHTTPS
	case o.plain:
		scheme = schemeHTTP
	case ofJob != nil:
		scheme = ofJob
	case string(port) == "443" || string(own) == ":443":
		scheme = schemeHTTPS
	default:
		scheme = schemeHTTP
		o.guessed = string(port) != "80" && string(own) != ":80"
	}
	o.text = appendHost(append(append(o.text[:0], scheme...), "://"...), o.host, bare)
	if port != nil {
		o.text = append(append(o.text, ':'), port...)
	}
}

// requestHost returns the best host of the record that is one, without its
// escapes, or nil.
func (f *Found) requestHost(rec []byte) []byte {
	for i := range f.hosts {
		if f.hosts[i].end == f.hosts[i].start {
			continue
		}
		h := f.hosts[i].in(rec)
		if i == 0 && f.nameDialect != nil {
			h = f.unescapedName(h)
		}
		if len(h) > 0 && bytes.Equal(h, f.lastHost) {
			return h
		}
		if len(h) > 0 && (len(h) > 1 || h[0] != '-' && h[0] != '_') && isHost(h) {
			f.lastHost = append(f.lastHost[:0], h...)
			return h
		}
	}
	return nil
}
