package file

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/testkit"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// lines is a Framing of lines. With head set, the first line is a header.
type lines struct{ head bool }

func (lines) Cut(block []byte) int { return bytes.LastIndexByte(block, '\n') + 1 }

func (l lines) Head(block []byte) int {
	if !l.head {
		return 0
	}
	return bytes.IndexByte(block, '\n') + 1
}

const small = 64 // arena size in most tests, so that every kind of batch boundary occurs

// run runs a source with cfg and returns the runtime that recorded its batches.
func run(t testing.TB, cfg Config) (*Source, *testkit.Runtime) {
	t.Helper()
	return runWith(t, cfg, testkit.NewRuntime(4, small))
}

func runWith(t testing.TB, cfg Config, rt *testkit.Runtime) (*Source, *testkit.Runtime) {
	t.Helper()
	if cfg.Framing == nil {
		cfg.Framing = lines{}
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if err := s.Open(ctx, rt); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(ctx); err != nil {
		t.Fatal(err)
	}
	for _, w := range rt.Broken() {
		t.Error(w)
	}
	return s, rt
}

// write writes files to a new folder and returns the folder.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func gz(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// logText returns n lines of different lengths, some of them blank, with CR LF,
// NUL or invalid UTF-8.
func logText(n int) string {
	rnd := rand.New(rand.NewPCG(1, uint64(n)))
	var b strings.Builder
	for i := range n {
		ends := []string{"\n", "\r\n", "\x00\n", "\xff\xfe\n", "\n\n"}
		fmt.Fprintf(&b, "%d %s%s", i, strings.Repeat("x", rnd.IntN(50)), ends[rnd.IntN(len(ends))])
	}
	return b.String()
}

// checkLines fails the test unless every batch begins at a line and has its
// line number.
func checkLines(t *testing.T, rt *testkit.Runtime, text string) {
	t.Helper()
	for _, e := range rt.Emitted() {
		before := text[:e.Off]
		if e.Piece == engine.Whole && before != "" && !strings.HasSuffix(before, "\n") {
			t.Errorf("batch begins at offset %d, within a line", e.Off)
		}
		if want := int64(strings.Count(before, "\n")) + 1; e.Line != want {
			t.Errorf("batch at offset %d has line %d, want %d", e.Off, e.Line, want)
		}
	}
}

func TestText(t *testing.T) {
	for _, text := range []string{
		"", "\n", "a", "a\n", "a\nb", "\n\n\n", "a\r\nb\r\n", "\x00\x00\n\x00", logText(1), logText(300), strings.TrimRight(logText(100), "\r\n"),
		strings.Repeat("x", small) + "\n", strings.Repeat("x", small-1) + "\n", strings.Repeat("x", 10*small) + "\nend\n",
	} {
		for _, packed := range []string{text, gz(t, text)} {
			dir := write(t, map[string]string{"a": packed})
			path := filepath.Join(dir, "a")
			s, rt := run(t, Config{Paths: []string{path}})
			if got := string(rt.Text(path)); got != text {
				t.Errorf("%d bytes of %d", len(got), len(text))
			}
			checkLines(t, rt, text)
			r := s.Reports()[0]
			if r.Verdict.Kind != compress.OK || r.Bytes != int64(len(text)) || r.CompressedBytes != int64(len(packed)) ||
				r.Lost != 0 || r.Stopped || r.Lane == nil || r.Lines != int64(strings.Count(text, "\n")) {
				t.Errorf("report %+v of %d bytes", r, len(text))
			}
			if p := s.Progress(); p.FilesDone != 1 || p.BytesDone != p.Bytes || !p.Known {
				t.Errorf("progress %+v", p)
			}
		}
	}
}

// TestReleased checks that a finished input keeps its progress but no buffers.
func TestReleased(t *testing.T) {
	files := map[string]string{}
	for i := range 100 {
		files[fmt.Sprint(i)] = gz(t, logText(i))
	}
	dir := write(t, files)
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	s, rt := run(t, Config{Paths: []string{dir}})
	if grown := heap() - before; grown > 8<<20 {
		t.Errorf("%d bytes in use after %d files", grown, len(files))
	}
	if p := s.Progress(); p.FilesDone != len(files) || p.BytesDone != p.Bytes {
		t.Errorf("progress %+v", p)
	}
	runtime.KeepAlive(rt)
}

// A faulty reader returns a random number of bytes at a time, and io.EOF with
// the last of them or after it.
type faulty struct {
	src []byte
	rnd *rand.Rand
	err error
}

func (f *faulty) Read(p []byte) (int, error) {
	n := f.rnd.IntN(min(len(p), len(f.src), 100) + 1)
	copy(p, f.src[:n])
	f.src = f.src[n:]
	if len(f.src) == 0 && (n == 0 || f.rnd.IntN(2) == 0) {
		return n, f.err
	}
	return n, nil
}

// TestFaultyReader checks that the records of a pipe do not depend on read
// sizes, and that an error loses only the record that it cuts.
func TestFaultyReader(t *testing.T) {
	text := logText(300) + "no line end"
	for seed := range uint64(50) {
		for _, packed := range []string{text, gz(t, text)} {
			src := &faulty{src: []byte(packed), rnd: rand.New(rand.NewPCG(seed, 2)), err: io.EOF}
			_, rt := run(t, Config{Stdin: src, Linger: time.Microsecond})
			if got := string(rt.Text("-")); got != text {
				t.Errorf("seed %d: %d bytes of %d", seed, len(got), len(text))
			}
			checkLines(t, rt, text)
		}
		src := &faulty{src: []byte(text), rnd: rand.New(rand.NewPCG(seed, 3)), err: errors.New("broken")}
		s, rt := run(t, Config{Stdin: src, Linger: time.Microsecond})
		r := s.Reports()[0]
		if got := string(rt.Text("-")); got != text[:len(text)-len("no line end")] || r.Verdict.Kind != compress.Unreadable || r.Lost != 11 {
			t.Errorf("seed %d: %d bytes of %d, %+v", seed, len(got), len(text), r)
		}
	}
}

// TestTruncated truncates a gzip file at every byte: all whole records before
// the cut are emitted once, the verdict is exact, and the next file is read.
func TestTruncated(t *testing.T) {
	text := logText(30)
	whole := gz(t, text)
	for cut := 1; cut < len(whole); cut++ {
		dir := write(t, map[string]string{"a.gz": whole[:cut], "b": "next\n"})
		a, b := filepath.Join(dir, "a.gz"), filepath.Join(dir, "b")
		s, rt := run(t, Config{Paths: []string{a, b}})
		got, r := string(rt.Text(a)), s.Reports()[0]
		if !strings.HasPrefix(text, got) || got != "" && !strings.HasSuffix(got, "\n") {
			t.Fatalf("cut at %d: %q does not consist of whole lines", cut, got)
		}
		if r.Verdict.Kind != compress.Truncated || r.Verdict.Offset != int64(cut) || r.Format == compress.Plain && cut > 2 {
			t.Errorf("cut at %d: %v", cut, r.Verdict)
		}
		decoded := text[:r.Bytes]
		if want := strings.LastIndexByte(decoded, '\n') + 1; len(got) != want || r.Lost != int64(len(decoded)-want) {
			t.Errorf("cut at %d: %d bytes emitted and %d lost of %d decoded", cut, len(got), r.Lost, len(decoded))
		}
		if got := string(rt.Text(b)); got != "next\n" {
			t.Errorf("cut at %d: read %q from the next file", cut, got)
		}
	}
}

// TestVerdicts checks that an unreadable input gets a verdict and the others
// are read.
func TestVerdicts(t *testing.T) {
	whole := gz(t, "a\nb")
	bad := []byte(whole)
	bad[len(bad)-1] ^= 1
	dir := write(t, map[string]string{
		"1.log": "a\n", "2.gz": "plain text", "3.log": "\xff\xfea\x00", "4.gz": string(bad), "5.gz": whole + "\x00\x00", "6.gz": "", "7": "z\n",
	})
	s, rt := run(t, Config{Paths: []string{dir}})
	want := []struct {
		kind compress.Kind
		text string
	}{{compress.OK, "a\n"}, {compress.Corrupt, ""}, {compress.UnsupportedEncoding, ""}, {compress.BadCRC, "a\nb"},
		{compress.TrailingGarbage, "a\nb"}, {compress.OK, ""}, {compress.OK, "z\n"}}
	for i, r := range s.Reports() {
		if got := string(rt.Text(r.Path)); r.Verdict.Kind != want[i].kind || got != want[i].text || r.Lost != 0 {
			t.Errorf("%s: %v, %q", filepath.Base(r.Path), r.Verdict, got)
		}
	}
	if !slices.IsSorted(rt.Lanes()) || len(rt.Lanes()) != len(want) {
		t.Errorf("lanes %v", rt.Lanes())
	}
}

func TestUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Log("running as root, which can open every file: using a deleted file instead")
	}
	dir := write(t, map[string]string{"a": "a\n", "b": "b\n", "c": "c\n"})
	s, err := New(Config{Paths: []string{dir}, Framing: lines{}})
	if err != nil {
		t.Fatal(err)
	}
	rt := testkit.NewRuntime(4, small)
	if err := s.Open(context.Background(), rt); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if v := s.Reports()[1].Verdict; v.Kind != compress.Unreadable || !v.Damage() {
		t.Errorf("verdict %v", v)
	}
	if got := string(rt.Text(filepath.Join(dir, "a"))) + string(rt.Text(filepath.Join(dir, "c"))); got != "a\nc\n" {
		t.Errorf("read %q from the other files", got)
	}
	if w := rt.Broken(); len(w) > 0 {
		t.Error(w)
	}
}

