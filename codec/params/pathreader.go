package params

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/percent"
)

// readPath reads the parameters in the segments of a path.
func (r *ParamReader) readPath(path []byte) {
	if r.styles.Len() == 0 && bytes.IndexByte(path, ';') < 0 {
		return
	}
	r.cut(path)
	r.bind(path)
	for i, seg := range r.segments {
		if r.wholeSegment(path, i) {
			continue
		}
		if bytes.IndexByte(path[seg.from:seg.to], ';') >= 0 {
			r.matrix(path, i)
		}
	}
}

// cut finds the segments of a path. A '/' at the start precedes the first
// segment.
func (r *ParamReader) cut(path []byte) {
	r.segments = r.segments[:0]
	from := 0
	if r.isSeparator(path[0]) {
		from = 1
	}
	for i := from; i <= len(path); i++ {
		if i == len(path) || r.isSeparator(path[i]) {
			r.segments = append(r.segments, textSpan{from, i})
			from = i + 1
		}
	}
}

func (r *ParamReader) isSeparator(c byte) bool { return c == '/' || c == '\\' && r.Backslash }

// bind finds, for each declaration with a template that fits the path, the
// segment of its parameter.
func (r *ParamReader) bind(path []byte) {
	r.bound = resize(r.bound, r.styles.Len())
	if r.styles == nil {
		return
	}
	for _, n := range r.styles.path {
		if d := &r.styles.decls[n]; d.template != nil && r.fits(d.template, path) {
			r.bound[n] = d.slot + 1
		}
	}
}

// fits reports whether the segments of a path match a template.
func (r *ParamReader) fits(template []templateSegment, path []byte) bool {
	if len(template) != len(r.segments) || !r.isSeparator(path[0]) {
		return false
	}
	for i, t := range template {
		if t.slot {
			continue
		}
		seg := path[r.segments[i].from:r.segments[i].to]
		if string(seg) == t.literal {
			continue
		}
		if bytes.IndexByte(seg, '%') < 0 {
			return false
		}
		mark := len(r.text)
		r.text = percent.AppendDecode(r.text, seg)
		same := string(r.text[mark:]) == t.literal
		if r.text = r.text[:mark]; !same {
			return false
		}
	}
	return true
}

// wholeSegment makes segment i a parameter if it is bound to a declaration of
// style simple or label, or of style matrix although the segment contains no
// ';'. It reports whether it did.
func (r *ParamReader) wholeSegment(path []byte, i int) bool {
	if r.styles == nil {
		return false
	}
	seg := r.segments[i]
	raw := path[seg.from:seg.to]
	for _, n := range r.styles.path {
		d := &r.styles.decls[n]
		if r.bound[n] != i+1 || d.Style == StyleMatrix && bytes.IndexByte(raw, ';') >= 0 {
			continue
		}
		r.params = append(r.params, Param{In: InPath, Index: i, At: uint32(seg.from), Decl: n})
		p := &r.params[len(r.params)-1]
		r.begin(p, d)
		r.segment(p, d, uint32(seg.from), raw)
		r.finish(p)
		r.spans = append(r.spans, fieldSpan{InPath, uint32(seg.from), uint32(seg.to), len(r.params) - 1})
		return true
	}
	return false
}

// segment parses raw, a segment at the offset at, as the value of p.
func (r *ParamReader) segment(p *Param, d *declared, at uint32, raw []byte) {
	delimiter := byte(',')
	dot := 0
	if d.Style == StyleLabel {
		dot = dotLen(raw)
		raw = raw[dot:]
		if d.explode {
			delimiter = '.'
		}
	}
	at += uint32(dot)
	switch {
	case d.Style == StyleMatrix || d.Style == StyleLabel && dot == 0:
		p.misfit(at)
		p.Type = TypeString
		fallthrough
	case p.Type == TypeString:
		p.HasValue, p.value = true, r.decode(InPath, raw)
	case p.Type == TypeObject && d.explode:
		r.splitPairs(p, delimiter, at, raw)
	default:
		r.split(p, delimiter, at, raw)
	}
}

// dotLen returns the length of a '.' at the start of text, raw or escaped, or
// 0.
func dotLen(text []byte) int {
	switch {
	case len(text) > 0 && text[0] == '.':
		return 1
	case isEscapeOf(text, '.'):
		return 3
	}
	return 0
}

// matrix reads the parameters after each ';' of segment i.
func (r *ParamReader) matrix(path []byte, i int) {
	seg := r.segments[i]
	r.fields, r.claims, r.names = r.fields[:0], r.claims[:0], r.names[:0]
	for at := seg.from; at < seg.to; {
		semicolon := bytes.IndexByte(path[at:seg.to], ';')
		if semicolon < 0 {
			break
		}
		start := at + semicolon + 1
		at = seg.to
		if n := bytes.IndexByte(path[start:seg.to], ';'); n >= 0 {
			at = start + n
		}
		f := Pair{Start: uint32(start), NameEnd: uint32(at), End: uint32(at)}
		if eq := bytes.IndexByte(path[start:at], '='); eq >= 0 {
			f.NameEnd, f.Eq = uint32(start+eq), true
		}
		name := r.decode(InPath, f.Name(path))
		r.fields, r.names = append(r.fields, f), append(r.names, name)
		r.claims = append(r.claims, r.matrixClaim(r.at(name), i))
	}
	r.readFields(InPath, path, i)
}

// matrixClaim returns the declaration of a parameter in segment i, and its
// role. A declaration that is bound to the segment takes precedence over one
// that matches any segment.
func (r *ParamReader) matrixClaim(name []byte, i int) claim {
	found, rank := claim{decl: -1}, 0
	if r.styles == nil {
		return found
	}
	for _, n := range r.styles.path {
		d := &r.styles.decls[n]
		if d.Style != StyleMatrix || d.template != nil && r.bound[n] != i+1 {
			continue
		}
		role, at := roleNone, 0
		switch {
		case d.Name == string(name):
			role, at = roleOwn, 5
		case d.spreads() && d.properties[string(name)]:
			role, at = roleProperty, 3
		case d.takesRest():
			role, at = roleProperty, 1
		}
		if d.template != nil && role != roleNone {
			at++
		}
		if at > rank {
			found, rank = claim{n, role}, at
		}
	}
	return found
}
