package record

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/urlfold/urlfold/codec"
)

// item appends what the rendering writes for the URL in w.cur, which has a
// normal form or a reason why not.
func (w *Worker) item(out []byte, s *site, rec []byte, at Position) []byte {
	c := &w.cur
	switch w.job.render {
	case RenderJSONL:
		return w.object(out, s, rec, at)
	case RenderTSV:
		if c.why == 0 || w.job.wants&tellsWhy != 0 {
			return w.row(out, s, rec, at)
		}
	case RenderURLs:
		if c.why == 0 {
			return append(append(out, w.shown(w.normShown())...), '\n')
		}
	case RenderKeys:
		if c.why == 0 {
			out = append(w.job.keyForm.Append(out, w.keyOf()), '\t')
			return append(append(out, w.shown(w.normShown())...), '\n')
		}
	}
	return out
}

// tellsWhy is the set of the fields that say something of a URL without a
// reading that is worth a row.
const tellsWhy fieldSet = 1<<fError | 1<<fRFC | 1<<fWHATWG

// normShown is the normal form as it is written: without the placeholder, if
// scheme and host are not known.
func (w *Worker) normShown() []byte {
	if w.cur.nohost {
		return w.cur.back
	}
	return w.cur.norm
}

// shown returns text with its password hidden, if the job redacts.
func (w *Worker) shown(text []byte) []byte {
	if w.job.redact {
		return w.hide(text)
	}
	return text
}

// keyOf returns the URL's key. The placeholder has no place in a key: a target
// whose host is unknown has the key of the relative reference that it is.
func (w *Worker) keyOf() codec.Key {
	c, n := &w.cur, w.job.norm
	if !c.nohost {
		return n.Key(w.job.level, c.text, c.norm, &w.res)
	}
	w.canonical = w.appendKey(w.canonical[:0], w.job.level)
	return n.HashKey(w.job.level, w.canonical, &w.res)
}

// appendKey appends the canonical string that keyOf hashes. Without a host it is
// what follows the placeholder. If that starts with "//", which would be taken
// for a host, "/." in front keeps it a path (RFC 3986 §3.3, §4.2).
func (w *Worker) appendKey(dst []byte, lv codec.Level) []byte {
	c := &w.cur
	start := len(dst)
	dst = w.job.norm.AppendKey(dst, lv, c.text, c.norm, &w.res)
	if !c.nohost {
		return dst
	}
	key := dst[start:]
	path, ok := bytes.CutPrefix(key, placeholder)
	if !ok {
		path = bytes.TrimPrefix(key, placeholder[len(placeholder)-1:]) // K3 has no scheme
	}
	dst = dst[:start+copy(key, path)]
	if bytes.HasPrefix(dst[start:], slashes) {
		dst = append(dst, "/."...)
		copy(dst[start+2:], dst[start:])
		copy(dst[start:], "/.")
	}
	return dst
}

var slashes = []byte("//")

// component returns a component of the normal form, and whether it is present.
func (w *Worker) component(f fieldID) ([]byte, bool) {
	c, u := &w.cur, &w.res.Out
	comp := componentOf[f]
	if c.why != 0 || !u.Has(comp) || c.nohost && comp < codec.Path {
		return nil, false
	}
	return u.Bytes(c.norm, comp), true
}

// object appends a JSON object for the URL in w.cur, and a line feed.
func (w *Worker) object(out []byte, s *site, rec []byte, at Position) []byte {
	out = append(out, '{')
	for _, f := range w.job.fields {
		if f == fError {
			out = w.appendWhy(out)
			continue
		}
		out = w.member(out, fieldNames[f], f, s, rec, at)
	}
	if w.cur.why != 0 && !w.job.wants.has(fError) {
		out = w.appendWhy(out)
	}
	return closeObject(out)
}

// closeObject replaces the last comma by a brace and a line feed.
func closeObject(out []byte) []byte {
	if n := len(out) - 1; out[n] == ',' {
		out = out[:n]
	}
	return append(out, '}', '\n')
}

// appendWhy appends why the URL in w.cur was rejected, if it was: the members
// error and at, and flag if it has one that the job rejects.
func (w *Worker) appendWhy(out []byte) []byte {
	c := &w.cur
	if c.why == 0 {
		return out
	}
	out = appendMember(out, "error", w.word(c.why.String()))
	out = appendNumber(out, "at", int64(c.errAt))
	if c.why == Flagged {
		out = appendMember(out, "flag", w.word(c.flag.String()))
	}
	return out
}

// member appends field f of the URL in w.cur as a member of an object, under a
// name that is the inside of a JSON string, or nothing if it is absent.
func (w *Worker) member(out []byte, name string, f fieldID, s *site, rec []byte, at Position) []byte {
	switch f {
	case fLine:
		return appendNumber(out, name, at.Line)
	case fOffset:
		return appendNumber(out, name, at.Off)
	case fFlags:
		return w.appendFlags(appendName(out, name))
	case fDiagnostics:
		return w.appendDiagnostics(appendName(out, name), s)
	case fCampaign, fClickIDs, fParams:
		if v, ok := w.parameters(f); ok {
			out = append(append(appendName(out, name), v...), ',')
		}
		return out
	}
	if v, ok := w.value(f, s, rec, at); ok {
		return appendMember(out, name, v)
	}
	return out
}

