package record

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/urlfold/urlfold/internal/record/internal/formats"
	"github.com/urlfold/urlfold/internal/record/internal/jsonlines"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
	"github.com/urlfold/urlfold/internal/record/internal/textlog"
)

// This file tests the rules of Format, Reader, Locator and Framing for each
// format of the table builtin.

// formatSubject is a format under test.
type formatSubject struct {
	config Config
	text   string // whole records with only normal forms
}

// want returns the output for the text of s.
func (s formatSubject) want() string {
	if found, ok := foundIn[s.config.Format]; ok {
		return found
	}
	return s.text
}

const combinedText = `192.0.2.1 - - [22/Nov/2026:10:00:00 +0000] "GET /a?b=c HTTP/1.1" 200 5 "http://example.com/from" "agent/1.0"` + "\n" +
	`192.0.2.2 - - [22/Nov/2026:10:00:01 +0000] "GET /d HTTP/1.1" 404 0 "-" "agent \"2\""` + "\n"

const clfText = `192.0.2.1 - - [22/Nov/2026:10:00:00 +0000] "GET /a?b=c HTTP/1.1" 200 5` + "\n" +
	`192.0.2.2 - u [22/Nov/2026:10:00:01 +0000] "GET http://example.com/ HTTP/1.1" 200 5` + "\n"

