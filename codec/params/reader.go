package params

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/internal/ascii"
	"github.com/urlfold/urlfold/codec/percent"
)

// Param is one parameter of a URL, as read by a [ParamReader].
// Not covered by the stability page.
type Param struct {
	In    Location
	Index int       // from 0; in a query: index of the field, counting empty fields; in a path: index of the segment
	At    uint32    // offset of its first byte in the component
	Decl  int       // index of its declaration, or -1
	Type  ValueType // TypeString: use ParamReader.Value; TypeArray and TypeObject: use ParamReader.Items
	// HasValue distinguishes "a=" from "a" if Type is TypeString.
	HasValue bool
	// Misfit says that the URL does not write the parameter in its declared
	// style. MisfitAt is the offset of the first such place in the component.
	// The causes are: a parameter that is not exploded occurs twice, an object
	// has a name without a value, a label lacks its '.', a matrix lacks its
	// ';', or a deepObject lacks a bracket or has nested brackets.
	Misfit   bool
	MisfitAt uint32

	name, value textSpan
	from, to    int // range of its items
	fields      int // number of fields that it was read from
}

// Item is a value of an array or a property of an object.
// Not covered by the stability page.
type Item struct {
	At          uint32 // offset of its first byte in the component
	HasValue    bool   // distinguishes "R=" from "R"
	name, value textSpan
}

// textSpan is a range of ParamReader.text.
type textSpan struct{ from, to int }

// ParamReader reads the parameters of URLs. The zero ParamReader is ready for use.
// Results are valid until the next Read; the memory is reused. A ParamReader is not
// safe for concurrent use. Not covered by the stability page.
type ParamReader struct {
	// Backslash makes '\' separate segments too, as the URL Standard does for
	// special schemes.
	Backslash bool

	styles *Styles
	params []Param
	items  []Item
	text   []byte // decoded names and values

	fields   []Pair // fields of the query or of the current segment
	claims   []claim
	names    []textSpan // names of fields
	open     []int      // by declaration: 1 + index of its parameter; 0 if there is no parameter yet
	segments []textSpan // offsets in the path
	bound    []int      // by declaration: 1 + index of the segment that its template binds
	spans    []fieldSpan
}

// fieldSpan is the range of a field in its component.
type fieldSpan struct {
	in         Location
	start, end uint32
	param      int
}

// Read reads the parameters of a path and a query. Both are raw, the query
// without its '?', and must be shorter than 4 GiB; either can be nil. s
// declares how parameters are written and can be nil. Parameters of the path
// come first.
//
// Every field of the query that is not empty and has no declaration is a
// separate parameter, whose name and value are decoded once as in a form (URL
// Standard §5.1). Every ";name" and ";name=value" in a path segment is a
// parameter too (RFC 3986 §3.3), decoded once. A segment that is bound to a
// declaration of style simple or label is one parameter.
//
// Delimiters that must be escaped in a URL are recognized both escaped and raw:
// '|', ' ' (also as '+') and brackets. '.' is unreserved, so %2E is equivalent
// to it. The delimiters ',', ';', '=' and '&' are recognized only raw, because
// an escaped delimiter is data (RFC 6570 §3.2.1, RFC 3986 §2.2).
func (r *ParamReader) Read(s *Styles, path, query []byte) {
	r.styles = s
	r.params, r.items, r.text, r.spans = r.params[:0], r.items[:0], r.text[:0], r.spans[:0]
	if len(path) > 0 {
		r.readPath(path)
	}
	if len(query) > 0 {
		r.readQuery(query)
	}
}

// Params returns the parameters found by the last Read. The result is valid
// until the next Read.
func (r *ParamReader) Params() []Param { return r.params }

// Name returns the decoded name of p or, for a declared parameter, its declared
// name. The result is valid until the next Read.
func (r *ParamReader) Name(p *Param) []byte { return r.at(p.name) }

// Value returns the decoded value of p, or nil for an array or object. The
// result is valid until the next Read.
func (r *ParamReader) Value(p *Param) []byte {
	if p.Type != TypeString || !p.HasValue {
		return nil
	}
	return r.at(p.value)
}

// Items returns the values of an array or the properties of an object. The
// result is valid until the next Read.
func (r *ParamReader) Items(p *Param) []Item { return r.items[p.from:p.to:p.to] }

// ItemName returns the decoded name of a property. The result is valid until
// the next Read.
func (r *ParamReader) ItemName(i *Item) []byte { return r.at(i.name) }

// ItemValue returns the decoded value of an item, or nil for a property without
// a value. The result is valid until the next Read.
func (r *ParamReader) ItemValue(i *Item) []byte {
	if !i.HasValue {
		return nil
	}
	return r.at(i.value)
}

