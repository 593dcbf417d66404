package jsonlines

import (
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// TestFieldTree checks that one pass finds the same values as one pass a path.
func TestFieldTree(t *testing.T) {
	texts := []string{"a", "a.b", "a[1]", "a[0].c", "b", "c.d.e", `"x.y"`, "a.b", "abc", "ab", "ba", "[0]", "[1].a"}
	var tree fieldTree
	var paths [][]Step
	var index []int
	for _, text := range texts {
		path, err := ParsePath(text)
		if err != nil {
			t.Fatal(err)
		}
		paths, index = append(paths, path), append(index, tree.add(path))
	}
	if tree.Values != len(texts)-1 {
		t.Errorf("%d values for %d different paths", tree.Values, len(texts)-1)
	}
	values := make([]locate.FieldValue, tree.Values)
	var one, all Scanner
	for _, rec := range []string{
		`{"a":{"b":"1"},"b":2}`, `{"a":["x",{"c":3}]}`, `{"a":[{"c":"3","c":4},5]}`, `{"\u0061":{"b":6}}`, `{"c":{"d":{"e":true}}}`,
		`{"x.y":"7","ab":"8","abc":9,"ba":"10"}`, `{"b":null,"b":1}`, `{"b":""}`, `[1,{"a":"x"}]`, `[]`, `{}`, `"x"`, `{"":{"":1}}`, `{"a":1,}`,
	} {
		b := []byte(rec)
		clear(values)
		all.B, all.Pos, all.Broken = b, 0, false
		tree.Find(&all, values)
		for i, path := range paths {
			s, ok := one.Find(b, path)
			want := locate.FieldValue{}
			if ok && !all.Broken {
				want = valueOf(b, s.Start, s.End)
			}
			if got := values[index[i]]; got != want && !all.Broken {
				t.Errorf("%s: %s is %+v, want %+v", rec, texts[i], got, want)
			}
		}
	}
}

// TestPairs checks that a header is found by its name wherever it is in an array.
func TestPairs(t *testing.T) {
	var tree fieldTree
	host, first := tree.add(MustParsePath("h[=Host]")), tree.add(MustParsePath("h[0].name"))
	f := func(rec, wantHost, wantFirst string) {
		t.Helper()
		values := make([]locate.FieldValue, tree.Values)
		s := Scanner{B: []byte(rec)}
		tree.Find(&s, values)
		if got := string(values[host].In(s.B)); got != wantHost {
			t.Errorf("%s: host %q, want %q", rec, got, wantHost)
		}
		if at, _ := s.Find(s.B, MustParsePath("h[=HOST]")); strings.Trim(string(at.In(s.B)), `"`) != wantHost {
			t.Errorf("%s: Find: host %s, want %q", rec, at.In(s.B), wantHost)
		}
		if got := string(values[first].In(s.B)); got != wantFirst || s.Broken {
			t.Errorf("%s: first name %q, want %q", rec, got, wantFirst)
		}
	}
	f(`{"h":[{"name":"A","value":"x"},{"name":"host","value":"b"}]}`, "b", "A")
	f(`{"h":[{"value":"b","z":[{"name":"q"}],"name":"HOST"},{"name":"Host","value":"c"}]}`, "b", "HOST")
	f(`{"h":[{"name":"Hosts","value":"b"},{"name":1,"value":"b"},{},[],"Host"]}`, "", "Hosts")
	f(`{"h":[{"name":"Host"}]}`, "", "Host")
	f(`{"h":[{"name":"Cost","value":"x"},{"name":"Host","value":"b"}]}`, "b", "Cost")
	f(`{"h":{"name":"Host","value":"b"}}`, "", "")
	f(`{"h":[{"key":"Host","value":"b"}]}`, "b", "")
}
