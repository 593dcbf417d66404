package record

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/ground/redact"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// renderer writes the output for the URL that the normalizer read last, or for
// a rejected record.
type renderer struct {
	job *Job
	n   *normalizer
	red *redactor
	v   *values
	members
}

// item appends the rendering's output for the current URL, which has either a
// normal form or a reason for its rejection.
func (r *renderer) item(out []byte, s *locate.Site, rec []byte, at *Position) []byte {
	c := &r.n.cur
	switch r.job.render {
	case RenderJSONL:
		return r.object(out, s, rec, at)
	case RenderTSV, RenderCSV:
		if c.why == 0 || r.job.wants&tellsWhy != 0 {
			return r.row(out, s, rec, at)
		}
	case RenderParquet, RenderArrow:
		if c.why == 0 || r.job.wants&tellsWhy != 0 {
			return r.columns(out, s, rec, at, ^fieldSet(0))
		}
	case RenderURLs:
		if c.why == 0 {
			return append(append(out, r.v.shownNorm()...), '\n')
		}
	case RenderKeys:
		if c.why == 0 {
			if r.n.hasKey() {
				out = r.job.keyForm.Append(out, r.n.keyOf())
			}
			out = append(out, '\t')
			out = append(out, r.v.shownNorm()...)
			return append(r.job.noteCell(out, '\t'), '\n')
		}
	}
	return out
}

// tellsWhy is the set of fields that make a row useful for a URL without a
// normal form.
const tellsWhy fieldSet = 1<<fError | 1<<fRFC | 1<<fWHATWG

// values computes the output fields of the URL that the normalizer read last.
type values struct {
	job  *Job
	n    *normalizer
	red  *redactor
	list paramList

	// Scratch.
	key     []byte       // short value that is about to be written
	side    []byte       // serialized URL whose parts are needed
	scrub   codec.Result // parse result of a text other than the current URL
	runs    []locate.Run // runs of an attribute
	minute  minute       // minute of the last time
	second  second       // second of the last record whose time was read
	telling []param      // campaign fields or click IDs
	part    []byte       // component without the text that the patterns match
	marks   []bool       // see normMarks

	computed []byte // a computed field
	arg      string // argument of the computed field
}

// normShown returns the normal form for output. If scheme and host are unknown, it
// returns the part without the placeholder.
func (v *values) normShown() []byte {
	if v.n.cur.nohost {
		return v.n.cur.back
	}
	return v.n.cur.norm
}

// shownNorm returns the normal form for output, with its password hidden if the
// job redacts. In a sort key, the password can be anywhere, so shownNorm
// normalizes the URL again with its password hidden.
func (v *values) shownNorm() []byte {
	c := &v.n.cur
	if !v.job.redact || !v.job.sortKeys {
		return v.Shown(v.normShown())
	}
	hidden := v.red.hideAll(c.text)
	if bytes.Equal(hidden, c.text) {
		return v.normShown()
	}
	var err error
	if v.side, err = v.job.norm.Append(v.side[:0], hidden, &v.scrub); err != nil {
		return nil
	}
	return v.side
}

// Shown returns text with passwords and secrets hidden, if the job redacts.
func (v *values) Shown(text []byte) []byte {
	if v.job.redact {
		return v.red.hideAll(text)
	}
	return text
}

// hasKey reports whether the URL has a key. A URL that may be truncated gets no
// key, because the rest could be another URL.
func (n *normalizer) hasKey() bool {
	return !n.cur.flags.Has(codec.FlagMaybeTruncated) && n.res.HasKey(n.job.level)
}

// keyOf returns the URL's key, which excludes the placeholder: a target with an
// unknown host has the key of the relative reference.
func (n *normalizer) keyOf() codec.Key { return n.keyAt(n.job.level) }

