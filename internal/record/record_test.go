package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
	"github.com/urlfold/urlfold/internal/record/internal/table"
)

// normalizers maps the names of the built-in profiles to their Normalizers.
var normalizers = func() map[string]*codec.Normalizer {
	m := map[string]*codec.Normalizer{}
	for _, p := range codec.Profiles() {
		n, err := codec.New(p)
		if err != nil {
			panic(err)
		}
		m[p.Name] = n
	}
	return m
}()

// newNormalizer returns the Normalizer of a built-in profile.
func newNormalizer(t testing.TB, name string) *codec.Normalizer {
	t.Helper()
	n := normalizers[name]
	if n == nil {
		t.Fatalf("unknown profile %s", name)
	}
	return n
}

// withNormalizer returns c with a Normalizer.
func withNormalizer(t testing.TB, c Config) Config {
	if c.Normalizer == nil {
		c.Normalizer = newNormalizer(t, "rfc3986-scheme")
		c.Level = codec.LevelEquivalent
	}
	return c
}

// newJob returns a Job. It uses the profile rfc3986-scheme if c has no
// Normalizer.
func newJob(t testing.TB, c Config) *Job {
	t.Helper()
	j, err := New(withNormalizer(t, c))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// runJob processes a stream like the pipeline and checks the ledger after every
// record.
func runJob(t testing.TB, j *Job, in []byte) (out, dead []byte, st Stats) {
	t.Helper()
	w := j.NewWorker()
	var d Director // the tests of logs use the head of the stream for all records
	if _, ok := j.reader.(locate.Extractor); ok {
		d, _ = j.reader.(Director)
	}
	head := in[:j.Framing().Head(in)]
	off := 0
	for line := int64(1); off < len(in); line++ {
		n := w.Next(in[off:])
		if n <= 0 || n > len(in)-off {
			t.Fatalf("Next returned %d of %d bytes", n, len(in)-off)
		}
		out, dead = w.Append(out, dead, in[off:off+n], Position{Name: "f", Head: head, Line: line, Off: int64(off)}, &st)
		if !st.Balanced() || st.Records != line {
			t.Fatalf("unbalanced ledger after record %d: %+v", line, st)
		}
		if d != nil {
			if h := d.Directive(head, in[off:off+n]); h != nil {
				head = h
			}
		}
		off += n
	}
	return out, dead, st
}

// check runs in through a job for c and compares the output.
func check(t *testing.T, c Config, in, want string) {
	t.Helper()
	out, _, _ := runJob(t, newJob(t, c), []byte(in))
	if string(out) != want {
		t.Errorf("%+v\n  in %q\n got %q\nwant %q", c, in, out, want)
	}
}

// setups are configurations of every kind, for tests that try all combinations.
// Each one is tried with every rendering.
var setups = []Config{
	{Format: "lines"},
	{Format: "lines", Base: "http://b.example/d/e?q"},
	{Format: "clf"},
	{Format: "combined"},
	{Format: "combined", Target: TargetAll},
	{Format: "combined", Target: TargetAll, Base: "https://b.example/d/e?q"},
	{Format: "combined", Target: TargetReferer, Dialect: "nginx"},
	{Format: "combined", Target: TargetAll, Dialect: "apache"},
	{Format: "combined", Target: TargetAll, Dialect: "none"},
	{Format: "vhost_combined", Target: TargetAll},
	{Format: "aws-s3", Target: TargetAll},
	{Format: "haproxy"},
	{Format: "squid"},
	{Format: "istio", Base: "https://{host}/"},
	{Format: `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"`, Target: TargetAll},
	{Format: `%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"`, Target: TargetAll},
	{Format: `%v:%p %h %m %U%q %H "%{Referer}i"`, Target: TargetAll},
	{Format: `escape=json {"u":"$scheme://$host$request_uri","r":"$http_referer"}`, Target: TargetAll},
	{Format: `"$http_referer" $host$request_uri $server_protocol`, Target: TargetAll},
	{Format: "jsonl", URLField: "url", BaseField: "base"},
	{Format: "jsonl", URLField: "request.uri"},
	{Format: "csv", URLField: "2", BaseField: "1"},
	{Format: "csv", URLField: "url"},
	{Format: `%v|%r|%{Referer}i;%b`, Target: TargetAll},
	{Format: "tsv", URLField: "1"},
	{Format: "csv-semicolon", URLField: "2"},
	{Format: "csv", URLField: "2", BaseField: "1", Dialect: "backslash"},
	{Format: "tsv", URLField: "1", Dialect: "backslash"},
	composedJSON,
	{Format: "csv", URL: URLParts{Absolute: []string{"3"}, Host: []string{"1"}, Path: []string{"2"}, Query: []string{"3"}}},
	{Format: "lines", KeyForm: codec.KeyBase32},
	{Format: "lines", Repairs: allRepairs, Secrets: []string{"Token", "q"}},
	{Format: "combined", Target: TargetAll, Repairs: allRepairs, Secrets: []string{"token"}},
	{Format: "csv", URLField: "2", BaseField: "1", Secrets: []string{"token"}},
	{Format: "tsv", URLField: "1", Dialect: "backslash", Secrets: []string{"token"}},
	{Format: "jsonl", URLField: "url", Base: "https://{base}/x", RejectFlags: codec.Flags{}.With(codec.FlagCredentials).With(codec.FlagSignedURL).With(codec.FlagFragmentInRequest)},
	{Format: "csv", URLField: "2", Base: "https://www.{1}", RejectNotHTTP: true, OnUnparsed: DispositionDrop},
	{Format: "vhost_combined", Target: TargetAll, Base: "https://{host}/x", RejectNotHTTP: true, RejectFlags: codec.Flags{}.With(codec.FlagNonHex)},
	{Format: `"$http_referer" $host$request_uri $server_protocol`, Target: TargetAll, Base: "https://{host}", OnUnparsed: DispositionDead},
	{Format: "lines", MaxRecord: 20, OnOversize: DispositionTruncate, OnUnparsed: DispositionPass},
	{Format: "text", Redact: []string{"passwords"}},
	{Format: "html", Base: "http://b.example/d/e?q"},
}

// extensions are those of all setups.
var extensions = []Extension{{Name: "norm", Field: "norm"}, {Name: "url", Field: "flags"}, {Name: "e\"x", Field: "url"}, {Name: "diagnostics", Field: "diagnostics"}, {Name: "error", Field: "error"}, {Name: "n", Field: "line"}, {Name: "r", Field: "record"}, {Name: "c", Field: "campaign"}}

// each calls f for every setup in every rendering, with and without diverting:
// with the profile rfc3986-scheme, and in two renderings with all other
// profiles.
func each(f func(Config)) {
	for _, c := range setups {
		for r := range RenderArrow { // RenderArrow has the same rows as RenderParquet
			c.Render, c.Extend = r, nil
			if r.KeepsRecords() && onlyFinds(c.Format) {
				continue
			}
			if r == RenderExtend {
				if c.Format != "jsonl" && c.Format != "csv" && c.Format != "csv-semicolon" && c.Format != "tsv" || c.Dialect == locate.DialectBackslash {
					continue
				}
				c.Extend = extensions
			}
			for _, c.OnRejected = range []Disposition{DispositionPass, DispositionDead, DispositionDrop} {
				f(c)
			}
		}
		for _, name := range []string{"equiv", "crawler", "analytics", "logclean"} {
			c.Normalizer = normalizers[name]
			c.Level = c.Normalizer.Profile().Key
			c.OnRejected = DispositionPass
			if name == "equiv" {
				c.OnRejected = DispositionDead
			}
			c.Extend = nil
			for _, c.Render = range []Render{RenderRewrite, RenderJSONL} {
				if c.Render == RenderJSONL || !onlyFinds(c.Format) {
					f(c)
				}
			}
		}
	}
}

// onlyFinds reports whether a format cannot write records.
func onlyFinds(format string) bool {
	return slices.Contains([]string{"text", "html", "sitemap", "feed", "mail"}, format)
}

// allFields selects every field, if the rendering has fields.
func allFields(c Config) Config {
	if c.Render.HasFields() {
		c.Fields = FieldNames()
	}
	return c
}

// verify runs in through a job and checks the properties that hold for any
// input.
func verify(t testing.TB, c Config, in []byte) {
	t.Helper()
	j := newJob(t, c)
	before := bytes.Clone(in)
	out, dead, st := runJob(t, j, in)
	if !bytes.Equal(in, before) {
		t.Fatalf("%+v changed its input %q", c, before)
	}
	checkLines(t, "dead letter", dead, st.Dead)
	switch c.Render {
	case RenderJSONL:
		checkLines(t, "jsonl", out, -1)
	case RenderTSV:
		for line := range bytes.Lines(out) {
			if n := bytes.Count(line, []byte("\t")); n != len(j.fields)-1 || line[len(line)-1] != '\n' {
				t.Fatalf("got %d tabs in row %q", n, line)
			}
		}
	case RenderExtend:
		checkExtended(t, j, in, out)
	case RenderRewrite:
		if c.OnOversize == DispositionTruncate {
			break // without its line end, the rest is short enough to be read
		}
		again, _, st2 := runJob(t, j, out)
		if !bytes.Equal(out, again) {
			t.Fatalf("%+v\n   in %q\n once %q\ntwice %q", c, in, firstOther(out, again), firstOther(again, out))
		}
		if c.OnRejected == DispositionPass && c.OnUnparsed == DispositionDefault {
			checkKept(t, j, in, out)
		}
		if st2.Changed != st2.Unwritten && len(c.Redact) == 0 {
			t.Fatalf("%+v: the second run changed %d URLs of %q", c, st2.Changed, out)
		}
	}
}

// firstOther returns the first line of a that differs from the same line of b.
func firstOther(a, b []byte) string {
	other := strings.Split(string(b), "\n")
	for i, line := range strings.Split(string(a), "\n") {
		if i >= len(other) || line != other[i] {
			return line
		}
	}
	return ""
}

// checkLines checks that each line is a JSON object and, if n is not negative,
// that there are n lines.
func checkLines(t testing.TB, what string, b []byte, n int64) {
	t.Helper()
	var got int64
	for line := range bytes.Lines(b) {
		got++
		var v map[string]any
		if err := json.Unmarshal(line, &v); err != nil || line[len(line)-1] != '\n' {
			t.Fatalf("%s %q: %v", what, line, err)
		}
	}
	if n >= 0 && got != n {
		t.Fatalf("got %d lines of %s for %d records", got, what, n)
	}
}

// seeds returns streams with input for every setup.
func seeds() []string {
	var out []string
	for _, target := range []string{
		"GET /a/./b%7e?q=%zz HTTP/1.1", "GET /a b HTTP/1.1", `GET /a\"b\x22\\ HTTP/1.0`, `GET /a"b HTTP/1.0`, "GET //favicon.ico HTTP/1.1",
		"GET http://u:p@Example.COM:80/%41#f HTTP/1.1", "CONNECT example.com:443 HTTP/1.1", "OPTIONS * HTTP/1.1", "-", "", "GET /old",
		`\x16\x03\x01\x02`, "GET http://[x/ HTTP/1.1", "GET  /a  HTTP/1.1 ", "GET /a\\", "\x80\xff", "GET /a HTTP/1.1 HTTP/1.1", "t3 12.1.2", "GET /\xe9\\xE9 HTTP/1.1",
		// URLs that the two standards parse differently.
		`GET /\\evil/a HTTP/1.1`, "GET /\t/evil/../a HTTP/1.1", `GET /a\x20\x09 HTTP/1.1`, "GET //x/..//y HTTP/1.1", "GET /%2e%2e//x#f\tg HTTP/1.1", `GET http:\\u:p@h HTTP/1.1`, "GET http:///u:p@h/;a|b HTTP/1.1",
		`GET http://u:p\\@h/ HTTP/1.1`, `GET A:b\x20"c HTTP/1.1`, `A:b\x20\x22\x7Cc\x2C`, "X://h\\x20/ HTTP/1.1", "GET http://1.2.3.256/ HTTP/1.1", "http:b@c", "ftp://u:p q@h:99999/", "file:///C|/a/..",
		"GET /%u0041%uD83D%uDE00%25u0041?%2541&amp;%2561mp;amp;b&TOKEN=%u00e9#/x?token=%u0025u0041 HTTP/1.1", "http://u:p@h/%2541%25u/?%2541&token=1&Q=%u0026amp;#%%750041",
	} {
		out = append(out,
			`::1 - a b [10/Oct/2000:13:55:36 -0700] "`+target+`" 200 2326 "http://Example.com/a b" "agent \"x" 0.1`,
			`V.example:443 1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "`+target+`" 200 -`,
			`{"url":"`+target+`","base":"http:\/\/h","request":{"uri":"`+target+`"}}`,
			"http://b/,\""+strings.ReplaceAll(target, `"`, `""`)+"\",c",
			target,
			`{"u":"https://H`+target+`","r":"\u0068ttp://x"}`,
			`{"query":"`+target+`","host":"H:80","scheme":"HTTP","path":"/`+target+`"}`,
			"H,/"+strings.ReplaceAll(target, `"`, "")+",%7e=b",
			`v:80 h GET `+target+` HTTP/1.1 "-"`,
			`10.0.1.2:33317 [06/Feb/2009:12:14:14.655] in~ a/b 1/0/3/6/9 200 27 - - ---- 1/1/1/1/0 0/0 {h.example|x} "GET `+target+` HTTP/1.1"`,
			`o b [06/Feb/2019:00:00:38 +0000] 192.0.2.3 - 3E REST.GET.X - "GET `+target+` HTTP/1.1" 200 - 1 - 7 - "`+target+`" "x" -`,
			`1066036250.603    310 192.0.2.1 TCP_MISS/200 1869 GET `+target+` - NONE/- text/html`,
			`[2020-11-25T21:26:18.409Z] "GET `+target+` HTTP/1.1" 418 - - - "-" 0 135 3 1 "-" "-" "-" "h:80" "-"`,
		)
	}
	return append(out, "url,x\r\n\"a,\"\"\n b\",2\r\nHTTP://X,\n", "\n \r\n\x00", `{"url":[1,{"a":null}],"base":1e5}`, `{"url":null}`, `{"url":"\ud800\udc00\ud800"}`)
}

func TestEverythingOnEverything(t *testing.T) {
	t.Parallel()
	all := []byte(strings.Join(seeds(), "\n"))
	each(func(c Config) {
		verify(t, allFields(c), all)
		c.Redact = []string{"passwords"}
		verify(t, allFields(c), all)
	})
}

func FuzzWorker(f *testing.F) {
	for i, s := range seeds() {
		f.Add(uint8(i), s)
	}
	jobs := []Config{}
	each(func(c Config) { jobs = append(jobs, allFields(c)) })
	f.Fuzz(func(t *testing.T, n uint8, in string) {
		for i := int(n) % 47; i < len(jobs); i += 47 {
			verify(t, jobs[i], []byte(in))
			verify(t, jobs[i], fmt.Appendf(nil, "1.2.3.4 - - [t] \"%s\" 200 1 \"%s\" \"a\"\n", in, in))
		}
	})
}

// checkKept checks record by record that rewriting replaces only URLs: the
// bytes around them are the same, and the same URLs are found in the output. Of
// a job that redacts, the bytes around them are the same except for masked values.
func checkKept(t testing.TB, j *Job, in, out []byte) {
	t.Helper()
	w := j.NewWorker()
	head := in[:j.Framing().Head(in)]
	for len(in) > 0 {
		n, m := w.Next(in), w.Next(out)
		a, b := around(w, in[:n], head, j.redact), around(w, out[:m], head, false)
		if a != b {
			t.Fatalf("the record %q became %q:\n%s\n%s", in[:n], out[:m], a, b)
		}
		in, out = in[n:], out[m:]
	}
	if len(out) > 0 {
		t.Fatalf("unexpected output %q", out)
	}
}

// around returns a record with each URL replaced by its role, and with the rest
// masked if masks is set.
func around(w *Worker, rec, head []byte, masks bool) string {
	var b strings.Builder
	from := 0
	if locate.IsBlank(locate.TrimEnd(rec)) {
		return string(rec)
	}
	keep := func(to int) {
		if masks {
			b.Write(w.red.appendBeside(nil, rec, from, to))
		} else {
			b.Write(rec[from:to])
		}
	}
	why, pos := w.locateIn(locate.TrimEnd(rec), head)
	switch {
	case why != 0 && w.job.redact: // a mask before pos moves the offset
		if masks {
			rec = w.red.appendText(nil, rec)
		}
		return fmt.Sprint(why, string(rec))
	case why != 0:
		fmt.Fprint(&b, why, pos)
	}
	quote := byte(0)
	if t, ok := w.job.reader.(*table.Reader); ok && w.found.N > 0 {
		quote = t.Quote
	}
	for _, l := range w.found.Lengths { // the lengths come before the URLs
		fmt.Fprintf(&b, "%s<length>", rec[from:l.Start])
		from = l.Span.End
	}
	for _, s := range w.found.Sites[:w.found.N] {
		keep(s.Start)
		fmt.Fprintf(&b, "<%d>", s.Role)
		from = s.End
	}
	keep(len(rec))
	if quote != 0 {
		return strings.ReplaceAll(b.String(), string(quote), "") // a cell may get quotes
	}
	return b.String()
}
