package record

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// streamText is streamStats with the output as a string.
func streamText(t *testing.T, c Config, in []byte, blockSize int) (string, Stats) {
	t.Helper()
	out, st := streamStats(t, c, in, blockSize)
	return string(out), st
}

// TestW3C checks that only the URLs of the samples change, wherever a batch
// ends.
func TestW3C(t *testing.T) {
	for name, changes := range map[string][]string{
		"iis.log": {
			"/a/%7euser/./b.aspx q=%c3%a9&x=1", "/a/~user/b.aspx q=%C3%A9&x=1", "HTTP://Example.COM/x/../y", "http://example.com/y",
			"/c/../d 200 b=%7e", "/d 200 b=~",
		},
		// CloudFront adds a level of escapes: a client's %7e is %257e in the
		// log, and "~" is %7E.
		"cloudfront.log": {"/a%2520b/%257Ec", "/a%2520b/%7Ec", "x=%257e&y=1", "x=%7E&y=1", "http://Example.com/r%252e", "http://example.com/r."},
		"bluecoat.log":   {"/%41/b ?q=%7e", "/A/b ?q=~"},
	} {
		in, err := os.ReadFile(filepath.Join("testdata", "w3c", name))
		if err != nil {
			t.Fatal(err)
		}
		if g, ok := Detect(in); g.Format != "w3c" || !ok {
			t.Errorf("%s: detected as %q", name, g.Format)
		}
		want := strings.NewReplacer(changes...).Replace(string(in))
		for _, size := range []int{1, 200, 1 << 20} {
			got, st := streamText(t, Config{Format: "w3c", Target: TargetAll}, in, size)
			if got != want {
				t.Errorf("%s, blocks of %d bytes: got\n%s\nwant\n%s", name, size, got, want)
			}
			if short := int64(strings.Count(string(in), "/short")); st.Rejects[Unparsed] != short || st.Rejected != short {
				t.Errorf("%s: %+v", name, st)
			}
		}
	}
}

// TestW3CCorpora checks that logs of other vendors are read, and that only
// their URLs change.
func TestW3CCorpora(t *testing.T) {
	dir := os.Getenv("URLFOLD_CORPORA")
	if dir == "" {
		t.Skip("skipped: the W3C logs of other vendors; set URLFOLD_CORPORA to the folder of the corpora")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "logs", "w3c", "*"))
	urls := int64(0)
	for _, path := range files {
		in, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if g, _ := Detect(in); g.Format != "w3c" {
			t.Errorf("%s: detected as %q", path, g.Format)
		}
		got, st := streamText(t, Config{Format: "w3c", Target: TargetAll}, in, 4096)
		again, _ := streamText(t, Config{Format: "w3c", Target: TargetAll}, []byte(got), 4096)
		if again != got || strings.Count(got, "\n") != bytes.Count(in, locate.LineFeed) {
			t.Errorf("%s: rewriting is not idempotent", path)
		}
		urls += st.URLs
	}
	if len(files) == 0 || urls < 200 {
		t.Errorf("%d URLs in %d files", urls, len(files))
	}
}

