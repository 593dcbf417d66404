package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec/params"
)

// showStyles writes declarations with their defaults filled in.
func showStyles(s *params.Styles) string {
	var all []string
	for i := range s.Len() {
		d := s.Declaration(i)
		all = append(all, fmt.Sprintf("%s %v %v %v %v %s %v", d.Name, d.In, d.Style, d.Explode == params.ExplodeYes, d.Type, d.Path, d.Properties))
	}
	return strings.Join(all, "; ")
}

const someParams = `[{name: a}, {name: b, style: form, explode: false}, {name: c, in: query, style: pipeDelimited}, {name: d, style: deepObject},
  {name: e, type: object, properties: [x, y]}, {name: id, in: path, path: '/u/{id}'}, {name: v, in: path, style: matrix, explode: true, type: string}]`

const someStyles = "a query form true array  []; b query form false array  []; c query pipeDelimited false array  []; d query deepObject true object  []; " +
	"e query form true object  [x y]; id path simple false array /u/{id} []; v path matrix true string  []"

func TestParams(t *testing.T) {
	const head = "sources: [file: {from: lines, include: [a]}]\nsinks: [file: {path: b}]\n"
	f, err := Parse("c", []byte(head+"codec:\n  params: "+someParams+"\n"), doubles(), testEnv())
	if err != nil {
		t.Fatal(err)
	}
	if got := showStyles(f.Codec.Styles()); got != someStyles {
		t.Errorf("got %s\nwant %s", got, someStyles)
	}
	again, err := Parse("c", []byte(f.String()), doubles(), testEnv())
	if err != nil || showStyles(again.Codec.Styles()) != someStyles {
		t.Errorf("%v\n%s", err, f.String())
	}
	f, err = Parse("c", []byte(minimal), doubles(), testEnv())
	if err != nil || f.Codec.Styles() != nil {
		t.Errorf("without params there are styles, %v", err)
	}
}

func TestParamsMistakes(t *testing.T) {
	f := func(list string, want ...string) {
		t.Helper()
		mistakes(t, "sources: [file: {from: lines, include: [a]}]\nsinks: [file: {path: b}]\ncodec:\n  to: rewrite\n  params:\n"+list, want...)
	}
	f("    - {name: a, style: pipe}\n    - {in: header, name: ''}\n    - {style: form, explode: maybe, stile: form}",
		"c:6:24: style: invalid value (must be one of: form, spaceDelimited, pipeDelimited, deepObject, simple, label, matrix)", "c:7:12: in: invalid value (must be one of: query, path)",
		"c:7:26: name: must have at least 1 byte", "c:8:7: missing required key \"name\"", "c:8:30: explode: must be true or false", "c:8:37: unknown key \"stile\" (did you mean \"style\"?)")
	f("    - {name: a, style: label}\n    - {name: a, style: deepObject, explode: false}\n    - {name: a}\n    - {name: b, in: path}",
		"c:6:24: style: label is a style for paths: must be form, spaceDelimited, pipeDelimited or deepObject",
		"c:7:45: explode: must be true for deepObject (OpenAPI 3.1.1 §4.8.12.4)",
		"c:9:7: path: missing: style simple needs a path template, such as /users/{id}")
	f("    - {name: secret-x}\n    - {name: secret-x, style: deepObject}", "c:7:14: name: duplicate parameter: params[0] has this name")
	f("    - {name: id, in: path, path: '/secret-x/{i}'}", "c:6:34: path: must contain the name of the parameter in braces")
}

func TestProfileParams(t *testing.T) {
	_, policy, err := ParseProfile("p", []byte("name: x\nbase: equiv\nparams: "+someParams+"\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := showStyles(policy.Styles); got != someStyles {
		t.Errorf("got %s\nwant %s", got, someStyles)
	}
	if plain, with := mustVersions(t, ""), mustVersions(t, "params: "+someParams+"\n"); plain != with {
		t.Errorf("styles change the versions of the lists from %s to %s", plain, with)
	}
	_, _, err = ParseProfile("p", []byte("name: x\nbase: equiv\nparams:\n  - {name: a, stile: form}\n  - {name: a, style: matrix}\nkey: k9\n"), nil)
	if err == nil || !strings.HasPrefix(err.Error(), "p:4:15: unknown key \"stile\" (did you mean \"style\"?)\np:6:6:") {
		t.Errorf("%v", err)
	}
	_, _, err = ParseProfile("p", []byte("name: x\nbase: equiv\nparams: [{name: a, style: matrix}]\n"), nil)
	if err == nil || err.Error() != "p:3:27: style: matrix is a style for paths: must be form, spaceDelimited, pipeDelimited or deepObject" {
		t.Error(err)
	}
}

func mustVersions(t *testing.T, more string) string {
	t.Helper()
	_, policy, err := ParseProfile("p", []byte("name: x\nbase: equiv\n"+more), nil)
	if err != nil {
		t.Fatal(err)
	}
	return policy.Versions()
}
