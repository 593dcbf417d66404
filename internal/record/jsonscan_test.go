package record

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/record/internal/jsonlines"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

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
	// Escapes of nginx.
	f("u", `{"a":"\x22","u":"/\xC3\xbaa"}`, `/\xC3\xbaa`)
	f("u", `{"\x75":"/a"}`, "/a")
	// Request lines.
	f("u", `{"u":"GET /a b HTTP/1.1"}`, "/a b")
	f("u", `{"u":"GET \/a HTTP\/2.0"}`, `\/a`)
	f("u", `{"u":"GET  HTTP/1.1"}`, "<empty>")
	f("u", `{"u":"GET /a"}`, "GET /a")
	f("u", `{"u":"GET /a HTTP/x"}`, "GET /a HTTP/x")
	f("u", `{"u":"get /a HTTP/1.1"}`, "get /a HTTP/1.1")
	f("u", `{"u":"/a GET HTTP/1.1"}`, "/a GET HTTP/1.1")
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
	f("u", `{"u":"/a\x2"}`, "unparsed at 8")
	f("u", `{"u":"/a\xg0"}`, "unparsed at 8")
	f("u", `{"u":"/a\X22"}`, "unparsed at 8")
	f("u", "{\"u\":\"/a\n\"}", "unparsed at 8")
	f("u", `{"a":1,}`, "unparsed at 7")
	f("u", `{"a":[1}`, "unparsed at 7")
	f("u", `{"a":1.}`, "unparsed at 7")
	f("u", strings.Repeat("[", jsonlines.MaxDepth+1), "unparsed at 256")
}

// TestMarks compares a scanner that knows where strings can end with one that
// does not, on damaged records.
func TestMarks(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, l := range namedLogs(t) {
		if !IsJSONLog(l.config.Format) {
			continue
		}
		r := newJob(t, l.config).reader
		if w, ok := r.(jsonlines.WrappedReader); ok {
			r = w.PartsReader
		}
		tree := &r.(*jsonlines.PartsReader).Full.Tree
		for range 3000 {
			for line := range bytes.Lines(mutate(rnd, l.text)) {
				var marked jsonlines.Scanner
				marked.Begin(line)
				plain := jsonlines.Scanner{B: line}
				got, want := make([]locate.FieldValue, tree.Values), make([]locate.FieldValue, tree.Values)
				tree.Find(&marked, got)
				tree.Find(&plain, want)
				if !slices.Equal(got, want) || marked.Broken != plain.Broken || marked.Pos != plain.Pos {
					t.Fatalf("%s: with marks %v, %t at %d; without %v, %t at %d", line, got, marked.Broken, marked.Pos, want, plain.Broken, plain.Pos)
				}
			}
		}
	}
}