// formatSubjects has an entry for each format of the table, by name.
var formatSubjects = map[string]formatSubject{
	"lines":          {Config{}, "http://example.com/a\nhttp://example.com/b?c=d\n"},
	"clf":            {Config{Target: TargetAll}, clfText},
	"combined":       {Config{Target: TargetAll}, combinedText},
	"vhost_combined": {Config{Target: TargetAll}, "example.com:80 " + strings.Replace(combinedText, "\n", "\nexample.com:80 ", 1)},
	"vhost_common":   {Config{}, "example.com:80 " + strings.Replace(clfText, "\n", "\nexample.com:80 ", 1)},
	"jsonl":          {Config{URLField: "url"}, `{"n":1,"url":"http://example.com/a"}` + "\n" + `{"url":"http://example.com/b?c","x":[{}]}` + "\n"},
	"json":           {Config{URLField: "url"}, "[\n  {\n    \"url\": \"http://example.com/a\"\n  },\n  {\"url\": \"http://example.com/b?c\"}\n]\n"},
	"csv":            {Config{URLField: "url"}, "id,url\n1,http://example.com/a\n2,\"http://example.com/b?x=1,2\"\n"},
	"csv-semicolon":  {Config{URLField: "url"}, "\xEF\xBB\xBFid;url\n1;http://example.com/a\n2;\"http://example.com/b?x=1;2\"\n"},
	"csv-pipe":       {Config{URLField: "2"}, "1|http://example.com/a,b\n2|\"http://example.com/b?x=%7C\"\n"},
	"tsv":            {Config{URLField: "url"}, "id\turl\n1\thttp://example.com/a\n2\thttp://example.com/b\n"},
	"w3c": {Config{}, "#Version: 1.0\n#Fields: date time cs-method cs-uri-stem cs-uri-query sc-status\n" +
		"2026-11-22 10:00:00 GET /a b=c 200\n2026-11-22 10:00:01 GET /d - 404\n"},
	"logfmt":              {Config{}, "at=info method=GET path=\"/a?b=c\" host=example.com status=200\nlevel=info msg=\"a = b\" url=http://example.com/d?e=f n=1\n"},
	"log":                 {Config{Target: TargetAll}, "2026/11/22 10:00:00 [error] 1#1: *1 client: 192.0.2.7, request: \"GET /a?b=c HTTP/1.1\", upstream: \"http://example.com/d\"\n2026-11-22 10:00:01 got http://example.com/e, and http://example.com/f\n"},
	"cef":                 {Config{}, "CEF:0|F5|ASM|17.1.0|1|Illegal URL|5|src=192.0.2.9 dhost=example.com request=/a?b\\=c act=pass\nNov 22 10:00:00 h CEF:0|v|p|1|2|n|3|url=http://example.com/d\n"},
	"ltsv":                {Config{}, "time:2026-11-22T10:00:00Z\treq:GET /a?b=c HTTP/1.1\tvhost:example.com\ntime:2026-11-22T10:00:01Z\turi:/d\treferer:-\n"},
	"cdx":                 {Config{}, " CDX N b a m s k r M S V g\ncom,example)/a 20260101000000 http://example.com/a text/html 200 X - - 1 2 w.warc.gz\n"},
	"cdxj":                {Config{}, "com,example)/a 20260101000000 {\"url\": \"http://example.com/a\", \"status\": \"200\"}\ncom,example)/b 20260101000000 {\"url\": \"http://example.com/b\"}\n"},
	"zeek":                {Config{}, "#separator \\x09\n#fields\tts\thost\turi\tuser_agent\n1431857103.5\texample.com\t/a?b=c\tcurl\n1431857104.5\t-\t/d\t-\n"},
	"aws-alb":             {Config{}, `http 2018-07-02T22:23:00.186641Z app/lb/50dc6c495c0c9188 192.0.2.39:2817 10.0.0.1:80 0.000 0.001 0.000 200 200 34 366 "GET http://www.example.com/?a=b HTTP/1.1" "curl/7.46.0" - -` + "\n"},
	"aws-elb":             {Config{}, `2015-05-13T23:39:43.945958Z lb 192.0.2.39:2817 10.0.0.1:80 0.000073 0.001048 0.000057 200 200 0 29 "GET http://www.example.com/ HTTP/1.1" "curl/7.38.0" - -` + "\n"},
	"aws-s3":              {Config{Target: TargetAll}, `79a5 bucket [06/Feb/2019:00:00:38 +0000] 192.0.2.3 79a5 3E57427F3EXAMPLE REST.GET.VERSIONING - "GET /bucket?versioning HTTP/1.1" 200 - 113 - 7 - "http://example.com/" "S3Console/0.4" -` + "\n"},
	"haproxy":             {Config{}, `Feb  6 12:14:14 localhost haproxy[14389]: 192.0.2.2:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {h.example} {} "GET /index.html HTTP/1.1"` + "\n"},
	"squid":               {Config{}, "1066036250.603    310 192.0.2.196 TCP_MISS/200 1869 GET http://www.example.com/index.html - HIER_DIRECT/192.0.2.80 text/html\n"},
	"envoy":               {Config{}, `[2016-04-15T20:17:00.310Z] "POST /api/v1/locations HTTP/2" 204 - 154 0 226 100 "10.0.35.28" "nsq2http" "cc21d9b0" "locations" "tcp://10.0.2.1:80"` + "\n"},
	"gcs":                 {Config{}, `"time_micros","c_ip","cs_method","cs_uri","cs_host","cs_bucket"` + "\n" + `"1793600700000000","192.0.2.1","GET","/a?b=c","example.com","b"` + "\n"},
	"uwsgi":               {Config{}, `[pid: 12475|app: 0|req: 1/1] 192.0.2.7 () {34 vars in 617 bytes} [Sun Mar 13 22:49:12 2016] GET /a?b=c => generated 215 bytes in 68 msecs (HTTP/1.1 200) 9 headers in 373 bytes (1 switches on core 8)` + "\n"},
	"confluence":          {Config{}, `[18/Dec/2020:12:57:26 +1100] bob http-nio-8090-exec-6 192.0.2.7 GET /a?b=c HTTP/1.1 200 1020ms 7881 - Mozilla/5.0` + "\n"},
	"nginx-proxy-manager": {Config{}, `[01/Oct/2025:14:32:15 +0000] HIT 200 200 - GET https h.example "/a?b=c" [Client 192.0.2.1] [Length 1543] [Gzip 2.45] [Sent-to 10.0.0.15] "curl/8.5.0" "-"` + "\n"},
	"istio":               {Config{}, `[2020-11-25T21:26:18.409Z] "GET /status/418 HTTP/1.1" 418 - via_upstream - "-" 0 135 3 1 "-" "curl/7.73.0-DEV" "84961386" "h.example:8000" "127.0.0.1:80" inbound|8000|| 127.0.0.1:41854 10.44.1.27:80 10.44.1.23:37652 - default` + "\n"},
	"warc": {Config{}, "WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 7\r\n\r\na: b\r\n\n\r\n\r\n" +
		"WARC/1.1\r\nWARC-Target-URI: http://example.com/a\r\nContent-Length: 0\r\n\r\n\r\n\r\n" +
		"WARC/1.0\r\ncontent-length: 12\r\nWARC-Target-URI: <http://example.com/b>\r\n\r\nx\r\n\r\nWARC/1.\r\n\r\n"},
	"msgpack":  {Config{URLField: "url"}, "\x81\xa3url\xb4http://example.com/a" + "\x83\xa1n\x0a\xa3url\xc4\x14http://example.com/b\xa1x\x93\xc0\xcd\x01\x00\xa1\n"},
	"wat":      {Config{}, "WARC/1.0\r\nWARC-Type: metadata\r\nWARC-Target-URI: http://example.com/a\r\nContent-Length: 22\r\n\r\n{\"Envelope\":{\"a\":[0]}}\r\n\r\n"},
	"protobuf": {Config{URLField: "3.1"}, "\x1e\x08\x0a\x1a\x16\x0a\x14http://example.com/a\x10\x0a\x10\x0a" + "\x00" + "\x04\x12\x02\x0a\x0a"},
	"avro":     {Config{URLField: "request.url", Schemas: avroSchemas}, "\x00\x00\x00\x00\x0c\x28http://example.com/a"},
	"arc": {Config{}, "filedesc://a.arc 0.0.0.0 20260101000000 text/plain 77\n1 0 Example\nURL IP-address Archive-date Content-type Archive-length\n123456789\n\n" +
		"http://example.com/a 192.0.2.1 20260101000000 text/html 0\n\n" +
		"http://example.com/b 2001:db8::1 20260101000000 text/html 12\nx\nhttp://h/\n\n"},
	"journal-export": {Config{URLField: "URL"}, "__CURSOR=a\nURL=http://example.com/a\nDATA\n\x09\x00\x00\x00\x00\x00\x00\x00\n\nURL=/x\n\n\n\n" +
		"MESSAGE=\nURL\n\x14\x00\x00\x00\x00\x00\x00\x00http://example.com/b\n\n"},
	"text": {Config{Render: RenderURLs}, "See http://example.com/a, (http://example.com/b).\nNone: here.\n<http://example.com/c>\n"},
	"html": {Config{Render: RenderURLs}, "<!doctype html>\n<a\nhref=http://example.com/a title='>'>a < b</a> <base href=http://example.org/>\n<!-- <a href=x> -->\n" +
		"<script src=b>\"<a href=x>\"</script><img srcset='c 1x, d 2x'>text <b>text</b>"},
	"sitemap": {Config{Render: RenderURLs}, "<?xml version='1.0'?>\n<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>\n<url>\n<loc>http://example.com/a</loc>\n</url>\n" +
		"<url><loc><![CDATA[http://example.com/b]]></loc><xhtml:link href='http://example.com/c'/></url></urlset>"},
	"feed": {Config{Render: RenderURLs}, "<feed xmlns='http://www.w3.org/2005/Atom' xml:base='http://example.com/x/'>\n<link href='a'/>\n<entry xml:base='y/'><link\nhref='b'/></entry><entry><link href='c'></link></entry>\n</feed>"},
	"mail": {Config{Render: RenderURLs}, "From a@example.org Mon Jan  5 10:00:00 2026\nContent-Transfer-Encoding: base64\n\naHR0cDovL2V4YW1wbGUuY29tL2M=\nFrom a@example.org Mon Jan  5 10:00:00 2026\nFrom: a\nContent-Type: multipart/mixed;\n boundary=b\n\n--b\nContent-Transfer-Encoding: quoted-printable\n\nhttp://exa=\nmple.com/=61\n" +
		"--b\nContent-Type: text/html\n\n<a\nhref='http://example.com/b'>\n--b--\n"},
}

