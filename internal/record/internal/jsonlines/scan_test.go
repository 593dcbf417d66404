package jsonlines

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestParsePath(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		path, err := ParsePath(text)
		var got []string
		for _, s := range path {
			if s.Pair != "" {
				got = append(got, "="+s.Pair)
			} else if s.Name == nil {
				got = append(got, string(rune('0'+s.Index)))
			} else {
				got = append(got, "'"+string(s.Name)+"'")
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
	f("params[=Page.Location].value.text", "'params' =page.location 'value' 'text'")
	f("headers[=Host]", "'headers' =host 'value'")
	for _, bad := range []string{"", ".", "a.", ".a", "a..b", "a[", "a[x]", "a[-1]", "a[=]", "a[=b", "[0]a", `"a`, `"a"b`} {
		f(bad, "")
	}
}

// slowFind implements find with encoding/json. It returns the bytes of the
// value, or "" if there is none, and whether the text is valid JSON.
func slowFind(text []byte, path []Step) (string, bool) {
	var v json.RawMessage
	if json.Unmarshal(text, &v) != nil {
		return "", false
	}
	for _, s := range path {
		var obj map[string]json.RawMessage
		var arr []json.RawMessage
		switch {
		case s.Name != nil && json.Unmarshal(v, &obj) == nil && has(obj, string(s.Name)):
			v = obj[string(s.Name)]
		case s.Name == nil && json.Unmarshal(v, &arr) == nil && s.Index < len(arr):
			v = arr[s.Index]
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
	path, _ := ParsePath("a.b[1]")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Count(text, "[")+strings.Count(text, "{") > MaxDepth {
			return // encoding/json allows deeper nesting
		}
		if strings.Contains(text, `\x`) {
			return // an escape of nginx
		}
		var s Scanner
		b := []byte(text)
		want, valid := slowFind(b, path)
		whole, ok := s.Find(b, nil)
		if got := ok && strings.Trim(text[whole.End:], " \t\r\n") == ""; got != valid {
			t.Fatalf("%q: valid is %v, want %v (stopped at %d)", text, got, valid, s.Pos)
		}
		if !valid || repeatsNames(text) {
			return
		}
		v, ok := s.Find(b, path)
		if got := text[v.Start:v.End]; ok && got != want || !ok && want != "" || s.Broken {
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
