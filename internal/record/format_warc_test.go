package record

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record/internal/archive"
)

// warcUnits splits a stream like a source and a worker of the pipeline: into
// batches, reading size more bytes at a time, and each batch into records.
func warcUnits(t testing.TB, in []byte, size int) (units []string) {
	t.Helper()
	return archiveUnits(t, archive.WARCReader{}, in, size)
}

// lengthReader is a Reader of records that state their own length.
type lengthReader interface {
	Reader
	LengthFraming
}

// archiveUnits is warcUnits for any reader.
func archiveUnits(t testing.TB, f lengthReader, in []byte, size int) (units []string) {
	t.Helper()
	for end := 0; len(in) > 0; {
		end = min(end+size, len(in))
		n := f.Cut(in[:end])
		if n == 0 && end < len(in) {
			continue
		}
		if n == 0 {
			n, _ = f.Span(in, true)
		}
		if n <= 0 || n > end {
			t.Fatalf("the batch has %d of %d bytes", n, end)
		}
		for batch := in[:n]; len(batch) > 0; {
			k := f.Next(batch)
			units = append(units, string(batch[:k]))
			batch = batch[k:]
		}
		in, end = in[n:], max(0, end-n)
	}
	return units
}

// rewriteWARC rewrites a stream in batches of at least size bytes.
func rewriteWARC(t testing.TB, c Config, in []byte, size int) (out, dead string, st Stats) {
	t.Helper()
	c.Format = "warc"
	return rewriteArchive(t, c, in, size)
}

// rewriteArchive is rewriteWARC for any format of archives.
func rewriteArchive(t testing.TB, c Config, in []byte, size int) (out, dead string, st Stats) {
	t.Helper()
	if c.Normalizer == nil {
		c.Normalizer = normalizers["equiv"]
	}
	j := newJob(t, c)
	w := j.NewWorker()
	var o, d []byte
	at := Position{Line: 1}
	for _, rec := range archiveUnits(t, j.reader.(lengthReader), in, size) {
		o, d = w.Append(o, d, []byte(rec), at, &st)
		at.Off += int64(len(rec))
		at.Line += w.Lines([]byte(rec))
	}
	if !st.Balanced() {
		t.Errorf("unbalanced ledger: %+v", st)
	}
	return string(o), string(d), st
}

// TestWARC checks that only the URIs of the sample records change, wherever a
// batch ends: no block, no other field, and no record inside a block.
func TestWARC(t *testing.T) {
	for name, s := range map[string]struct {
		records, urls int64
		changes       []string
	}{
		"wget.warc": {4, 3, []string{"WARC-Target-URI: <HTTP://WWW.Example.com:80/a/../%7euser>", "WARC-Target-URI: <http://www.example.com/~user>"}},
		"heritrix.warc": {4, 3, []string{
			"WARC-Target-URI: http://www.Example.org/robots.txt?a=%c3%a9", "WARC-Target-URI: http://www.example.org/robots.txt?a=%C3%A9",
		}},
		"commoncrawl.warc": {3, 2, []string{
			"WARC-Target-URI: https://AN.wikipedia.org/wiki/./Escopete#%7eTop", "WARC-Target-URI: https://an.wikipedia.org/wiki/Escopete#~Top",
			"WARC-Target-URI: https://an.wikipedia.org/a%5fb", "WARC-Target-URI: https://an.wikipedia.org/a_b",
		}},
	} {
		in, err := os.ReadFile(filepath.Join("testdata", "warc", name))
		if err != nil {
			t.Fatal(err)
		}
		if g, ok := Detect(in); g.Format != "warc" || !ok {
			t.Errorf("%s: detected as %q", name, g.Format)
		}
		want := strings.NewReplacer(s.changes...).Replace(string(in))
		for _, size := range []int{1, 7, 200, 1 << 20} {
			got, dead, st := rewriteWARC(t, Config{OnRejected: DispositionDead}, in, size)
			if got != want || dead != "" {
				t.Errorf("%s, batches of %d bytes: got\n%q\nwant\n%q\ndead letters %s", name, size, got, want, dead)
			}
			if st.Records != s.records || st.URLs != s.urls || st.NoURL != s.records-s.urls {
				t.Errorf("%s: %+v", name, st)
			}
		}
	}
}

