package record

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// template is a base URL with a field of the record in its host.
type template struct {
	front, back []byte // text before and after the field: "https://" and "/a"
	authority   int    // offset of the authority in front
	rest        int    // number of bytes of back after the authority
}

// setBase sets the base from c.Base. Origin-form targets are appended to its
// scheme and authority (RFC 9112 §3.3).
func (j *Job) setBase(c *Config) error {
	front, rest, ok := strings.Cut(c.Base, "{")
	if ok {
		_, back, closed := strings.Cut(rest, "}")
		if !closed {
			return errors.New("invalid base URL: a field has no closing brace")
		}
		return j.setTemplate(c, front, back)
	}
	if c.Base == "" {
		return nil
	}
	r, err := checkBase(c.Base, c.Normalizer)
	if err != nil {
		return err
	}
	src := []byte(c.Base)
	j.base.url = src
	j.base.origin = src[:r.In.Span(codec.Path).Start]
	j.base.scheme = r.In.Bytes(src, codec.Scheme)
	return nil
}

// checkBase parses a base. Its errors do not quote the base, which may hold a
// password.
func checkBase(base string, n *codec.Normalizer) (*codec.Result, error) {
	var r codec.Result
	src := []byte(base)
	if n != nil {
		if _, err := n.Append(nil, src, &r); err == codec.ErrRelative {
			return nil, errBaseRelative
		} else if err != nil {
			return nil, fmt.Errorf("invalid base URL: %w", err)
		}
	}
	if err := codec.Parse(src, &r); err != nil {
		return nil, fmt.Errorf("invalid base URL: %w", err)
	}
	if !r.In.Has(codec.Scheme) || r.In.Span(codec.Host).Len() == 0 {
		return nil, errBaseRelative
	}
	return &r, nil
}

var errBaseRelative = errors.New("invalid base URL: must have a scheme and a host, as in https://example.com/")

// setTemplate sets the template from a Base with a field between front and
// back.
func (j *Job) setTemplate(c *Config, front, back string) error {
	if strings.ContainsAny(back, "{}") {
		return errors.New("invalid base URL: must not have more than one field")
	}
	probe := front + "h" + back
	r, err := checkBase(probe, c.Normalizer)
	if err != nil {
		return err
	}
	scheme, host, path := r.In.Span(codec.Scheme), r.In.Span(codec.Host), r.In.Span(codec.Path)
	t := &template{front: []byte(front), back: []byte(back), authority: int(scheme.End) + len("://"), rest: len(probe) - int(path.Start)}
	if at := uint32(len(front)); at < host.Start || at >= host.End || !locate.IsHostPort([]byte(probe[t.authority:path.Start])) {
		return errors.New("invalid base URL: a field can only be in the host, and the URL must not have userinfo, as in https://{host}/")
	}
	j.base.template, j.base.scheme = t, t.front[:scheme.End]
	return nil
}

// baseOf returns the URL that a URL of the record is resolved against: the
// record's own base, the job's base, or nil. The result points into the record,
// the job or scratch.
func (n *normalizer) baseOf(rec []byte) []byte {
	f, t := n.found, n.job.base.template
	switch {
	case f.Base.End > f.Base.Start:
		text, runs, escaped := f.BaseDialect.Unescape(n.base, f.Base.In(rec), n.baseRuns)
		n.baseRuns = runs
		if escaped {
			n.base = text
		}
		return text
	case f.HasContext:
		return f.Context
	case t == nil:
		return n.job.base.url
	case f.Host.End == 0:
		var nohost bool
		if n.base, nohost = n.appendOrigin(n.base[:0], rec); nohost {
			return nil
		}
		n.base = append(n.base, t.back...)
		return n.base
	}
	value, runs, escaped := f.HostDialect.Unescape(n.hostText, f.Host.In(rec), n.baseRuns)
	n.baseRuns = runs
	if escaped {
		n.hostText = value
	}
	var ok bool
	if n.base, ok = t.append(n.base[:0], value); !ok {
		return nil
	}
	return n.base
}

// append appends the base with value in place of the field. It returns false if
// value is not a valid host or a part of a host: values are untrusted, and a slash
// or '@' in a value would change the host of the base.
func (t *template) append(dst, value []byte) ([]byte, bool) {
	if len(value) == 0 || len(value) == 1 && (value[0] == '-' || value[0] == '_') {
		return dst, false
	}
	start := len(dst)
	dst = locate.AppendHost(append(dst, t.front...), value, locate.IsBareIPv6(value))
	dst = append(dst, t.back...)
	return dst, locate.IsHostPort(dst[start+t.authority : len(dst)-t.rest])
}

