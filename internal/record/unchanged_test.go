package record

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/ground/scan"
	"github.com/urlfold/urlfold/internal/record/internal/jsonlines"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
	"github.com/urlfold/urlfold/internal/record/internal/textlog"
	"github.com/zeebo/xxh3"
)

// copiers are configurations whose workers find unchanged records.
var copiers = func() (list []Config) {
	zone := func(int, int, int, int, int) int { return 60 }
	for _, c := range []Config{
		{Format: "combined"}, {Format: "clf", Dialect: "none"}, {Format: "combined", Dialect: "nginx", OnRejected: DispositionDead},
		{Format: "combined", Base: "https://www.example.com"}, {Format: "combined", MaxRecord: 200},
		{Format: "combined", Base: "HTTP://H"}, {Format: "combined", Base: "HTTP://H:80", Where: &transcript{fields: besideURL}},
		{Format: "lines"}, {Format: "lines", Base: "http://h/a", MaxRecord: 200},
		{Format: "csv", URLField: "3"}, {Format: "csv", URLField: "url", MaxRecord: 200}, {Format: "csv-semicolon", URLField: "3", Base: "http://h"},
		{Format: "csv-pipe", URLField: "url", Quote: "'"}, {Format: "tsv", URLField: "3"},
		{Format: "vhost_combined"}, {Format: "vhost_common", Base: "https://{host}/"}, {Format: "vhost_common", Base: "http://h"},
		{Format: "combined", Zone: zone, Year: 2026, Where: &transcript{fields: besideURL}}, {Format: "clf", Base: "http://h", Where: &transcript{fields: besideURL}},
		{Format: "combined", Where: &transcript{}}, {Format: "combined", Where: &transcript{fields: 1<<fStatus | 1<<fBytes | 1<<fMethod}},
		{Format: "combined", Dialect: "apache", Where: &transcript{fields: 1<<fClient | 1<<fAgent}}, {Format: "combined", Where: &transcript{fields: 1<<fTime | 1<<fReferer}},
		{Format: "combined", Render: RenderJSONL}, {Format: "combined", Render: RenderJSONL, Base: "https://www.example.com:8080", OnRejected: DispositionDead},
		{Format: "clf", Render: RenderJSONL, Fields: []string{"norm", "key"}, KeyForm: codec.KeyBase32, MaxRecord: 200},
		{Format: "combined", Render: RenderJSONL, Fields: []string{"query"}}, {Format: "combined", Render: RenderJSONL, Fields: []string{"error"}},
		{Format: "combined", Render: RenderJSONL, Fields: namesIn(ofTarget | besideTarget | ofOrigin), Zone: zone, Year: 2026, Note: Note{Name: "seen", Value: "false"}},
		{Format: "combined", Render: RenderJSONL, Fields: []string{"time", "key", "status"}, Where: &transcript{fields: besideURL}},
		{Format: "combined", Render: RenderTSV}, {Format: "clf", Render: RenderTSV, Base: "https://www.example.com:8080", Redact: []string{"passwords"}, MaxRecord: 200},
		{Format: "combined", Render: RenderTSV, Fields: namesIn(ofTarget | besideTarget | ofOrigin), Zone: zone, Year: 2026, Note: Note{Name: "seen", Value: "false"}},
		{Format: "combined", Render: RenderTSV, Fields: namesIn((ofTarget | besideTarget | ofOrigin) &^ (1 << fRecord)), Base: "http://h", Redact: []string{"passwords"}},
		{Format: "combined", Render: RenderJSONL, Redact: []string{"passwords"}, OnRejected: DispositionDead},
		{Format: "combined", Render: RenderURLs}, {Format: "clf", Render: RenderURLs, Base: "http://h"}, {Format: "combined", Render: RenderURLs, Redact: []string{"passwords"}},
		{Format: "combined", Render: RenderKeys}, {Format: "combined", Render: RenderKeys, Base: "http://h", Note: Note{Name: "seen", Value: "false"}},
	} {
		for _, name := range []string{"rfc3986-scheme", "equiv", "whatwg", "logclean"} {
			c.Normalizer, c.Level = normalizers[name], codec.LevelEquivalent
			list = append(list, c)
		}
	}
	for _, name := range []string{"w3lib", "surt-ia"} {
		list = append(list, Config{Format: "combined", Normalizer: normalizers[name], Level: codec.LevelEquivalent})
	}
	for _, c := range []Config{
		{Format: "combined"}, {Format: "lines"}, {Format: "csv", URLField: "3"}, {Format: "vhost_combined"}, {Format: "combined", Where: &transcript{fields: besideURL}},
		{Format: "combined", Render: RenderJSONL}, {Format: "combined", Render: RenderTSV, Redact: []string{"passwords"}, Base: "https://www.example.com"},
		{Format: "combined", Render: RenderKeys}, {Format: "clf", Render: RenderKeys, Base: "https://h"},
		{Format: "combined", Identity: Identity{By: "key"}}, {Format: "combined", Base: "https://www.example.com", Identity: Identity{By: "key"}},
		{Format: "combined", Base: "http://h", Render: RenderTSV, Identity: Identity{By: "key"}}, {Format: "combined", Render: RenderKeys, Identity: Identity{By: "page"}},
	} {
		for name, level := range map[string]codec.Level{"crawler": codec.LevelFetch, "analytics": codec.LevelPage} {
			c.Normalizer, c.Level = normalizers[name], level
			list = append(list, c)
		}
	}
	return append(list, namedCopiers()...)
}()