// TestOversize checks that a record of 100 MB is emitted in pieces with bounded
// memory, and that its neighbors are whole.
func TestOversize(t *testing.T) {
	const size = 32 << 20
	long := &repeat{size, 'x'}
	src := io.MultiReader(strings.NewReader("before\n"), long, strings.NewReader("\nafter\n"))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	rt := &pieces{Runtime: testkit.NewRuntime(4, 128<<10)}
	s, err := New(Config{Stdin: src, Framing: lines{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Open(context.Background(), rt); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 8<<20 {
		t.Errorf("%d bytes allocated", grown)
	}
	if want := "W F M L W "; rt.shape != want || rt.long != size+1 {
		t.Errorf("pieces %q with %d bytes in total, want %q with %d", rt.shape, rt.long, want, size+1)
	}
	if rt.whole != "before\nafter\n" {
		t.Errorf("neighboring records: %q", rt.whole)
	}
}

// pieces is a Runtime that keeps only the shape of the emitted pieces.
type pieces struct {
	*testkit.Runtime
	shape string
	whole string
	long  int
}

func (p *pieces) Emit(_ context.Context, b *engine.Batch, _ engine.Position) error {
	if c := string("WFML"[b.Piece]) + " "; !strings.HasSuffix(p.shape, c) {
		p.shape += c
	}
	if b.Piece == engine.Whole {
		p.whole += string(b.In)
	} else {
		p.long += len(b.In)
	}
	p.Put(b)
	return nil
}

type repeat struct {
	left int
	c    byte
}

func (r *repeat) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), r.left)
	for i := range p[:n] {
		p[i] = r.c
	}
	r.left -= n
	return n, nil
}

