package params

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// This file is the readable reference implementation of ParamReader. It splits text
// into units, each of which is a raw or an escaped byte, and works only with
// units.

// slowUnit is a byte of decoded text.
type slowUnit struct {
	b       byte
	escaped bool
	at, end int // its range in the component
}

type slowText []slowUnit

func (u slowText) String() string {
	var b []byte
	for _, x := range u {
		b = append(b, x.b)
	}
	return string(b)
}

// slowUnits decodes text once. In a form '+' is an escaped space.
func slowUnits(text string, at int, form bool) (us slowText) {
	for i := 0; i < len(text); i++ {
		u := slowUnit{b: text[i], at: at + i}
		var x byte
		if n, _ := fmt.Sscanf(text[i:min(len(text), i+3)], "%%%2x", &x); n == 1 && i+2 < len(text) && strings.Trim(text[i+1:i+3], "0123456789abcdefABCDEF") == "" {
			u.b, u.escaped = x, true
			i += 2
		} else if form && text[i] == '+' {
			u.b, u.escaped = ' ', true
		}
		u.end = at + i + 1
		us = append(us, u)
	}
	return us
}

// cut splits u at the byte b: at raw ones, and also at escaped ones if
// escapedToo is set. It returns the parts and their offsets.
func (u slowText) cut(b byte, escapedToo bool, limit int) (parts []slowText, at []int) {
	start, startAt := 0, 0
	if len(u) > 0 {
		startAt = u[0].at
	}
	for i, x := range u {
		if x.b == b && (!x.escaped || escapedToo) && len(parts) != limit-1 {
			parts, at = append(parts, u[start:i]), append(at, startAt)
			start, startAt = i+1, x.end
		}
	}
	return append(parts, u[start:]), append(at, startAt)
}

// slowField is a field of a query or a segment.
type slowField struct {
	at          int
	name, value slowText
	eq          bool
}

func slowFields(text string, at int, sep string, form bool) (fs []slowField) {
	for part := range strings.SplitSeq(text, sep) {
		name, value, eq := strings.Cut(part, "=")
		fs = append(fs, slowField{at, slowUnits(name, at, form), slowUnits(value, at+len(name)+1, form), eq})
		at += len(part) + 1
	}
	return fs
}

func (f slowField) empty() bool { return len(f.name) == 0 && !f.eq }

// slowDecl is a declaration with the values found for it.
type slowDecl struct {
	Declaration
	items  []string
	fields int
	misfit int // 1 + offset of the misfit
	value  string
	eq     bool
	place  int // 1 + index in the output
}

func (d *slowDecl) bad(at int) {
	if d.misfit == 0 {
		d.misfit = at + 1
	}
}

func (d *slowDecl) spreads() bool {
	return d.Type == TypeObject && d.Explode == ExplodeYes && (d.Style == StyleForm || d.Style == StyleMatrix)
}

func (d *slowDecl) pair(name, value string, eq bool) {
	if eq {
		name += ":" + value
	}
	d.items = append(d.items, name)
}

// list adds the items of a value with separators to d.
func (d *slowDecl) list(value slowText, sep byte, escapedToo bool) {
	if len(value) == 0 {
		return
	}
	parts, at := value.cut(sep, escapedToo, -1)
	if d.Type != TypeObject {
		for _, p := range parts {
			d.items = append(d.items, p.String())
		}
		return
	}
	for i := 0; i < len(parts); i += 2 {
		if i+1 < len(parts) {
			d.pair(parts[i].String(), parts[i+1].String(), true)
			continue
		}
		d.pair(parts[i].String(), "", false)
		d.bad(at[i])
	}
}

// show implements showParams for d.
func (d *slowDecl) show(in Location, index int) string {
	text := fmt.Sprintf("%v%d:%s", in, index, d.Name)
	switch {
	case d.Type == TypeString && d.eq:
		text += "=" + d.value
	case d.Type == TypeArray:
		if len(d.items) == 1 && d.items[0] == "" {
			d.items = nil
		}
		text += "[" + strings.Join(d.items, "|") + "]"
	case d.Type == TypeObject:
		text += "{" + strings.Join(d.items, "|") + "}"
	}
	if d.misfit > 0 {
		text += fmt.Sprintf("!%d", d.misfit-1)
	}
	return text
}

