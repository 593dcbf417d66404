package record

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record/internal/jsonlines"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
	"github.com/urlfold/urlfold/internal/record/internal/table"
)

func extending(format string, extend ...Extension) Config {
	return Config{Format: format, URLField: "u", Render: RenderExtend, Extend: extend}
}

func TestExtendJSON(t *testing.T) {
	f := func(c Config, in, want string) { t.Helper(); check(t, c, in, want) }
	c := extending("jsonl", Extension{Name: "url_norm", Field: "norm"}, Extension{Name: "url_flags", Field: "flags"})
	f(c, `{"u":"HTTP://H"}`, `{"u":"HTTP://H","url_norm":"http://h/","url_flags":[]}`)
	// All other bytes are preserved: white space, the form of numbers, repeated
	// names.
	f(c, "\t{ \"a\" : 1e+2 , \"a\":-0.0, \"u\" : \"\\u0068ttp:\\/\\/u@H\\/\" \t} \r\n{\"u\":\"/a\"}\n\n",
		"\t{ \"a\" : 1e+2 , \"a\":-0.0, \"u\" : \"\\u0068ttp:\\/\\/u@H\\/\",\"url_norm\":\"http://u@h/\",\"url_flags\":[\"credentials\"] \t} \r\n{\"u\":\"/a\",\"url_norm\":\"/a\",\"url_flags\":[\"relative\"]}\n\n")
	// All members with the same name are replaced, however the name is escaped.
	// Members of nested objects are not.
	f(c, `{"url_norm":{"x":[1]},"u":"HTTP://H","x":{"url_norm":1},"url\u005fnorm" :null }`, `{"url_norm":"http://h/","u":"HTTP://H","x":{"url_norm":1},"url\u005fnorm" :"http://h/","url_flags":[] }`)
	// Without a URL no member is added, not even an empty one.
	f(c, `{"u":null}`, `{"u":null}`)
	f(c, `{"u":"","url_norm":"forged","url_norm_b64":1}`, `{"u":"","url_norm":null,"url_norm_b64":null}`)
	// The URL itself can be replaced.
	f(extending("jsonl", Extension{Name: "u", Field: "norm"}), `{"u":"HTTP://H","v":1}`, `{"u":"http://h/","v":1}`)
	inner := extending("jsonl", Extension{Name: "q", Field: "host"})
	inner.URLField, inner.Redact = "q.u", []string{"passwords"}
	f(inner, `{"q":{"u":"http://a:b@h/"},"z":"//c:d@e"}`, `{"q":"h","z":"//c:***@e"}`)
	// The types are those of the rendering jsonl.
	all := extending("jsonl", Extension{Name: `"`, Field: "norm"}, Extension{Name: "m", Field: "diagnostics"}, Extension{Name: "n", Field: "line"}, Extension{Name: "o", Field: "offset"}, Extension{Name: "c", Field: "campaign"}, Extension{Name: "p", Field: "port"}, Extension{Name: "l", Field: "url"})
	f(all, `{"u":"http://u@h:81/?utm_source=x"}`, `{"u":"http://u@h:81/?utm_source=x","\"":"http://u@h:81/?utm_source=x","m":[{"flag":"credentials","at":7,"component":"username","action":"kept"}],"n":1,"o":0,"c":{"source":"x"},"p":"81","l":"http://u@h:81/?utm_source=x"}`)
	f(extending("jsonl", Extension{Name: "l", Field: "url"}), "{\"u\":\"/\xff\",\"l\":1}", "{\"u\":\"/\xff\",\"l\":null,\"l_b64\":\"L/8=\"}")
	f(extending("jsonl", Extension{Name: "f", Field: "file"}, Extension{Name: "l", Field: "url"}), `{"u":null}`, `{"u":null,"f":"f"}`)
	f(Config{Format: "jsonl", URLField: "u", Render: RenderExtend, Redact: []string{"passwords"}, Extend: []Extension{{Name: "n", Field: "norm"}}}, `{"u":"http:\/\/a:b\u0040h/","v":"//c:d@e"}`, `{"u":"http://a:***@h/","v":"//c:***@e","n":"http://a:***@h/"}`)
}

