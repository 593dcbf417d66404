package file

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// kill copies the folder from, as a kill at this moment would leave it.
func kill(t *testing.T, from string) (to string) {
	t.Helper()
	to = t.TempDir()
	must(t, os.CopyFS(to, os.DirFS(from)))
	return to
}

// membersOf returns the number of complete members of a file.
func membersOf(t *testing.T, path string) int64 {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	return compress.Verify(f, compress.Options{}).Members
}

// TestOpenMember: a member stays open over syncs. After a kill, it ends at the
// extent, or without one at the last sync, and the next process continues it.
func TestOpenMember(t *testing.T) {
	for _, ext := range []string{".gz", ".zst"} {
		for _, once := range []bool{true, false} {
			dir := t.TempDir()
			cfg := config(filepath.Join(dir, "all.log"+ext))
			cfg.ExactlyOnce = once
			out := openLog(t, cfg, "")
			w := newWriter(t, out)
			var want strings.Builder
			for i := range 20 {
				fmt.Fprintf(&want, "record %d\n", i)
				w.write(nil, fmt.Sprintf("record %d\n", i))
				w.barrier()
			}
			var extents []engine.Extent
			if once {
				extents = out.Extents(nil)
				if len(extents) != 1 || extents[0].End == "" {
					t.Fatalf("%s: %+v", ext, extents)
				}
			}
			name := cfg.Path
			if once {
				name += partSuffix
			}
			if n := membersOf(t, name); n != 0 {
				t.Errorf("%s: %d members ended at a sync", ext, n)
			}
			w.write(nil, "not in the extent\n")
			w.barrier()
			if !once {
				want.WriteString("not in the extent\n")
			}
			for range 3 { // each process is killed after its first record
				dir = kill(t, dir)
				next := config(filepath.Join(dir, "all.log"+ext))
				next.ExactlyOnce, next.Resume = once, extents
				for i := range next.Resume {
					next.Resume[i].Path = next.Path
				}
				out = openLog(t, next, "")
				w = newWriter(t, out)
				w.write(nil, "next\n")
				w.barrier()
				want.WriteString("next\n")
				if once {
					extents = out.Extents(nil)
				}
			}
			must(t, out.Close(ctx))
			path := filepath.Join(dir, "all.log"+ext)
			if got := text(t, path); got != want.String() {
				t.Errorf("%s, exactly once %t: %q\nwant %q", ext, once, got, want.String())
			}
			if n := membersOf(t, path); n != 1 {
				t.Errorf("%s, exactly once %t: %d members, want 1", ext, once, n)
			}
		}
	}
}

// TestSlowTail: an output that grows by a few lines a sync has the same bytes with
// and without kills.
func TestSlowTail(t *testing.T) {
	var lines []string
	for i := range 900 {
		lines = append(lines, fmt.Sprintf("%d GET /shop/item-%d?ref=%x\n", i, i*i%257, i*7919))
	}
	for format, ext := range map[compress.Format]string{compress.Gzip: ".gz", compress.Zstd: ".zst"} {
		for _, once := range []bool{true, false} {
			m, err := compress.NewMemberWriter(format, 0)
			must(t, err)
			var want []byte
			var out openedLog
			cfg := config(filepath.Join(t.TempDir(), "all.log"+ext))
			cfg.ExactlyOnce, cfg.SyncInterval = once, time.Hour // only barrier syncs
			for i := 0; i < len(lines); i += 10 {
				if i%90 == 0 {
					if i > 0 {
						cfg.Resume = out.Extents(nil)
						w := newWriter(t, out)
						w.write(nil, "lost\n")
						if once {
							w.barrier()
						}
						cfg.Path = filepath.Join(kill(t, filepath.Dir(cfg.Path)), filepath.Base(cfg.Path))
					}
					for k := range cfg.Resume {
						cfg.Resume[k].Path = cfg.Path
					}
					out = openLog(t, cfg, "")
				}
				w, text := newWriter(t, out), strings.Join(lines[i:i+10], "")
				w.write(nil, text)
				w.barrier()
				want = m.Flush(m.Append(want, []byte(text)))
			}
			must(t, out.Close(ctx))
			if got := content(t, cfg.Path); got != string(want)+m.End() {
				t.Errorf("%s, exactly once %t: %d bytes, want %d and the end", ext, once, len(got), len(want))
			}
		}
	}
}

