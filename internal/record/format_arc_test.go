package record

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record/internal/archive"
)

// arcSamples are the files in testdata/arc: the number of records and URLs, and
// what rewriting changes. The first two are as the reference and Heritrix
// write them, the third has the ten fields of version 2.
var arcSamples = map[string]struct {
	records, urls int64
	changes       []string
}{
	"ia-1.0.arc": {8, 7, []string{
		"HTTP://WWW.Example.com:80/index.html 192", "http://www.example.com/index.html 192",
		"http://www.example.com/a/../b?q=%c3%a9&x=1 192", "http://www.example.com/b?q=%C3%A9&x=1 192",
		"http://www.example.com/search?q=red and blue 192", "http://www.example.com/search?q=red%20and%20blue 192",
		"ftp://FTP.example.org/pub/%7efile.txt 198", "ftp://ftp.example.org/pub/~file.txt 198",
		"http://[2001:DB8::1]:80/ 2001", "http://[2001:db8::1]/ 2001",
	}},
	"heritrix-1.1.arc": {9, 8, []string{
		"http://www.Example.org/robots.txt?a=%c3%a9 192", "http://www.example.org/robots.txt?a=%C3%A9 192",
		"https://www.example.org/%7euser/./page.html#top 192", "https://www.example.org/~user/page.html#top 192",
		"/img/caf\u00e9.gif 192", "/img/caf%C3%A9.gif 192",
	}},
	"v2.arc": {4, 3, []string{"HTTP://www.example.com/%7ea 192", "http://www.example.com/~a 192"}},
}

// TestARC checks that only the URLs of the sample records change, wherever a
// batch ends.
func TestARC(t *testing.T) {
	for name, s := range arcSamples {
		in := readFile(t, filepath.Join("testdata", "arc", name))
		if g, ok := Detect(in); g.Format != "arc" || !ok {
			t.Errorf("%s: detected as %q", name, g.Format)
		}
		want := strings.NewReplacer(s.changes...).Replace(string(in))
		for _, size := range []int{1, 7, 200, 1 << 20} {
			got, dead, st := rewriteArchive(t, Config{Format: "arc", OnRejected: DispositionDead}, in, size)
			if got != want || dead != "" {
				t.Errorf("%s, batches of %d bytes: got\n%q\nwant\n%q\ndead letters %s", name, size, got, want, dead)
			}
			if st.Records != s.records || st.URLs != s.urls || st.Changed != int64(len(s.changes)/2) {
				t.Errorf("%s: %+v", name, st)
			}
		}
	}
}

// TestARCFields checks the fields of records of versions 1 and 2.
func TestARCFields(t *testing.T) {
	c := Config{Format: "arc", Render: RenderTSV, Fields: []string{"url", "time", "status", "line", "offset"}}
	got, _, _ := rewriteArchive(t, c, readFile(t, filepath.Join("testdata", "arc", "v2.arc")), 1<<20)
	want := "HTTP://www.example.com/%7ea\t1997-01-01T00:00:01Z\t200\t5\t210\n" +
		"http://www.example.com/old\t1997-01-01T00:00:02Z\t302\t11\t400\n" +
		"http://www.example.com/missing?\t1997-01-01T00:00:03Z\t404\t17\t614\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	c.Fields = []string{"status", "record"}
	got, _, _ = rewriteArchive(t, c, []byte("http://h/a b 192.0.2.1 20260101000000 text/html; a=b 3\nabc\n"), 1)
	if want := "\thttp://h/a b 192.0.2.1 20260101000000 text/html; a=b 3\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestARCDamage checks where a damaged record ends and where the damage is
// reported.
func TestARCDamage(t *testing.T) {
	const sound = "http://h/ 192.0.2.1 20260101000000 text/html 3\nabc\n"
	f := func(at int64, units ...string) {
		t.Helper()
		in := strings.Join(units, "")
		for _, size := range []int{1, 5, 1 << 20} {
			if got := archiveUnits(t, archive.ARCReader{}, []byte(in), size); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", units) {
				t.Fatalf("batches of %d bytes: got %.300q\nwant %.300q", size, got, units)
			}
			_, dead, st := rewriteArchive(t, Config{Format: "arc", OnRejected: DispositionDead}, []byte(in), size)
			if st.Rejects[Unparsed] != 1 || st.Dead != 1 || !strings.HasPrefix(dead, fmt.Sprintf(`{"reason":"unparsed","at":%d,`, at)) {
				t.Errorf("%.100q: got dead letter %.100s, %+v", in, dead, st)
			}
			if passed, _, _ := rewriteArchive(t, Config{Format: "arc"}, []byte(in), size); passed != in {
				t.Errorf("%.100q passed through as %.100q", in, passed)
			}
		}
	}
	// Wrong lengths, up to the end of the stream and beyond.
	f(49, sound, "http://h/ 192.0.2.1 20260101000000 text/html 2\nabc\n", sound)
	f(52, sound, "http://h/ 192.0.2.1 20260101000000 text/html 400\nabc\n", sound, sound)
	f(53, sound, "http://h/ 192.0.2.1 20260101000000 text/html 4444\nabc\n")
	f(45, sound, "http://h/ 192.0.2.1 20260101000000 text/html -1\n\n", sound)
	f(45, sound, "http://h/ 192.0.2.1 20260101000000 text/html abc\n\n\n", sound)
	// Text between records, and a record that is cut.
	f(0, sound, "garbage text\n", sound)
	f(0, "\x1f\x8b garbage\n", sound)
	f(11, sound, "http://h/ 1")
	f(8192, sound, "http://h/"+strings.Repeat("x", 9000)+" 192.0.2.1 20260101000000 text/html 3\nabc\n", sound)
}

