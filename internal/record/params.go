package record

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// This file implements the field params, which lists the parameters of the URL
// before normalization, and the flags empty-pair and param-style.

// urlParams holds the parameters of the current URL.
type urlParams struct {
	reader      params.ParamReader
	at          [2]uint32 // offset of query and path in reading.url, indexed by params.Location
	cleaned     []byte    // path and query without tabs and newlines, if they have any
	path, query []byte    // the components that the reader has read
	tabs        bool      // path and query point into cleaned
	out         []byte    // the field as JSON
	name, value []byte    // for output, with secrets masked
	other       []byte
	joined      []byte
	diagnostics []codec.Diagnostic
	dirty       bool // reset is needed
}

// reset removes the parameters of the previous URL.
func (p *urlParams) reset() {
	p.dirty = false
	p.diagnostics = p.diagnostics[:0]
	p.reader.Read(nil, nil, nil)
}

// readParams finds defects in the parameters of the URL. It stores the
// parameters only if the job needs them.
func (n *normalizer) readParams() {
	c, u := &n.cur, &n.res.In
	if c.mended {
		u = &n.savedIn
	}
	if !n.job.readsParams {
		query := u.Span(codec.Query)
		if query.Len() == 0 || !c.flags.Has(codec.FlagTabOrNewline) && params.EmptyPair(query.In(c.src)) < 0 {
			return
		}
	}
	p := &n.params
	p.dirty = true
	n.takeComponents(u)
	if at := params.EmptyPair(p.query); at >= 0 {
		n.paramDiagnostic(codec.FlagEmptyPair, params.InQuery, uint32(at))
	}
	if !n.job.readsParams {
		return
	}
	p.reader.Backslash = n.job.whatwg && !c.flags.Has(codec.FlagWHATWGReject) && isSpecial(n.res.Out.Bytes(c.norm, codec.Scheme))
	p.reader.Read(n.job.styles, p.path, p.query)
	for i := range p.reader.Params() {
		if q := &p.reader.Params()[i]; q.Misfit {
			n.paramDiagnostic(codec.FlagParamStyle, q.In, q.MisfitAt)
		}
	}
}

// takeComponents sets path and query from c.src, as parsed in u. An opaque path
// is not segmented, so takeComponents sets no path for it.
func (n *normalizer) takeComponents(u *codec.URL) {
	c, p := &n.cur, &n.params
	p.path, p.query = u.Bytes(c.src, codec.Path), u.Bytes(c.src, codec.Query)
	if u.Has(codec.Scheme) && !u.HasAuthority() && (len(p.path) == 0 || p.path[0] != '/' && p.path[0] != '\\') {
		p.path = nil
	}
	p.at = [2]uint32{params.InQuery: u.Span(codec.Query).Start, params.InPath: u.Span(codec.Path).Start}
	for i := range p.at {
		p.at[i] -= min(p.at[i], uint32(c.prefix))
	}
	p.tabs = c.flags.Has(codec.FlagTabOrNewline)
	if !p.tabs {
		return
	}
	p.cleaned = appendWithoutTabs(p.cleaned[:0], p.path)
	end := len(p.cleaned)
	p.cleaned = appendWithoutTabs(p.cleaned, p.query)
	p.path, p.query = p.cleaned[:end:end], p.cleaned[end:]
}

// appendWithoutTabs appends text without tabs and newlines, which the URL
// Standard removes.
func appendWithoutTabs(dst, text []byte) []byte {
	for _, c := range text {
		if !isTab(c) {
			dst = append(dst, c)
		}
	}
	return dst
}

func isTab(c byte) bool { return c == '\t' || c == '\n' || c == '\r' }

// isSpecial reports whether the scheme of a normal form is special
// (https://url.spec.whatwg.org/#special-scheme).
func isSpecial(scheme []byte) bool {
	switch string(scheme) {
	case "http", "https", "ws", "wss", "ftp", "file":
		return true
	}
	return false
}

// paramOffset converts an offset in a component, as the params reader saw it,
// to an offset in reading.url.
func (n *normalizer) paramOffset(in params.Location, at uint32) uint32 {
	p := &n.params
	if !p.tabs {
		return p.at[in] + at
	}
	raw := n.cur.url[p.at[in]:]
	i := uint32(0)
	for left := at; int(i) < len(raw) && (left > 0 || isTab(raw[i])); i++ {
		if !isTab(raw[i]) {
			left--
		}
	}
	return p.at[in] + i
}

// paramDiagnostic adds a flag and a diagnostic about a parameter.
func (n *normalizer) paramDiagnostic(f codec.Flag, in params.Location, at uint32) {
	n.cur.flags = n.cur.flags.With(f)
	component := codec.Query
	if in == params.InPath {
		component = codec.Path
	}
	n.params.diagnostics = append(n.params.diagnostics, codec.Diagnostic{At: n.paramOffset(in, at), Flag: f, Component: component, Action: codec.ActionKept})
}

// markedParam returns the parameter that the diagnostic m is about, or nil.
func (n *normalizer) markedParam(m codec.Diagnostic) *params.Param {
	p := &n.params
	in := params.InQuery
	switch m.Component {
	case codec.Query:
	case codec.Path:
		in = params.InPath
	default:
		return nil
	}
	if m.Flag == codec.FlagParamStyle {
		for i := range p.reader.Params() {
			if q := &p.reader.Params()[i]; q.Misfit && q.In == in && n.paramOffset(in, q.MisfitAt) == m.At {
				return q
			}
		}
	}
	if m.At < p.at[in] || len(p.reader.Params()) == 0 {
		return nil
	}
	at := m.At - p.at[in]
	if p.tabs {
		tabs := uint32(0)
		for _, c := range n.cur.url[p.at[in]:m.At] {
			if isTab(c) {
				tabs++
			}
		}
		at -= tabs
	}
	return p.reader.ParamAt(in, at)
}