// keyAt returns the URL's key at a level.
func (n *normalizer) keyAt(lv codec.Level) codec.Key {
	if !n.cur.nohost {
		return n.res.Key(lv)
	}
	if k, ok := n.res.TargetKey(lv, placeholder); ok {
		return k // equals the hash of the bytes that appendKey appends
	}
	n.canonical = n.appendKey(n.canonical[:0], lv)
	return n.res.HashKey(lv, n.canonical)
}

// appendKey appends the canonical string that keyOf hashes. Without a host this
// is the part after the placeholder. If that part starts with "//", which would
// make it a host, appendKey puts "/." in front so that it remains a path (RFC
// 3986 §3.3, §4.2).
func (n *normalizer) appendKey(dst []byte, lv codec.Level) []byte {
	c := &n.cur
	start := len(dst)
	dst = n.res.AppendKey(dst, lv)
	if !c.nohost {
		return dst
	}
	key := dst[start:]
	path, ok := bytes.CutPrefix(key, placeholder)
	if !ok {
		path = bytes.TrimPrefix(key, placeholder[len(placeholder)-1:]) // K3 omits the scheme
	}
	dst = dst[:start+copy(key, path)]
	if bytes.HasPrefix(dst[start:], locate.Slashes) {
		dst = append(dst, "/."...)
		copy(dst[start+2:], dst[start:])
		copy(dst[start:], "/.")
	}
	return dst
}

// component returns a component of the normal form, and whether it is present.
func (v *values) component(f fieldID) ([]byte, bool) {
	c, u := &v.n.cur, &v.n.res.Out
	comp := componentOf[f]
	if c.why != 0 || !u.Has(comp) || c.nohost && comp < codec.Path {
		return nil, false
	}
	return u.Bytes(c.norm, comp), true
}

// shownComponent is component, but if the job redacts, it hides passwords, secrets and the
// text that patterns match. A match can begin in another component: user@example.com is
// a user and a host.
func (v *values) shownComponent(f fieldID) ([]byte, bool) {
	text, ok := v.component(f)
	if !ok || !v.job.redact {
		return text, ok
	}
	comp := componentOf[f]
	if marks := v.normMarks(); marks != nil {
		s := v.n.res.Out.Span(comp)
		v.part = redact.AppendMarked(v.part[:0], text, marks[s.Start:s.End])
		text = v.part
	}
	return v.red.hideIn(text, placeOf[comp]), true
}

// normMarks returns a mark for each byte of the normal form that is part of a match of the
// patterns, or nil if nothing matches.
func (v *values) normMarks() []bool {
	c := &v.n.cur
	if v.red.masker == nil || c.marked {
		return c.marks
	}
	c.marked = true
	v.side = append(v.side[:0], c.norm...)
	password := v.n.res.Out.Span(codec.Password)
	for i := password.Start; i < password.End; i++ {
		v.side[i] = stars[0] // the password is hidden without the patterns
	}
	found, host := v.red.masker.Mark(v.side, false), v.red.addressIn(c.norm)
	if found == nil && host.Len() == 0 {
		return nil
	}
	v.marks = append(v.marks[:0], make([]bool, len(c.norm))...)
	copy(v.marks, found)
	for i := host.Start; i < host.End; i++ {
		v.marks[i] = true
	}
	c.marks = v.marks
	return c.marks
}

// closeObject replaces the trailing comma by a brace and a line feed.
func closeObject(out []byte) []byte {
	if n := len(out) - 1; out[n] == ',' {
		out = out[:n]
	}
	return append(out, '}', '\n')
}

// appendWhy appends the members error and at if the current URL was rejected,
// and the member flag if a rejected flag was the reason.
func (r *renderer) appendWhy(out []byte) []byte {
	c := &r.n.cur
	if c.why == 0 {
		return out
	}
	out = locate.AppendMember(out, "error", r.v.word(c.why.String()))
	out = appendNumber(out, "at", int64(c.errAt))
	if c.why == Flagged {
		out = locate.AppendMember(out, "flag", r.v.word(c.flag.String()))
	}
	return out
}