// namesIn returns the names of the fields in set.
func namesIn(set fieldSet) (names []string) {
	for f := range numFields {
		if set.has(f) {
			names = append(names, fieldNames[f])
		}
	}
	return names
}

// A transcript is a condition that notes what it reads, and keeps one record in
// two or three.
type transcript struct {
	fields fieldSet
	text   []byte
}

func (c *transcript) Fields() (list []int) {
	for f := range numFields {
		if c.fields.has(f) {
			list = append(list, int(f))
		}
	}
	return list
}

func (c *transcript) Keep(v *View) bool {
	for _, i := range c.Fields() {
		value, ok := v.Field(i)
		c.text = fmt.Appendf(c.text, "%s %v %q\n", FieldNames()[i], ok, value)
	}
	for f := range codec.AllFlags().All() {
		if v.HasFlag(f) {
			c.text = fmt.Appendln(c.text, f)
		}
	}
	c.text = fmt.Appendln(c.text, v.Changed())
	return xxh3.Hash(c.text)%5 < 2
}

// noted returns what the condition of c, if it is a transcript, has noted, and
// begins a new one.
func noted(c *Config) (text string) {
	if t, ok := c.Where.(*transcript); ok {
		text, t.text = string(t.text), t.text[:0]
	}
	return text
}

