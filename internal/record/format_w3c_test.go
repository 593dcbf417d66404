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
	f("cs-uri-query cs-uri-stem", "a /b", "")
	f("date time", "a b", "")
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