// member appends field f of the current URL as a member of a JSON object. It
// appends nothing if the field is absent. name must already be escaped for a
// JSON string.
func (r *renderer) member(out []byte, name string, f fieldID, s *locate.Site, rec []byte, at *Position) []byte {
	switch f {
	case fLine:
		return appendNumber(out, name, at.Line)
	case fOffset:
		return appendNumber(out, name, at.Off)
	case fFlags:
		return r.appendFlags(appendName(out, name))
	case fDiagnostics:
		return r.appendDiagnostics(appendName(out, name), s)
	case fCampaign, fClickIDs, fParams:
		if v, ok := r.v.parameters(f); ok {
			out = append(append(appendName(out, name), v...), ',')
		}
		return out
	}
	v, ok := r.v.value(f, s, rec, at)
	switch {
	case !ok:
		return out
	case r.job.isNumber(f):
		return append(append(appendName(out, name), v...), ',')
	}
	return locate.AppendMember(out, name, v)
}

// value returns the text of a field, and whether it is present. The result points
// into the record or scratch and is valid until the next call.
func (v *values) value(f fieldID, s *locate.Site, rec []byte, at *Position) ([]byte, bool) {
	c := &v.n.cur
	switch f {
	case fURL:
		return v.Shown(c.url), true
	case fNorm:
		return v.shownNorm(), c.why == 0
	case fKey, fLevel, fChange:
		return v.judged(f)
	case fSyntax, fEquivalent, fFetch, fPage, fShape, fSite, fSURT, fTemplate, fIRI:
		if c.why != 0 {
			return nil, false
		}
		return v.derived(f)
	case fCampaign, fClickIDs, fParams:
		return v.parameters(f)
	case fScheme, fUsername, fHost, fPort, fPath, fQuery, fFragment:
		return v.shownComponent(f)
	case fRecord:
		return v.rawRecord(rec), true
	case fTarget:
		switch s.Role {
		case locate.RoleReferer:
			return v.word("referer"), true
		case locate.RoleLink:
			return v.word("link"), true
		}
		return v.word("request"), s.Role != locate.RoleURL
	case fMethod:
		return v.method(s, rec)
	case fForm:
		return v.word(c.form.String()), c.form != locate.FormNone
	case fFile:
		return v.word(at.Name), at.Name != ""
	case fProfile, fKeyID, fParamsEdition, fPSLEdition, fUnicode, fSpecDate:
		return v.job.constants[f], v.job.constants[f] != nil
	case fRFC:
		return v.word(string(v.rfc())), true
	case fWHATWG:
		return v.word(string(v.whatwg())), true
	case fError:
		return v.word(c.why.String()), c.why != 0
	}
	if ofAttrs.has(f) {
		return v.attr(f, rec)
	}
	if f >= numFields {
		return v.compute(v.job.computed[f-numFields], rec)
	}
	return nil, false
}

// method returns the method of the request, which does not apply to a referer.
func (v *values) method(s *locate.Site, rec []byte) ([]byte, bool) {
	m := v.n.found.Method.In(rec)
	if len(m) == 0 {
		if a := v.n.found.Attr(locate.AttrMethod, rec); a != nil {
			m = a.In(rec)
		}
	}
	if v.red.masker != nil {
		m = v.red.hideIn(m, inText)
	}
	return m, len(m) > 0 && s.Role != locate.RoleReferer
}

// word returns s in scratch, which avoids an allocation for the conversion.
func (v *values) word(s string) []byte {
	v.key = append(v.key[:0], s...)
	return v.key
}

// judged returns a field that exists only for URLs with a normal form.
func (v *values) judged(f fieldID) ([]byte, bool) {
	c := &v.n.cur
	if c.why != 0 {
		return nil, false
	}
	switch f {
	case fKey:
		if !v.n.hasKey() {
			return nil, false
		}
		v.key = v.job.keyForm.Append(v.key[:0], v.n.keyOf())
	case fLevel:
		return v.word(v.job.level.String()), true
	case fChange:
		return v.word(c.change.String()), true
	}
	return v.key, true
}