func TestExtendTable(t *testing.T) {
	f := func(format, in, want string) {
		t.Helper()
		check(t, extending(format, Extension{Name: "norm", Field: "norm"}, Extension{Name: `f,"x"`, Field: "flags"}), in, want)
	}
	f("csv", "id,u\r\n1,HTTP://H\r\n2,\"http://u@h/%7e,\"\n\n3,\n", "id,u,norm,\"f,\"\"x\"\"\"\r\n1,HTTP://H,http://h/,\r\n2,\"http://u@h/%7e,\",\"http://u@h/~,\",\"lower-hex,needless-escape,credentials\"\n\n3,,,\n")
	f("tsv", "u\nHTTP://H/,", "u\tnorm\t\"f,\"\"x\"\"\"\nHTTP://H/,\thttp://h/,\t")
	c := Config{Format: "csv", URLField: "1", Render: RenderExtend, Extend: []Extension{{Name: "l", Field: "line"}, {Name: "r", Field: "record"}, {Name: "e", Field: "error"}}}
	check(t, c, "http://a:b@h,x\nhttp://[\n,\n", "http://a:b@h,x,1,\"http://a:b@h,x\",\nhttp://[,2,http://[,host-invalid\n,,3,\",\",\n")
	c.Redact = []string{"passwords"}
	check(t, c, "http://a:b@h,//c:d@e\n", "http://a:***@h,//c:***@e,1,\"http://a:***@h,//c:***@e\",\n")
}

// TestExtendRejects checks records that are rejected. A record that is
// malformed after its URL cannot be extended, even though the URL can be read.
func TestExtendRejects(t *testing.T) {
	f := func(c Config, in string, why Reason) {
		t.Helper()
		out, _, st := runJob(t, newJob(t, c), []byte(in))
		if string(out) != in || st.Rejects[why] != 1 || st.Emitted != 1 {
			t.Errorf("%q: out %q, %+v", in, out, st)
		}
		c.OnRejected = DispositionDead
		out, dead, st := runJob(t, newJob(t, c), []byte(in))
		if len(out) != 0 || st.Dead != 1 || !strings.Contains(string(dead), why.String()) {
			t.Errorf("%q: out %q, dead %s, %+v", in, out, dead, st)
		}
	}
	json := extending("jsonl", Extension{Name: "n", Field: "norm"})
	for _, in := range []string{`{"u":"http://h/"`, `{"u":"http://h/"} x`, `{"u":"http://h/",}`, `{"u":"http://h/","a":01}`, `{}x`, `[1]x`, `{"u":"http://h/","a" 1}`, `{"a`} {
		f(json, in, Unparsed)
	}
	for _, in := range []string{`{}`, `[1]`, ` 5 `, `{"v":{"u":"x"}}`, `{"u":1,"n":2}`} {
		f(json, in, NoField)
	}
	f(json, `{"u":"http://[","x":2}`, Reason(codec.ErrHostInvalid))
	table := Config{Format: "csv", URLField: "1", Render: RenderExtend, Extend: []Extension{{Name: "n", Field: "norm"}}}
	f(table, "http://h/,\"open", Unparsed)
	f(table, "http://h/,\"a\"b", Unparsed)
}

func TestExtendErrors(t *testing.T) {
	f := func(c Config, want string) {
		t.Helper()
		c.Normalizer = newNormalizer(t, "equiv")
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q in it", c, err, want)
		}
	}
	f(extending("jsonl", Extension{Name: "n", Field: "nrom"}), "did you mean \"norm\"?")
	f(extending("jsonl"), "missing fields")
	f(extending("jsonl", Extension{Name: "", Field: "norm"}), "invalid name")
	f(extending("jsonl", Extension{Name: "\xff", Field: "norm"}), "invalid name")
	f(extending("jsonl", Extension{Name: "a", Field: "norm"}, Extension{Name: "a", Field: "url"}), "duplicate name")
	f(extending("jsonl", Extension{Name: "a_b64", Field: "norm"}, Extension{Name: "a", Field: "url"}), "duplicate name")
	f(Config{Format: "jsonl", URLField: "[0]", Render: RenderExtend, Extend: []Extension{{Name: "a", Field: "norm"}}}, "arrays")
	for _, format := range []string{"lines", "combined", "$request_uri"} {
		f(Config{Format: format, Render: RenderExtend, Extend: []Extension{{Name: "a", Field: "norm"}}}, "JSON lines and tables")
	}
	f(Config{Format: "lines", Extend: []Extension{{Name: "a", Field: "norm"}}}, "only with the output format extend")
}