// foundIn has the output for the subjects of formats that cannot write records.
var foundIn = map[string]string{
	"text":    "http://example.com/a\nhttp://example.com/b\nhttp://example.com/c\n",
	"html":    "http://example.com/a\nhttp://example.org/b\nhttp://example.org/c\nhttp://example.org/d\n",
	"sitemap": "http://example.com/a\nhttp://example.com/b\nhttp://example.com/c\n",
	"feed":    "http://example.com/x/a\nhttp://example.com/x/y/b\nhttp://example.com/x/c\n",
	"mail":    "http://example.com/c\nhttp://example.com/a\nhttp://example.com/b\n",
}

// undetected has the formats that must be asked for.
var undetected = map[string]bool{"text": true, "protobuf": true, "avro": true}

// requireFormatSubjects fails the test for each format without a subject.
func requireFormatSubjects(t testing.TB, formats []locate.Format) {
	t.Helper()
	seen := map[string]bool{}
	for _, f := range formats {
		if seen[f.Name()] {
			t.Errorf("duplicate format name %s", f.Name())
		}
		seen[f.Name()] = true
		if _, ok := formatSubjects[f.Name()]; !ok {
			t.Errorf("format %s is in the table, but formatSubjects has no subject for it", f.Name())
		}
	}
}

// jsonLogSubjects adds a subject for each format of the table Logs: its
// rewritten log in testdata.
func jsonLogSubjects(t *testing.T) {
	t.Helper()
	for i := range jsonlines.Logs {
		name := jsonlines.Logs[i].ID
		text := readFile(t, filepath.Join("testdata", "named", name+".want"))
		formatSubjects[name] = formatSubject{Config{Target: TargetAll}, string(text)}
	}
}

