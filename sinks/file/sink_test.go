package file

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/pipeline/engine"
)

var ctx = context.Background()

// open returns an open output for cfg.
func open(t testing.TB, cfg Config) Output {
	t.Helper()
	out, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Open(ctx); err != nil {
		t.Fatal(err)
	}
	return out
}

// submit submits text as one batch, as the pipeline would, and returns the
// answer.
func submit(t testing.TB, out Output, text string) engine.Result {
	t.Helper()
	s := &engine.Stream{Bytes: []byte(text)}
	var got []engine.Result
	if err := out.Submit(ctx, nil, engine.NewTicket(s, func(r engine.Result) { got = append(got, r) })); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 {
		t.Fatalf("%d answers", len(got))
	}
	return got[0]
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ls returns the names in dir.
func ls(t testing.TB, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func content(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return string(b)
}

func TestPublish(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.log")
	must(t, os.WriteFile(path, []byte("old"), 0o600))
	out := open(t, Config{Path: path, Replace: true})
	if r := submit(t, out, "a\n"); r.Class != engine.OK || r.Err != nil {
		t.Fatalf("%+v", r)
	}
	submit(t, out, "b\n")
	must(t, out.Barrier(ctx))
	must(t, out.Close(ctx))
	if got := content(t, path); got != "old" {
		t.Errorf("content of the output before Publish: %q", got)
	}
	if got := ls(t, dir); got != "out.log out.log.part" {
		t.Errorf("files before Publish: %s", got)
	}
	must(t, out.Publish())
	must(t, out.Publish())
	must(t, out.Abort())
	if got := content(t, path); got != "a\nb\n" || ls(t, dir) != "out.log" || out.(*sink).written.Load() != 4 {
		t.Errorf("%q, files %s", got, ls(t, dir))
	}
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", fi.Mode(), err)
	}
}

func TestAbort(t *testing.T) {
	f := func(name string, use func(Output), files, part string) {
		t.Helper()
		dir := t.TempDir()
		path := filepath.Join(dir, "out")
		out := open(t, Config{Path: path})
		use(out)
		if err := out.Publish(); err == nil {
			t.Errorf("%s: Publish succeeds", name)
		}
		must(t, out.Abort())
		if got := ls(t, dir); got != files {
			t.Errorf("%s: files %q, want %q", name, got, files)
		}
		if files != "" && content(t, filepath.Join(dir, files)) != part {
			t.Errorf("%s: the part is %q", name, content(t, filepath.Join(dir, files)))
		}
		next := open(t, Config{Path: path}) // the part of an ended run blocks nobody
		must(t, next.Close(ctx))
		must(t, next.Publish())
		if got := content(t, path); got != "" || ls(t, dir) != "out" {
			t.Errorf("%s: the next run gives %q, files %s", name, got, ls(t, dir))
		}
	}
	f("aborted", func(o Output) { submit(t, o, "a\n"); must(t, o.Close(ctx)); must(t, o.Abort()) }, "out.part", "a\n")
	f("not closed", func(o Output) { submit(t, o, "a\n") }, "out.part", "a\n")
	f("nothing written", func(o Output) { must(t, o.Close(ctx)); must(t, o.Abort()) }, "", "")
	f("aborted without Close", func(o Output) { must(t, o.Abort()) }, "", "")
}

// TestFailedWrite: after a failed write, nothing more is written or published,
// even if other operations succeed.
func TestFailedWrite(t *testing.T) {
	dir := t.TempDir()
	out := open(t, Config{Path: filepath.Join(dir, "out")})
	s := out.(*sink)
	s.w = &failing{w: s.w, left: 3, err: syscall.ENOSPC}
	submit(t, out, "ab\n")
	r := submit(t, out, "cd\n")
	if r.Class != engine.Fatal || !errors.Is(r.Err, syscall.ENOSPC) || !strings.Contains(r.Err.Error(), "out.part") {
		t.Errorf("%+v", r)
	}
	s.w.(*failing).left = 100
	if r := submit(t, out, "ef\n"); r.Class != engine.Fatal {
		t.Errorf("after it: %+v", r)
	}
	if err := out.Barrier(ctx); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Barrier: %v", err)
	}
	must(t, out.Close(ctx))
	if err := out.Publish(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Publish: %v", err)
	}
	if got := ls(t, dir); got != "out.part" || content(t, filepath.Join(dir, got)) != "ab\n" {
		t.Errorf("files %s", got)
	}
}

// failing writes left bytes and then fails.
type failing struct {
	w    io.Writer
	left int
	err  error
}

func (f *failing) Write(p []byte) (int, error) {
	if len(p) <= f.left {
		f.left -= len(p)
		return f.w.Write(p)
	}
	n, _ := f.w.Write(p[:f.left])
	f.left = 0
	return n, f.err
}

func TestWriter(t *testing.T) {
	var b bytes.Buffer
	out := open(t, Config{Writer: &b})
	submit(t, out, "a\n")
	must(t, out.Close(ctx))
	must(t, out.Publish())
	if b.String() != "a\n" || out.Part() != "" {
		t.Errorf("%q, part %q", b.String(), out.Part())
	}
	pr, pw, err := os.Pipe()
	must(t, err)
	must(t, pr.Close())
	for name, w := range map[string]io.Writer{"pipe": pw, "short": &failing{w: io.Discard}} {
		out := open(t, Config{Writer: w})
		r := submit(t, out, "a\n")
		if r.Class != engine.Fatal || errors.Is(r.Err, ErrClosedPipe) != (name == "pipe") {
			t.Errorf("%s: %+v", name, r)
		}
	}
	must(t, pw.Close())
}