// TestW3CFields checks the composition of the URL for each set of columns.
func TestW3CFields(t *testing.T) {
	f := func(fields, rec, want string) {
		t.Helper()
		in := "#Fields: " + fields + "\n" + rec + "\n"
		c := Config{Format: "w3c", Render: RenderTSV, Fields: []string{"url", "norm"}}
		out, _ := streamText(t, c, []byte(in), 1<<20)
		if got := strings.TrimSuffix(out, "\n"); got != want {
			t.Errorf("%q below %q: got %q, want %q", rec, fields, got, want)
		}
	}
	f("cs-uri-stem cs-uri-query", "/a -", "/a\t/a")
	f("cs-uri-stem cs-uri-query", "/a b=%7e", "/a?b=%7e\t/a?b=~")
	f("cs-uri-stem cs-uri-query", "- -", "")
	f("cs-uri-stem cs-uri-query s-port cs(Host)", "/a b 443 h", "/a?b\thttps://h/a?b")
	f("cs-protocol x-host-header cs(Host) cs-uri-stem", "https site d.cloudfront.net /", "/\thttps://site/")
	f("cs-uri", "http://H/", "http://H/\thttp://h/")
	f("cs-uri cs-uri-query cs(Host)", `"www.example.com/%7ea" "b=%7e" "h"`, "/%7ea?b=%7e\thttp://www.example.com/~a?b=~")
	f("cs-uri", "www.example.com:8443/a", "/a\thttp://www.example.com:8443/a")
	f("cs-uri", "www.example.com", "")
	f("cs-uri-stem", "www.example.com/a", "")
	f("cs-method cs-uri-scheme cs-host cs-uri-port cs-uri-path cs-uri-query", "CONNECT tcp www.example.com 443 / -", "")
	f("cs-method cs-uri-scheme cs-host cs-uri-path", "CONNECT https www.example.com /socket", "/socket\thttps://www.example.com/socket")
	f("x-edge-location cs-uri-stem cs-uri-query", "X /a%2520 %252F", "/a%20?%2F\t/a%20?%2F")
	f(`cs(User-Agent) cs-uri-stem cs-uri-query`, `"a ""b"" c" "/x" "y=""1"""`, `/x?y="1"`+"\t/x?y=%221%22")
	f("cs-uri-query cs-uri-stem", "a /b", "/b?a\t/b?a")
	f("cs-uri-query cs(Host) cs-uri-stem", "%7e H /%7eb", "/%7eb?%7e\thttp://h/~b?~")
	f("cs-uri-query cs-uri-stem", "- /b", "/b\t/b")
	f("date time", "a b", "")
	// Tabs separate fields if there are as many fields as columns, names only if there is
	// a tab between two of them.
	f("c-ip\tIPS scan result\tcs-uri", "a\tb c\t/%7e d", "/%7e d\t/~%20d")
	f("cs-uri", "/%7e d", "/%7e\t/~")
	f("c-ip\tcs-uri", "a /%7e", "/%7e\t/~")
	f("\tc-ip cs-uri\t", "a b\t/%7e d", "/%7e d\t/~%20d")
	f("cs-uri-stem cs-uri-query cs(Cookie)", "/a\t\tb=1; c", "/a\t/a")
	f("cs(User-Agent) cs-uri-stem", "\"a \"\"b\"\"\"\t\"/%7e\"", "/%7e\t/~")
	f("cs-uri-stem cs-uri-query", "/é/%7e\tü=%7e", "/é/%7e?ü=%7e\t/%C3%A9/~?%C3%BC=~")
	f("c-agent\ts-operation\tcs-protocol\tr-host\tr-port\tcs-uri", "a b\tGET\thttp\th\t81\t/%7e", "/%7e\thttp://h:81/~")
}

// TestW3CCount checks which records with more fields than columns are read.
func TestW3CCount(t *testing.T) {
	f := func(fields, rec, want string) {
		t.Helper()
		c := Config{Format: "w3c", Target: TargetAll, Render: RenderTSV, Fields: []string{"norm", "status", "error"}}
		out, _ := streamText(t, c, []byte("#Fields: "+fields+"\n"+rec+"\n"), 1<<20)
		if got := strings.TrimSuffix(out, "\n"); got != want {
			t.Errorf("%q below %q: got %q, want %q", rec, fields, got, want)
		}
	}
	const iis = "cs-uri-stem cs-uri-query cs(Cookie) sc-status x"
	f(iis, "/a b c=1 200 x", "/a?b\t200\t")
	f(iis, "/a b c=1 200 x  ", "/a?b\t200\t")
	f(iis, "/a b c=1 200", "/a?b\t200\t") // a column at the end is missing
	f(iis, "/a b c=1; d=2 200 x", "\t\tcolumn-count")
	f(iis, "/a b c=1 200 x\ty", "\t\tcolumn-count")
	f(iis, "/a\tb\tc=1\t200\tx\ty", "\t\tcolumn-count")
	f(iis, `/a b "c=1; d=2" 200 x`, "/a?b\t200\t")
	f(iis, "/a\tb\tc=1; d=2\t200\tx", "/a?b\t200\t")
	f("cs(Cookie) cs-uri-stem x", "c=1; d=2 /a x", "\t\tcolumn-count")
	f("date cs-uri-stem", "c /a x y", "/a\t\t")
	f("cs-uri-stem x", "/a x y z", "/a\t\t")
	f("cs(Referer) cs-uri-stem", "/r /a y z", "\t\tcolumn-count")
}