// TestARCEnds checks that line ends between records are blank records, and that
// the last record may lack its own.
func TestARCEnds(t *testing.T) {
	const one = "http://h/ 192.0.2.1 20260101000000 text/html 4\nabc\n"
	in := "\n" + one + "\n\n\r\n" + one + "\r\n" + one
	for size := range len(in) {
		for _, in := range []string{in, in + "\n"} {
			out, dead, st := rewriteArchive(t, Config{Format: "arc", OnRejected: DispositionDead}, []byte(in), size+1)
			if out != in || dead != "" || st.Blank != 2 || st.Records != 5 {
				t.Errorf("%q, %q, %+v", out, dead, st)
			}
		}
	}
	in = strings.TrimSuffix(one, "\n") + one // a line end is missing
	if _, dead, st := rewriteArchive(t, Config{Format: "arc", OnRejected: DispositionDead}, []byte(in+one[:len(one)-1]+in), 7); dead != "" || st.URLs != 5 {
		t.Errorf("%q, %+v", dead, st)
	}
	var f LengthFraming = archive.ARCReader{}
	for n := range len(one) + 1 {
		if got := f.Incomplete([]byte(one[:n])); got != (n < len(one)) {
			t.Errorf("%q: %t", one[:n], got)
		}
	}
}

// TestARCConfig checks that New rejects settings that would break records.
func TestARCConfig(t *testing.T) {
	for _, c := range []Config{
		{Redact: []string{"passwords"}}, {OnOversize: DispositionTruncate}, {Render: RenderExtend}, {Dialect: "nginx"}, {URLField: "url"}, {Base: "https://{host}"},
	} {
		c.Format, c.Normalizer = "arc", newNormalizer(t, "equiv")
		if _, err := New(c); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}

// TestARCMutated checks 100,000 damaged archives: nothing panics, no byte is
// lost, and rewriting changes nothing but URLs.
func TestARCMutated(t *testing.T) { mutateArchives(t, "arc", "testdata/arc/*.arc", arcLine) }

// arcLine returns the part of a record that rewriting may change.
func arcLine(rec string) int {
	if n := strings.IndexByte(rec, '\n') + 1; n > 0 {
		return n
	}
	return len(rec)
}

// mutateArchives rewrites damaged archives. header returns the length of the
// part of a record that rewriting may change.
func mutateArchives(t *testing.T, format, pattern string, header func(rec string) int) {
	t.Helper()
	paths, _ := filepath.Glob(pattern)
	var files [][]byte
	for _, path := range paths {
		in := readFile(t, path)
		files = append(files, in[:min(len(in), 1200)])
	}
	runs := 100_000
	if testing.Short() {
		runs = 5_000
	}
	w := newJob(t, Config{Format: format, Normalizer: normalizers["equiv"]}).NewWorker()
	random := rand.New(rand.NewPCG(1, 2))
	for range runs {
		in := mutateLine(random, files)
		var st Stats
		for rest := in; len(rest) > 0; {
			rec := string(rest[:w.Next(rest)])
			rest = rest[len(rec):]
			out, _ := w.Append(nil, nil, []byte(rec), Position{}, &st)
			if n := header(rec); n > 0 && !strings.HasSuffix(string(out), rec[n:]) || n <= 0 && string(out) != rec {
				t.Fatalf("%q became %q", rec, out)
			}
			again, _ := w.Append(nil, nil, out, Position{}, &st)
			if !bytes.Equal(again, out) {
				t.Fatalf("%q became %q, and then %q", rec, out, again)
			}
		}
		if st.Panics > 0 || !st.Balanced() {
			t.Fatalf("%q: %+v", in, st)
		}
	}
}

// TestARCCorpora checks the archives of another project.
func TestARCCorpora(t *testing.T) {
	dir := os.Getenv("URLFOLD_CORPORA")
	if dir == "" {
		t.Skip("skipped: the ARC files of warcio; set URLFOLD_CORPORA to the folder of the corpora")
	}
	for name, want := range map[string]struct{ urls, damaged int64 }{
		"example.arc": {1, 0}, "example.arc.gz": {1, 0}, "example-space-in-url.arc": {0, 1}, "bad.arc": {1, 2},
	} {
		in := readFile(t, filepath.Join(dir, "warc", "warcio", name))
		if zr, err := gzip.NewReader(bytes.NewReader(in)); err == nil {
			if in, err = io.ReadAll(zr); err != nil {
				t.Fatal(err)
			}
		}
		got, _, st := rewriteArchive(t, Config{Format: "arc"}, in, 100)
		if st.URLs != want.urls || st.Rejects[Unparsed] != want.damaged {
			t.Errorf("%s: %+v", name, st)
		}
		if string(in) != got { // the URL with a space is in a record that is cut
			t.Errorf("%s: rewritten as\n%s", name, got)
		}
		if g, ok := Detect(in); !ok || g.Format != "arc" {
			t.Errorf("%s: detected as %+v", name, g)
		}
	}
}

// TestARCNoAllocs checks that nothing allocates in the steady state.
func TestARCNoAllocs(t *testing.T) {
	in := [][]byte{
		[]byte("HTTP://H/a b 192.0.2.1 20260101000000 text/html 3\nabc\n"),
		[]byte("http://h/ 192.0.2.1 20260101000000 text/html 4\nabc\n"), []byte("garbage"), []byte("\r\n"),
	}
	for _, c := range []Config{{}, {OnRejected: DispositionDead}, {Render: RenderJSONL}, {Render: RenderTSV}, {Render: RenderKeys}} {
		c.Format = "arc"
		j := newJob(t, allFields(c))
		w, f := j.NewWorker(), j.Framing().(LengthFraming)
		var out, dead []byte
		var st Stats
		all := func() {
			for _, rec := range in {
				f.Cut(rec)
				f.Span(rec, true)
				w.Next(rec)
				out, dead = w.Append(out[:0], dead[:0], rec, Position{Name: "f", Line: 1}, &st)
			}
		}
		all()
		if n := testing.AllocsPerRun(3, all); n != 0 {
			t.Errorf("%+v: got %v allocations, want 0", c, n)
		}
	}
}

// FuzzARC checks that the records of a stream do not depend on how many bytes
// are read at a time, that no byte is lost, and that rewriting is idempotent.
func FuzzARC(f *testing.F) {
	files, _ := filepath.Glob(filepath.Join("testdata", "arc", "*.arc"))
	for i, path := range files {
		f.Add(readFile(f, path), uint16(i*100))
	}
	f.Fuzz(func(t *testing.T, in []byte, size uint16) {
		in = in[:min(len(in), 4<<10)]
		size = max(size, uint16(len(in)/64))
		all, parts := archiveUnits(t, archive.ARCReader{}, in, 1<<20), archiveUnits(t, archive.ARCReader{}, in, 1+int(size))
		if fmt.Sprintf("%q", all) != fmt.Sprintf("%q", parts) {
			t.Fatalf("reading %d bytes at a time: %q\nall at once: %q", 1+int(size), parts, all)
		}
		if strings.Join(all, "") != string(in) {
			t.Fatalf("output %q lacks bytes of %q", all, in)
		}
		once, _, st := rewriteArchive(t, Config{Format: "arc"}, in, 1<<20)
		twice, _, again := rewriteArchive(t, Config{Format: "arc"}, []byte(once), 1<<20)
		if st.Rejects[Unparsed] == 0 && (once != twice || again.Changed != 0 || again.Records != st.Records) {
			t.Fatalf("%q\nonce  %q\ntwice %q", in, once, twice)
		}
		verify(t, Config{Format: "arc", Normalizer: normalizers["equiv"], Level: codec.LevelEquivalent, Render: RenderJSONL, Fields: FieldNames()}, in)
	})
}
