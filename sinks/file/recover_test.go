package file

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// put writes files below dir; the map keys are their names.
func put(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
}

// packedWith returns texts, each compressed as one member.
func packedWith(t testing.TB, f compress.Format, texts ...string) string {
	t.Helper()
	pack, err := compress.NewPack(f, 0)
	must(t, err)
	var b []byte
	for _, text := range texts {
		b = pack(b, []byte(text))
	}
	return string(b)
}

// TestResume: with ExactlyOnce, every output is truncated to its extent,
// outputs without an extent are restarted, and finished outputs stay unchanged.
func TestResume(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"a.part": "covered\nnot covered\nhal", "b.part": "not cov", "c": "finished\n", "d.part": "all\n", "d.part.new": "x"})
	cfg := config(filepath.Join(dir, "{source.relpath}"))
	cfg.ExactlyOnce = true
	for name, n := range map[string]int64{"a": 8, "c": 9, "d": 4, "gone": 5} {
		cfg.Resume = append(cfg.Resume, engine.Extent{Lane: "id of " + name, Path: filepath.Join(dir, name), Length: n})
	}
	out := openLog(t, cfg, "")
	if extents := out.Extents(nil); len(extents) != 2 {
		t.Errorf("extents of continued outputs: %+v", extents)
	}
	w := newWriter(t, out)
	w.write(laneOfRel("a"), "next\n")
	w.write(laneOfRel("b"), "again\n")
	w.barrier()
	for _, name := range []string{"a", "b", "c", "d", "gone"} {
		must(t, finish(ctx, out, laneOfRel(name)))
	}
	must(t, out.Close(ctx))
	wantTree(t, dir, `a="covered\nnext\n" b="again\n" c="finished\n" d="all\n"`)
}

// TestFinishExtent: what the checkpoint does not cover of an output that no
// sink continues is cut off, also if the output grew under its final name.
func TestFinishExtent(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"a.part": "covered\nnot covered\nhal", "b": "covered\nnot covered\n", "c": "covered\n", "d": "used\n"})
	for _, name := range []string{"a", "b", "c", "d", "gone"} {
		for range 2 { // the process may have died before it stored that
			must(t, FinishExtent(engine.Extent{Path: filepath.Join(dir, name), Length: 8}))
		}
	}
	wantTree(t, dir, `a="covered\n" b="covered\n" c="covered\n" d="used\n"`)
	put(t, dir, map[string]string{"e.part": "cov"})
	if err := FinishExtent(engine.Extent{Path: filepath.Join(dir, "e"), Length: 8}); err == nil {
		t.Error("a truncated output is finished")
	}

	// The same path with another compression is another output.
	cfg := config(filepath.Join(dir, "b"))
	cfg.ExactlyOnce = true
	cfg.Compress = "gzip"
	cfg.Resume = []engine.Extent{{Path: filepath.Join(dir, "b"), Length: 8}}
	put(t, dir, map[string]string{"b": "covered\nnot covered\n"})
	out := openLog(t, cfg, "")
	must(t, out.Close(ctx))
	if got := content(t, filepath.Join(dir, "b")); got != "covered\n" {
		t.Errorf("after a change of the compression: %q", got)
	}
}

// TestResumeCut: if durable data is missing, Open fails and modifies nothing.
func TestResumeCut(t *testing.T) {
	f := func(name string, size int) {
		t.Helper()
		dir := t.TempDir()
		put(t, dir, map[string]string{name: strings.Repeat("x", size)})
		cfg := config(filepath.Join(dir, "{lane}"))
		cfg.ExactlyOnce = true
		cfg.Resume = []engine.Extent{{Lane: "a", Path: filepath.Join(dir, "a"), Length: 5}}
		out, err := makeLog(cfg)
		must(t, err)
		if err := out.Open(ctx); err == nil || !strings.Contains(err.Error(), "5 were durable") {
			t.Errorf("%s of %d bytes: %v", name, size, err)
		}
		must(t, out.Close(ctx))
		if got := content(t, filepath.Join(dir, name)); len(got) != size {
			t.Errorf("%s was changed to %d bytes", name, len(got))
		}
	}
	f("a.part", 4)
	f("a", 4)
	f("a.part", 0)
}