// TestW3CHeadless checks that lines of CloudFront are read without their directive, and no
// other lines.
func TestW3CHeadless(t *testing.T) {
	in, err := os.ReadFile(filepath.Join("testdata", "w3c", "cloudfront.log"))
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Format: "w3c", Target: TargetAll}
	whole, _ := streamText(t, c, in, 1<<20)
	lines := func(s string) string { return s[strings.Index(s, "\n2026")+1:] }
	rows := lines(string(in))
	for _, more := range []string{"", "\t-\tTLSv1.3\tTLS_AES_128_GCM_SHA256\tHit\tHTTP/2.0\t-\t-\t1\t0.001\tHit\ttext/html\t78\t-\t-", "\ta b"} {
		head := strings.ReplaceAll(rows, "\n", more+"\n")
		if g, ok := Detect([]byte(head)); g.Format != "w3c" || !ok || g.Fit != 2 {
			t.Errorf("%q: detected as %v", more, g)
		}
		got, st := streamText(t, c, []byte(head), 100)
		if want := strings.ReplaceAll(lines(whole), "\n", more+"\n"); got != want || st.URLs != 3 {
			t.Errorf("%q: got\n%s\nwant\n%s", more, got, want)
		}
	}
	for old, other := range map[string]string{"2026-": "202605", ":42:": "-42-", "\t2069\t": "\tx\t", "\tGET\t": "\t(\t", "\td111": "\t/d111", "\t/": "\tx/", "\t200\t": "\t2x0\t", "\t": " "} {
		head := []byte(strings.ReplaceAll(rows, old, other))
		if g, _ := Detect(head); g.Format == "w3c" {
			t.Errorf("%q in place of %q: detected as w3c", other, old)
		}
		if _, st := streamText(t, c, head, 1<<20); st.Rejects[NoField] != 2 {
			t.Errorf("%q in place of %q: %+v", other, old, st)
		}
		job, err := New(withNormalizer(t, c))
		if err != nil {
			t.Fatal(err)
		}
		if job.CheckHead(head) == nil || job.CheckHead([]byte(rows)) != nil {
			t.Errorf("%q in place of %q: CheckHead is wrong", other, old)
		}
	}
}

// TestW3CUnwritten checks that a URL that does not fit its two fields is kept
// and counted.
func TestW3CUnwritten(t *testing.T) {
	f := func(rec, want string, unwritten int64) {
		t.Helper()
		const head = "#Fields: cs-uri-stem cs-uri-query\n"
		got, st := streamText(t, Config{Format: "w3c"}, []byte(head+rec+"\n"), 1<<20)
		if got != head+want+"\n" || st.Unwritten != unwritten {
			t.Errorf("%q became %q, %d unwritten; want %q, %d", rec, got[len(head):], st.Unwritten, want, unwritten)
		}
	}
	f("/a/../b x", "/b x", 0)
	f("/a %7e", "/a ~", 0)
	f("/a %2d", "/a %2d", 1) // "-" would mean no query
	f("/a?b/%7e c", "/a?b/%7e c", 1)
	f("/a#%7e c", "/a#%7e c", 1)
	f("/%7e?b -", "/~?b -", 0)
}

// TestW3CRewrite checks where the parts of URLs are written back.
func TestW3CRewrite(t *testing.T) {
	f := func(fields, rec, want string) {
		t.Helper()
		head := "#Fields: " + fields + "\n"
		got, st := streamText(t, Config{Format: "w3c", Target: TargetAll}, []byte(head+rec+"\n"), 1<<20)
		if got != head+want+"\n" || st.Unwritten != 0 {
			t.Errorf("%q became %q, %d unwritten; want %q", rec, got[len(head):], st.Unwritten, want)
		}
	}
	f("cs-uri-query cs(Referer) cs-uri-stem x", "?b=%7e /%7e /%7ec %7e", "?b=~ /~ /~c %7e")
	f("cs-uri-query cs-uri-stem x", "- /a/../%7ec %7e", "- /~c %7e")
	f("cs-uri-query cs-uri-stem x", "b\t/%7e c\t%7e ", "b\t/~%20c\t%7e ")
	f("cs(Referer) cs-uri-query cs-uri-stem", "\"/%7e\"\tb=%7e\t\"/%7ec\"", "\"/~\"\tb=~\t\"/~c\"")
}
