package record

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
	"github.com/urlfold/urlfold/internal/record/internal/wire"
)

// This file is structured in the following way:
//
//   - TestNamedLogs, which reads and rewrites the logs of testdata/named.
//   - TestMutations, which damages the logs.
//   - BenchmarkNamedLogs, which compares the formats with combined.

// namedLog is a log in the exact form of its vendor, written for this test.
type namedLog struct {
	name   string // of the file in testdata/named, without its extension
	config Config
	text   []byte
}

// namedLogs returns the logs of testdata/named. The name of a file begins with
// its format. For NAME.log, NAME.jsonl has the URLs with the fields of
// namedFields, and NAME.want the rewritten log.
func namedLogs(t testing.TB) (logs []namedLog) {
	t.Helper()
	files, err := filepath.Glob("testdata/named/*.log")
	if err != nil || len(files) == 0 {
		t.Fatalf("no logs in testdata/named: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".log")
		format, variant, _ := strings.Cut(name, ".")
		c := Config{Format: format, Target: TargetAll}
		if strings.HasPrefix(format, "csv") || format == "tsv" || format == "jsonl" {
			c.URLField = "url"
		}
		if variant == locate.DialectBackslash {
			c.Dialect = variant
		}
		logs = append(logs, namedLog{name, c, readFile(t, file)})
	}
	return logs
}

// namedFields are the fields that are compared.
var namedFields = append([]string{"url", "norm", "target", "method"}, attrFields...)

var update = flag.Bool("update", false, "write what the tests expect to testdata")

func TestNamedLogs(t *testing.T) {
	for _, l := range namedLogs(t) {
		t.Run(l.name, func(t *testing.T) {
			// The tables have records that Detect does not accept.
			if g, ok := Detect(l.text); l.config.URLField == "" && (!ok || g.Format != l.config.Format) {
				t.Errorf("detected as %q, %t", g.Format, ok)
			}
			if n := bytes.Count(l.text, locate.LineFeed); n < 8 {
				t.Errorf("got %d lines, want at least 8", n)
			}
			l.compare(t, RenderJSONL, ".jsonl")
			l.compare(t, RenderRewrite, ".want")
			l.targets(t)
			l.allocates(t)
		})
	}
}

// TestDetectForeignStart checks that a first line of another kind, or one that the
// rotation of the log has cut, does not hide the format of the others.
func TestDetectForeignStart(t *testing.T) {
	for _, l := range namedLogs(t) {
		switch name, _, _ := strings.Cut(l.config.Format, locate.PrefixSeparator); name {
		case "jsonl", "csv", "csv-semicolon", "csv-pipe", "tsv", "cdx", "w3c", "zeek", "gcs", wire.JournalName:
			continue // they need their header or the name of a field
		}
		first, _, _ := bytes.Cut(l.text, locate.LineFeed)
		for _, start := range []string{"starting server", "  ", string(first[len(first)/2:])} {
			if g, ok := Detect(append([]byte(start+"\n"), l.text...)); !ok || g.Format != l.config.Format {
				t.Errorf("%s after %q: detected as %q, %t", l.name, start, g.Format, ok)
			}
		}
	}
}

func (l *namedLog) with(r Render) Config {
	c := l.config
	c.Render = r
	if r == RenderJSONL {
		c.Fields = namedFields
	}
	return c
}

// compare compares the output with a file, wherever a batch ends.
func (l *namedLog) compare(t *testing.T, r Render, ext string) {
	file := filepath.Join("testdata", "named", l.name+ext)
	for _, size := range []int{1 << 20, 200, 1} {
		out := runStream(t, l.with(r), l.text, size)
		if *update {
			if err := os.WriteFile(file, out, 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		got, want := bytes.SplitAfter(out, locate.LineFeed), bytes.SplitAfter(readFile(t, file), locate.LineFeed)
		if len(got) != len(want) {
			t.Errorf("blocks of %d bytes: got %d lines, want %d", size, len(got)-1, len(want)-1)
		}
		for i := range min(len(got), len(want)) {
			if !bytes.Equal(got[i], want[i]) {
				t.Errorf("blocks of %d bytes, line %d of %s:\n got %s\nwant %s", size, i+1, file, got[i], want[i])
			}
		}
	}
}

// targets checks, for each target, that the first record of a Worker is read
// like any other.
func (l *namedLog) targets(t *testing.T) {
	for target := range TargetAll {
		c := l.with(RenderJSONL)
		c.Target = target
		if _, err := New(withNormalizer(t, c)); err != nil {
			continue // the format has no such target
		}
		if got, want := runStream(t, c, l.text, 1), runStream(t, c, l.text, 1<<20); !bytes.Equal(got, want) {
			t.Errorf("target %v, a Worker for each record:\n got %s\nwant %s", target, got, want)
		}
	}
}

// allocates checks that reading and writing a record allocates nothing.
func (l *namedLog) allocates(t *testing.T) {
	for _, r := range []Render{RenderRewrite, RenderJSONL} {
		j := newJob(t, l.with(r))
		w := j.NewWorker()
		head := l.text[:j.Framing().Head(l.text)]
		var out, dead []byte
		var st Stats
		all := func() {
			for pos := len(head); pos < len(l.text); {
				n := w.Next(l.text[pos:])
				out, dead = w.Append(out[:0], dead[:0], l.text[pos:pos+n], Position{Head: head, Off: int64(pos)}, &st)
				pos += n
			}
		}
		all()
		if n := testing.AllocsPerRun(3, all); n != 0 {
			t.Errorf("%v: got %v allocations, want 0", r, n)
		}
	}
}

// runStream processes a stream in blocks of whole records, like a source and a
// worker of the pipeline: each worker knows only the directive in force.
func runStream(t testing.TB, c Config, in []byte, blockSize int) []byte {
	t.Helper()
	out, _ := streamStats(t, c, in, blockSize)
	return out
}

// streamStats is runStream with the counts.
func streamStats(t testing.TB, c Config, in []byte, blockSize int) (out []byte, st Stats) {
	t.Helper()
	j := newJob(t, c)
	d, _ := j.reader.(Director)
	var dead []byte
	head := in[:j.Framing().Head(in)]
	for off := 0; off < len(in); {
		end := min(off+blockSize, len(in))
		n := j.Framing().Cut(in[off:end])
		for n == 0 && end < len(in) {
			end++
			n = j.Framing().Cut(in[off:end])
		}
		if n == 0 {
			n = end - off
		}
		w := j.NewWorker()
		for pos := off; pos < off+n; {
			k := w.Next(in[pos : off+n])
			out, dead = w.Append(out, dead, in[pos:pos+k], Position{Head: head, Off: int64(pos)}, &st)
			if d != nil {
				if h := d.Directive(head, in[pos:pos+k]); h != nil {
					head = h
				}
			}
			pos += k
		}
		off += n
	}
	if !st.Balanced() {
		t.Fatalf("unbalanced ledger: %+v", st)
	}
	return out, st
}

// TestMutations damages the logs at random. It checks that no record causes a
// panic, that rewriting changes only URLs, and that it is idempotent. The
// environment variable URLFOLD_MUTATIONS sets the number of mutations of each
// log; make mutations sets it to 100,000.
func TestMutations(t *testing.T) {
	count := 300
	if n, err := strconv.Atoi(os.Getenv("URLFOLD_MUTATIONS")); err == nil {
		count = n
	}
	for _, l := range namedLogs(t) {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(1, 2))
			for i := range count {
				c := l.with(RenderRewrite)
				if i%7 == 0 {
					c = allFields(l.with(RenderJSONL))
				}
				in := mutate(rnd, l.text)
				if failed := verifyAll(t, c, in); failed {
					t.Fatalf("mutation %d: %q", i, in)
				}
			}
		})
	}
}

