package params

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// showParams formats the parameters of a ParamReader: in:index:name, then =value,
// [array] or {object}, and '!' for a misfit.
func showParams(r *ParamReader) string {
	var all []string
	for i := range r.Params() {
		p := &r.Params()[i]
		text := fmt.Sprintf("%v%d:%s", p.In, p.Index, r.Name(p))
		var items []string
		for k := range r.Items(p) {
			it := &r.Items(p)[k]
			switch {
			case p.Type == TypeArray:
				items = append(items, string(r.ItemValue(it)))
			case it.HasValue:
				items = append(items, string(r.ItemName(it))+":"+string(r.ItemValue(it)))
			default:
				items = append(items, string(r.ItemName(it)))
			}
		}
		switch {
		case p.Type == TypeArray:
			text += "[" + strings.Join(items, "|") + "]"
		case p.Type == TypeObject:
			text += "{" + strings.Join(items, "|") + "}"
		case p.HasValue:
			text += "=" + string(r.Value(p))
		}
		if p.Misfit {
			text += fmt.Sprintf("!%d", p.MisfitAt)
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

func compileStyles(t testing.TB, decls ...Declaration) *Styles {
	t.Helper()
	s, err := CompileStyles(decls)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestStyleExamples runs the style examples of OpenAPI 3.1.1 §4.8.12.4 with
// another name and other values: the parameter hue with the string teal, the
// array teal, gold, pink, and the object H=10, S=20, L=30. TestStyleErrors
// covers the combinations that the table marks as n/a.
func TestStyleExamples(t *testing.T) {
	const path = "/paint/{hue}"
	properties := []string{"H", "S", "L"}
	for _, c := range []struct {
		style                     Style
		explode                   Explode
		empty, one, array, object string
	}{
		{StyleMatrix, ExplodeNo, ";hue", ";hue=teal", ";hue=teal,gold,pink", ";hue=H,10,S,20,L,30"},
		{StyleMatrix, ExplodeYes, ";hue", ";hue=teal", ";hue=teal;hue=gold;hue=pink", ";H=10;S=20;L=30"},
		{StyleLabel, ExplodeNo, ".", ".teal", ".teal,gold,pink", ".H,10,S,20,L,30"},
		{StyleLabel, ExplodeYes, ".", ".teal", ".teal.gold.pink", ".H=10.S=20.L=30"},
		{StyleSimple, ExplodeNo, "", "teal", "teal,gold,pink", "H,10,S,20,L,30"},
		{StyleSimple, ExplodeYes, "", "teal", "teal,gold,pink", "H=10,S=20,L=30"},
		{StyleForm, ExplodeNo, "hue=", "hue=teal", "hue=teal,gold,pink", "hue=H,10,S,20,L,30"},
		{StyleForm, ExplodeYes, "hue=", "hue=teal", "hue=teal&hue=gold&hue=pink", "H=10&S=20&L=30"},
		{StyleSpaceDelimited, ExplodeNo, "", "", "hue=teal%20gold%20pink", "hue=H%2010%20S%2020%20L%2030"},
		{StylePipeDelimited, ExplodeNo, "", "", "hue=teal%7Cgold%7Cpink", "hue=H%7C10%7CS%7C20%7CL%7C30"},
		{StyleDeepObject, ExplodeYes, "", "", "", "hue%5BH%5D=10&hue%5BS%5D=20&hue%5BL%5D=30"},
	} {
		in, index := InQuery, 0
		if c.style >= StyleSimple {
			in, index = InPath, 1
		}
		read := func(typ ValueType, text, want string) {
			t.Helper()
			d := Declaration{Name: "hue", In: in, Style: c.style, Explode: c.explode, Type: typ}
			if (&declared{Declaration: d, explode: c.explode == ExplodeYes}).spreads() {
				d.Properties = properties
			}
			var r ParamReader
			if in == InPath {
				d.Path = path
				r.Read(compileStyles(t, d), []byte("/paint/"+text), nil)
			} else {
				r.Read(compileStyles(t, d), nil, []byte(text))
			}
			if got := showParams(&r); got != fmt.Sprintf("%v%d:hue%s", in, index, want) {
				t.Errorf("%v, explode %v, %v: %q: got %s, want %s", c.style, c.explode == ExplodeYes, typ, text, got, want)
			}
		}
		if c.one != "" { // otherwise n/a
			value := "="
			if c.style == StyleMatrix {
				value = ""
			}
			read(TypeString, c.empty, value)
			read(TypeArray, c.empty, "[]")
			read(TypeObject, c.empty, "{}")
			read(TypeString, c.one, "=teal")
			read(TypeArray, c.one, "[teal]")
		}
		if c.array != "" {
			read(TypeArray, c.array, "[teal|gold|pink]")
		}
		read(TypeObject, c.object, "{H:10|S:20|L:30}")
	}
}

// TestStyleDelimiters checks the delimiters that the document of seeds/003
// lists for each style, raw and escaped.
func TestStyleDelimiters(t *testing.T) {
	f := func(d Declaration, path, query, want string) {
		t.Helper()
		var r ParamReader
		r.Read(compileStyles(t, d), []byte(path), []byte(query))
		if got := showParams(&r); got != want {
			t.Errorf("%v explode %v: path %q, query %q:\n got %s\nwant %s", d.Style, d.Explode, path, query, got, want)
		}
	}
	no, yes := ExplodeNo, ExplodeYes
	pipe := Declaration{Name: "a", Style: StylePipeDelimited}
	f(pipe, "", "a=1|2%7C3%7c4", "query0:a[1|2|3|4]")
	f(pipe, "", "a=1%257C2,3+4", "query0:a[1%7C2,3 4]") // escaped twice it is data, as are the delimiters of other styles
	f(pipe, "", "a=|", "query0:a[|]")
	f(pipe, "", "a=1|2&a=3", "query0:a[1|2|3]!6")
	space := Declaration{Name: "a", Style: StyleSpaceDelimited}
	f(space, "", "a=1+2%203 4", "query0:a[1|2|3|4]")
	f(space, "", "a=1%2B2|3", "query0:a[1+2|3]") // an escaped plus is data, as is '|'
	comma := Declaration{Name: "a b", Style: StyleForm, Explode: no}
	f(comma, "", "a+b=1,2%2C3&a%20b", "query0:a b[1|2,3]!12") // RFC 6570 §3.2.8: %2C is data
	f(Declaration{Name: "a", Style: StyleForm, Explode: yes}, "", "a=1,2&x&a=&a", "query0:a[1,2||] query1:x")
	deep := Declaration{Name: "a", Style: StyleDeepObject}
	f(deep, "", "a[x]=1&a%5By%5d=2&a%5bz]=3&b[x]=4", "query0:a{x:1|y:2|z:3} query3:b[x]=4")
	f(deep, "", "a[x=1", "query0:a{x:1}!0")
	f(deep, "", "a[x][y]=1", "query0:a{x][y:1}!0") // OpenAPI does not define nesting
	f(deep, "", "a%255Bx%255D=1&a=", "query0:a%5Bx%5D=1 query1:a{}")
	f(deep, "", "a=1", "query0:a{a:1}!0")
	object := Declaration{Name: "a", Style: StyleForm, Explode: no, Type: TypeObject}
	f(object, "", "a=x,1,y", "query0:a{x:1|y}!6")
	f(object, "", "a=x,,y,2", "query0:a{x:|y:2}")
	f(Declaration{Name: "a", Style: StyleForm, Type: TypeObject}, "", "x=1&y&&x=2", "query0:a{x:1|y|x:2}") // all other fields
	f(Declaration{Name: "a", Style: StyleForm, Type: TypeString}, "", "a=1,2&a=3", "query0:a=1,2!6")

	simple := Declaration{Name: "id", In: InPath, Path: "/u/{id}/x"}
	f(simple, "/u/1,2%2C3;v/x", "", "path1:id[1|2,3;v]") // RFC 6570 §3.2.2: ';' is data
	f(simple, "/%75/1+2/x", "", "path1:id[1+2]")         // percent-decoded, but not as in a form
	f(simple, "/u/1/x/", "", "")
	f(simple, "/u/1", "", "")
	f(simple, "u/1/x", "", "")
	label := Declaration{Name: "id", In: InPath, Style: StyleLabel, Explode: yes, Path: "/{v}/{id}"}
	f(label, "/1/.a.b%2Ec%2ed,e", "", "path1:id[a|b|c|d,e]") // '.' is unreserved: RFC 3986 §6.2.2.2
	f(label, "/1/%2ea", "", "path1:id[a]")
	f(label, "/1/a.b", "", "path1:id=a.b!3")
	f(Declaration{Name: "id", In: InPath, Style: StyleLabel, Explode: yes, Type: TypeObject, Path: "/{id}"}, "/.a=1.b", "", "path0:id{a:1|b}!6")
	matrix := Declaration{Name: "id", In: InPath, Style: StyleMatrix}
	f(matrix, "/a;id=1,2%3B3%2C4/b;id=5;x=6;;y", "", "path0:id[1|2;3,4] path1:id[5] path1:x=6 path1:y")
	f(matrix, "/a;id=1;id=2", "", "path0:id[1|2]!8")
	bound := Declaration{Name: "id", In: InPath, Style: StyleMatrix, Path: "/a/{id}"}
	f(bound, "/a/;id=1", "", "path1:id[1]")
	f(bound, "/a/1", "", "path1:id=1!3")
	f(bound, "/b/;id=1", "", "path1:id=1")
	f(Declaration{Name: "o", In: InPath, Style: StyleMatrix, Explode: yes, Type: TypeObject}, "/a;x=1;y", "", "path0:o{x:1|y}")
}

// TestUndeclared checks that without declarations each field is decoded once,
// and that "a" has no value but "a=" has an empty one.
func TestUndeclared(t *testing.T) {
	f := func(path, query, want string) {
		t.Helper()
		var r ParamReader
		r.Read(nil, []byte(path), []byte(query))
		if got := showParams(&r); got != want {
			t.Errorf("path %q, query %q:\n got %s\nwant %s", path, query, got, want)
		}
	}
	f("/a/b", "", "")
	f("", "a&a=&=b&=", "query0:a query1:a= query2:=b query3:=")
	f("", "&&a=&", "query2:a=")
	f("", "q=x+y%2Bz%2541&%61=1=2", "query0:q=x y+z%41 query1:a=1=2")
	f("/p;v=1+2%2541;w/q;;=x", "", "path0:v=1+2%41 path0:w path1:=x")
	f("a;b/c", "q", "path0:b query0:q")
	var r ParamReader
	r.Backslash = true
	r.Read(nil, []byte(`/a;x\b;y/c;z`), nil)
	if got := showParams(&r); got != "path0:x path1:y path2:z" {
		t.Error(got)
	}
	r.Read(nil, []byte("/a;x=1"), []byte("q=1&r"))
	for at, want := range map[uint32]string{0: "q", 2: "q", 4: "r"} {
		if p := r.ParamAt(InQuery, at); p == nil || string(r.Name(p)) != want {
			t.Errorf("wrong parameter at offset %d of the query, want %s", at, want)
		}
	}
	if p := r.ParamAt(InPath, 3); p == nil || string(r.Name(p)) != "x" || p.At != 3 {
		t.Error("wrong parameter at offset 3 of the path, want x")
	}
	if r.ParamAt(InPath, 1) != nil || r.ParamAt(InQuery, 3) != nil || r.ParamAt(InQuery, 5) != nil {
		t.Error("found a parameter at an offset without one")
	}
}

func TestEmptyPair(t *testing.T) {
	for query, want := range map[string]int{"": -1, "a": -1, "a=&b": -1, "=": -1, "&": 0, "&&a=": 0, "a&&b": 2, "a&b&": 4, "a&&": 2} {
		if got := EmptyPair([]byte(query)); got != want {
			t.Errorf("%q: %d, want %d", query, got, want)
		}
	}
}

func TestStyleErrors(t *testing.T) {
	for want, decls := range map[string][]Declaration{
		"params[0].name: must not be empty":                                                    {{}},
		"params[0].style: simple is a style for paths":                                         {{Name: "a", Style: StyleSimple}},
		"params[0].style: form is a style for queries":                                         {{Name: "a", In: InPath, Path: "/{a}", Style: StyleForm}},
		"params[0].explode: must be true for deepObject":                                       {{Name: "a", Style: StyleDeepObject, Explode: ExplodeNo}},
		"params[0].type: must be object for deepObject":                                        {{Name: "a", Style: StyleDeepObject, Type: TypeArray}},
		"params[0].explode: must be false for pipeDelimited":                                   {{Name: "a", Style: StylePipeDelimited, Explode: ExplodeYes}},
		"params[0].explode: must be false for spaceDelimited":                                  {{Name: "a", Style: StyleSpaceDelimited, Explode: ExplodeYes}},
		"params[0].type: must be array or object for spaceDelimited":                           {{Name: "a", Style: StyleSpaceDelimited, Type: TypeString}},
		"params[0].type: must be array or object for pipeDelimited":                            {{Name: "a", Style: StylePipeDelimited, Type: TypeString}},
		"params[0].properties: apply only to":                                                  {{Name: "a", Properties: []string{"b"}}},
		"params[0].path: applies only to in: path":                                             {{Name: "a", Path: "/{a}"}},
		"params[0].path: missing: style simple":                                                {{Name: "a", In: InPath}},
		"params[0].path: missing: style label":                                                 {{Name: "a", In: InPath, Style: StyleLabel}},
		"params[0].path: must begin with '/'":                                                  {{Name: "a", In: InPath, Path: "{a}"}},
		"params[0].path: must contain the name":                                                {{Name: "a", In: InPath, Path: "/{b}"}},
		"params[0].path: duplicate placeholder":                                                {{Name: "a", In: InPath, Path: "/{a}/{a}"}},
		`params[0].path: segment 1: a placeholder`:                                             {{Name: "a", In: InPath, Path: "/x{a}"}},
		`params[0].path: segment 2: a placeholder`:                                             {{Name: "a", In: InPath, Path: "/a/{}"}},
		`params[1].name: duplicate parameter: params[0]`:                                       {{Name: "a"}, {Name: "a", Style: StylePipeDelimited}},
		`params[1].properties: duplicate parameter: params[0]`:                                 {{Name: "a"}, {Name: "b", Type: TypeObject, Properties: []string{"a"}}},
		"params[1].properties: conflicts with params[0], which also gets all other fields":     {{Name: "a", Type: TypeObject}, {Name: "b", Type: TypeObject}},
		`params[1].name: duplicate parameter: params[0] has`:                                   {{Name: "m", In: InPath, Style: StyleMatrix}, {Name: "m", In: InPath, Style: StyleMatrix, Explode: ExplodeYes}},
		"params[1].properties: conflicts with params[0], which also gets all other parameters": {{Name: "m", In: InPath, Style: StyleMatrix, Explode: ExplodeYes, Type: TypeObject}, {Name: "n", In: InPath, Style: StyleMatrix, Explode: ExplodeYes, Type: TypeObject}},
	} {
		_, err := CompileStyles(decls)
		var e *StyleError
		if err == nil || !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", decls, err, want)
		}
	}
	s := compileStyles(t, Declaration{Name: "a"}, Declaration{Name: "a", In: InPath, Path: "/{a}/{b}"}, Declaration{Name: "b", In: InPath, Path: "/{a}/{b}"})
	if d := s.Declaration(0); s.Len() != 3 || d.Style != StyleForm || d.Explode != ExplodeYes || d.Type != TypeArray {
		t.Errorf("%+v", d)
	}
	if d := s.Declaration(1); d.Style != StyleSimple || d.Explode != ExplodeNo {
		t.Errorf("%+v", d)
	}
}

func TestStyleNames(t *testing.T) {
	for _, name := range StyleNames() {
		if s, ok := ParseStyle(name); !ok || s.String() != name {
			t.Errorf("%s: %v, %v", name, s, ok)
		}
	}
	for _, name := range LocationNames() {
		if l, ok := ParseLocation(name); !ok || l.String() != name {
			t.Errorf("%s: %v, %v", name, l, ok)
		}
	}
	for _, name := range TypeNames() {
		if v, ok := ParseValueType(name); !ok || v.String() != name {
			t.Errorf("%s: %v, %v", name, v, ok)
		}
	}
	for _, name := range []string{"", "Form", "header"} {
		_, style := ParseStyle(name)
		_, location := ParseLocation(name)
		_, typ := ParseValueType(name)
		if style || location || typ {
			t.Errorf("%q was accepted", name)
		}
	}
	if got := Style(99).String(); got != "unknown" {
		t.Error(got)
	}
}