// TestDamagedExtent: an end that is not hexadecimal is an error, and the output is
// not changed.
func TestDamagedExtent(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"a.part": "text\nmore\n"})
	m := engine.Extent{Path: filepath.Join(dir, "a"), Length: 5, End: "0x"}
	cfg := config(m.Path)
	cfg.ExactlyOnce, cfg.Resume = true, []engine.Extent{m}
	out, err := makeLog(cfg)
	must(t, err)
	if err := out.Open(ctx); err == nil || !strings.Contains(err.Error(), m.Path) {
		t.Errorf("Open: %v", err)
	}
	if err := FinishExtent(m); err == nil {
		t.Error("FinishExtent succeeds")
	}
	if got := content(t, m.Path+partSuffix); got != "text\nmore\n" {
		t.Errorf("%q", got)
	}
}

// TestManyMembers: with more outputs than MemberWriters and files, which goroutines
// write at the same time, the output that was idle longest ends its member.
func TestManyMembers(t *testing.T) {
	for _, level := range []string{"zstd:3", "zstd:19"} {
		dir := t.TempDir()
		cfg := config(filepath.Join(dir, "{source.relpath}.zst"))
		must(t, cfg.Compress.UnmarshalText([]byte(level)))
		cfg.OpenFiles = 16
		out := openLog(t, cfg, "")
		s := inner(out)
		most := compress.MemberWriters(compress.Zstd, s.level, writerMemory)
		var work sync.WaitGroup
		for g := range 4 {
			work.Go(func() {
				w := newWriter(t, out)
				for round := range 3 {
					for i := g; i < 3*most; i += 4 {
						w.write(laneOfRel(fmt.Sprint(i)), fmt.Sprintf("round %d of %d\n", round, i))
					}
					if round > 0 {
						w.barrier()
					}
				}
			})
		}
		work.Wait()
		s.mu.Lock()
		if n := len(s.writers.open) + len(s.writers.spare); n > most || len(s.writers.open) == 0 {
			t.Errorf("%s: %d MemberWriters, of which %d are open, want %d", level, n, len(s.writers.open), most)
		}
		s.mu.Unlock()
		must(t, out.Close(ctx))
		for i := range 3 * most {
			want := fmt.Sprintf("round 0 of %[1]d\nround 1 of %[1]d\nround 2 of %[1]d\n", i)
			if got := text(t, filepath.Join(dir, fmt.Sprint(i)+".zst"+partSuffix)); got != want {
				t.Errorf("%s: %d: %q, want %q", level, i, got, want)
			}
		}
	}
}

// TestApartLog: records that are apart are separate members, and a long
// record in pieces is one.
func TestApartLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.gz")
	out := openLog(t, config(path), "")
	w := newWriter(t, out)
	batch := func(piece engine.Piece, records ...string) {
		b := &engine.Batch{Piece: piece, Lane: laneOfRel("a")}
		b.Out.Apart = true
		for _, r := range records {
			b.Out.Recs = append(b.Out.Recs, engine.OutRec{Span: engine.Span{Off: uint32(len(b.Out.Bytes)), Len: uint32(len(r))}})
			b.Out.Bytes = append(b.Out.Bytes, r...)
		}
		w.wg.Add(1)
		must(t, out.Submit(ctx, b, engine.NewTicket(&b.Out, func(engine.Result) { w.wg.Done() })))
		w.barrier()
	}
	batch(engine.Whole, "one\r\n", "\r\n", "two\r\n")
	batch(engine.First, "lo")
	batch(engine.Middle, "n")
	batch(engine.Last, "g\r\n")
	batch(engine.Whole, "three\r\n")
	must(t, out.Close(ctx))
	if got := text(t, path); got != "one\r\n\r\ntwo\r\nlong\r\nthree\r\n" {
		t.Errorf("%q", got)
	}
	if n := membersOf(t, path); n != 4 {
		t.Errorf("%d members, want 4", n)
	}
}

// TestFullAtClose: Close tries again to end an open member, but not for ever. What
// it could not end, the next process ends.
func TestFullAtClose(t *testing.T) {
	for _, ext := range []string{".gz", ".zst"} {
		for _, c := range []struct {
			faults string
			lasts  bool
		}{{"file.after_write=enospc@2..4", false}, {"file.before_sync=eio@2..4", false}, {"file.before_write=enospc@2..,file.before_mend=enospc", true}} {
			path := filepath.Join(t.TempDir(), "all.log"+ext)
			out := openLog(t, config(path), c.faults)
			w := newWriter(t, out)
			w.write(nil, "record\n")
			w.barrier()
			if err := out.Close(ctx); (err != nil) != c.lasts {
				t.Errorf("%s, %s: Close: %v", ext, c.faults, err)
			}
			if c.lasts {
				must(t, openLog(t, config(path), "").Close(ctx))
			}
			if got := text(t, path); got != "record\n" || membersOf(t, path) != 1 {
				t.Errorf("%s, %s: %q, %d members", ext, c.faults, got, membersOf(t, path))
			}
		}
	}
}
