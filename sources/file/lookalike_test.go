package file

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// alike returns lines that have the same length and the same first and last KiB
// for every name.
func alike(name string) (all []string) {
	frame := func(place string) {
		for i := range 40 {
			all = append(all, fmt.Sprintf("%s|%04d|the same in all of them\n", place, i))
		}
	}
	frame("head")
	for i := range 200 {
		all = append(all, fmt.Sprintf("%-8s|%04d|%s\n", name, i, strings.Repeat("y", 40)))
	}
	frame("tail")
	return all
}

// rewrite overwrites a file in place.
func rewrite(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestLookalike checks that a file with the length and the first and last KiB
// of a known text counts as another text if its middle differs, however it took
// the place of the first file, and as the same text otherwise.
func TestLookalike(t *testing.T) {
	t.Parallel()
	old, fresh := alike("old"), alike("new")
	oldText, freshText := strings.Join(old, ""), strings.Join(fresh, "")
	restore := func(path string, change func()) {
		fi, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		change()
		if err := os.Chtimes(path, fi.ModTime(), fi.ModTime()); err != nil {
			t.Fatal(err)
		}
	}
	remove := func(path string) {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	cases := map[string]struct {
		change func(path string)
		again  []string // lines emitted after the change
	}{
		"rewritten":                       {func(path string) { rewrite(t, path, freshText) }, fresh},
		"rewritten, with its old time":    {func(path string) { restore(path, func() { rewrite(t, path, freshText) }) }, fresh},
		"written over with the same text": {func(path string) { rewrite(t, path, oldText) }, nil},
		"touched":                         {func(path string) { _ = os.Chtimes(path, time.Now(), time.Now()) }, nil},
		"mode changed":                    {func(path string) { _ = os.Chmod(path, 0o600) }, nil},
		"replaced by another file": {func(path string) {
			put(t, path+".tmp", freshText)
			if err := os.Rename(path+".tmp", path); err != nil {
				t.Fatal(err)
			}
		}, fresh},
		"replaced by a copy": {func(path string) {
			put(t, path+".tmp", oldText)
			if err := os.Rename(path+".tmp", path); err != nil {
				t.Fatal(err)
			}
		}, nil},
		"gone, and another one came": {func(path string) { put(t, path+".1", freshText); remove(path) }, fresh},
		"gone, and a copy came":      {func(path string) { put(t, path+".1", oldText); remove(path) }, nil},
		"compressed":                 {func(path string) { put(t, path+".gz", gz(t, oldText)); remove(path) }, nil},
		"another one compressed":     {func(path string) { put(t, path+".gz", gz(t, freshText)); remove(path) }, fresh},
	}
	for name, c := range cases {
		for _, mode := range []string{"batch", "restart", "running"} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				dir, data := t.TempDir(), t.TempDir()
				path := filepath.Join(dir, "a.log")
				put(t, path, oldText)
				set := quick(dir + "/a.log*")
				set.Exclude = []string{"**/*.tmp"}
				if mode == "batch" {
					set.Mode = modeBatch
				}
				sink := &shelf{}
				d := start(t, data, set, sink, nil)
				switch mode {
				case "batch":
					d.wait()
				default:
					until(t, "the old text", func() bool { return sink.count() == len(old) })
					until(t, "its position", func() bool {
						e := d.store.Entries("file")
						return len(e) == 1 && e[0].Offset == int64(len(oldText))
					})
				}
				if mode == "restart" {
					d.end()
				}
				c.change(path)
				if mode != "running" {
					d = start(t, data, set, sink, nil)
				}
				want := join(old, c.again)
				if mode == "batch" {
					d.wait()
				} else {
					until(t, "the new text", func() bool { return sink.count() >= len(want) && d.w.Stats().Held == 0 })
					time.Sleep(60 * time.Millisecond) // duplicates would be emitted soon
					d.end()
				}
				sink.checkCount(t, want)
			})
		}
	}
}

// checkCount fails the test unless the lines are want, in any order, with the
// same multiplicities.
func (s *shelf) checkCount(t testing.TB, want []string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	count := map[string]int{}
	for _, l := range want {
		count[l]++
	}
	for _, l := range s.lines {
		count[l]--
	}
	lost, more, first := 0, 0, ""
	for l, n := range count {
		lost += max(0, n)
		more += max(0, -n)
		if n != 0 {
			first = l
		}
	}
	if lost+more > 0 {
		t.Errorf("of %d lines: %d lost, %d too many, including %.40q", len(want), lost, more, first)
	}
}