// TestWARCCorpora checks that archives of other vendors are read to the last
// record, and that only their URIs change.
func TestWARCCorpora(t *testing.T) {
	dir := os.Getenv("URLFOLD_CORPORA")
	if dir == "" {
		t.Skip("skipped: the WARC files of other vendors; set URLFOLD_CORPORA to the folder of the corpora")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "warc", "*", "*.warc*"))
	more, _ := filepath.Glob(filepath.Join(dir, "warc", "*.warc*"))
	urls := int64(0)
	for _, path := range append(files, more...) {
		in, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if zr, err := gzip.NewReader(bytes.NewReader(in)); err == nil {
			if in, err = io.ReadAll(zr); err != nil {
				t.Fatal(err)
			}
		}
		if !archive.BeginsWARC(in) {
			continue // a list of paths
		}
		got, _, st := rewriteWARC(t, Config{}, in, 1<<20)
		damaged := map[string]int64{"example-wrong-chunks.warc.gz": 1, "example-trunc.warc": 1}[filepath.Base(path)]
		if st.Rejects[Unparsed] != damaged {
			t.Errorf("%s: got %d damaged records, want %d", path, st.Rejects[Unparsed], damaged)
		}
		again, _, st2 := rewriteWARC(t, Config{}, []byte(got), 4096)
		if again != got || st2.Records != st.Records || st2.Changed != 0 {
			t.Errorf("%s: rewriting is not idempotent", path)
		}
		urls += st.URLs
	}
	if urls < 800 {
		t.Errorf("%d URLs in %d files", urls, len(files)+len(more))
	}
}

// TestWARCHeader checks which URL a header has and how it is written back.
func TestWARCHeader(t *testing.T) {
	f := func(header, want string) {
		t.Helper()
		rec := header + "\r\n\r\n\r\n"
		got, _, _ := rewriteWARC(t, Config{}, []byte(rec), 1<<20)
		if want == "" {
			want = header
		}
		if want += "\r\n\r\n\r\n"; got != want {
			t.Errorf("%q became %q, want %q", rec, got, want)
		}
	}
	f("WARC/1.0\r\nContent-Length: 0\r\nWARC-Target-URI: HTTP://H\r\n", "WARC/1.0\r\nContent-Length: 0\r\nWARC-Target-URI: http://h/\r\n")
	f("WARC/1.1\r\nwarc-target-uri:HTTP://H \t\r\nCONTENT-LENGTH :\t0\r\n", "WARC/1.1\r\nwarc-target-uri:http://h/ \t\r\nCONTENT-LENGTH :\t0\r\n")
	f("WARC/0.18\r\nContent-Length: 0\r\nWARC-Target-URI: <HTTP://H>\r\n", "WARC/0.18\r\nContent-Length: 0\r\nWARC-Target-URI: <http://h/>\r\n")
	f("WARC/1.0\r\nContent-Length: 0\r\nWARC-Target-URI: < HTTP://H >\r\n", "WARC/1.0\r\nContent-Length: 0\r\nWARC-Target-URI: < http://h/ >\r\n")
	f("WARC/1.0\nContent-Length: 0\nWARC-Target-URI: HTTP://H\n", "WARC/1.0\nContent-Length: 0\nWARC-Target-URI: http://h/\n")
	// A folded value is one line, with a space for the fold (section 4, LWS).
	f("WARC/1.0\r\nContent-Length:\r\n 0\r\nWARC-Target-URI:\r\n\tHTTP://H\r\n", "WARC/1.0\r\nContent-Length:\r\n 0\r\nWARC-Target-URI:\r\n\thttp://h/\r\n")
	f("WARC/1.0\r\nContent-Length: 0\r\nWARC-Target-URI: HTTP://H/a\r\n  b\r\nX: y\r\n  WARC-Target-URI: HTTP://no\r\n",
		"WARC/1.0\r\nContent-Length: 0\r\nWARC-Target-URI: http://h/a%20b\r\nX: y\r\n  WARC-Target-URI: HTTP://no\r\n")
	// The first URI counts. Other ones, empty ones and invalid ones are kept.
	f("WARC/1.0\r\nContent-Length: 0\r\nContent-Length: 0\r\nWARC-Target-URI: HTTP://H\r\nWARC-Target-URI: HTTP://I\r\n",
		"WARC/1.0\r\nContent-Length: 0\r\nContent-Length: 0\r\nWARC-Target-URI: http://h/\r\nWARC-Target-URI: HTTP://I\r\n")
	f("WARC/1.0\r\nContent-Length: 0\r\nWARC-Refers-To-Target-URI: HTTP://H\r\nWARC-Profile: HTTP://P\r\nno colon\r\nX-WARC-Target-URI: HTTP://H\r\n", "")
	f("WARC/1.0\r\nContent-Length: 0\r\nWARC-Target-URI:\r\n", "")
	f("WARC/1.0\r\nContent-Length: 0\r\nWARC-Target-URI: <>\r\n", "")
	f("WARC/1.0\r\nContent-Length: 0\r\nWARC-Target-URI: http://[h/\r\n", "")
}