func TestFormatContract(t *testing.T) {
	jsonLogSubjects(t)
	requireFormatSubjects(t, formats.Builtin)
	for _, f := range formats.Builtin {
		sub, ok := formatSubjects[f.Name()]
		if !ok {
			continue // reported above
		}
		sub.config.Format = f.Name()
		t.Run(f.Name(), func(t *testing.T) {
			detectsItself(t, sub)
			rewritesNothing(t, sub)
			if !newJob(t, sub.config).MessagesOnly() {
				cutsRecords(t, sub)
			}
			keepsNothing(t, sub)
			isShared(t, sub)
		})
	}
}

// counter is a testing.TB that records errors.
type counter struct {
	testing.TB
	errors []string
}

func (c *counter) Helper() {}
func (c *counter) Errorf(format string, args ...any) {
	c.errors = append(c.errors, fmt.Sprintf(format, args...))
}

// dummyFormat is a format without a subject.
type dummyFormat struct{ textlog.LinesFormat }

func (dummyFormat) Name() string { return "dummy" }

// TestFormatContractCoversTable checks that the suite fails for a format
// without a subject and for two formats with the same name.
func TestFormatContractCoversTable(t *testing.T) {
	jsonLogSubjects(t)
	c := &counter{TB: t}
	requireFormatSubjects(c, append(slices.Clone(formats.Builtin), dummyFormat{}))
	if len(c.errors) != 1 || !strings.Contains(c.errors[0], "format dummy is in the table") {
		t.Errorf("with a dummy format: %q", c.errors)
	}
	c = &counter{TB: t}
	requireFormatSubjects(c, append(slices.Clone(formats.Builtin), formats.Builtin[0]))
	if len(c.errors) != 1 {
		t.Errorf("with one format twice: %q", c.errors)
	}
}

// detectsItself checks that Detect chooses the format for its own records.
func detectsItself(t *testing.T, sub formatSubject) {
	t.Helper()
	g, ok := Detect([]byte(sub.text))
	if (!ok || g.Format != sub.config.Format) != undetected[sub.config.Format] {
		t.Errorf("Detect returned %q, %t", g.Format, ok)
	}
	if _, wrapped := newJob(t, sub.config).reader.(jsonlines.WrappedReader); wrapped {
		return // a line of several records counts as one
	}
	if n := countsRecords(t, sub); ok && g.Format == sub.config.Format && g.Records != min(n, locate.DetectRecords) {
		t.Errorf("Detect has examined %d records of %d", g.Records, n)
	}
}