func TestCompressed(t *testing.T) {
	for _, c := range []struct {
		name, flag string
		want       compress.Format
	}{{"a.gz", "", compress.Gzip}, {"a.zst", "", compress.Zstd}, {"a.gz", "none", compress.Plain}, {"a", "zstd", compress.Zstd}, {"a.log", "", compress.Plain}} {
		for _, text := range []string{"", "a\nb\n"} {
			path := filepath.Join(t.TempDir(), c.name)
			out := open(t, Config{Path: path, Compress: c.flag})
			for line := range strings.Lines(text) {
				submit(t, out, line)
			}
			must(t, out.Close(ctx))
			must(t, out.Publish())
			packed := content(t, path)
			r := compress.NewReader(strings.NewReader(packed), compress.Options{})
			got, err := io.ReadAll(r)
			if v := r.Verdict(); err != nil || string(got) != text || v.Kind != compress.OK || v.Format != c.want || packed == "" && c.want != compress.Plain {
				t.Errorf("%+v: %q, %v, %v", c, got, v, v.Format)
			}
			r.Close()
		}
	}
}

func TestRefused(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.log")
	must(t, os.WriteFile(in, []byte("a\n"), 0o644))
	must(t, os.Symlink("in.log", filepath.Join(dir, "link")))
	must(t, os.Link(in, filepath.Join(dir, "hard")))
	must(t, os.WriteFile(filepath.Join(dir, "x.part"), []byte("b\n"), 0o644))
	inputs := []string{"-", filepath.Join(dir, "gone"), in, filepath.Join(dir, "x.part")}
	f := func(name string, cfg Config, want error) {
		t.Helper()
		cfg.Inputs = inputs
		out, err := New(cfg)
		must(t, err)
		if err := out.Open(ctx); err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
		if err := out.Publish(); err == nil {
			t.Errorf("%s: published", name)
		}
		must(t, out.Abort())
		must(t, out.Close(ctx))
	}
	f("an input", Config{Path: in}, ErrIsInput)
	f("a link to one", Config{Path: filepath.Join(dir, "link")}, ErrIsInput)
	f("a hard link to one", Config{Path: filepath.Join(dir, "hard")}, ErrIsInput)
	f("the part is one", Config{Path: filepath.Join(dir, "x")}, ErrIsInput)
	f("a directory", Config{Path: dir}, nil)
	f("no such directory", Config{Path: filepath.Join(dir, "no", "x")}, os.ErrNotExist)
	w, err := os.OpenFile(in, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	f("stdout is one", Config{Writer: w}, ErrIsInput)
	must(t, w.Close())
	if content(t, in) != "a\n" || content(t, filepath.Join(dir, "x.part")) != "b\n" || ls(t, dir) != "hard in.log link x.part" {
		t.Errorf("files were modified: %s", ls(t, dir))
	}
}

func TestLink(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
	whole := filepath.Join(dir, "sub", "real")
	must(t, os.WriteFile(whole, []byte("old"), 0o644))
	link := filepath.Join(dir, "link")
	must(t, os.Symlink(whole, link))
	out := open(t, Config{Path: link, Replace: true})
	submit(t, out, "new")
	must(t, out.Close(ctx))
	must(t, out.Publish())
	if fi, err := os.Lstat(link); err != nil || fi.Mode()&os.ModeSymlink == 0 || content(t, whole) != "new" {
		t.Errorf("the link is %v, the file %q", fi.Mode(), content(t, whole))
	}
}

func TestDevice(t *testing.T) {
	out := open(t, Config{Path: os.DevNull})
	submit(t, out, "a\n")
	must(t, out.Close(ctx))
	must(t, out.Publish())
	if fi, err := os.Stat(os.DevNull); err != nil || fi.Mode().IsRegular() || out.Part() != "" {
		t.Errorf("%v, %v, part %q", fi.Mode(), err, out.Part())
	}
}

func TestNewReportsAll(t *testing.T) {
	f := func(cfg Config, n int) {
		t.Helper()
		_, err := New(cfg)
		if err == nil || strings.Count(err.Error(), "\n")+1 != n {
			t.Errorf("%+v: %v, want %d mistakes", cfg, err, n)
		}
	}
	f(Config{}, 1)
	f(Config{Path: "a", Writer: io.Discard}, 1)
	f(Config{Compress: "lzma"}, 2)
	f(Config{Path: "a", Compress: "gzip:99"}, 1)
}

// TestNoLineEnd: the last record of an input stays without a line end unless
// another batch follows; a piece of a long record is not a record end.
func TestNoLineEnd(t *testing.T) {
	a, b := &engine.Lane{}, &engine.Lane{}
	for _, name := range []string{"out.log", "out.gz"} {
		path := filepath.Join(t.TempDir(), name)
		out, err := New(Config{Path: path})
		must(t, err)
		must(t, out.Open(t.Context()))
		put := func(l *engine.Lane, piece engine.Piece, p string) {
			batch := &engine.Batch{Lane: l, Piece: piece}
			batch.Out.Bytes = []byte(p)
			must(t, out.Submit(t.Context(), batch, engine.NewTicket(&batch.Out, func(r engine.Result) { must(t, r.Err) })))
		}
		put(a, 0, "a\nb")
		put(b, 0, "c\n")
		put(a, engine.First, "d")
		put(a, engine.Last, "e\n")
		put(b, 0, "f")
		put(b, 0, "g\n") // without an ordering, the last batch of a lane may come before others
		put(b, 0, "h")
		must(t, out.Barrier(t.Context()))
		must(t, out.Close(t.Context()))
		must(t, out.Publish())
		if got := text(t, path); got != "a\nb\nc\nde\nf\ng\nh" {
			t.Errorf("%s: %q", name, got)
		}
	}
}