// TestHashAcrossRestarts checks that the stored hash is that of the text up to
// the position, also when reading began within a gzip member.
func TestHashAcrossRestarts(t *testing.T) {
	t.Parallel()
	lines := noisy("h", 16000)
	text := strings.Join(lines, "")
	for name, content := range map[string]string{"a.log": text, "a.gz": gz(t, text)} {
		dir, data := t.TempDir(), t.TempDir()
		put(t, filepath.Join(dir, name), content)
		set := batch(dir)
		set.RestartPointEvery = 256 << 10
		sink := &shelf{exact: true}
		resumed, over := false, false
		for part := 1; part <= 4 && !over; part++ {
			hit := make(chan struct{}, 1)
			sink.full = func(n int) {
				time.Sleep(time.Millisecond) // allow commits in between
				if n >= part*len(lines)/6 {
					select {
					case hit <- struct{}{}:
					default:
					}
				}
			}
			d := start(t, data, set, sink, nil)
			until(t, "a checkpoint, from where a run can resume", func() bool {
				list := d.store.Entries("file")
				return len(list) > 0 && (list[0].Restart != 0 || list[0].State == checkpoint.Done || name != "a.gz")
			})
			select {
			case <-hit:
				d.kill()
			case err := <-d.done: // this part was stored before the last run was killed
				d.done <- err
				d.wait()
				over = true
			}
			s := d.w.Stats()
			resumed = resumed || s.Reinflated > 0 && s.Reinflated < int64(len(text)/6)
			checkHash(t, data, text)
		}
		sink.full = nil
		start(t, data, set, sink, nil).wait()
		sink.check(t, lines)
		if e := checkHash(t, data, text); e.Offset != int64(len(text)) || e.HashFrom != 0 {
			t.Errorf("%s: position %d, hashed from %d", name, e.Offset, e.HashFrom)
		}
		if !resumed && name == "a.gz" {
			t.Error("no run began within the member")
		}
	}
}

// checkHash fails the test unless the only entry has the hash of its part of
// text.
func checkHash(t *testing.T, data, text string) (e checkpoint.Entry) {
	t.Helper()
	c, _ := checkpoint.List(data)
	if len(c.Entries) != 1 {
		t.Fatalf("%d entries", len(c.Entries))
	}
	e = c.Entries[0]
	h, from := storedHash(&e)
	want := newTextHash()
	_, _ = want.WriteString(text[from:e.Offset])
	if h.Sum64() != want.Sum64() {
		t.Errorf("wrong hash of the bytes %d to %d", from, e.Offset)
	}
	return e
}

// TestOldEntries checks that a text whose entry has no hash continues by head
// and tail, and is hashed from there.
func TestOldEntries(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "a.log")
	first, more := alike("old"), alike("more")
	put(t, path, strings.Join(first, ""))
	sink := &shelf{}
	start(t, data, batch(path), sink, nil).wait()
	store, err := checkpoint.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	entries := store.Entries("file")
	entries[0].Hash, entries[0].HashFrom, entries[0].Changed = "", 0, 0
	if err := store.Save(checkpoint.Update{Source: "file", Entries: entries}); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	start(t, data, batch(path), sink, nil).wait()
	put(t, path, strings.Join(more, ""))
	start(t, data, batch(path), sink, nil).wait()
	sink.checkCount(t, join(first, more))
	text := strings.Join(join(first, more), "")
	if e := checkHash(t, data, text); e.HashFrom != int64(len(text)/2) || e.Offset != int64(len(text)) {
		t.Errorf("hashed from %d to %d of %d", e.HashFrom, e.Offset, len(text))
	}
	rewrite(t, path, strings.Join(join(first, alike("less")), ""))
	start(t, data, batch(path), sink, nil).wait()
	sink.checkCount(t, join(first, more, first, alike("less")))
}

// A gateHandler is a log handler that blocks at one message.
type gateHandler struct {
	slog.Handler
	msg  string
	open <-chan struct{}
}

func (h gateHandler) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == h.msg {
		<-h.open
	}
	return h.Handler.Handle(ctx, r)
}

// TestVerifyingAside checks that while a large file is being verified, a single
// reader still reads other lanes, and nothing of the file is emitted.
func TestVerifyingAside(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "large.log")
	line := strings.Repeat("z", 1<<20-1) + "\n"
	lines := make([]string, 65)
	for i := range lines {
		lines[i] = line
	}
	put(t, path, strings.Join(lines, ""))
	sink := &shelf{}
	start(t, data, batch(dir), sink, nil).wait()
	put(t, path+".tmp", strings.Join(lines, ""))
	if err := os.Rename(path+".tmp", path); err != nil {
		t.Fatal(err)
	}
	set := quick(dir)
	set.Readers = 1
	open := make(chan struct{})
	d := start(t, data, set, sink, func(c *WatchConfig) {
		c.Logger = slog.New(gateHandler{slog.NewTextHandler(io.Discard, nil), "verifying file content", open})
	})
	put(t, filepath.Join(dir, "small.log"), "one\n")
	until(t, "the other lane", func() bool { return sink.count() == len(lines)+1 })
	if s := d.w.Stats(); s.Held != 1 || s.Verified != 0 {
		t.Errorf("%+v", s)
	}
	close(open)
	until(t, "the end of the comparison", func() bool { return d.w.Stats().Held == 0 })
	if s := d.w.Stats(); s.Verified != int64(len(line)*len(lines)) || s.Verifying != 0 {
		t.Errorf("%+v", s)
	}
	d.end()
	sink.checkCount(t, append(lines, "one\n"))
}