// ParamAt returns the parameter with a field that covers the given offset of a
// component, or nil.
func (r *ParamReader) ParamAt(in Location, at uint32) *Param {
	for _, s := range r.spans {
		if s.in == in && s.start <= at && at < s.end {
			return &r.params[s.param]
		}
	}
	return nil
}

func (r *ParamReader) at(s textSpan) []byte { return r.text[s.from:s.to:s.to] }

// decode decodes raw once by the rules of its component and returns the range
// of the result.
func (r *ParamReader) decode(in Location, raw []byte) textSpan {
	from := len(r.text)
	if in == InQuery {
		r.text = percent.AppendDecodeForm(r.text, raw)
	} else {
		r.text = percent.AppendDecode(r.text, raw)
	}
	return textSpan{from, len(r.text)}
}

// EmptyPair returns the offset of the first empty field of a query: at the
// start, at the end, or between two '&'. It returns -1 if no field is empty. An
// empty query has no fields. Not covered by the stability page.
func EmptyPair(query []byte) int {
	if len(query) > 0 && query[0] == '&' {
		return 0
	}
	for at := 0; ; {
		i := bytes.IndexByte(query[at:], '&')
		if i < 0 {
			return -1
		}
		if at += i + 1; at == len(query) || query[at] == '&' {
			return at
		}
	}
}

// readQuery reads the fields of a query.
func (r *ParamReader) readQuery(query []byte) {
	r.fields = AppendPairs(r.fields[:0], query)
	r.claims, r.names = r.claims[:0], r.names[:0]
	for i := range r.fields {
		name := r.decode(InQuery, r.fields[i].Name(query))
		r.names = append(r.names, name)
		c := claim{decl: -1}
		if r.fields[i].End > r.fields[i].Start {
			c = r.styles.claimOf(r.at(name))
		}
		r.claims = append(r.claims, c)
	}
	r.readFields(InQuery, query, -1)
}

// readFields creates the parameters for r.fields, which have names and claims.
// In a path the fields belong to one segment, and the parameters get its index.
func (r *ParamReader) readFields(in Location, text []byte, segment int) {
	r.open = resize(r.open, r.styles.Len())
	first := len(r.params)
	for i, f := range r.fields {
		if f.Start == f.End {
			continue
		}
		c, index := r.claims[i], segment
		if in == InQuery {
			index = i
		}
		n := len(r.params)
		if c.role != roleNone && r.open[c.decl] > 0 {
			n = r.open[c.decl] - 1
		} else {
			r.params = append(r.params, Param{In: in, Index: index, At: f.Start, Decl: c.decl, Type: TypeString, name: r.names[i]})
		}
		if c.role == roleNone {
			r.plain(&r.params[n], text, f)
		} else {
			r.open[c.decl] = n + 1
		}
		r.spans = append(r.spans, fieldSpan{in, f.Start, f.End, n})
	}
	for n := first; n < len(r.params); n++ {
		if p := &r.params[n]; p.Decl >= 0 {
			r.collect(p, text)
		}
	}
}

// plain sets the value of p from its field.
func (r *ParamReader) plain(p *Param, text []byte, f Pair) {
	if p.HasValue = f.Eq; f.Eq {
		p.value = r.decode(p.In, f.Value(text))
	}
}

// collect adds the items of all fields of the declared parameter p.
func (r *ParamReader) collect(p *Param, text []byte) {
	d := &r.styles.decls[p.Decl]
	r.begin(p, d)
	for i, f := range r.fields {
		if c := r.claims[i]; c.role != roleNone && c.decl == p.Decl && f.End > f.Start {
			r.field(p, d, text, i)
			p.fields++
		}
	}
	r.finish(p)
}

// begin makes p a parameter with the declaration d.
func (r *ParamReader) begin(p *Param, d *declared) {
	from := len(r.text)
	r.text = append(r.text, d.Name...)
	p.name, p.Type = textSpan{from, len(r.text)}, d.Type
	p.from = len(r.items)
}

// finish ends the items of p. An array with a single empty value is an empty
// array.
func (r *ParamReader) finish(p *Param) {
	p.to = len(r.items)
	if p.Type == TypeArray && p.to == p.from+1 {
		if v := r.items[p.from].value; v.from == v.to {
			p.to--
			r.items = r.items[:p.to]
		}
	}
}