// verifyAll calls verify, and reports whether the test has failed. It reports a
// panic as a failure.
func verifyAll(t *testing.T, c Config, in []byte) bool {
	t.Helper()
	defer func() {
		if e := recover(); e != nil {
			t.Fatalf("panic for %q: %v\n%s", in, e, debug.Stack())
		}
	}()
	verify(t, c, in)
	return t.Failed()
}

// mutate returns a damaged copy of a log: some records of it, with bytes
// replaced, inserted, deleted or repeated.
func mutate(rnd *rand.Rand, text []byte) []byte {
	lines := bytes.SplitAfter(text, locate.LineFeed)
	from := rnd.IntN(len(lines))
	out := bytes.Clone(lines[0]) // often the directive
	for _, line := range lines[from:min(len(lines), from+1+rnd.IntN(4))] {
		out = append(out, line...)
	}
	const special = "\x00\t\n\r \"#%&'(),-./:;=?@[\\]{|}~\x7f\x80\xc3\xa9\xff09AZaxu"
	for range 1 + rnd.IntN(6) {
		at, n := rnd.IntN(len(out)), rnd.IntN(8)
		end := min(len(out), at+n)
		switch rnd.IntN(5) {
		case 0:
			out[at] = special[rnd.IntN(len(special))]
		case 1:
			out = bytes.Join([][]byte{out[:at], {special[rnd.IntN(len(special))]}, out[at:]}, nil)
		case 2:
			out = append(out[:at:at], out[end:]...)
		case 3:
			out = bytes.Join([][]byte{out[:end], out[at:end], out[end:]}, nil)
		default:
			out = fmt.Appendf(out[:at:at], "\\x%02X%%%02x%s", rnd.IntN(256), rnd.IntN(256), out[at:])
		}
		if len(out) == 0 {
			return []byte("\n")
		}
	}
	return out
}