// value returns a field that is a string, and whether it is present. It lies in
// the record or in scratch, until the next call.
func (w *Worker) value(f fieldID, s *site, rec []byte, at Position) ([]byte, bool) {
	c := &w.cur
	switch f {
	case fURL:
		return w.shown(c.url), true
	case fNorm:
		return w.shown(w.normShown()), c.why == 0
	case fKey, fLevel, fChange:
		return w.judged(f)
	case fK0, fK1, fK2, fK3, fSite, fSURT, fTemplate, fIRI:
		if c.why != 0 {
			return nil, false
		}
		return w.derived(f)
	case fCampaign, fClickIDs, fParams:
		return w.parameters(f)
	case fScheme, fUsername, fHost, fPort, fPath, fQuery, fFragment:
		return w.component(f)
	case fRecord:
		return w.rawRecord(rec), true
	case fTarget:
		if s.role == roleReferer {
			return w.word("referer"), true
		}
		return w.word("request"), s.role != roleURL
	case fMethod:
		m := w.found.method.in(rec)
		return m, len(m) > 0 && s.role != roleReferer
	case fForm:
		return w.word(c.form.String()), c.form != NoForm
	case fFile:
		return w.word(at.Name), at.Name != ""
	case fProfile:
		return w.job.profile, true
	case fRFC:
		return w.word(string(w.rfc())), true
	case fWHATWG:
		return w.word(string(w.whatwg())), true
	case fError:
		return w.word(c.why.String()), c.why != 0
	}
	return nil, false
}

// word returns s in scratch: as bytes of its own it would be an allocation.
func (w *Worker) word(s string) []byte {
	w.key = append(w.key[:0], s...)
	return w.key
}

// judged returns a field that exists only if the URL has a normal form.
func (w *Worker) judged(f fieldID) ([]byte, bool) {
	c := &w.cur
	if c.why != 0 {
		return nil, false
	}
	switch f {
	case fKey:
		w.key = w.job.keyForm.Append(w.key[:0], w.keyOf())
	case fLevel:
		return w.word(w.job.level.String()), true
	case fChange:
		return w.word(c.change.String()), true
	}
	return w.key, true
}

// rawRecord returns the record as it is shown: without its line end.
func (w *Worker) rawRecord(rec []byte) []byte {
	rec = trimEnd(rec)
	if !w.job.redact {
		return rec
	}
	return w.redactRecord(rec)
}

// appendName appends "name":, of a name that needs no escapes.
func appendName(out []byte, name string) []byte {
	return append(append(append(out, '"'), name...), `":`...)
}

// appendNumber appends "name": and n, and a comma.
func appendNumber(out []byte, name string, n int64) []byte {
	return append(strconv.AppendInt(appendName(out, name), n, 10), ',')
}

// appendFlags appends the array of the names of the URL's flags, and a comma.
func (w *Worker) appendFlags(out []byte) []byte {
	out = append(out, '[')
	n := len(out)
	for f := range w.cur.flags.All() {
		out = append(append(append(out, '"'), f.String()...), `",`...)
	}
	if len(out) > n {
		out = out[:len(out)-1]
	}
	return append(out, `],`...)
}

// diagnostics returns the diagnostics of the URL, with offsets in url, in scratch. A mark in
// what was put in front of the target has no place in url and is left out.
func (w *Worker) diagnostics() []codec.Diagnostic {
	c := &w.cur
	own := codec.Diagnostic{At: uint32(max(0, c.hash)), Flag: codec.FragmentInRequest, Component: codec.Fragment, Action: codec.Kept}
	pending := c.hash >= 0
	w.diagnosticBuf = w.diagnosticBuf[:0]
	diagnostics := w.res.Diagnostics
	if c.mended {
		diagnostics = w.savedDiagnostics
	}
	for _, m := range diagnostics {
		if int(m.At) < c.prefix {
			continue
		}
		if c.repairs[m.Component]&repairOf[m.Flag] != 0 {
			m.Action = codec.Replaced
		}
		m.At -= uint32(c.prefix)
		if pending && own.At <= m.At {
			w.diagnosticBuf, pending = append(w.diagnosticBuf, own), false
		}
		w.diagnosticBuf = append(w.diagnosticBuf, m)
	}
	if pending {
		w.diagnosticBuf = append(w.diagnosticBuf, own)
	}
	for _, own := range w.params.diagnostics {
		i := len(w.diagnosticBuf)
		for i > 0 && w.diagnosticBuf[i-1].At > own.At {
			i--
		}
		w.diagnosticBuf = slices.Insert(w.diagnosticBuf, i, own)
	}
	return w.diagnosticBuf
}

// appendDiagnostics appends the array of the URL's diagnostics, and a comma.
func (w *Worker) appendDiagnostics(out []byte, s *site) []byte {
	out = append(out, '[')
	n := len(out)
	for _, m := range w.diagnostics() {
		out = append(append(out, `{"flag":"`...), m.Flag.String()...)
		out = strconv.AppendInt(append(out, `","at":`...), int64(m.At), 10)
		if w.job.wants.has(fRecord) {
			out = strconv.AppendInt(append(out, `,"record_at":`...), int64(s.start+rawOffset(w.runs, int(m.At))), 10)
		}
		out = append(append(out, `,"component":"`...), m.Component.String()...)
		out = append(append(out, `","action":"`...), m.Action.String()...)
		out = append(out, `",`...)
		if w.job.wants.has(fParams) {
			out = w.appendMarkedParam(out, m)
		}
		out[len(out)-1] = '}'
		out = append(out, ',')
	}
	if len(out) > n {
		out = out[:len(out)-1]
	}
	return append(out, `],`...)
}