// checkNext checks that AppendRun does what Append does, and returns how many records it
// reads.
func checkNext(t testing.TB, c Config, in []byte) (read int) {
	t.Helper()
	if shared, ok := c.Where.(*transcript); ok { // other tests write to it at the same time
		c.Where = &transcript{fields: shared.fields}
	}
	j := newJob(t, c)
	w, v, head := j.NewWorker(), j.NewWorker(), in[:j.Framing().Head(in)]
	d, _ := j.reader.(Director)
	if w.keeper == nil {
		t.Fatalf("%+v has no keeper", c)
	}
	for off := 0; off < len(in); {
		var st, want Stats
		at := Position{Off: int64(off), Head: head}
		size := v.Next(in[off:])
		rec := in[off : off+size]
		forgetForms(v)
		wantOut, wantDead := v.Append(nil, nil, rec, at, &want)
		asks := noted(&c)
		out, n := appendNext(w, nil, in[off:], &at, &st)
		dead := []byte(nil)
		if n > 0 {
			read++
		} else if n = w.Next(in[off:]); st == (Stats{}) && out == nil {
			out, dead = w.Append(nil, nil, in[off:off+n], at, &st)
		}
		if asked := noted(&c); asked != asks {
			t.Fatalf("%+v\nrecord %q\n  asked\n%s\nappend\n%s", c, rec, asked, asks)
		}
		if n != size || st != want || !bytes.Equal(out, wantOut) || !bytes.Equal(dead, wantDead) {
			t.Fatalf("%+v\nrecord %q\n  read %d bytes, %+v\nappend %q, %+v", c, rec, n, st, wantOut, want)
		}
		if w.AppendFact(nil)[0] != v.AppendFact(nil)[0] || w.AppendIdentity(nil)[0] != v.AppendIdentity(nil)[0] || w.Time() != v.Time() {
			t.Fatalf("%+v\nrecord %q\n  read with %+v\nappend with %+v", c, rec, w.n.fact, v.n.fact)
		}
		if d != nil {
			if h := d.Directive(head, rec); h != nil {
				head = h
			}
		}
		off += size
	}
	if len(in) > v.Next(in) {
		checkRuns(t, c, j, in)
	}
	return read
}

// appendNext is AppendRun for one record, and returns its length, or 0.
func appendNext(w *Worker, out, in []byte, at *Position, st *Stats) (_ []byte, n int) {
	var run [1]Extent
	start := len(out)
	w.Begin(in)
	out, list := w.AppendRun(out, run[:0], 0, len(in), at, 1, st)
	if len(list) == 0 {
		return out, 0
	}
	if int(run[0].Out) != len(out)-start || run[0].Identity != w.AppendIdentity(nil)[0] {
		panic("the extent of the output, or its identity, is wrong")
	}
	return out, int(run[0].In)
}

// checkRuns checks that it does not matter how many records AppendRun may read.
func checkRuns(t testing.TB, c Config, j *Job, in []byte) {
	t.Helper()
	want, wantAt, wantStats := appendRuns(j, in, 1)
	asks := noted(&c)
	got, at, st := appendRuns(j, in, 5)
	if asked := noted(&c); st != wantStats || at != wantAt || !slices.Equal(got, want) || asked != asks {
		t.Fatalf("%+v\nrecords %q\n  five at a time %q, %+v\n  one at a time %q, %+v", c, in, got, st, want, wantStats)
	}
}

// appendRuns returns the output and the identity of each record of in, and where they
// end.
func appendRuns(j *Job, in []byte, most int) (list []string, end [2]int64, st Stats) {
	w, at := j.NewWorker(), Position{Line: 1, Head: in[:j.Framing().Head(in)]}
	d, _ := j.reader.(Director)
	w.Begin(in)
	for pos := 0; pos < len(in); {
		out, run := w.AppendRun(nil, nil, pos, len(in), &at, most, &st)
		for _, e := range run {
			list = append(list, fmt.Sprintf("%v %s", e.Identity, out[:e.Out]))
			pos, out = pos+int(e.In), out[e.Out:]
		}
		if len(run) == most || pos == len(in) {
			continue
		}
		rec := in[pos : pos+w.Next(in[pos:])]
		out, dead := w.Append(nil, nil, rec, at, &st)
		list = append(list, fmt.Sprintf("%v %s", w.AppendIdentity(nil)[0], out), string(dead))
		at.Line, at.Off, pos = at.Line+w.Lines(rec), at.Off+int64(len(rec)), pos+len(rec)
		if d != nil {
			if h := d.Directive(at.Head, rec); h != nil {
				at.Head = h
			}
		}
	}
	return list, [2]int64{at.Line, at.Off}, st
}

// forgetForms makes w parse the next record.
func forgetForms(w *Worker) {
	switch l := w.locator.(type) {
	case *jsonlines.PartsLocator:
		forget(&l.Forms)
	case *textlog.LogfmtLocator:
		forget(&l.Forms)
	case *textlog.LTSVLocator:
		forget(&l.Forms)
	case *textlog.CEFLocator:
		forget(&l.Forms)
	}
}