// slowFieldsOf reads fields, which claim assigns to declarations.
func slowFieldsOf(out []string, in Location, fs []slowField, segment int, claim func(name string) (*slowDecl, role)) []string {
	type slot struct {
		d     *slowDecl
		index int
		text  string
	}
	var slots []slot
	for i, f := range fs {
		if f.empty() {
			continue
		}
		index := i
		if in == InPath {
			index = segment
		}
		d, r := claim(f.name.String())
		if r == roleNone {
			text := fmt.Sprintf("%v%d:%s", in, index, f.name)
			if f.eq {
				text += "=" + f.value.String()
			}
			slots = append(slots, slot{text: text})
			continue
		}
		if d.place == 0 {
			slots = append(slots, slot{d: d, index: index})
			d.place = len(slots)
		}
		slowGive(d, r, f)
		d.fields++
	}
	for _, s := range slots {
		if s.d != nil {
			s.text = s.d.show(in, s.index)
		}
		out = append(out, s.text)
	}
	return out
}

func slowGive(d *slowDecl, r role, f slowField) {
	name, value := f.name.String(), f.value.String()
	again := d.fields > 0
	switch {
	case r == roleProperty:
		d.pair(name, value, f.eq)
	case r == roleMember:
		key := name[strings.Index(name, "[")+1:]
		if !strings.HasSuffix(key, "]") {
			d.bad(f.at)
		}
		if key = strings.TrimSuffix(key, "]"); strings.ContainsAny(key, "[]") {
			d.bad(f.at)
		}
		d.pair(key, value, f.eq)
	case d.Style == StyleDeepObject || d.spreads():
		if value != "" {
			d.bad(f.at)
			d.pair(name, value, f.eq)
		}
	case d.Type == TypeString && again:
		d.bad(f.at)
	case d.Type == TypeString:
		d.value, d.eq = value, f.eq
	case d.Explode == ExplodeYes:
		d.items = append(d.items, value)
	default:
		if again {
			d.bad(f.at)
		}
		sep := map[Style]byte{StyleSpaceDelimited: ' ', StylePipeDelimited: '|'}[d.Style]
		d.list(f.value, max(sep, ','*byte(boolTo(sep == 0))), sep != 0)
	}
}

func boolTo(b bool) int {
	if b {
		return 1
	}
	return 0
}

// slowRead implements ParamReader.Read followed by showParams.
func slowRead(decls []Declaration, path, query string) string {
	var all []*slowDecl
	for _, d := range decls {
		all = append(all, &slowDecl{Declaration: d})
	}
	out := slowPathParams(nil, all, path)
	if query != "" {
		out = slowFieldsOf(out, InQuery, slowFields(query, 0, "&", true), 0, func(name string) (*slowDecl, role) {
			return slowQueryClaim(all, name)
		})
	}
	return strings.Join(out, " ")
}

func slowQueryClaim(all []*slowDecl, name string) (*slowDecl, role) {
	find := func(ok func(d *slowDecl) bool) *slowDecl {
		for _, d := range all {
			if d.In == InQuery && ok(d) {
				return d
			}
		}
		return nil
	}
	if d := find(func(d *slowDecl) bool { return d.Name == name }); d != nil {
		return d, roleOwn
	}
	if d := find(func(d *slowDecl) bool { return slices.Contains(d.Properties, name) }); d != nil {
		return d, roleProperty
	}
	before, _, deep := strings.Cut(name, "[")
	if d := find(func(d *slowDecl) bool { return deep && d.Style == StyleDeepObject && d.Name == before }); d != nil {
		return d, roleMember
	}
	if d := find(func(d *slowDecl) bool { return d.spreads() && len(d.Properties) == 0 }); d != nil {
		return d, roleProperty
	}
	return nil, roleNone
}

func slowPathParams(out []string, all []*slowDecl, path string) []string {
	if path == "" {
		return out
	}
	rest, absolute := strings.CutPrefix(path, "/")
	segments := strings.Split(rest, "/")
	at := len(path) - len(rest)
	for i, seg := range segments {
		var bound []*slowDecl
		for _, d := range all {
			if d.In == InPath && d.Path != "" && absolute && slowFits(d, segments, i) {
				bound = append(bound, d)
			}
		}
		var fresh []*slowDecl // matrix parameters are local to a segment
		for _, d := range all {
			if d.In == InPath && d.Style == StyleMatrix && (d.Path == "" || slices.Contains(bound, d)) {
				fresh = append(fresh, &slowDecl{Declaration: d.Declaration})
			}
		}
		switch whole := slowWhole(bound, seg); {
		case whole != nil:
			out = append(out, slowSegment(whole, seg, at).show(InPath, i))
		case strings.Contains(seg, ";"):
			first := strings.IndexByte(seg, ';') + 1
			out = slowFieldsOf(out, InPath, slowFields(seg[first:], at+first, ";", false), i, func(name string) (*slowDecl, role) {
				return slowMatrixClaim(fresh, name)
			})
		}
		at += len(seg) + 1
	}
	return out
}