// TestLookalikeKilled lets a process detect that a file was overwritten and
// store that, and kills it before anything of the new text is stored. The next
// process must detect it too.
func TestLookalikeKilled(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "a.log")
	old, fresh := alike("old"), alike("new")
	put(t, path, strings.Join(old, ""))
	sink := &shelf{exact: true}
	d := start(t, data, quick(path), sink, nil)
	until(t, "the position", func() bool {
		e := d.store.Entries("file")
		return len(e) == 1 && e[0].Offset == int64(len(strings.Join(old, "")))
	})
	d.end()
	d = start(t, data, quick(path), sink, nil)
	until(t, "the file", func() bool { // Stats may return a result from before the first scan
		d.w.mu.Lock()
		defer d.w.mu.Unlock()
		s := d.w.measure()
		return d.w.scanned && s.Open == 1 && s.Held == 0
	})
	d.life.dead.Store(true) // from now on no position is stored
	rewrite(t, path, strings.Join(fresh, ""))
	until(t, "the other text", func() bool { return d.w.Stats().Lookalikes == 1 && d.w.Stats().Truncations == 1 })
	if err := d.w.progress.save(nil, checkpoint.Update{}); err != nil {
		t.Fatal(err)
	}
	d.kill()
	d = start(t, data, quick(path), sink, nil)
	until(t, "the new text", func() bool { return sink.count() >= len(old)+len(fresh) })
	d.end()
	sink.checkCount(t, join(old, fresh))
}

// TestCopyBesideItsOriginal checks that a file and its compressed copy are read
// once, even if the file is read only after the two could be compared, or is
// still being read then. A compressed file that only begins like the other is
// read.
func TestCopyBesideItsOriginal(t *testing.T) {
	t.Parallel()
	lines, other := noisy("c", 2000), noisy("o", 500)
	for name, c := range map[string]struct {
		wait  time.Duration
		more  []string // in the compressed file, after the first lines of the original
		first int
	}{
		"waiting":            {100 * time.Millisecond, nil, len(lines)},
		"being read":         {0, nil, len(lines)},
		"waiting, other end": {100 * time.Millisecond, other, 1500},
		"being read, other":  {0, other, 1500},
		"being read, longer": {0, other, len(lines)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			copied := join(lines[:c.first], c.more)
			put(t, filepath.Join(dir, "a.log"), strings.Join(lines, ""))
			put(t, filepath.Join(dir, "a.log.gz"), gz(t, strings.Join(copied, "")))
			set := batch(dir)
			set.RotateWait = 20 * time.Millisecond
			sink := &shelf{stall: make(chan struct{}), onBatch: func(*engine.Batch) { time.Sleep(5 * time.Millisecond) }}
			d := start(t, t.TempDir(), set, sink, nil)
			time.Sleep(c.wait)
			close(sink.stall)
			d.wait()
			if c.more == nil {
				sink.check(t, lines)
			} else if got, want := sink.count(), len(lines)+len(copied); got != want {
				t.Errorf("%d lines, want %d", got, want)
			}
		})
	}
}

// TestCopyBeforeTruncation checks that the copy of a file that copytruncate has
// made, but whose original it has not truncated yet, is not read beside it, even
// if nothing of the original was read when the copy was found.
func TestCopyBeforeTruncation(t *testing.T) {
	t.Parallel()
	first, second := numbered("a", 0, 200), numbered("b", 0, 100)
	for _, name := range []string{"a.log.1", "a.log-20261128", filepath.Join("old", "a.log.1")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path, copied := filepath.Join(dir, "a.log"), filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(copied), 0o755); err != nil {
				t.Fatal(err)
			}
			put(t, path, strings.Join(first, ""))
			put(t, copied, strings.Join(first, ""))
			sink := &shelf{}
			d := start(t, t.TempDir(), patient(dir+"/**/a.log*"), sink, nil)
			until(t, "the copy to be compared", func() bool { return sink.count() >= len(first) && d.w.Stats().Held == 1 })
			rewrite(t, path, strings.Join(second, ""))
			until(t, "the second text", func() bool { return sink.count() >= len(first)+len(second) && d.w.Stats().Held == 0 })
			d.end()
			sink.checkCount(t, join(first, second))
		})
	}
}