// The rest of this file composes the scheme and the authority of a request
// target in origin form.

// origin is a scheme and an authority, with the values in the record from which they
// were composed. Nearly every record of a log has the same values as the previous one,
// so the normalizer reuses the last origin.
type origin struct {
	text    []byte // "https://www.example.com:8443"
	guessed bool   // no value in the record names the scheme

	host, port, scheme []byte // the values in the record
	tls, plain         bool   // see locate.Found
}

// appendOrigin appends the scheme and authority of the target, from the record
// or else from the base. If neither has a host, it appends the placeholder and
// returns nohost.
func (n *normalizer) appendOrigin(dst, rec []byte) (_ []byte, nohost bool) {
	f := n.found
	host := requestHost(f, rec)
	n.host, n.cur.composed = host, host != nil
	if host == nil {
		if f.Host.End > 0 || f.Base.End > 0 {
			if base := n.baseOf(rec); locate.BeginsTarget(base) && base[0] != '/' {
				return append(dst, base[:originEnd(base)]...), false
			}
		}
		if n.job.base.origin != nil {
			return append(dst, n.job.base.origin...), false
		}
		return append(dst, placeholder...), true
	}
	o := &n.origin
	if !o.isOf(f, host, rec) {
		o.read(f, host, rec)
		o.compose(n.job.base.scheme)
	}
	if o.guessed {
		n.cur.flags = n.cur.flags.With(codec.FlagSchemeGuessed)
	}
	return append(dst, o.text...), false
}

// originEnd returns the length of the scheme and the authority of an absolute URL.
func originEnd(url []byte) int {
	start := bytes.IndexByte(url, ':') + len("://")
	if end := bytes.IndexAny(url[min(start, len(url)):], "/?#"); end >= 0 {
		return start + end
	}
	return len(url)
}

// isOf reports whether o was composed from the values that the record has.
func (o *origin) isOf(f *Found, host, rec []byte) bool {
	return bytes.Equal(host, o.host) && bytes.Equal(f.Port.In(rec), o.port) && bytes.Equal(f.Scheme.In(rec), o.scheme) &&
		f.TLS == o.tls && f.Plain == o.plain
}

// read stores the values in the record.
func (o *origin) read(f *Found, host, rec []byte) {
	o.host, o.port, o.scheme = append(o.host[:0], host...), append(o.port[:0], f.Port.In(rec)...), append(o.scheme[:0], f.Scheme.In(rec)...)
	o.tls, o.plain = f.TLS, f.Plain
}

// compose sets o.text and o.guessed. If the record neither has a scheme nor says
// whether the request used TLS, compose uses ofJob, the scheme of the job. If ofJob
// is nil, compose uses https on port 443 and http otherwise. That http counts as
// guessed unless the port is 80.
func (o *origin) compose(ofJob []byte) {
	port := o.port
	own := []byte(nil) // the port in host, with its colon
	bare := locate.IsBareIPv6(o.host)
	if colon := bytes.LastIndexByte(o.host, ':'); !bare && colon >= 0 && colon > bytes.LastIndexByte(o.host, ']') {
		own, port = o.host[colon:], nil
	} else if !locate.AllDigits(port) {
		port = nil
	}
	scheme := o.scheme
	o.guessed = false
	switch {
	case locate.IsScheme(scheme):
	case o.tls:
		scheme = locate.SchemeHTTPS
	case o.plain:
		scheme = locate.SchemeHTTP
	case ofJob != nil:
		scheme = ofJob
	case string(port) == "443" || string(own) == ":443":
		scheme = locate.SchemeHTTPS
	default:
		scheme = locate.SchemeHTTP
		o.guessed = string(port) != "80" && string(own) != ":80"
	}
	o.text = locate.AppendHost(append(append(o.text[:0], scheme...), "://"...), o.host, bare)
	if port != nil {
		o.text = append(append(o.text, ':'), port...)
	}
}

// requestHost returns the best valid host in the record, without its escapes, or nil.
func requestHost(f *Found, rec []byte) []byte {
	for i := range f.Hosts {
		if f.Hosts[i].End == f.Hosts[i].Start {
			continue
		}
		h := f.Hosts[i].In(rec)
		if i == 0 && f.NameDialect != nil {
			h = f.UnescapedName(h)
		}
		if len(h) > 0 && bytes.Equal(h, f.LastHost) {
			return h
		}
		if len(h) > 0 && (len(h) > 1 || h[0] != '-' && h[0] != '_') && locate.IsHost(h) {
			f.LastHost = append(f.LastHost[:0], h...)
			return h
		}
	}
	return nil
}