// slowWhole returns the first declaration that takes a whole segment.
func slowWhole(bound []*slowDecl, seg string) *slowDecl {
	for _, d := range bound {
		if d.Style != StyleMatrix || !strings.Contains(seg, ";") {
			return d
		}
	}
	return nil
}

func slowFits(d *slowDecl, segments []string, slot int) bool {
	template := strings.Split(d.Path, "/")[1:]
	if len(template) != len(segments) || template[slot] != "{"+d.Name+"}" {
		return false
	}
	for i, t := range template {
		if !strings.HasPrefix(t, "{") && slowUnits(segments[i], 0, false).String() != slowUnits(t, 0, false).String() {
			return false
		}
	}
	return true
}

func slowSegment(declared *slowDecl, seg string, at int) *slowDecl {
	d := &slowDecl{Declaration: declared.Declaration}
	us := slowUnits(seg, at, false)
	sep, escapedToo := byte(','), false
	dot := len(us) > 0 && us[0].b == '.'
	if d.Style == StyleMatrix || d.Style == StyleLabel && !dot {
		d.bad(at)
		d.Type = TypeString
	} else if d.Style == StyleLabel {
		us = us[1:]
		if d.Explode == ExplodeYes {
			sep, escapedToo = '.', true
		}
	}
	switch {
	case d.Type == TypeString:
		d.value, d.eq = us.String(), true
	case d.Type == TypeObject && d.Explode == ExplodeYes && len(us) > 0:
		parts, where := us.cut(sep, escapedToo, -1)
		for i, p := range parts {
			kv, _ := p.cut('=', false, 2)
			if len(kv) == 1 {
				d.bad(where[i])
				d.pair(kv[0].String(), "", false)
				continue
			}
			d.pair(kv[0].String(), kv[1].String(), true)
		}
	case d.Type == TypeObject && d.Explode == ExplodeYes:
	default:
		d.list(us, sep, escapedToo)
	}
	return d
}

func slowMatrixClaim(fresh []*slowDecl, name string) (*slowDecl, role) {
	for _, rank := range []func(d *slowDecl) role{
		func(d *slowDecl) role { return role(boolTo(d.Name == name)) * roleOwn },
		func(d *slowDecl) role {
			return role(boolTo(d.spreads() && slices.Contains(d.Properties, name))) * roleProperty
		},
		func(d *slowDecl) role { return role(boolTo(d.spreads() && len(d.Properties) == 0)) * roleProperty },
	} {
		for _, bound := range []bool{true, false} {
			for _, d := range fresh {
				if r := rank(d); r != roleNone && (d.Path != "") == bound {
					return d, r
				}
			}
		}
	}
	return nil, roleNone
}

// slowStyles are sets of declarations for the comparison with the reference
// implementation, without defaults.
var slowStyles = [][]Declaration{
	nil,
	{{Name: "a", Style: StyleForm, Explode: ExplodeYes, Type: TypeArray}, {Name: "b", Style: StyleForm, Explode: ExplodeNo, Type: TypeArray}},
	{{Name: "a", Style: StylePipeDelimited, Explode: ExplodeNo, Type: TypeArray}, {Name: "b", Style: StyleSpaceDelimited, Explode: ExplodeNo, Type: TypeObject}},
	{{Name: "a", Style: StyleDeepObject, Explode: ExplodeYes, Type: TypeObject}, {Name: "b", Style: StyleForm, Explode: ExplodeYes, Type: TypeString}},
	{{Name: "a", Style: StyleForm, Explode: ExplodeYes, Type: TypeObject}, {Name: "b", Style: StyleForm, Explode: ExplodeNo, Type: TypeObject}},
	{{Name: "a", Style: StyleForm, Explode: ExplodeYes, Type: TypeObject, Properties: []string{"x", "y"}}, {Name: "b", Style: StyleForm, Explode: ExplodeNo, Type: TypeString}},
	{{Name: "a", In: InPath, Path: "/p/{a}", Style: StyleSimple, Explode: ExplodeNo, Type: TypeArray}, {Name: "b", In: InPath, Path: "/{b}", Style: StyleSimple, Explode: ExplodeYes, Type: TypeObject}},
	{{Name: "a", In: InPath, Path: "/p/{a}/{b}", Style: StyleLabel, Explode: ExplodeYes, Type: TypeArray}, {Name: "b", In: InPath, Path: "/p/{a}/{b}", Style: StyleLabel, Explode: ExplodeNo, Type: TypeObject}},
	{{Name: "a", In: InPath, Path: "/{a}", Style: StyleLabel, Explode: ExplodeYes, Type: TypeObject}, {Name: "b", In: InPath, Path: "/p/{b}", Style: StyleSimple, Explode: ExplodeNo, Type: TypeString}},
	{{Name: "a", In: InPath, Style: StyleMatrix, Explode: ExplodeNo, Type: TypeArray}, {Name: "b", In: InPath, Path: "/p/{b}", Style: StyleMatrix, Explode: ExplodeYes, Type: TypeObject}},
	{{Name: "a", In: InPath, Style: StyleMatrix, Explode: ExplodeYes, Type: TypeObject, Properties: []string{"x"}}, {Name: "b", In: InPath, Style: StyleMatrix, Explode: ExplodeYes, Type: TypeArray}, {Name: "a", In: InPath, Path: "/p/{a}", Style: StyleMatrix, Explode: ExplodeNo, Type: TypeString}},
}

