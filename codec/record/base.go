package record

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/urlfold/urlfold/codec"
)

// A template is a base URL with a field of the record in its host.
type template struct {
	front, back []byte // what stands around the field: "https://" and "/a"
	authority   int    // where in front the authority starts
	rest        int    // how many bytes of back are behind the authority
}

// setBase reads Base. Its scheme and authority are what an origin-form target
// is put behind (RFC 9112 §3.3).
func (j *Job) setBase(c *Config) error {
	front, rest, ok := strings.Cut(c.Base, "{")
	if ok {
		_, back, closed := strings.Cut(rest, "}")
		if !closed {
			return errors.New("a field in the base URL has no closing brace")
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

// checkBase parses a base. Its errors hold nothing of it.
func checkBase(base string, n *codec.Normalizer) (*codec.Result, error) {
	var r codec.Result
	src := []byte(base)
	if n != nil {
		if _, err := n.Append(nil, src, &r); err != nil {
			return nil, fmt.Errorf("the base URL: %w", err)
		}
	}
	if err := codec.Parse(src, &r); err != nil {
		return nil, fmt.Errorf("the base URL: %w", err)
	}
	if !r.In.Has(codec.Scheme) || r.In.Span(codec.Host).Len() == 0 {
		return nil, errors.New("the base URL needs a scheme and a host, as in https://example.com/")
	}
	return &r, nil
}

// setTemplate reads a Base that holds a field, between front and back.
func (j *Job) setTemplate(c *Config, front, back string) error {
	if strings.ContainsAny(back, "{}") {
		return errors.New("the base URL holds one field of the record at most")
	}
	probe := front + "h" + back
	r, err := checkBase(probe, c.Normalizer)
	if err != nil {
		return err
	}
	scheme, host, path := r.In.Span(codec.Scheme), r.In.Span(codec.Host), r.In.Span(codec.Path)
	t := &template{front: []byte(front), back: []byte(back), authority: int(scheme.End) + len("://"), rest: len(probe) - int(path.Start)}
	if at := uint32(len(front)); at < host.Start || at >= host.End || !isHostPort([]byte(probe[t.authority:path.Start])) {
		return errors.New("a field of the record can stand for the host of the base URL, without a user, and nothing else in it: https://{host}/")
	}
	j.template, j.scheme = t, t.front[:scheme.End]
	return nil
}

// baseHost returns the name of the field of the record that stands in Base, if one
// does, and whether it is all of the authority.
func (c *Config) baseHost() (name string, alone, ok bool) {
	front, rest, ok := strings.Cut(c.Base, "{")
	if !ok {
		return "", false, false
	}
	name, back, _ := strings.Cut(rest, "}")
	alone = strings.HasSuffix(front, "://") && (back == "" || strings.ContainsAny(back[:1], "/?#"))
	return name, alone, true
}

// baseOf returns what a URL of the record is resolved against: the record's own
// base, or that of the job, or nil. It lies in the record, the job or scratch.
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

// append appends the base with value in it, and reports whether it has the
// host that it says: value comes from anywhere, and a slash or an '@' in it would
// make it a base of another host.
func (t *template) append(dst, value []byte) ([]byte, bool) {
	if len(value) == 0 || len(value) == 1 && (value[0] == '-' || value[0] == '_') {
		return dst, false
	}
	start := len(dst)
	dst = append(append(append(dst, t.front...), value...), t.back...)
	return dst, isHostPort(dst[start+t.authority : len(dst)-t.rest])
}

// isHostPort reports whether s is a host, with or without a port. Whether names
// and addresses are good ones is for the codec to say.
func isHostPort(s []byte) bool {
	if !isHost(s) {
		return false
	}
	name := bytes.LastIndexByte(s, ']') + 1
	colon := bytes.IndexByte(s[name:], ':')
	return colon < 0 || name+colon > 0 && allDigits(s[name+colon+1:])
}