// BenchmarkNamedLogs measures the speed of each format, and that of combined
// with the same URLs. A text format must reach 0.6 times the speed of combined,
// in records.
func BenchmarkNamedLogs(b *testing.B) {
	run := func(name string, c Config, head, rec string) {
		b.Run(name, func(b *testing.B) {
			w := newJob(b, c).NewWorker()
			var st Stats
			var out []byte
			in, at := []byte(rec), Position{Head: []byte(head), Off: int64(len(head))}
			out, _ = w.Append(out[:0], nil, in, at, &st)
			if st.URLs != 1 {
				b.Fatalf("%d URLs in %q", st.URLs, rec)
			}
			b.SetBytes(int64(len(rec)))
			b.ReportAllocs()
			for b.Loop() {
				out, _ = w.Append(out[:0], nil, in, at, &st)
			}
		})
	}
	run("combined", Config{Format: "combined"}, "", benchLine)
	for _, m := range namedBenches {
		run(m.config.Format, m.config, m.head, m.rec)
	}
}

// namedBenches has a record of each format, with the contents of benchLine.
var namedBenches = []struct {
	config    Config
	head, rec string
}{
	{Config{Format: "cdx"}, " CDX N b a m s k r M S V g\n", "com,semicomplete)/presentations/logstash-monitorama-2013/images/kibana-search.png?a=b 20150517100503 http://semicomplete.com/presentations/logstash-monitorama-2013/images/kibana-search.png?a=b image/png 200 ZMSA5TNJUKKRYAIM5PRUJLL24DV7QYOO - - 203023 117273 WEB-20150914222031256-00000.warc.gz\n"},
	{Config{Format: "cdxj"}, "", `com,semicomplete)/presentations/logstash-monitorama-2013/images/kibana-search.png?a=b 20150517100503 {"url": "http://semicomplete.com/presentations/logstash-monitorama-2013/images/kibana-search.png?a=b", "mime": "image/png", "status": "200", "digest": "ZMSA5TNJUKKRYAIM5PRUJLL24DV7QYOO", "length": "203023", "offset": "117273"}` + "\n"},
	{Config{Format: "logfmt"}, "", `time="2015-05-17T10:05:03+00:00" level=info method=GET path="/presentations/logstash-monitorama-2013/images/kibana-search.png?a=b" status=200 bytes=203023 remote_addr=83.149.9.216 referer="http://semicomplete.com/presentations/" user_agent="Mozilla/5.0 (Macintosh; Intel Mac OS X 10_9_1) WebKit"` + "\n"},
	{Config{Format: "nginx-json"}, "", `{"time_local":"17/May/2015:10:05:03 +0000","remote_addr":"83.149.9.216","request":"GET /presentations/logstash-monitorama-2013/images/kibana-search.png?a=b HTTP/1.1","status":"200","body_bytes_sent":"203023","http_referer":"http://semicomplete.com/presentations/","http_user_agent":"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_9_1) WebKit"}` + "\n"},
	{Config{Format: "caddy"}, "", `{"level":"info","ts":1431857103.5241024,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"83.149.9.216","remote_port":"41342","proto":"HTTP/1.1","method":"GET","host":"semicomplete.com","uri":"/presentations/logstash-monitorama-2013/images/kibana-search.png?a=b","headers":{"User-Agent":["Mozilla/5.0 (Macintosh; Intel Mac OS X 10_9_1) WebKit"],"Referer":["http://semicomplete.com/presentations/"]}},"user_id":"","duration":0.000929675,"size":203023,"status":200,"resp_headers":{"Server":["Caddy"]}}` + "\n"},
	{Config{Format: "ltsv"}, "", "host:83.149.9.216\tident:-\tuser:-\ttime:[17/May/2015:10:05:03 +0000]\treq:GET /presentations/logstash-monitorama-2013/images/kibana-search.png?a=b HTTP/1.1\tstatus:200\tsize:203023\treferer:http://semicomplete.com/presentations/\tua:Mozilla/5.0 (Macintosh; Intel Mac OS X 10_9_1) WebKit\n"},
	{Config{Format: "zeek"}, "#fields\tts\tuid\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\ttrans_depth\tmethod\thost\turi\treferrer\tversion\tuser_agent\trequest_body_len\tresponse_body_len\tstatus_code\tstatus_msg\n", "1431857103.000000\tCJxSUgkInyKSHiju1\t83.149.9.216\t52030\t192.0.2.80\t80\t1\tGET\tsemicomplete.com\t/presentations/logstash-monitorama-2013/images/kibana-search.png?a=b\thttp://semicomplete.com/presentations/\t1.1\tMozilla/5.0 (Macintosh; Intel Mac OS X 10_9_1) WebKit\t0\t203023\t200\tOK\t-\t-\t(empty)\t-\t-\t-\t-\t-\t-\tFFTf9Zdgk3YkfCKo3\t-\timage/jpeg\n"},
}