// paramList writes the field params.
type paramList struct {
	job *Job
	n   *normalizer
	red *redactor
}

// paramsJSON returns the field params as a JSON array, in scratch.
func (l *paramList) paramsJSON() []byte {
	p := &l.n.params
	out := append(p.out[:0], '[')
	list := p.reader.Params()
	for i := range list {
		out = append(l.appendParam(out, &list[i]), ',')
	}
	if len(list) > 0 {
		out = out[:len(out)-1]
	}
	p.out = append(out, ']')
	return p.out
}

// appendParam appends one parameter as a JSON object.
func (l *paramList) appendParam(out []byte, q *params.Param) []byte {
	r := &l.n.params.reader
	name := r.Name(q)
	secret := l.isSecretParam(name)
	out = append(strconv.AppendInt(append(out, `{"index":`...), int64(q.Index), 10), `,"in":"`...)
	out = append(append(out, q.In.String()...), `",`...)
	out = locate.AppendMember(out, "name", l.shownParam(name, false))
	if q.Decl >= 0 {
		out = append(append(append(out, `"style":"`...), l.job.styles.Declaration(q.Decl).Style.String()...), `",`...)
	}
	switch {
	case q.Type == params.TypeArray:
		out = l.appendValues(out, q, secret)
	case q.Type == params.TypeObject:
		out = l.appendProperties(out, q, secret)
	case q.HasValue:
		out = locate.AppendMember(out, "value", l.shownParam(r.Value(q), secret))
	}
	out = strconv.AppendInt(append(out, `"at":`...), int64(l.n.paramOffset(q.In, q.At)), 10)
	return append(out, '}')
}

// appendValues appends the values of an array as the member values, and a
// comma. If a value is not valid UTF-8, appendValues writes all values in base64 as
// the member values_b64.
func (l *paramList) appendValues(out []byte, q *params.Param, secret bool) []byte {
	r := &l.n.params.reader
	items := r.Items(q)
	valid := true
	for i := range items {
		valid = valid && (secret || utf8.Valid(r.ItemValue(&items[i])))
	}
	out = append(out, `"values`...)
	if !valid {
		out = append(out, "_b64"...)
	}
	out = append(out, `":[`...)
	for i := range items {
		v := l.shownParam(r.ItemValue(&items[i]), secret)
		out = append(out, '"')
		if valid {
			out = locate.AppendString(out, v)
		} else {
			out = locate.AppendBase64(out, v)
		}
		out = append(out, `",`...)
	}
	if len(items) > 0 {
		out = out[:len(out)-1]
	}
	return append(out, `],`...)
}

// appendProperties appends the properties of an object as the member
// properties, and a comma.
func (l *paramList) appendProperties(out []byte, q *params.Param, secret bool) []byte {
	r := &l.n.params.reader
	items := r.Items(q)
	out = append(out, `"properties":[`...)
	for i := range items {
		it := &items[i]
		name := r.ItemName(it)
		hide := secret || l.isSecretParam(name) || l.isSecretMember(r.Name(q), name)
		out = append(out, '{')
		out = locate.AppendMember(out, "name", l.shownParam(name, false))
		if it.HasValue {
			out = locate.AppendMember(out, "value", l.shownParam(r.ItemValue(it), hide))
		}
		out[len(out)-1] = '}'
		out = append(out, ',')
	}
	if len(items) > 0 {
		out = out[:len(out)-1]
	}
	return append(out, `],`...)
}

// shownParam returns a decoded name or value for output. A secret becomes
// stars. If the job redacts, passwords and secrets in URLs are hidden.
func (l *paramList) shownParam(text []byte, secret bool) []byte {
	p := &l.n.params
	switch {
	case secret:
		p.value = append(p.value[:0], stars...)
	case l.job.redact:
		return l.red.hideIn(text, inValue)
	default:
		return text
	}
	return p.value
}

// isSecretParam reports whether the decoded name is one of the job's secrets.
// It also decodes the name repeatedly, because a repair may have removed
// further levels of escapes in the normal form.
func (l *paramList) isSecretParam(name []byte) bool {
	if len(l.job.secrets) == 0 {
		return false
	}
	p := &l.n.params
	p.name = append(p.name[:0], name...)
	for range maxRounds {
		if l.n.secrets.isSecret(p.name) {
			return true
		}
		p.other = params.AppendName(p.other[:0], p.name)
		if bytes.Equal(p.other, p.name) {
			return false
		}
		p.name, p.other = p.other, p.name
	}
	return false
}

// isSecretMember applies isSecretParam to a property in deepObject style:
// name[property].
func (l *paramList) isSecretMember(name, property []byte) bool {
	if len(l.job.secrets) == 0 {
		return false
	}
	p := &l.n.params
	p.joined = append(append(append(append(p.joined[:0], name...), '['), property...), ']')
	return l.isSecretParam(p.joined)
}

// appendMarkedParam appends the name of the parameter that contains the
// diagnostic as a member, and a comma. It appends nothing if there is no such
// parameter.
func (r *renderer) appendMarkedParam(out []byte, m codec.Diagnostic) []byte {
	if q := r.n.markedParam(m); q != nil {
		return locate.AppendMember(out, "param", r.v.list.shownParam(r.n.params.reader.Name(q), false))
	}
	return out
}