// forget forgets the forms, but not the memory for them.
func forget(s *locate.Forms) {
	for i := range s.List {
		s.List[i].Slots = s.List[i].Slots[:0]
	}
	s.Skips = 1
}

// recordsWith returns records of the format of c with a text as URL, target or more.
func recordsWith(c Config, text string) []byte {
	if c.Format == "lines" {
		return fmt.Appendf(nil, "http://h/%s\n https://h/%s\r\nhttps://%s\n%s\nhttp://h:80/%s", text, text, text, text, text)
	}
	if sep, ok := tableSeps[c.Format]; ok {
		return tableLines(text, sep, cmp.Or(c.Quote, `"`))
	}
	if strings.HasPrefix(c.Format, "vhost_") {
		return append(vhostLines(text), logLines(text)...)
	}
	return logLines(text)
}

// vhostLines returns log lines with several hosts, and with a text as one.
func vhostLines(text string) (b []byte) {
	for _, host := range []string{
		"h:80", "h:80", "h:443", "www.example.com", "h:8080", "H:443", "-", "_", "", "a_b", "[::1]:443", "1.2.3.4:443", "xn--a", "\u00fc.de:443", "u@h",
		"a/b", "h:", "h:443:443", "h:99999", strings.Repeat("a", 70) + ":443", "\ufeffh:443", text, text + ":443",
	} {
		for _, target := range []string{"/a?b", "/" + text} {
			b = fmt.Appendf(b, "%s 192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] \"GET %s HTTP/1.1\" 200 1 \"-\" \"a\"\n", host, target)
		}
	}
	return b
}

// tableSeps holds the separators of tables.
var tableSeps = map[string]string{"csv": ",", "csv-semicolon": ";", "csv-pipe": "|", "tsv": "\t"}

// tableLines returns a table with a text in cells, around them and as its URL.
func tableLines(text, sep, quote string) []byte {
	var b []byte
	url, quoted := "http://h/"+text, quote+"https://h/"+text+quote
	for _, cells := range [][]string{
		{"a", "b", "url", "c"}, {"1", "2", url, "4"}, {"1", "", quoted, "4\r"}, {quote + text + quote, text, url}, {text, quoted, url},
		{"a", "b", "url", "c"}, {"", quote + "\n" + quote, quoted}, {text, "", quoted}, {"1", "2", quoted + text}, {url}, {text}, {"", "", text}, {"", "", url, quote + text},
	} {
		b = append(append(b, strings.Join(cells, sep)...), '\n')
	}
	return b
}

// logLines returns log lines with a text as target, request and line.
func logLines(text string) []byte {
	const stamp = "[10/Oct/2000:13:55:36 -0700]"
	var b []byte
	b = fmt.Appendf(b, "h - - %s \"GET %s HTTP/1.1\" 200 1 \"-\" \"a\"\n", stamp, text)
	b = fmt.Appendf(b, "h - - %s \"GET /%s HTTP/1.1\" 200 1\r\n", stamp, text)
	b = fmt.Appendf(b, "h - - %s \"%s\" 200 1 \"/\" \"\"\n", stamp, text)
	b = fmt.Appendf(b, "h - %s %s \"POST / HTTP/1.0\" - 1\n%s\n", text, stamp, text)
	b = fmt.Appendf(b, "h - - %s \"GET / HTTP/1.1\" 200 1 \"%s\" \"%s\"\n", stamp, text, text)
	return fmt.Appendf(b, "%s%s \"HEAD /a HTTP/1.0\" 304%s\n%s", text, stamp, text, text)
}

