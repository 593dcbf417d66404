package bench

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/buger/jsonparser"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/internal/record"
)

// This file compares our two small parsers with the libraries that could
// replace them. docs/dependencies.md has the figures.

// patterns are names of parameters in the form of tracker lists.
var patterns = []string{
	`utm(?:_[a-z_]*)?`, `ga_[a-z_]+`, `pk_[a-z]+`, `mtm_[a-z]+`, `hsa_[a-z]+`, `itm_[a-z]+`, `__hs[a-z]{2,4}`, `(?:dis|ad)_?ref[0-9]*`,
	`s_kwcid[0-9a-z]*`, `vero_(?:id|conv)`, `oly_(?:enc|anon)_id`, `_openstat[0-9]*`,
}

// names are names of parameters. Most of them match no pattern.
var names = strings.Fields("id q page lang category sort utm_source utm_medium size color session ref ga_source callback v width")

// BenchmarkPatterns matches names with the automata of package params, and with
// one regular expression that combines all patterns.
func BenchmarkPatterns(b *testing.B) {
	list := &params.List{Name: "bench", Version: "1"}
	for _, p := range patterns {
		rule, err := params.ParseListRule("/"+p+"/", p)
		if err != nil {
			b.Fatal(err)
		}
		list.Rules = append(list.Rules, rule)
	}
	m, err := params.Compile(list)
	if err != nil {
		b.Fatal(err)
	}
	re := regexp.MustCompile(`^(?i:` + strings.Join(patterns, "|") + `)$`)
	var s params.Scratch
	site := m.Site([]byte("www.example.com"), []byte("/"), &s)
	ours := func(name []byte) bool { _, drop := m.Match(site, name, nil); return drop }
	var texts [][]byte
	for _, name := range names {
		texts = append(texts, []byte(name))
		if ours([]byte(name)) != re.MatchString(name) {
			b.Fatalf("%s: %v and %v", name, ours([]byte(name)), re.MatchString(name))
		}
	}
	for _, p := range []struct {
		name  string
		match func([]byte) bool
	}{{"ours", ours}, {"regexp", re.Match}} {
		b.Run(p.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, name := range texts {
					p.match(name)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(texts)), "ns/name")
		})
	}
}

// jsonLine is a line of a log whose URL is a nested member.
const jsonLine = `{"ts":"2026-11-21T10:00:00.123456Z","level":"info","msg":"request \"done\"","host":{"name":"web-17","ip":"10.1.2.3","tags":["a","b","c"]},` +
	`"latency_ms":12.75,"upstream":{"addr":"10.9.8.7:8080","status":[200],"time":0.012},"user_agent":"Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",` +
	`"request":{"method":"GET","uri":"https://www.example.com/associations2/index.html?id=4711&lang=en","proto":"HTTP/2.0"},"bytes":48123,"ok":true}` + "\n"

// BenchmarkJSON finds the URL of a record and normalizes it: with package
// record, which checks the syntax of the whole record and renders the URL, and
// with libraries that find the member, followed by the normalizer. The cost of
// finding the URL is, for package record, the difference from worker, which
// gets only the URL on a line, and for the libraries the difference from the
// normalizer.
func BenchmarkJSON(b *testing.B) {
	p, _ := codec.Lookup("equiv")
	n, err := codec.New(p)
	if err != nil {
		b.Fatal(err)
	}
	job, err := record.New(record.Config{Format: "jsonl", URLField: "request.uri", Render: record.RenderURLs, Normalizer: n})
	if err != nil {
		b.Fatal(err)
	}
	line, out := []byte(jsonLine), []byte(nil)
	var r codec.Result
	normalize := func(url []byte) { out, _ = n.Append(out[:0], url, &r) }
	w := job.NewWorker()
	lines, err := record.New(record.Config{Format: "lines", Render: record.RenderURLs, Normalizer: n})
	if err != nil {
		b.Fatal(err)
	}
	plain := lines.NewWorker()
	var st record.Stats
	url, _ := findJSONParser(line)
	text := jsontext.NewDecoder(new(bytes.Buffer))
	if other, ok := findJSONText(text, line); !ok || !bytes.Equal(url, other) {
		b.Fatalf("%s and %s", url, other)
	}
	alone := append(bytes.Clone(url), '\n')
	broken := bytes.Replace(line, []byte(`"ok":true}`), []byte(`"ok":tru`), 1)
	if _, ok := findJSONParser(broken); !ok {
		b.Error("jsonparser now detects a broken record: update docs/dependencies.md")
	}
	for _, p := range []struct {
		name string
		run  func()
	}{
		{"ours", func() { out, _ = w.Append(out[:0], nil, line, record.Position{}, &st) }},
		{"jsonparser", func() { url, _ := findJSONParser(line); normalize(url) }},
		{"jsontext", func() { url, _ := findJSONText(text, line); normalize(url) }},
		{"normalizer", func() { normalize(url) }},
		{"worker", func() { out, _ = plain.Append(out[:0], nil, alone, record.Position{}, &st) }},
	} {
		b.Run(p.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				p.run()
			}
		})
	}
}

// findJSONParser finds the URL with jsonparser, which checks only the part
// before it.
func findJSONParser(line []byte) ([]byte, bool) {
	url, _, _, err := jsonparser.Get(line, "request", "uri")
	return url, err == nil
}

// findJSONText finds the URL with the tokenizer of encoding/json/v2, which
// checks the syntax of the whole record. It skips other members as values.
func findJSONText(d *jsontext.Decoder, line []byte) (url []byte, ok bool) {
	d.Reset(bytes.NewBuffer(line))
	ok = true
	for _, want := range []string{"request", "uri"} {
		if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
			return nil, false
		}
		for ok {
			name, err := d.ReadValue()
			if err != nil || name.Kind() != '"' {
				return nil, false // the object has no such member
			}
			if string(name[1:len(name)-1]) == want {
				break
			}
			ok = d.SkipValue() == nil
		}
	}
	value, err := d.ReadValue()
	if err != nil || value.Kind() != '"' {
		return nil, false
	}
	url = append(url, value[1:len(value)-1]...) // it has no escapes
	for d.StackDepth() > 0 && ok {
		if k := d.PeekKind(); k == '}' {
			_, err = d.ReadToken()
		} else {
			err = d.SkipValue()
		}
		ok = err == nil
	}
	return url, ok
}