// countsRecords returns the number of records, without blank ones.
func countsRecords(t *testing.T, sub formatSubject) (n int) {
	t.Helper()
	r := newJob(t, sub.config).reader
	text := []byte(sub.text)
	for text = text[locate.MarkLen(text):]; len(text) > 0; {
		size := r.Next(text)
		if !locate.IsBlank(text[:size]) {
			n++
		}
		text = text[size:]
	}
	return n
}

// rewritesNothing checks that records with only normal forms are not changed, or
// that their URLs are found.
func rewritesNothing(t *testing.T, sub formatSubject) {
	t.Helper()
	out, dead, st := runJob(t, newJob(t, sub.config), []byte(sub.text))
	if string(out) != sub.want() || len(dead) > 0 {
		t.Errorf("records with only normal forms changed:\n got %q\nwant %q\ndead letters %q", out, sub.want(), dead)
	}
	if st.URLs == 0 {
		t.Error("found no URL")
	}
}

// cutsRecords checks that Cut returns whole records wherever a block ends, that
// Next splits them into the records of the whole text, and that Head returns
// nothing or the head of the stream.
func cutsRecords(t *testing.T, sub formatSubject) {
	t.Helper()
	text := []byte(sub.text)
	j := newJob(t, sub.config)
	f, w := j.Framing(), j.NewWorker()
	ends := map[int]bool{0: true}
	for at := 0; at < len(text); {
		n := w.Next(text[at:])
		if n <= 0 || n > len(text)-at {
			t.Fatalf("Next returned %d of %d bytes", n, len(text)-at)
		}
		at += n
		ends[at] = true
	}
	head, last := f.Head(text), 0
	for end := range len(text) + 1 {
		cut := f.Cut(text[:end])
		if cut < last || cut > end || !ends[cut] {
			t.Fatalf("Cut of %d bytes is %d, after %d, and not the end of a record", end, cut, last)
		}
		last = cut
		if again := f.Cut(text[:cut]); again != cut && again+w.Next(text[again:cut]) != cut { // text ends where a tag begins
			t.Fatalf("Cut of %d whole bytes is %d", cut, again)
		}
		if h := f.Head(text[:end]); h != 0 && h != head {
			t.Fatalf("Head of %d bytes is %d, of all bytes %d", end, h, head)
		}
	}
	if last != len(text) {
		t.Errorf("Cut of all %d bytes is %d", len(text), last)
	}
}

// keepsNothing checks that the caller can overwrite its arguments after each
// call.
func keepsNothing(t *testing.T, sub formatSubject) {
	t.Helper()
	text := []byte(sub.text)
	j := newJob(t, sub.config)
	w := j.NewWorker()
	var out []byte
	var st Stats
	d, _ := j.Framing().(Director)
	head := text[:j.Framing().Head(text)]
	for off, line := 0, int64(1); off < len(text); line++ {
		n := w.Next(text[off:])
		rec, h := bytes.Clone(text[off:off+n]), bytes.Clone(head)
		next := head
		if d != nil {
			if now := d.Directive(head, rec); now != nil {
				next = bytes.Clone(now)
			}
		}
		out, _ = w.Append(out, nil, rec, Position{Name: "f", Head: h, Line: line, Off: int64(off)}, &st)
		if !bytes.Equal(rec, text[off:off+n]) || !bytes.Equal(h, head) {
			t.Errorf("record %d: the worker changed the record or the head", line)
		}
		for _, b := range [][]byte{rec, h} {
			for i := range b {
				b[i] = '#'
			}
		}
		head = next
		off += n
	}
	if string(out) != sub.want() {
		t.Errorf("with overwritten input:\n got %q\nwant %q", out, sub.want())
	}
}

// isShared runs several workers of one job concurrently, for the race detector.
func isShared(t *testing.T, sub formatSubject) {
	t.Helper()
	j := newJob(t, sub.config)
	outs := make([][]byte, 4)
	var wg sync.WaitGroup
	for i := range outs {
		wg.Go(func() {
			for range 20 {
				outs[i], _, _ = runJob(t, j, []byte(sub.text))
			}
		})
	}
	wg.Wait()
	for _, out := range outs {
		if string(out) != sub.want() {
			t.Errorf("one of the concurrent workers wrote %q", out)
		}
	}
}
