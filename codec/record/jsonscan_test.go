package record

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestParsePath(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		path, err := parsePath(text)
		var got []string
		for _, s := range path {
			if s.name == nil {
				got = append(got, string(rune('0'+s.index)))
			} else {
				got = append(got, "'"+string(s.name)+"'")
			}
		}
		if strings.Join(got, " ") != want || (err != nil) != (want == "") {
			t.Errorf("%s: %v, %v; want %s", text, got, err, want)
		}
	}
	f("url", "'url'")
	f("request.uri", "'request' 'uri'")
	f("a.b[0].c", "'a' 'b' 0 'c'")
	f("[2][3]", "2 3")
	f(`"a.b".c`, "'a.b' 'c'")
	f(`a\.b.c\[0\]`, "'a.b' 'c[0]'")
	f(`"a\"b"[1]`, `'a"b' 1`)
	f(`""`, "''")
	for _, bad := range []string{"", ".", "a.", ".a", "a..b", "a[", "a[x]", "a[-1]", "[0]a", `"a`, `"a"b`} {
		f(bad, "")
	}
}

func TestLocateJSON(t *testing.T) {
	f := func(path, rec, want string) {
		t.Helper()
		if got := sitesOf(t, newJob(t, Config{Format: "jsonl", URLField: path}), rec); got != want {
			t.Errorf("%s in %s: got %s, want %s", path, rec, got, want)
		}
	}
	f("u", `{"u":"/a"}`, "/a")
	f("u", " {\t\"x\" : [1, -2.5e+3, true, null, {\"u\":0}, \"\\u00e9\\n\"] , \"u\" : \"/a\\\"\" } ", `/a\"`)
	f("u", `{"\u0075":"/a"}`, "/a")
	f("a.b[1].c", `{"a":{"b":[{"c":"x"},{"c":"y"}]}}`, "y")
	f("[0]", `["x"]`, "x")
	// Of members with the same name the first one counts (RFC 8259 §4 does not
	// define it).
	f("u", `{"u":"1","u":"2"}`, "1")
	// No URL.
	f("u", `{"u":null}`, "")
	f("u", `{"u":""}`, "")
	// No field, or one of another type.
	f("u", `{}`, "field-missing at 0")
	f("u", `[]`, "field-missing at 0")
	f("u", `{"U":"/a"}`, "field-missing at 0")
	f("u.v", `{"u":"/a"}`, "field-missing at 0")
	f("u[1]", `{"u":["/a"]}`, "field-missing at 0")
	f("u", `{"u":1}`, "field-missing at 5")
	f("u", `{"u":{"v":1}}`, "field-missing at 5")
	// Invalid JSON and the offset of the error.
	f("u", `x`, "unparsed at 0")
	f("u", `{"a":01,"u":"/a"}`, "unparsed at 6")
	f("u", `{"a":tru,"u":"/a"}`, "unparsed at 5")
	f("u", `{"a" "b"}`, "unparsed at 5")
	f("u", `{"u":"/a`, "unparsed at 8")
	f("u", `{"u":"/a\x"}`, "unparsed at 8")
	f("u", "{\"u\":\"/a\n\"}", "unparsed at 8")
	f("u", `{"a":1,}`, "unparsed at 7")
	f("u", `{"a":[1}`, "unparsed at 7")
	f("u", `{"a":1.}`, "unparsed at 7")
	f("u", strings.Repeat("[", maxDepth+1), "unparsed at 256")
}

// slowFind implements find with encoding/json. It returns the bytes of the
// value, or "" if there is none, and whether the text is valid JSON.
func slowFind(text []byte, path []step) (string, bool) {
	var v json.RawMessage
	if json.Unmarshal(text, &v) != nil {
		return "", false
	}
	for _, s := range path {
		var obj map[string]json.RawMessage
		var arr []json.RawMessage
		switch {
		case s.name != nil && json.Unmarshal(v, &obj) == nil && has(obj, string(s.name)):
			v = obj[string(s.name)]
		case s.name == nil && json.Unmarshal(v, &arr) == nil && s.index < len(arr):
			v = arr[s.index]
		default:
			return "", true
		}
	}
	if v == nil {
		return "null", true
	}
	return string(v), true
}

// FuzzFind checks that the scanner finds the same values as encoding/json in
// all texts that encoding/json accepts.
func FuzzFind(f *testing.F) {
	for _, s := range []string{
		`{"a":{"b":["x",{"c":1}]}}`, ` { "a" : {"x":[[],{}],"b":[0.5e-3,"\u00e9"]} } `, `{"a":[1,2]}`, `{"\u0061":{"b":[null,true]}}`, `{"a":{"b":[1}}`, `[[[]]]`, `{"a":{"b":[-0,1E+1]}}`,
	} {
		f.Add(s)
	}
	path, _ := parsePath("a.b[1]")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Count(text, "[")+strings.Count(text, "{") > maxDepth {
			return // encoding/json allows deeper nesting
		}
		var s scanner
		b := []byte(text)
		want, valid := slowFind(b, path)
		whole, ok := s.find(b, nil)
		if got := ok && strings.Trim(text[whole.end:], " \t\r\n") == ""; got != valid {
			t.Fatalf("%q: valid is %v, want %v (stopped at %d)", text, got, valid, s.pos)
		}
		if !valid || repeatsNames(text) {
			return
		}
		v, ok := s.find(b, path)
		if got := text[v.start:v.end]; ok && got != want || !ok && want != "" || s.broken {
			t.Fatalf("%q: got %q %v, want %q", text, got, ok, want)
		}
	})
}

// repeatsNames reports whether a string occurs twice in a JSON text. If it is a
// name, find uses the first member and encoding/json the last.
func repeatsNames(text string) bool {
	seen := map[string]bool{}
	dec := json.NewDecoder(strings.NewReader(text))
	for {
		tok, err := dec.Token()
		if err != nil {
			return false
		}
		if s, ok := tok.(string); ok {
			if seen[s] {
				return true
			}
			seen[s] = true
		}
	}
}

func has(obj map[string]json.RawMessage, name string) bool {
	_, ok := obj[name]
	return ok
}

// TestMarks compares a scanner that knows where strings can end with one that
// does not, on damaged records.
func TestMarks(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, l := range namedLogs(t) {
		if !IsJSONLog(l.config.Format) {
			continue
		}
		tree := &newJob(t, l.config).reader.(interface{ plans() *partsReader }).plans().full.tree
		for range 3000 {
			for line := range bytes.Lines(mutate(rnd, l.text)) {
				var marked scanner
				marked.begin(line)
				plain := scanner{b: line}
				got, want := make([]fieldValue, tree.values), make([]fieldValue, tree.values)
				tree.find(&marked, got)
				tree.find(&plain, want)
				if !slices.Equal(got, want) || marked.broken != plain.broken || marked.pos != plain.pos {
					t.Fatalf("%s: with marks %v, %t at %d; without %v, %t at %d", line, got, marked.broken, marked.pos, want, plain.broken, plain.pos)
				}
			}
		}
	}
}

func (r *partsReader) plans() *partsReader { return r }