// field adds field i to p.
func (r *ParamReader) field(p *Param, d *declared, text []byte, i int) {
	f := r.fields[i]
	value := f.Value(text)
	valueAt := f.End - uint32(len(value))
	switch {
	case r.claims[i].role == roleProperty:
		r.property(p, f.Start, r.names[i], value, f.Eq)
	case r.claims[i].role == roleMember:
		r.member(p, f, r.names[i], value)
	case d.Style == StyleDeepObject || d.spreads(): // "color=" is the empty object
		if len(value) > 0 {
			p.misfit(f.Start)
			r.property(p, f.Start, r.names[i], value, f.Eq)
		}
	case p.Type == TypeString:
		if p.fields > 0 {
			p.misfit(f.Start)
			return
		}
		r.plain(p, text, f)
	case d.explode:
		r.item(p, valueAt, value)
	default:
		if p.fields > 0 {
			p.misfit(f.Start)
		}
		r.split(p, delimiterOf[d.Style], valueAt, value)
	}
}

// delimiterOf holds the separator of the items in a value that is not exploded.
var delimiterOf = [...]byte{StyleForm: ',', StyleSpaceDelimited: ' ', StylePipeDelimited: '|', StyleSimple: ',', StyleLabel: ',', StyleMatrix: ','}

// misfit records that p is not written in its style.
func (p *Param) misfit(at uint32) {
	if !p.Misfit {
		p.Misfit, p.MisfitAt = true, at
	}
}

// item adds a value of an array.
func (r *ParamReader) item(p *Param, at uint32, raw []byte) {
	r.items = append(r.items, Item{At: at, HasValue: true, value: r.decode(p.In, raw)})
}

// property adds a property with a decoded name.
func (r *ParamReader) property(p *Param, at uint32, name textSpan, raw []byte, hasValue bool) {
	it := Item{At: at, HasValue: hasValue, name: name}
	if hasValue {
		it.value = r.decode(p.In, raw)
	}
	r.items = append(r.items, it)
}

// member adds a property of a deepObject. Its name is the text in the brackets.
func (r *ParamReader) member(p *Param, f Pair, name textSpan, value []byte) {
	text := r.at(name)
	open := bytes.IndexByte(text, '[')
	key := textSpan{name.from + open + 1, name.to}
	if text[len(text)-1] == ']' {
		key.to--
	} else {
		p.misfit(f.Start)
	}
	if bytes.ContainsAny(r.at(key), "[]") {
		p.misfit(f.Start)
	}
	r.property(p, f.Start, key, value, f.Eq)
}

// split adds the items of a raw value that are separated by delimiter. An empty
// value gives no items. The items of an object are alternating names and
// values.
func (r *ParamReader) split(p *Param, delimiter byte, at uint32, raw []byte) {
	if len(raw) == 0 {
		return
	}
	isName := p.Type == TypeObject
	for from := 0; from <= len(raw); {
		end, size := nextDelimiter(raw, from, delimiter, p.In)
		piece, pieceAt := raw[from:end], at+uint32(from)
		switch {
		case p.Type != TypeObject:
			r.item(p, pieceAt, piece)
		case isName:
			r.property(p, pieceAt, r.decode(p.In, piece), nil, false)
		default:
			it := &r.items[len(r.items)-1]
			it.HasValue, it.value = true, r.decode(p.In, piece)
		}
		isName = !isName && p.Type == TypeObject
		from = end + size
		if size == 0 {
			break
		}
	}
	if p.Type == TypeObject && !isName { // a name without a value
		p.misfit(r.items[len(r.items)-1].At)
	}
}

// splitPairs adds the properties of a raw value that have the form name=value
// and are separated by delimiter.
func (r *ParamReader) splitPairs(p *Param, delimiter byte, at uint32, raw []byte) {
	if len(raw) == 0 {
		return
	}
	for from := 0; from <= len(raw); {
		end, size := nextDelimiter(raw, from, delimiter, p.In)
		name, value, eq := bytes.Cut(raw[from:end], equals)
		if !eq {
			p.misfit(at + uint32(from))
		}
		r.property(p, at+uint32(from), r.decode(p.In, name), value, eq)
		from = end + size
		if size == 0 {
			break
		}
	}
}

var equals = []byte{'='}

// nextDelimiter returns the offset and length of the first delimiter in raw at
// or after from. Without a delimiter it returns len(raw) and 0.
func nextDelimiter(raw []byte, from int, delimiter byte, in Location) (at, size int) {
	for i := from; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == delimiter, c == '+' && delimiter == ' ' && in == InQuery:
			return i, 1
		case c == '%' && delimiter != ',' && isEscapeOf(raw[i:], delimiter):
			return i, 3
		}
	}
	return len(raw), 0
}

// isEscapeOf reports whether text starts with an escape of c.
func isEscapeOf(text []byte, c byte) bool {
	return ascii.IsEscape(text) && ascii.Unhex(text[1])<<4|ascii.Unhex(text[2]) == c
}

// resize returns s with n zero elements.
func resize(s []int, n int) []int {
	if cap(s) < n {
		s = make([]int, n)
	}
	s = s[:n]
	clear(s)
	return s
}