// rawRecord returns the record for output: without its line end, or the part
// that the format shows.
func (v *values) rawRecord(rec []byte) []byte {
	if v.n.expansion.omits {
		return nil
	}
	if a, ok := v.job.reader.(locate.Abridger); ok {
		rec = a.Shown(rec)
	} else if v.job.lengths == nil {
		rec = locate.TrimEnd(rec)
	}
	if !v.job.redact {
		return rec
	}
	return v.red.redactRecord(rec)
}

// appendName appends "name":. The name must not need escapes.
func appendName(out []byte, name string) []byte {
	return append(append(append(out, '"'), name...), `":`...)
}

// appendNumber appends the member name with the value n, and a comma.
func appendNumber(out []byte, name string, n int64) []byte {
	return append(strconv.AppendInt(appendName(out, name), n, 10), ',')
}

// appendFlags appends the array of the names of the URL's flags, and a comma.
func (r *renderer) appendFlags(out []byte) []byte {
	out = append(out, '[')
	n := len(out)
	for f := range r.n.cur.flags.All() {
		out = append(append(append(out, '"'), f.String()...), `",`...)
	}
	if len(out) > n {
		out = out[:len(out)-1]
	}
	return append(out, `],`...)
}

// diagnostics returns the diagnostics of the URL in scratch, with offsets in
// n.cur.url. It omits diagnostics about a scheme and host that were put before
// the target, because these are not in n.cur.url.
func (n *normalizer) diagnostics() []codec.Diagnostic {
	c := &n.cur
	own := codec.Diagnostic{At: uint32(max(0, c.hash)), Flag: codec.FlagFragmentInRequest, Component: codec.Fragment, Action: codec.ActionKept}
	pending := c.hash >= 0
	n.diagnosticBuf = n.diagnosticBuf[:0]
	diagnostics := n.res.Diagnostics
	if c.mended {
		diagnostics = n.savedDiagnostics
	}
	for _, m := range diagnostics {
		if int(m.At) < c.prefix {
			continue
		}
		if c.repairs[m.Component]&repairOf[m.Flag] != 0 {
			m.Action = codec.ActionReplaced
		}
		m.At -= uint32(c.prefix)
		if pending && own.At <= m.At {
			n.diagnosticBuf, pending = append(n.diagnosticBuf, own), false
		}
		n.diagnosticBuf = append(n.diagnosticBuf, m)
	}
	if pending {
		n.diagnosticBuf = append(n.diagnosticBuf, own)
	}
	for _, own := range n.params.diagnostics {
		i := len(n.diagnosticBuf)
		for i > 0 && n.diagnosticBuf[i-1].At > own.At {
			i--
		}
		n.diagnosticBuf = slices.Insert(n.diagnosticBuf, i, own)
	}
	return n.diagnosticBuf
}

// appendDiagnostics appends the array of the URL's diagnostics, and a comma.
func (r *renderer) appendDiagnostics(out []byte, s *locate.Site) []byte {
	out = append(out, '[')
	n := len(out)
	for _, m := range r.n.diagnostics() {
		out = append(append(out, `{"flag":"`...), m.Flag.String()...)
		out = strconv.AppendInt(append(out, `","at":`...), int64(m.At), 10)
		if r.job.wants.has(fRecord) {
			out = strconv.AppendInt(append(out, `,"record_at":`...), int64(s.Start+r.n.rawOffset(int(m.At))), 10)
		}
		out = append(append(out, `,"component":"`...), m.Component.String()...)
		out = append(append(out, `","action":"`...), m.Action.String()...)
		out = append(out, `",`...)
		if r.job.wants.has(fParams) {
			out = r.appendMarkedParam(out, m)
		}
		out[len(out)-1] = '}'
		out = append(out, ',')
	}
	if len(out) > n {
		out = out[:len(out)-1]
	}
	return append(out, `],`...)
}