// checkExtended checks, with independent readers of JSON and CSV, that the
// extended records are the original records with the fields of the rendering
// jsonl or tsv added.
func checkExtended(t testing.TB, j *Job, in, out []byte) {
	t.Helper()
	w, again := j.NewWorker(), j.NewWorker()
	head := in[:j.Framing().Head(in)]
	outHead := out[:j.Framing().Head(out)]
	var st Stats
	for off := 0; off < len(in); {
		n := w.Next(in[off:])
		rec := in[off : off+n]
		before := st
		want, dead := w.Append(nil, nil, rec, Position{Name: "f", Head: head, Off: int64(off)}, &st)
		off += n
		if len(dead) > 0 || st.Dropped > before.Dropped {
			continue
		}
		m := again.Next(out)
		got := out[:m]
		out = out[m:]
		if bytes.Equal(rec, head) && len(head) > 0 || st.Blank > before.Blank || st.Rejects[Unparsed] > before.Rejects[Unparsed] || st.Rejects[NoField] > before.Rejects[NoField] {
			continue
		}
		if trimmed := locate.TrimEnd(got); len(got)-len(trimmed) != len(rec)-len(locate.TrimEnd(rec)) {
			t.Fatalf("the line end differs: record %q, output %q", rec, got)
		}
		if _, ok := j.reader.(*table.Reader); ok {
			checkExtendedRow(t, j, rec, want)
		} else {
			checkExtendedObject(t, j, rec, want)
		}
	}
	if len(out) > 0 || len(outHead) < len(head) {
		t.Fatalf("unexpected output %q; header %q became %q", out, head, outHead)
	}
}

func checkExtendedObject(t testing.TB, j *Job, rec, got []byte) {
	t.Helper()
	was, is := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if err := json.Unmarshal(rec, &was); err != nil {
		if !json.Valid(got) {
			return // for example nested more deeply than that package allows
		}
		// The member with an escape of nginx, which is no JSON, can be one that is replaced.
		if err := json.Unmarshal(bytes.ReplaceAll(rec, []byte(`\x`), []byte(`\u00`)), &was); err != nil {
			t.Fatalf("%q became %q", rec, got)
		}
	}
	if err := json.Unmarshal(got, &is); err != nil {
		t.Fatalf("%q became %q: %v", rec, got, err)
	}
	for i := range j.extend {
		for _, name := range memberNames(j.reader)[i] {
			delete(was, string(name))
			delete(is, string(name))
		}
	}
	if !reflect.DeepEqual(was, is) && !j.redact {
		t.Fatalf("%q became %q", rec, got)
	}
}

func checkExtendedRow(t testing.TB, j *Job, rec, got []byte) {
	t.Helper()
	if !bytes.HasPrefix(got, locate.TrimEnd(rec)) && !j.redact {
		t.Fatalf("%q became %q", rec, got)
	}
	cells := func(b []byte) int {
		r := csv.NewReader(bytes.NewReader(b))
		r.Comma, r.LazyQuotes, r.FieldsPerRecord = rune(j.reader.(*table.Reader).Sep), true, -1
		row, err := r.Read()
		if err != nil {
			return -1
		}
		return len(row)
	}
	if a, b := cells(rec), cells(got); a >= 0 && b != a+len(j.extend) && !bytes.Contains(rec, []byte("\r")) && bytes.Count(rec, []byte(`"`)) == 0 {
		t.Fatalf("%d cells of %q became %d of %q", a, rec, b, got)
	}
}

// FuzzExtendTwice checks that extending is idempotent: members replace those
// with the same name.
func FuzzExtendTwice(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s)
	}
	f.Add(`{"n":1,"u":"/\ufffd","\u006b":{},"n_b64":[]}`)
	f.Fuzz(func(t *testing.T, in string) {
		c := extending("jsonl", Extension{Name: "n", Field: "norm"}, Extension{Name: "k", Field: "key"}, Extension{Name: "l", Field: "url"}, Extension{Name: "fl", Field: "flags"})
		for _, c.URLField = range []string{"u", "url"} {
			j := newJob(t, c)
			once, _, _ := runJob(t, j, []byte(in))
			twice, _, _ := runJob(t, j, once)
			if !bytes.Equal(once, twice) {
				t.Fatalf("%q became %q and then %q", in, once, twice)
			}
		}
	})
}

func memberNames(r Reader) [][2][]byte {
	switch r := r.(type) {
	case *jsonlines.Reader:
		return r.Names
	case *jsonlines.PartsReader:
		return r.Names
	case jsonlines.WrappedReader:
		return r.Names
	}
	return nil
}