// TestUncovered: a rotated file gets its final name only when a cut covers it,
// and files that no cut covers are removed.
func TestUncovered(t *testing.T) {
	dir := t.TempDir()
	cfg := config(filepath.Join(dir, "{seq}"))
	cfg.ExactlyOnce, cfg.Rotate.Records = true, 1
	out := openLog(t, cfg, "")
	w := newWriter(t, out)
	w.write(nil, "a\n")
	w.write(nil, "b\n")
	w.barrier()
	extents := out.Extents(nil)
	w.write(nil, "c\n")
	w.barrier()
	if got := ls(t, dir); got != "0001.part 0002.part 0003.part" {
		t.Errorf("files before the cut is stored: %s", got)
	}
	out.CutStored()
	w.barrier()
	if got := ls(t, dir); got != "0001 0002 0003.part" {
		t.Errorf("files after the cut: %s", got)
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	must(t, out.Close(over)) // equivalent to a crash
	cfg.Resume = extents
	out = openLog(t, cfg, "")
	w = newWriter(t, out)
	w.write(nil, "C\n")
	w.barrier()
	out.Extents(nil)
	out.CutStored()
	must(t, out.Close(ctx))
	wantTree(t, dir, `0001="a\n" 0002="b\n" 0003="C\n"`)
}

// TestNameInProgress: while a stored cut may contain a finished file, its name
// is not reused, even if the file was removed.
func TestNameInProgress(t *testing.T) {
	dir := t.TempDir()
	cfg := config(filepath.Join(dir, "{source.relpath}"))
	cfg.ExactlyOnce = true
	out := openLog(t, cfg, "")
	w := newWriter(t, out)
	next := func(id, text string) {
		l := laneOfRel("a")
		l.SetID(id)
		w.write(l, text)
		w.barrier()
		out.Extents(nil)
		out.CutStored()
		must(t, finish(ctx, out, l))
	}
	next("1", "one\n")
	must(t, os.Remove(filepath.Join(dir, "a")))
	next("2", "two\n")
	next("3", "three\n")
	must(t, out.Close(ctx))
	wantTree(t, dir, `a="three\n" a-2="two\n"`)
}

// TestTorn: without ExactlyOnce, torn ends are truncated, intact files are
// continued, and damaged files are kept.
func TestTorn(t *testing.T) {
	damaged := false
	f := func(name, was, want string) {
		t.Helper()
		dir := t.TempDir()
		put(t, dir, map[string]string{name + partSuffix: was})
		out := openLog(t, config(filepath.Join(dir, "{source.relpath}"+filepath.Ext(name))), "")
		w := newWriter(t, out)
		l := laneOfRel("x")
		w.write(l, "new\n")
		w.barrier()
		must(t, finish(ctx, out, l))
		if got := text(t, filepath.Join(dir, name)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		_, err := os.Stat(filepath.Join(dir, name+damagedSuffix))
		if kept := err == nil; kept != damaged {
			t.Errorf("%s: damaged file kept: %v", name, kept)
		}
	}
	f("x.log", "a\nb\nc", "a\nb\nnew\n")
	f("x.log", "no line", "new\n")
	f("x.log", strings.Repeat("y", 100<<10)+"\n"+strings.Repeat("z", 100<<10), strings.Repeat("y", 100<<10)+"\nnew\n")
	f("x.log", "", "new\n")
	for ext, format := range map[string]compress.Format{".gz": compress.Gzip, ".zst": compress.Zstd} {
		whole := packedWith(t, format, "a\n", "b\n")
		torn := whole + packedWith(t, format, "torn\n")
		f("x"+ext, whole, "a\nb\nnew\n")
		f("x"+ext, torn[:len(torn)-1], "a\nb\nnew\n")
		f("x"+ext, torn[:len(whole)+2], "a\nb\nnew\n")
		f("x"+ext, torn[:1], "new\n")
	}
	whole := packedWith(t, compress.Gzip, "a\n")
	bad := []byte(packedWith(t, compress.Gzip, "b\n"))
	bad[len(bad)-8] ^= 1 // a byte of the checksum
	damaged = true
	f("x.gz", "no gzip at all", "new\n")
	f("x.gz", whole+string(bad)+packedWith(t, compress.Gzip, "c\n"), "a\nnew\n")
}

// TestLeftover: the next run finishes rotated files that a crash has left.
func TestLeftover(t *testing.T) {
	for _, name := range []string{"{seq}.log", "{lane}{seq}.log"} {
		dir := t.TempDir()
		lane := laneOfRel("")
		prefix := ""
		if strings.Contains(name, "{lane}") {
			prefix = "_"
		}
		put(t, dir, map[string]string{prefix + "0001.log": "a\n", prefix + "0002.log.part": "b\nto", prefix + "0003.log.part": "to", "other.part": "x"})
		cfg := config(filepath.Join(dir, name))
		cfg.Rotate.Records = 10
		out := openLog(t, cfg, "")
		w := newWriter(t, out)
		w.write(lane, "c\n")
		w.barrier()
		if prefix != "" {
			must(t, finish(ctx, out, lane))
		}
		must(t, out.Close(ctx))
		want := `0001.log="a\n" 0002.log="b\n" 0003.log="c\n" other.part="x"`
		if prefix != "" {
			want = `_0001.log="a\n" _0002.log="b\n" _0003.log="c\n" other.part="x"`
		}
		wantTree(t, dir, want)
	}
}

// TestOtherCompression: an output with another compression, whose path does not
// show that, is finished unchanged, and new records go to another file.
func TestOtherCompression(t *testing.T) {
	over, cancel := context.WithCancel(ctx)
	cancel()
	formats := map[string]Compression{"plain": "none", "gzip": "gzip", "zstd": "zstd"}
	for was, before := range formats {
		for is, after := range formats {
			for _, exact := range []bool{true, false} {
				for path, want := range map[string]string{
					"{source.relpath}": `x="1\n2\n" x-2="3\n"`, "all": `all="1\n2\n" all-2="3\n"`, "{seq}": `0001="1\n2\n" 0002="3\n"`,
				} {
					if was == is && path != "{seq}" {
						want = strings.NewReplacer(`\n" x-2="`, `\n`, `\n" all-2="`, `\n`).Replace(want)
					} else if was == is && exact {
						want = `0001="1\n2\n3\n"`
					}
					dir := t.TempDir()
					cfg := config(filepath.Join(dir, path))
					cfg.ExactlyOnce, cfg.Compress = exact, before
					l := laneOfRel("x")
					out := openLog(t, cfg, "")
					w := newWriter(t, out)
					w.write(l, "1\n")
					w.write(l, "2\n")
					w.barrier()
					extents := out.Extents(nil)
					must(t, out.Close(over))
					if cfg.Compress = after; exact {
						cfg.Resume = extents
					}
					out = openLog(t, cfg, "")
					w = newWriter(t, out)
					w.write(l, "3\n")
					w.barrier()
					out.Extents(nil)
					out.CutStored()
					if path == "{source.relpath}" {
						finishAll(t, out, []*engine.Lane{l})
					}
					must(t, out.Barrier(ctx))
					must(t, out.Close(ctx))
					if got := tree(t, dir); got != want {
						t.Errorf("%s, %s to %s, exactly once %v:\n got %s\nwant %s", path, was, is, exact, got, want)
					}
				}
			}
		}
	}
}

// TestLost: the files, with or without their directory, are removed while they
// are being written. Records answered by then are lost with them; later ones
// are not.
func TestLost(t *testing.T) {
	one, lanes := []*engine.Lane{nil}, []*engine.Lane{laneOfRel("x"), laneOfRel("y")}
	for _, c := range []struct {
		path  string
		exact bool
		lanes []*engine.Lane
		want  string // after a regular end
	}{
		{"out/all.log", false, one, `out/all.log="3\n4\n5\n"`},
		{"out/all.log", true, one, `out/all-2.log="3\n4\n5\n"`},
		{"out/all.gz", true, one, `out/all-2.gz="3\n4\n5\n"`},
		{"out/{seq}.log", false, one, `out/0002.log="3\n4\n5\n"`},
		{"out/{seq}.log", true, one, `out/0002.log="3\n4\n5\n"`},
		{"out/{source.relpath}.zst", false, lanes, `out/x.zst="3\n4\n5\n" out/y.zst="3\n4\n5\n"`},
		{"out/{source.relpath}.zst", true, lanes, `out/x-2.zst="3\n4\n5\n" out/y-2.zst="3\n4\n5\n"`},
	} {
		for _, folder := range []bool{true, false} {
			dir := t.TempDir()
			cfg := config(filepath.Join(dir, c.path))
			cfg.ExactlyOnce = c.exact
			out := openLog(t, cfg, "")
			w := newWriter(t, out)
			write := func(lines ...string) {
				for _, line := range lines {
					for _, l := range c.lanes {
						w.write(l, line)
					}
				}
			}
			write("1\n", "2\n")
			w.barrier()
			out.Extents(nil)
			out.CutStored()
			w.barrier() // the work after a stored cut is done
			must(t, takeAway(filepath.Join(dir, "out"), folder))
			write("3\n")
			w.barrier()
			write("4\n", "5\n")
			w.barrier()
			if err := out.Health(); err != nil {
				t.Errorf("%s: %v", c.path, err)
			}
			extents := out.Extents(nil)
			if len(extents) != len(c.lanes) && c.exact {
				t.Errorf("%s: extents %+v", c.path, extents)
			}
			out.CutStored()
			finishAll(t, out, c.lanes)
			must(t, out.Barrier(ctx))
			must(t, out.Close(ctx))
			wantTree(t, dir, c.want)
		}
	}
}

// takeAway removes a directory, or the files in it.
func takeAway(dir string, folder bool) error {
	if folder {
		return os.RemoveAll(dir)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	for _, name := range names {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

// finishAll finishes the lanes, if any.
func finishAll(t *testing.T, out openedLog, lanes []*engine.Lane) {
	t.Helper()
	if lanes[0] == nil {
		return
	}
	for _, err := range out.Finish(ctx, lanes) {
		must(t, err)
	}
}

// TestLostAtTheEnd: a file that is removed after all of it was answered, and
// before it has its final name, does not prevent progress.
func TestLostAtTheEnd(t *testing.T) {
	dir := t.TempDir()
	cfg := config(filepath.Join(dir, "out", "{source.relpath}.log"))
	cfg.ExactlyOnce = true
	out := openLog(t, cfg, "")
	w := newWriter(t, out)
	l := laneOfRel("x")
	w.write(l, "1\n")
	w.barrier()
	out.Extents(nil)
	out.CutStored()
	w.barrier()
	must(t, os.RemoveAll(filepath.Join(dir, "out")))
	finishAll(t, out, []*engine.Lane{l})
	w.write(laneOfRel("y"), "2\n")
	w.barrier()
	if err := out.Health(); err != nil {
		t.Error(err)
	}
	must(t, out.Close(ctx))
	wantTree(t, dir, `out/y.log.part="2\n"`)
}

// TestRotatedByOthers: a program that renames a growing output and creates an
// empty one, as logrotate does, finds later records in the new one.
func TestRotatedByOthers(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "all.log")
	out := openLog(t, config(path), "")
	w := newWriter(t, out)
	w.write(nil, "1\n")
	w.barrier()
	must(t, os.Rename(path, path+".1"))
	must(t, os.WriteFile(path, nil, 0o644))
	w.write(nil, "2\n")
	w.barrier()
	must(t, out.Close(ctx))
	// Both files contain the data written before the sink noticed, because it
	// cannot know which of them was copied.
	wantTree(t, dir, `all.log="2\n" all.log.1="1\n2\n"`)
}

// TestTwoWriters: two sinks cannot write the same file.
func TestTwoWriters(t *testing.T) {
	cfg := config(filepath.Join(t.TempDir(), "{seq}"))
	out := openLog(t, cfg, "")
	w := newWriter(t, out)
	w.write(nil, "a\n")
	w.barrier()
	other, err := makeLog(cfg)
	must(t, err)
	if err := other.Open(ctx); !errors.Is(err, ErrLocked) {
		t.Errorf("Open of the second sink: %v", err)
	}
	must(t, other.Close(ctx))
	must(t, out.Close(ctx))
}

func TestReportOf(t *testing.T) {
	dir := t.TempDir()
	member := packedWith(t, compress.Zstd, "a\nb\n", "c\n")
	put(t, dir, map[string]string{"a.zst": member, "b.zst.part": member + member[:9], "c.log": "a\nb", "c.log.part": "a\nb",
		"d.part.new": "x\n", "e.gz": "text\n", "f.gz.part.damaged-2": packedWith(t, compress.Gzip, "a\n")})
	type found struct {
		name                         string
		unfinished, leftover, intact bool
		members, lines, torn         int64
		kind                         compress.Kind
	}
	var got []found
	for _, r := range reports(t, dir) {
		got = append(got, found{filepath.Base(r.Path), r.Unfinished, r.Leftover || r.PutAside, r.Intact(), r.Members, r.Lines, r.TornBytes, r.Verdict.Kind})
	}
	want := []found{
		{"a.zst", false, false, true, 2, 3, 0, compress.OK},
		{"b.zst.part", true, false, false, 2, 3, 9, compress.Truncated},
		{"c.log", false, false, true, 0, 2, 0, compress.OK},
		{"c.log.part", true, false, false, 0, 2, 1, compress.OK},
		{"d.part.new", false, true, false, 0, 1, 0, compress.OK},
		{"e.gz", false, false, false, 0, 0, 0, compress.Corrupt},
		{"f.gz.part.damaged-2", false, true, false, 1, 1, 0, compress.OK},
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("got\n%+v\nwant\n%+v", got, want)
		}
	}
}

// reports returns the reports on all files in dir, sorted by name.
func reports(t *testing.T, dir string) (list []Report) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		list = append(list, ReportOf(name, compress.Verify(f, compress.Options{Name: strings.TrimSuffix(name, partSuffix)})))
		return f.Close()
	}))
	return list
}