// usualRecord returns a record of the format of c with a target.
func usualRecord(c Config, target string) []byte {
	if c.Format == "lines" {
		return fmt.Appendf(nil, "https://www.example.com%s\n", target)
	}
	if sep, ok := tableSeps[c.Format]; ok {
		head := ""
		if c.URLField == "url" {
			head = strings.ReplaceAll("id,time,url,status\n", ",", sep)
		}
		return fmt.Appendf(nil, "%s1%s2026-11-24%shttps://www.example.com%s%s200\n", head, sep, sep, target, sep)
	}
	vhost := ""
	if strings.HasPrefix(c.Format, "vhost_") {
		vhost = "www.example.com:443 "
	}
	return fmt.Appendf(nil, vhost+`83.149.9.216 - - [17/May/2015:10:05:03 +0000] "GET %s HTTP/1.1" 200 203 "http://h/" "agent"`+"\n", target)
}

func TestUnchanged(t *testing.T) {
	t.Parallel()
	const kept, changed, absolute = 1, 2, 3 // records of access logs are read even if they change
	for target, want := range map[string]int{
		"/": kept, "/a/b.png?a=b&c=%20d": kept, "/%C3%A9/a.b?x;y/.": kept, "//a": kept, "/?": kept, "/@a": kept, "//u:p@a/": kept,
		"/a/../b": changed, "/%7e": changed, "/#": changed, "/?a&&b": changed, "/?a=1&amp;b": changed, "/a b": changed, "/\xff": changed, "/%0A": changed,
		`/a\x20`: changed, `\x2Fa`: changed, `\x20/a`: 0, `/a\x0A`: changed,
		"http://h/": absolute, "HTTP://u:p@H:80/../?a#b": absolute, "ftp://h": absolute, "http:/h": 0, "*": 0, "a": 0, "": 0, " /a": 0, "/a ": 0,
		"/" + strings.Repeat("abcdefgh/", 24): kept,
	} {
		for _, c := range copiers {
			if c.Format == "csv-semicolon" && strings.Contains(target, ";") {
				continue // the cell ends there
			}
			in := usualRecord(c, target)
			job := newJob(t, c)
			_, isLog := job.reader.(*textlog.LogReader)
			want := want
			switch {
			case c.MaxRecord > 0 && len(in) > c.MaxRecord, target[:min(1, len(target))] == `\` && c.Dialect == "none":
				want = 0
			case isLog && (want == changed || want == absolute && job.base.template == nil):
				want = 1
			case want != kept:
				want = 0
			}
			if got := checkNext(t, c, in); got != want && !(len(c.Redact) > 0 && strings.Contains(target, "@")) {
				t.Errorf("%s %s %q: %d records read, want %d", c.Format, c.Normalizer.Profile().Name, target, got, want)
			}
			if got := checkNext(t, c, bytes.TrimSuffix(in, locate.LineFeed)); got != 0 {
				t.Errorf("%s %q: a record without its end was read", c.Format, target)
			}
		}
	}
}

// TestUnchangedSeeds gives the seeds of FuzzUnchanged to the copiers. Each of
// those that an identity multiplies gets every seventh.
func TestUnchangedSeeds(t *testing.T) {
	t.Parallel()
	all := seeds()
	eachCopier(t, func(t *testing.T, i int, c Config) {
		checkNext(t, c, append([]byte("\uFEFF"), usualRecord(c, "/")...))
		checkNext(t, c, []byte(strings.Join(all, "\n")))
		for k, s := range all {
			if (c.Identity.By == "" && !testing.Short()) || (i+k)%7 == 0 {
				checkNext(t, c, recordsWith(c, s))
			}
		}
	})
}

// TestUnchangedRules gives the example of each rule to the copiers, in a profile that
// has the rule or with keys of level k3, with and without vectors: a rule that the
// search for unchanged records does not know of fails here.
func TestUnchangedRules(t *testing.T) {
	check := func(t *testing.T) {
		for rule := range codec.AllRules().All() {
			t.Run(rule.String(), func(t *testing.T) { checkRule(t, rule) })
		}
	}
	t.Run("as it is", check)
	scan.WithoutVectors(func() { t.Run("without vectors", check) })
}

// checkRule gives the example of a rule to the copiers. One that differs copies what
// Append changes: see the row of rules in docs/design.md.
func checkRule(t *testing.T, rule codec.Rule) {
	before, _ := rule.Example()
	for _, name := range []string{"rfc3986", "whatwg"} {
		p, _ := codec.Lookup(name)
		n, err := codec.New(p.Change(codec.RulesOf(rule), codec.Rules{}))
		if err != nil {
			n = normalizers[name] // the rule belongs to the parser or to a level of keys, or this profile cannot have it
		}
		for _, c := range []Config{{Format: "combined"}, {Format: "combined", Base: "http://h", Level: codec.LevelPage, Identity: Identity{By: "key"}}, {Format: "lines"}, {Format: "csv", URLField: "3"}, {Format: "logfmt", URLField: "url"}, {Format: "caddy"}} {
			c.Normalizer = n
			text := recordsWith(c, before)
			if _, path, ok := strings.Cut(before, "http://h/"); ok {
				text = append(text, recordsWith(c, path)...)
			}
			checkNext(t, c, text)
		}
	}
}

// eachCopier calls do for each of copiers, for several at the same time.
func eachCopier(t *testing.T, do func(t *testing.T, i int, c Config)) {
	for i, c := range copiers {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			do(t, i, c)
		})
	}
}

// TestUnchangedNot checks that jobs which need more of a URL than its normal form
// read each record.
func TestUnchangedNot(t *testing.T) {
	n := normalizers["equiv"]
	for _, c := range []Config{
		{Format: "combined", Target: TargetAll}, {Format: "combined", Target: TargetReferer}, {Format: "text", Render: RenderURLs},
		{Format: "lines", Facts: true}, {Format: "csv", URLField: "1", BaseField: "2"},
		{Format: "csv", URLField: "1", Escape: `\`}, {Format: "csv", URLField: "1", Base: "http://{2}/"}, {Format: "lines", Identity: Identity{By: "site"}},
		{Format: "combined", Render: RenderTSV, Fields: []string{"record"}, Redact: []string{"passwords"}}, {Format: "combined", Render: RenderCSV},
		{Format: "combined", Redact: []string{"passwords"}}, {Format: "lines", Render: RenderURLs},
		{Format: "combined", Render: RenderJSONL, Fields: []string{"norm", "equivalent"}}, {Format: "vhost_combined", Render: RenderJSONL},
		{Format: "combined", Render: RenderJSONL, Level: codec.LevelShape}, {Format: "combined", Facts: true},
		{Format: "combined", RejectNotHTTP: true}, {Format: "combined", RejectFlags: codec.Flags{}.With(codec.FlagParamStyle)}, {Format: "combined", Repairs: allRepairs},
		{Format: "combined", Secrets: []string{"token"}},
		{Format: "combined", Base: "http://u:p@h"}, {Format: "combined", Base: "ftp://h"},
		{Format: "combined", Identity: Identity{By: "shape"}}, {Format: "combined", Identity: Identity{By: "site"}}, {Format: "combined", Identity: Identity{By: "equivalent", Time: true}},
		{Format: "combined", Shard: Shard{Of: 2, By: "equivalent"}},
		{Format: "combined", Where: &transcript{fields: 1<<fStatus | 1<<fSite}}, {Format: "combined", Where: &transcript{fields: 1 << fPath}},
		{Format: "combined", Where: &transcript{fields: 1 << fFlags}}, {Format: "combined", Where: &transcript{fields: 1 << fError}},
		{Format: "combined", Where: &transcript{fields: 1 << fVHost}}, {Format: "combined", Where: &transcript{fields: 1 << fLine}},
		{Format: "combined", Where: &transcript{fields: 1 << fStatus}, Route: []Branch{{To: 1}}},
		{Format: "lines", Where: &transcript{}}, {Format: "vhost_combined", Where: &transcript{}},
		{Format: "combined", Identity: Identity{By: "equivalent"}, Where: &transcript{fields: 1 << fStatus}},
	} {
		c.Normalizer = n
		if newJob(t, c).NewWorker().keeper != nil {
			t.Errorf("%+v copies", c)
		}
	}
}

// readsAll is a condition that reads all fields besideURL, and keeps all records.
type readsAll struct{}

func (readsAll) Fields() []int { return (&transcript{fields: besideURL}).Fields() }

func (readsAll) Keep(v *View) bool {
	for f := range numFields {
		v.Field(int(f))
	}
	return true
}

func TestUnchangedAllocates(t *testing.T) {
	for _, c := range copiers {
		if c.MaxRecord > 0 {
			continue
		}
		if c.Where != nil {
			c.Where = readsAll{}
		}
		var st Stats
		var ids []codec.Key
		w, in := newJob(t, c).NewWorker(), usualRecord(c, benchTarget)
		at := Position{Head: in[:w.job.Framing().Head(in)]}
		in = in[len(at.Head):]
		out := make([]byte, 0, len(in))
		if got := testing.AllocsPerRun(100, func() {
			var n int
			if out, n = appendNext(w, out[:0], in, &at, &st); n != len(in) {
				t.Fatalf("%s: not read", c.Format)
			}
			if ids = w.AppendIdentity(ids[:0]); ids[0].IsZero() != (c.Identity.By == "") {
				t.Fatalf("%s: identity %s", c.Format, ids[0])
			}
		}); got != 0 {
			t.Errorf("%s: %v allocations", c.Format, got)
		}
	}
}

// TestCorporaUnchanged gives real records to the copiers. Together they read all
// of them, and each one reads every thirtieth piece.
func TestCorporaUnchanged(t *testing.T) {
	t.Parallel()
	const piece, share = 64 << 10, 30
	var pieces [][]byte
	for _, pattern := range []string{"logs/combined/*", "logs/common/*", "attack/crowdsec/*", "urls/*"} {
		for _, name := range corpora(t, pattern) {
			for in := readFile(t, name); len(in) > 0; {
				n := min(piece, len(in))
				if end := bytes.IndexByte(in[n:], '\n'); end >= 0 {
					n += end + 1
				} else {
					n = len(in)
				}
				pieces = append(pieces, in[:n:n])
				in = in[n:]
			}
		}
	}
	eachCopier(t, func(t *testing.T, i int, c Config) {
		for k, in := range pieces {
			if (i+k)%share == 0 || len(in) < piece && (i+k)%5 == 0 { // most files of attacks are short
				checkNext(t, c, in)
			}
		}
	})
}

func FuzzUnchanged(f *testing.F) {
	for i, s := range seeds() {
		f.Add(uint16(i), s)
	}
	hole := strings.Repeat("\x00", 20)
	for i := range copiers {
		f.Add(uint16(i), seeds()[0]+"\n"+hole+seeds()[0]+"\n"+hole)
	}
	finders := finders(f)
	for i, l := range finders {
		f.Add(uint16(len(copiers)+i), string(l.text))
	}
	f.Fuzz(func(t *testing.T, which uint16, text string) {
		i := int(which) % (len(copiers) + len(finders))
		if i >= len(copiers) {
			c := finders[i-len(copiers)].config
			checkNext(t, c, []byte(text))
			if line := text[strings.LastIndexByte(strings.TrimSuffix(text, "\n"), '\n')+1:]; line != "" {
				rnd := rand.New(rand.NewPCG(uint64(which), xxh3.HashString(text)))
				checkNext(t, c, append([]byte(text), varied(rnd, []byte(line), 5)...))
			}
			return
		}
		c := copiers[i]
		checkNext(t, c, recordsWith(c, text))
		checkNext(t, c, []byte(text))
	})
}
