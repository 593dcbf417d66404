package record

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/record/internal/archive"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// watURLs are the URLs in testdata/wat/example.wat: the page of each record,
// then its links.
const watURLs = `
	http://www.example.com/robots.txt
	http://www.example.com/a/page.html
link	http://www.example.com/%7enext
link	http://www.example.com/style.css
link	http://cdn.example.net/i.png
link	http://cdn.example.net/x.js
link	http://www.example.com/a/b.html
link	https://example.org/caf%C3%A9?q=%c3%a9
link	http://www.example.com/a/img/a%20b.gif
link	http://www.example.com/a/page.html?
link	http://www.example.com/a/bg.png
	http://www.example.com/based
link	http://www.example.com/dir/x
	http://www.example.com/old
link	http://www.example.com/new%2e
	http://www.example.com/none
	http://[2001:db8::1]/
link	http://[2001:db8::1]/%22quoted%22/
	http://www.example.com/text
	http://www.example.com/1.1
link	http://www.example.com/escaped
`

// TestWAT checks the URLs of pages and links, wherever a batch ends.
func TestWAT(t *testing.T) {
	in := readFile(t, filepath.Join("testdata", "wat", "example.wat"))
	if g, ok := Detect(in); g.Format != "wat" || !ok {
		t.Errorf("detected as %q", g.Format)
	}
	for _, size := range []int{1, 100, 1 << 20} {
		got, dead, st := rewriteArchive(t, Config{Format: "wat", OnRejected: DispositionDead, Render: RenderTSV, Fields: []string{"target", "norm"}, Normalizer: normalizers["whatwg"]}, in, size)
		if want := strings.TrimPrefix(watURLs, "\n"); got != want || dead != "" {
			t.Errorf("batches of %d bytes: got\n%s\nwant\n%s\ndead letters %s", size, got, want, dead)
		}
		if st.Records != 9 || st.NoURL != 1 || st.Skipped != 2 {
			t.Errorf("%+v", st)
		}
	}
}

// TestWATRewrite checks that rewriting changes headers only: the block of a
// record, its length and its digest stay.
func TestWATRewrite(t *testing.T) {
	in := readFile(t, filepath.Join("testdata", "wat", "example.wat"))
	got, _, st := rewriteArchive(t, Config{Format: "wat"}, in, 1<<20)
	want := strings.NewReplacer("\nWARC-Target-URI: HTTP://WWW.Example.com:80/", "\nWARC-Target-URI: http://www.example.com/",
		"\nWARC-Target-URI: http://[2001:DB8::1]/", "\nWARC-Target-URI: http://[2001:db8::1]/").Replace(string(in))
	if got != want || st.Changed != 2 || st.URLs != 8 {
		t.Errorf("got\n%s\n%+v", got, st)
	}
}

// TestWATBlock checks what is read from blocks that are unusual or damaged.
func TestWATBlock(t *testing.T) {
	f := func(block, want string, damaged int64) {
		t.Helper()
		c := Config{Format: "wat", Render: RenderURLs}
		in := warcOf("WARC-Target-URI: http://h/p", block)
		got, _, st := rewriteArchive(t, c, []byte(in), 1<<20)
		if want != "" {
			want += "\n"
		}
		if got = strings.TrimPrefix(got, "http://h/p\n"); got != want || st.Rejects[Unparsed] != damaged {
			t.Errorf("%.100s: got %q, want %q, %+v", block, got, want, st)
		}
	}
	links := func(text string) string {
		return `{"Envelope":{"Payload-Metadata":{"HTTP-Response-Metadata":{"HTML-Metadata":{` + text + `}}}}}`
	}
	f(links(`"Links":[{"url":"a"},{"url":"b"}]`), "http://h/a\nhttp://h/b", 0)
	f(links(`"Links":{"url":"a"}`), "http://h/a", 0)
	f(links(`"Links":[["url"],null,1,{"url":null},{"url":{"url":"x"}},{"url":""},{"url":" a\t"}]`), "http://h/a", 0)
	f(links(`"Head":{"Metas":[{"content":"0;url=a"},{"http-equiv":"Refresh"},{"http-equiv":"x","content":"0;url=b"},{"content":"0;URL='c d'","http-equiv":"REFRESH"}]}`), "http://h/c%20d", 0)
	f(links(`"Head":{"Base":"http://other/x/"},"Links":[{"url":"a"}]`), "http://other/x/a", 0)
	f(links(`"Head":{"Base":"http://[/"},"Links":[{"url":"a"}]`), "http://h/a", 0)
	f(links(`"Links":`+strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000)), "", 1)
	f(links(`"Links":[{"url":"a"}`), "", 1)
	f(`{"Envelope":{}} x`, "", 1)
	f(`{}`, "", 0)
	f("", "", 0)
	f("software: x\r\n", "", 0)
}

// warcOf returns a record with a header field and a block.
func warcOf(field, block string) string {
	return "WARC/1.0\r\nWARC-Type: metadata\r\n" + field + "\r\nContent-Length: " + strconv.Itoa(len(block)) + "\r\n\r\n" + block + "\r\n\r\n"
}

// TestWATMutated checks 100,000 damaged files: nothing panics, no byte is lost,
// and rewriting changes nothing but headers.
func TestWATMutated(t *testing.T) {
	mutateArchives(t, "wat", "testdata/wat/*.wat", func(rec string) int {
		h, state := archive.ReadWARCHeader([]byte(rec))
		if state != locate.HeaderSound {
			return 0
		}
		return h.End
	})
}

// TestWATCorpora checks the sample of Common Crawl.
func TestWATCorpora(t *testing.T) {
	dir := os.Getenv("URLFOLD_CORPORA")
	if dir == "" {
		t.Skip("skipped: the WAT file of Common Crawl; set URLFOLD_CORPORA to the folder of the corpora")
	}
	zr, err := gzip.NewReader(bytes.NewReader(readFile(t, filepath.Join(dir, "warc", "commoncrawl", "whirlwind.warc.wat.gz"))))
	if err != nil {
		t.Fatal(err)
	}
	in, err := io.ReadAll(zr)
	if err != nil {
		t.Fatal(err)
	}
	if g, ok := Detect(in); !ok || g.Format != "wat" {
		t.Errorf("detected as %+v", g)
	}
	got, _, st := rewriteArchive(t, Config{Format: "wat", Render: RenderURLs}, in, 100)
	if !strings.HasPrefix(got, "https://an.wikipedia.org/wiki/Escopete\n") || st.Rejected > 0 {
		t.Errorf("got\n%s\n%+v", got, st)
	}
	if got, _, _ := rewriteArchive(t, Config{Format: "wat"}, in, 100); got != string(in) {
		t.Errorf("rewritten as\n%s", got)
	}
}

// TestWATNoAllocs checks that nothing allocates in the steady state.
func TestWATNoAllocs(t *testing.T) {
	in := readFile(t, filepath.Join("testdata", "wat", "example.wat"))
	for _, c := range []Config{{}, {Render: RenderTSV}, {Render: RenderKeys}} {
		c.Format = "wat"
		w := newJob(t, allFields(c)).NewWorker()
		var out []byte
		var st Stats
		all := func() {
			for rest := in; len(rest) > 0; {
				n := w.Next(rest)
				out, _ = w.Append(out[:0], nil, rest[:n], Position{Name: "f", Line: 1}, &st)
				rest = rest[n:]
			}
		}
		all()
		if n := testing.AllocsPerRun(3, all); n != 0 {
			t.Errorf("%+v: got %v allocations, want 0", c, n)
		}
	}
}