// checkReader compares Reader with its reference implementation.
func checkReader(t *testing.T, r *ParamReader, styles *Styles, decls []Declaration, path, query string) {
	t.Helper()
	r.Read(styles, []byte(path), []byte(query))
	if got, want := showParams(r), slowRead(decls, path, query); got != want {
		t.Fatalf("%+v\npath %q, query %q:\n got %s\nwant %s", decls, path, query, got, want)
	}
	for i := range r.Params() {
		p := &r.Params()[i]
		text := path
		if p.In == InQuery {
			text = query
		}
		if int(p.At) > len(text) || int(p.MisfitAt) > len(text) {
			t.Fatalf("path %q, query %q: offsets %d, %d", path, query, p.At, p.MisfitAt)
		}
		for k := range r.Items(p) {
			if at := r.Items(p)[k].At; int(at) > len(text) {
				t.Fatalf("path %q, query %q: item at offset %d", path, query, at)
			}
		}
	}
}

// TestReaderSlow compares all short queries and paths of significant bytes.
func TestReaderSlow(t *testing.T) {
	var r ParamReader
	for _, decls := range slowStyles {
		styles := compileStyles(t, decls...)
		for _, tokens := range [][]string{{"a", "b", "=", "&", ","}, {"a=", "x", "b", "&", "|", "%7c", "+", "%20"}, {"a", "[", "%5D", "=", "&", "x", "b"}, {"&x=", "a", ",", "%2C", "y"}} {
			for text := range combinations(tokens, 4) {
				checkReader(t, &r, styles, decls, "", text)
			}
		}
		for _, tokens := range [][]string{{"/", "p", "a", ";", "=", ","}, {"/p/", ".", "%2e", "x=", ",", "a"}, {"/", ";a=", ";b", ";x=", ",", "%3B"}, {"/", "%70/", "a", "=", ".", "+"}} {
			for text := range combinations(tokens, 4) {
				checkReader(t, &r, styles, decls, text, "")
				checkReader(t, &r, styles, decls, "/"+text, "a=1")
			}
		}
	}
}

// combinations yields all texts of up to n tokens.
func combinations(tokens []string, n int) func(func(string) bool) {
	return func(yield func(string) bool) {
		var grow func(text string, left int) bool
		grow = func(text string, left int) bool {
			if !yield(text) {
				return false
			}
			for _, tok := range tokens {
				if left > 0 && !grow(text+tok, left-1) {
					return false
				}
			}
			return true
		}
		grow("", n)
	}
}

// FuzzReader compares Reader with its reference implementation.
func FuzzReader(f *testing.F) {
	for i := range slowStyles {
		f.Add(byte(i), "/p/a;x=1,2;b", "a=1|2%7C3&b=x+1%202&&a[x]=1&y")
		f.Add(byte(i), "/%70/.a%2Eb=c", "=&b=1,2,3")
	}
	f.Fuzz(func(t *testing.T, which byte, path, query string) {
		decls := slowStyles[int(which)%len(slowStyles)]
		var r ParamReader
		checkReader(t, &r, compileStyles(t, decls...), decls, path, query)
	})
}

// TestReaderNoAllocs checks that Read does not allocate once its buffers have
// grown.
func TestReaderNoAllocs(t *testing.T) {
	path, query := []byte("/p/x;a=1,2;b;x=3"), []byte("a=1|2&b=x+1&a[x]=1&&y=%zz&x=1")
	for _, decls := range slowStyles {
		styles := compileStyles(t, decls...)
		var r ParamReader
		f := func() {
			r.Read(styles, path, query)
			for i := range r.Params() {
				p := &r.Params()[i]
				_, _ = r.Name(p), r.Value(p)
				for k := range r.Items(p) {
					_, _ = r.ItemName(&r.Items(p)[k]), r.ItemValue(&r.Items(p)[k])
				}
			}
			_ = r.ParamAt(InQuery, 3)
		}
		f()
		if n := testing.AllocsPerRun(20, f); n != 0 {
			t.Errorf("%+v: got %v allocations, want 0", decls, n)
		}
	}
}
