package file

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// withHeader returns a configuration whose outputs begin with a header.
func withHeader(path string) LogConfig {
	c := config(path)
	c.Header = []byte("a,b\n")
	return c
}

// TestHeader: a file that grows begins with one header, also after a restart
// and after a failed write; each rotated file begins with one.
func TestHeader(t *testing.T) {
	for _, name := range []string{"out.csv", "out.csv.gz", "out.csv.zst"} {
		dir := t.TempDir()
		for i, faults := range []string{"file.after_write=enospc@1,file.after_sync=eio@1", "", ""} {
			out := openLog(t, withHeader(filepath.Join(dir, name)), faults)
			w := newWriter(t, out)
			w.write(nil, fmt.Sprintf("1,%d\n", i))
			w.write(nil, fmt.Sprintf("2,%d\n", i))
			w.barrier()
			must(t, out.Close(ctx))
		}
		wantTree(t, dir, fmt.Sprintf("%s=%q", name, "a,b\n1,0\n2,0\n1,1\n2,1\n1,2\n2,2\n"))
	}
	dir := t.TempDir()
	cfg := withHeader(filepath.Join(dir, "{seq}.csv"))
	cfg.Rotate.Records = 2
	out := openLog(t, cfg, "")
	w := newWriter(t, out)
	for i := range 3 {
		w.write(nil, fmt.Sprintf("%d,\n", i))
	}
	w.barrier()
	must(t, out.Close(ctx))
	wantTree(t, dir, `0001.csv="a,b\n0,\n1,\n" 0002.csv="a,b\n2,\n"`)
}

// TestHeaderOfLanes: each input has its own header, also one without records.
func TestHeaderOfLanes(t *testing.T) {
	for _, once := range []bool{false, true} {
		dir := t.TempDir()
		cfg := withHeader(filepath.Join(dir, "{source.relpath}.zst"))
		cfg.ExactlyOnce = once
		out := openLog(t, cfg, "")
		w := newWriter(t, out)
		full, empty := laneOfRel("full"), laneOfRel("empty")
		w.write(full, "1,2\n")
		w.barrier()
		must(t, finish(ctx, out, full))
		must(t, finish(ctx, out, empty))
		must(t, out.Close(ctx))
		wantTree(t, dir, `empty.zst="a,b\n" full.zst="a,b\n1,2\n"`)
	}
}

// TestTornRow: what a crash has left of a row of CSV is removed, also after a
// line feed in quotes.
func TestTornRow(t *testing.T) {
	long := strings.Repeat("x", 100<<10)
	for _, torn := range []string{"", "5", `5,"six`, "5,\"six\n", "5,\"six\nse\"\"ven\n", `5,"` + long + "\n" + long} {
		path := filepath.Join(t.TempDir(), "out.csv")
		must(t, os.WriteFile(path, []byte("a,b\n1,\"2\n3\"\n"+torn), 0o600))
		cfg := withHeader(path)
		cfg.Quoted = true
		out := openLog(t, cfg, "")
		w := newWriter(t, out)
		w.write(nil, "7,8\n")
		w.barrier()
		must(t, out.Close(ctx))
		if got := text(t, path); got != "a,b\n1,\"2\n3\"\n7,8\n" {
			t.Errorf("after %.20q: %.80q", torn, got)
		}
	}
}

// TestHeaderMember: the header is the beginning of the first member.
func TestHeaderMember(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.csv.gz")
	out := openLog(t, withHeader(path), "")
	w := newWriter(t, out)
	w.write(nil, "1,2\n")
	w.barrier()
	must(t, out.Close(ctx))
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	if v := compress.Verify(f, compress.Options{}); v.Members != 1 || v.Lines != 2 || v.Verdict.Kind != compress.OK {
		t.Errorf("%+v", v)
	}
}

// TestOtherHeader: an output with other columns, or without a header, is not
// continued, and is not changed.
func TestOtherHeader(t *testing.T) {
	for _, name := range []string{"out.csv", "out.csv.zst"} {
		for _, before := range []string{"", "b,a\n", "a,b,c\n"} {
			path := filepath.Join(t.TempDir(), name)
			cfg := config(path)
			cfg.Header = []byte(before)
			out := openLog(t, cfg, "")
			w := newWriter(t, out)
			w.write(nil, "1,2\n")
			w.barrier()
			must(t, out.Close(ctx))
			was := content(t, path)

			next, err := makeLog(withHeader(path))
			must(t, err)
			if err := inner(next).table.checkNames(); !errors.Is(err, errHeader) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s after %q: %v", name, before, err)
			}
			must(t, next.Open(ctx))
			b := &engine.Batch{}
			b.Out.Bytes = []byte("3,4\n")
			var got engine.Result
			err = next.Submit(ctx, b, engine.NewTicket(&b.Out, func(r engine.Result) { got = r }))
			if must(t, err); got.Class != engine.Fatal || !errors.Is(got.Err, errHeader) {
				t.Errorf("%s after %q: %+v", name, before, got)
			}
			_ = next.Close(ctx) // reports the same error
			if content(t, path) != was {
				t.Errorf("%s after %q: the file has changed", name, before)
			}
			if before == "" {
				continue
			}
			cfg.ExactlyOnce, cfg.Header = true, []byte("a,b\n")
			cfg.Resume = []engine.Extent{{Path: path, Length: int64(len(was))}}
			next, err = makeLog(cfg)
			must(t, err)
			if err := next.Open(ctx); !errors.Is(err, errHeader) {
				t.Errorf("%s after %q, exactly once: %v", name, before, err)
			}
			_ = next.Close(ctx) // it was not opened
		}
	}
}