// TestWARCDamage checks where a damaged record ends and where the damage is
// reported.
func TestWARCDamage(t *testing.T) {
	const sound = "WARC/1.0\r\nContent-Length: 3\r\n\r\nabc\r\n\r\n"
	big := "WARC/1.0\r\nX: " + strings.Repeat("x", archive.MaxWARCHeader) + "\r\nContent-Length: 3\r\n\r\nabc\r\n\r\n"
	f := func(at int64, units ...string) {
		t.Helper()
		in := strings.Join(units, "")
		for _, size := range []int{1, 5, 1 << 20} {
			if len(in) > 1<<10 && size < 1<<10 {
				size = 1 << 10
			}
			if got := warcUnits(t, []byte(in), size); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", units) {
				t.Fatalf("batches of %d bytes: got %.300q\nwant %.300q", size, got, units)
			}
			_, dead, st := rewriteWARC(t, Config{OnRejected: DispositionDead}, []byte(in), size)
			if st.Rejects[Unparsed] != 1 || st.Dead != 1 || !strings.HasPrefix(dead, fmt.Sprintf(`{"reason":"unparsed","at":%d,`, at)) {
				t.Errorf("%.100q: got dead letter %.100s, %+v", in, dead, st)
			}
			if len(units) > 1 && units[0] == sound && !strings.Contains(dead, fmt.Sprintf(`,"offset":%d,`, len(sound))) {
				t.Errorf("%.100q: got dead letter %.100s", in, dead)
			}
			if passed, _, _ := rewriteWARC(t, Config{}, []byte(in), size); passed != in {
				t.Errorf("%.100q passed through as %.100q", in, passed)
			}
		}
	}
	// Wrong lengths, up to the end of the stream and beyond.
	f(33, sound, "WARC/1.0\r\nContent-Length: 2\r\n\r\nabc\r\n\r\n", sound)
	f(35, sound, "WARC/1.0\r\nContent-Length: 4\r\n\r\nabc\r\n\r\n", sound)
	f(37, sound, "WARC/1.0\r\nContent-Length: 40\r\n\r\nabc\r\n\r\n", sound)
	f(38, sound, "WARC/1.0\r\nContent-Length: 400\r\n\r\nabc\r\n\r\n", sound, sound)
	// Missing line ends.
	f(34, sound, "WARC/1.0\r\nContent-Length: 3\r\n\r\nabc", sound)
	f(34, sound, "WARC/1.0\r\nContent-Length: 3\r\n\r\nabc\r\n", sound)
	f(34, sound, "WARC/1.0\r\nContent-Length: 3\r\n\r\nabc\n\n", sound)
	// Headers without a length, with two lengths, with an invalid one, and
	// without an end.
	f(18, sound, "WARC/1.0\r\nX: Y\r\n\r\nabc\r\n\r\n", sound)
	f(29, sound, "WARC/1.0\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc\r\n\r\n", sound)
	f(10, sound, "WARC/1.0\r\nContent-Length: -3\r\n\r\nabc\r\n\r\n", sound)
	f(10, sound, "WARC/1.0\r\nContent-Length: 99999999999999999999\r\n\r\nabc\r\n\r\n", sound)
	f(archive.MaxWARCHeader, sound, big, sound)
	// Garbage, an older version, a newer one.
	f(0, sound, "garbage\r\n\r\nWARC/x\r\n\r\n", sound)
	f(0, "garbage\r\n\r\n", sound)
	f(0, sound, "warc/0.9 10 request http://h/\r\n\r\n\r\n\r\n", sound)
	f(0, sound, "WARC/2.0\r\nContent-Length: 3\r\n\r\nabc\r\n\r\n", sound)
	// A truncated archive.
	f(5, sound, "WARC/")
	f(14, sound, "WARC/1.0\r\nCont")
	f(32, sound, "WARC/1.0\r\nContent-Length: 3\r\n\r\na")
	f(34, sound, "WARC/1.0\r\nContent-Length: 3\r\n\r\nabc\r\n")
}

// TestWARCBlank checks that line ends between records are blank records.
func TestWARCBlank(t *testing.T) {
	const sound = "WARC/1.0\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
	in := "\r\n" + sound + "\r\n\n\r\n" + sound + sound + "\r\n"
	for size := range len(in) {
		out, dead, st := rewriteWARC(t, Config{OnRejected: DispositionDead}, []byte(in), size+1)
		if out != in || dead != "" || st.Blank != 3 || st.Records != 6 {
			t.Errorf("%q, %q, %+v", out, dead, st)
		}
	}
}