// TestPieces tries every length around the limits, with and without a line end,
// and with a cut within the record.
func TestPieces(t *testing.T) {
	t.Parallel()
	for size := range 4 * small {
		if (size+8)%small > 16 {
			continue
		}
		text := "first\n" + strings.Repeat("x", size) + "\nlast\n"
		for n := len(text) - 8; n <= len(text); n++ {
			dir := write(t, map[string]string{"a": text[:n]})
			path := filepath.Join(dir, "a")
			_, rt := run(t, Config{Paths: []string{path}, MaxRecord: 2 * small})
			if got := string(rt.Text(path)); got != text[:n] {
				t.Errorf("record of %d, %d bytes of %d: %q", size, len(got), n, got)
			}
			var shape strings.Builder
			for _, e := range rt.Emitted() {
				shape.WriteByte("WFML"[e.Piece])
			}
			record := min(len("first\n")+size+1, n) - len("first\n")
			if pieced := strings.Contains(shape.String(), "F"); pieced != (record > 2*small+1 || record == 2*small+1 && n < len("first\n")+size+1) {
				t.Errorf("record of %d and limit of %d: %s", record, 2*small, shape.String())
			}
		}
	}
}

// TestPieceCut checks that a cut also ends an oversize record.
func TestPieceCut(t *testing.T) {
	whole := gz(t, "a\n"+strings.Repeat("x", 1000)+logText(50))
	dir := write(t, map[string]string{"a.gz": whole[:len(whole)/2]})
	path := filepath.Join(dir, "a.gz")
	_, rt := run(t, Config{Paths: []string{path}, MaxRecord: small})
	if e := rt.Emitted(); e[len(e)-1].Piece == engine.First || e[len(e)-1].Piece == engine.Middle {
		t.Errorf("last piece has kind %d", e[len(e)-1].Piece)
	}
}

func TestHead(t *testing.T) {
	dir := write(t, map[string]string{"a.csv": "url,n\nx,1\n", "b.csv": "", "c.csv": strings.Repeat("h", 3*small) + "\n1\n"})
	_, rt := run(t, Config{Paths: []string{dir}, Framing: lines{head: true}})
	for name, want := range map[string]string{"a.csv": "url,n\n", "b.csv": "", "c.csv": strings.Repeat("h", 3*small) + "\n"} {
		path := filepath.Join(dir, name)
		if got := string(rt.Head(path)); got != want {
			t.Errorf("%s: head %q", name, got)
		}
	}
	if got := string(rt.Text(filepath.Join(dir, "a.csv"))); got != "url,n\nx,1\n" {
		t.Errorf("header is missing from the text: %q", got)
	}
}

func TestNewReportsAll(t *testing.T) {
	_, err := New(Config{MaxRecord: -1, Parallel: -1, Linger: -1})
	if err == nil {
		t.Fatal("no error")
	}
	if n := strings.Count(err.Error(), "\n") + 1; n != 5 {
		t.Errorf("%d of 5 mistakes reported: %v", n, err)
	}
}
