package record

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/urlfold/urlfold/codec"
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
	j.baseURL = src
	j.origin = src[:r.In.Span(codec.Path).Start]
	j.scheme = r.In.Bytes(src, codec.Scheme)
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
	if at := uint32(len(front)); at < host.Start || at >= host.End || !isHostPort([]byte(probe[t.authority:path.Start])) {
		return errors.New("invalid base URL: a field can only be in the host, and the URL must not have userinfo, as in https://{host}/")
	}
	j.template, j.scheme = t, t.front[:scheme.End]
	return nil
}

// baseHost returns the name of the field in c.Base. alone reports whether the
// field makes up the whole authority. ok is false if there is no field.
func (c *Config) baseHost() (name string, alone, ok bool) {
	front, rest, ok := strings.Cut(c.Base, "{")
	if !ok {
		return "", false, false
	}
	name, back, _ := strings.Cut(rest, "}")
	alone = strings.HasSuffix(front, "://") && (back == "" || strings.ContainsAny(back[:1], "/?#"))
	return name, alone, true
}

// baseOf returns the URL that a URL of the record is resolved against: the
// record's own base, the job's base, or nil. The result points into the record,
// the job or scratch.
func (n *normalizer) baseOf(rec []byte) []byte {
	f, t := n.found, n.job.template
	switch {
	case f.base.end > f.base.start:
		text, runs, escaped := f.baseDialect.unescape(n.base, f.base.in(rec), n.baseRuns)
		n.baseRuns = runs
		if escaped {
			n.base = text
		}
		return text
	case f.hasContext:
		return f.context
	case t == nil:
		return n.job.baseURL
	case f.host.end == 0:
		var nohost bool
		if n.base, nohost = n.appendOrigin(n.base[:0], rec); nohost {
			return nil
		}
		n.base = append(n.base, t.back...)
		return n.base
	}
	value, runs, escaped := f.hostDialect.unescape(n.hostText, f.host.in(rec), n.baseRuns)
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
// value is not a valid host or a part of one: values are untrusted, and a slash
// or '@' in one would change the host of the base.
func (t *template) append(dst, value []byte) ([]byte, bool) {
	if len(value) == 0 || len(value) == 1 && (value[0] == '-' || value[0] == '_') {
		return dst, false
	}
	start := len(dst)
	dst = appendHost(append(dst, t.front...), value, isBareIPv6(value))
	dst = append(dst, t.back...)
	return dst, isHostPort(dst[start+t.authority : len(dst)-t.rest])
}

// isHostPort reports whether s has the form of a host with an optional port.
// The codec checks the names and addresses themselves.
func isHostPort(s []byte) bool {
	if !isHost(s) {
		return false
	}
	name := bytes.LastIndexByte(s, ']') + 1
	colon := bytes.IndexByte(s[name:], ':')
	return colon < 0 || name+colon > 0 && allDigits(s[name+colon+1:])
}