// TestWARCShown checks that other renderings than rewrite show headers and no
// block.
func TestWARCShown(t *testing.T) {
	const header = "WARC/1.0\r\nWARC-Target-URI: HTTP://H\r\nContent-Length: 5\r\n"
	f := func(c Config, in, want string) {
		t.Helper()
		got, _, _ := rewriteWARC(t, c, []byte(in), 1<<20)
		if got != want {
			t.Errorf("%+v: %q: got\n%s\nwant\n%s", c.Fields, in, got, want)
		}
	}
	sound := header + "\r\nblock\r\n\r\n"
	c := Config{Render: RenderJSONL, Fields: []string{"norm", "line", "offset", "record"}}
	f(c, sound+sound, `{"norm":"http://h/","line":1,"offset":0,"record":"WARC/1.0\r\nWARC-Target-URI: HTTP://H\r\nContent-Length: 5"}`+"\n"+
		`{"norm":"http://h/","line":7,"offset":67,"record":"WARC/1.0\r\nWARC-Target-URI: HTTP://H\r\nContent-Length: 5"}`+"\n")
	f(c, header+"\r\nwrong", `{"error":"unparsed","at":63,"record":"WARC/1.0\r\nWARC-Target-URI: HTTP://H\r\nContent-Length: 5","line":1}`+"\n")
	f(c, strings.Repeat("x", 2*archive.MaxArchiveShown), `{"error":"unparsed","at":0,"record":"`+strings.Repeat("x", archive.MaxArchiveShown)+`","line":1}`+"\n")
	f(Config{Render: RenderKeys}, "WARC/1.0\r\nContent-Length: 5\r\n\r\nblock\r\n\r\n", "")
}

// TestWARCConfig checks that New rejects settings that would break records.
func TestWARCConfig(t *testing.T) {
	for _, c := range []Config{
		{Redact: []string{"passwords"}}, {OnOversize: DispositionTruncate}, {Render: RenderExtend}, {Dialect: "nginx"}, {URLField: "url"}, {Base: "https://{host}"},
	} {
		c.Format, c.Normalizer = "warc", newNormalizer(t, "equiv")
		if _, err := New(c); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
	for _, c := range []Config{{Redact: []string{"passwords"}, Render: RenderJSONL}, {Base: "https://h/"}, {OnOversize: DispositionStop}} {
		c.Format = "warc"
		if newJob(t, c).Apart() != (c.Render == RenderRewrite) {
			t.Errorf("%+v: wrong result of Apart", c)
		}
	}
}

// TestWARCNoAllocs checks that nothing allocates in the steady state, whether
// records are damaged or not.
func TestWARCNoAllocs(t *testing.T) {
	in := [][]byte{
		[]byte("WARC/1.0\r\nWARC-Target-URI: <HTTP://H/a\r\n b>\r\nContent-Length: 3\r\n\r\nabc\r\n\r\n"),
		[]byte("WARC/1.0\r\nWARC-Target-URI: http://h/\r\nContent-Length: 4\r\n\r\nabc\r\n\r\n"),
		[]byte("WARC/1.0\r\n\r\n\r\n\r\n"), []byte("garbage"), []byte("\r\n"),
	}
	for _, c := range []Config{{}, {OnRejected: DispositionDead}, {Render: RenderJSONL}, {Render: RenderTSV}, {Render: RenderKeys}} {
		c.Format = "warc"
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

// FuzzWARC checks that the records of a stream do not depend on how many bytes
// are read at a time, that no byte is lost, and that rewriting is idempotent.
// It does not check the latter after damage: the bytes that follow may be
// records of a block, and rewriting them moves the end of the damaged record.
func FuzzWARC(f *testing.F) {
	files, _ := filepath.Glob(filepath.Join("testdata", "warc", "*.warc"))
	for i, path := range files {
		in, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(in, uint16(i*100))
	}
	f.Add([]byte("WARC/1.0\r\nContent-Length: 9\r\nWARC-Target-URI: HTTP://H\r\n\r\nabc\r\n\r\nWARC/1.1\r\n\r\n\r\n\r\n\r\nWARC/1.0\r\n"), uint16(3))
	f.Fuzz(func(t *testing.T, in []byte, size uint16) {
		in = in[:min(len(in), 4<<10)]
		size = max(size, uint16(len(in)/64))
		all, parts := warcUnits(t, in, 1<<20), warcUnits(t, in, 1+int(size))
		if fmt.Sprintf("%q", all) != fmt.Sprintf("%q", parts) {
			t.Fatalf("reading %d bytes at a time: %q\nall at once: %q", 1+int(size), parts, all)
		}
		if strings.Join(all, "") != string(in) {
			t.Fatalf("output %q lacks bytes of %q", all, in)
		}
		once, _, st := rewriteWARC(t, Config{}, in, 1<<20)
		twice, _, again := rewriteWARC(t, Config{}, []byte(once), 1<<20)
		if st.Rejects[Unparsed] == 0 && (once != twice || again.Changed != 0 || again.Records != st.Records) {
			t.Fatalf("%q\nonce  %q\ntwice %q", in, once, twice)
		}
		verify(t, Config{Format: "warc", Normalizer: normalizers["equiv"], Level: codec.LevelEquivalent, Render: RenderJSONL, Fields: FieldNames()}, in)
	})
}
