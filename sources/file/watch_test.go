package file

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/testkit"
	"github.com/urlfold/urlfold/pipeline/engine"
)

func put(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func batch(include ...string) Settings {
	s := quick(include...)
	s.Mode = modeBatch
	return s
}

// TestNothingThere checks that patterns that match no files end a run in mode
// batch, or are logged if that is permitted. Files that have disappeared since
// an earlier run are not a mistake.
func TestNothingThere(t *testing.T) {
	t.Parallel()
	f := func(dir, data string, want bool) {
		t.Helper()
		for _, allowed := range []bool{true, false} {
			set := batch(filepath.Join(dir, "*.log"))
			set.AllowEmpty = allowed
			var logged testkit.Log
			d := start(t, data, set, &shelf{}, func(c *WatchConfig) {
				c.Logger = slog.New(slog.NewTextHandler(&logged, nil))
			})
			err := d.result()
			if got := strings.Contains(logged.String(), "no files match the include patterns"); got != (want && allowed) {
				t.Errorf("warning logged: %v\n%s", got, logged.String())
			}
			var empty *NoMatchError
			if got := errors.As(err, &empty); got != (want && !allowed) || !got && err != nil {
				t.Errorf("allow_empty %v: run ended with %v", allowed, err)
			}
		}
	}
	dir, data := t.TempDir(), t.TempDir()
	f(dir, data, true)
	put(t, filepath.Join(dir, "empty.log"), "")
	f(dir, data, false)
	put(t, filepath.Join(dir, "a.log"), "a\n")
	f(dir, data, false)
	for _, name := range []string{"a.log", "empty.log"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	f(dir, data, false)
}

// TestBatch checks that everything is read once, that a second run finds
// nothing to do, and that a third run reads only what was added.
func TestBatch(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), t.TempDir()
	a, b, c := numbered("a", 0, 500), numbered("b", 0, 5000), numbered("c", 0, 10)
	put(t, filepath.Join(dir, "a.log"), strings.Join(a, ""))
	put(t, filepath.Join(dir, "sub/b.log.gz"), gz(t, strings.Join(b, "")))
	put(t, filepath.Join(dir, "empty.log"), "")
	put(t, filepath.Join(dir, "no.tmp"), "no\n")
	set := batch(dir)
	set.Exclude = []string{"**/*.tmp"}
	sink := &shelf{}
	d := start(t, data, set, sink, nil)
	d.wait()
	sink.check(t, join(a, b))
	if len(d.reports) != 3 {
		t.Errorf("%d reports", len(d.reports))
	}
	d = start(t, data, set, sink, nil)
	d.wait()
	sink.check(t, join(a, b))
	put(t, filepath.Join(dir, "c.log"), strings.TrimSuffix(strings.Join(c, ""), "\n"))
	d = start(t, data, set, sink, nil)
	d.wait()
	c[9] = strings.TrimSuffix(c[9], "\n")
	sink.check(t, join(a, b, c))
}

// TestTail checks that appended data is read, that half a line waits for its
// other half, even across a restart, and that line numbers continue.
func TestTail(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "a.log")
	sink := &shelf{}
	put(t, path, "one\ntwo\nhal")
	d := start(t, data, quick(dir+"/*.log"), sink, nil)
	until(t, "two lines", func() bool { return sink.count() == 2 })
	d.end()
	d = start(t, data, quick(dir+"/*.log"), sink, nil)
	put(t, path, "f\nfour\nfi")
	until(t, "four lines", func() bool { return sink.count() == 4 })
	put(t, path, "ve\n")
	until(t, "five lines", func() bool { return sink.count() == 5 })
	d.end()
	sink.check(t, []string{"one\n", "two\n", "half\n", "four\n", "five\n"})
	entries := d.w.cfg.Store.Entries("file")
	if len(entries) != 1 || entries[0].Line != 6 || entries[0].Offset != 23 {
		t.Errorf("%+v", entries)
	}
}

// kinds returns the verdicts of the reports by base name.
func (d *daemon) kinds() map[string]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	m := map[string]string{}
	for _, r := range d.reports {
		if r.Known == "" {
			m[filepath.Base(r.Path)] += r.Verdict.Kind.String()
		}
	}
	return m
}

// known returns the verdicts of earlier runs by base name.
func (d *daemon) known() map[string]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	m := map[string]string{}
	for _, r := range d.reports {
		if r.Known != "" {
			m[filepath.Base(r.Path)] += r.Known
		}
	}
	return m
}

// TestDamaged checks that the whole records before the damage are emitted once,
// that the next file is read, and that a restart does not read a damaged file
// again unless it has changed, but reports its known verdict.
func TestDamaged(t *testing.T) {
	t.Parallel()
	lines := numbered("l", 0, 2000)
	text := strings.Join(lines, "")
	packed := gz(t, text)
	crc := []byte(packed)
	crc[len(crc)-6] ^= 1
	f := func(name, content, kind string, partial bool) {
		t.Helper()
		for _, mode := range []string{modeBatch, modeTail} {
			dir, data := t.TempDir(), t.TempDir()
			put(t, filepath.Join(dir, "1-"+name), content)
			put(t, filepath.Join(dir, "2-next.log"), "next\n")
			set := quick(dir)
			set.Mode = mode
			sink := &shelf{}
			d := start(t, data, set, sink, nil)
			if mode == modeTail {
				until(t, "a verdict on "+name, func() bool { return d.kinds()["1-"+name] != "" && sink.count() > 0 })
				d.end()
			} else {
				d.wait()
			}
			if got := d.kinds()["1-"+name]; got != kind {
				t.Errorf("%s, %s: verdict %q", name, mode, got)
			}
			n := sink.count() - 1
			if !partial && n != len(lines) || partial && (n == 0 || n >= len(lines)) {
				t.Errorf("%s, %s: %d lines of %d", name, mode, n, len(lines))
			}
			sink.check(t, append(lines[:n:n], "next\n"))
			if s := d.w.Stats(); s.Damaged != 1 && kind != "trailing-garbage" {
				t.Errorf("%s, %s: %+v", name, mode, s)
			}
			damage := strings.TrimPrefix(kind, "trailing-garbage")
			wantDamage(t, d.w, "1-"+name, damage)
			set.Mode = modeBatch
			d = start(t, data, set, sink, nil)
			d.wait()
			wantDamage(t, d.w, "1-"+name, damage) // as found by the run before
			if sink.count() != n+1 || d.kinds()["1-"+name] != "" {
				t.Errorf("%s, %s: file was read again", name, mode)
			}
			if got := d.known()["1-"+name]; !strings.HasPrefix(got, kind) && kind != "trailing-garbage" || got != "" && kind == "trailing-garbage" {
				t.Errorf("%s, %s: known verdict %q", name, mode, got)
			}
			if name == "cut.gz" {
				put(t, filepath.Join(dir, "1-"+name), packed[len(content):])
				d = start(t, data, set, sink, nil)
				d.wait()
				sink.check(t, append(lines[:len(lines):len(lines)], "next\n"))
				if got := d.known(); len(got) > 0 {
					t.Errorf("%s is intact now, but its known verdict is %v", name, got)
				}
			}
		}
	}
	f("cut.gz", packed[:len(packed)/2], "truncated", true)
	f("crc.gz", string(crc), "bad-crc", false)
	f("more.gz", packed+"garbage", "corrupt", false)
	f("padded.gz", packed+strings.Repeat("\x00", 512), "trailing-garbage", false)
	f("flip.gz", packed[:len(packed)/2]+strings.Repeat("\xff", 100)+packed[len(packed)/2+100:], "corrupt", true)
}

// TestSkipAndStop checks that skip-file emits nothing of a damaged file, and
// that stop ends the run.
func TestSkipAndStop(t *testing.T) {
	t.Parallel()
	lines := numbered("l", 0, 2000)
	packed := gz(t, strings.Join(lines, ""))
	for _, mode := range []string{damageSkip, damageStop} {
		dir := t.TempDir()
		put(t, filepath.Join(dir, "a.gz"), packed[:len(packed)/2])
		put(t, filepath.Join(dir, "b.gz"), packed)
		set := batch(dir)
		set.OnDamage = mode
		set.Readers = 1
		sink := &shelf{}
		d := start(t, t.TempDir(), set, sink, nil)
		if mode == damageSkip {
			d.wait()
			sink.check(t, lines)
			if k := d.kinds(); k["a.gz"] != "truncated" || k["b.gz"] != "ok" {
				t.Errorf("%v", k)
			}
			continue
		}
		if err := <-d.done; err == nil || !strings.Contains(err.Error(), "truncated") {
			t.Errorf("stop: %v", err)
		}
		d.stop()
		if err := d.store.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestOnFinish checks that files are moved or deleted once they are durable,
// that damaged files and, in mode tail, live files are kept, and that moving
// never overwrites a file.
func TestOnFinish(t *testing.T) {
	t.Parallel()
	lines := numbered("l", 0, 2000)
	packed := gz(t, strings.Join(lines, ""))
	exists := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}
	for _, finish := range []OnFinish{{word: deleteFile}, {MoveTo: filepath.Join(t.TempDir(), "done")}} {
		dir, data := t.TempDir(), t.TempDir()
		put(t, filepath.Join(dir, "sub/a.gz"), packed)
		put(t, filepath.Join(dir, "sub/b.log"), "b\n")
		put(t, filepath.Join(dir, "sub/bad.gz"), packed[:len(packed)/2])
		put(t, filepath.Join(dir, "sub/more.gz"), gz(t, "c\n")+"what is this\n")
		moved := filepath.Join(finish.MoveTo, "sub/b.log")
		if finish.MoveTo != "" {
			put(t, moved, "taken\n")
		}
		set := batch(dir + "/**/*")
		set.OnFinish = finish
		d := start(t, data, set, &shelf{}, nil)
		d.wait()
		for name, kept := range map[string]bool{"a.gz": false, "b.log": false, "bad.gz": true, "more.gz": true} {
			if exists(filepath.Join(dir, "sub", name)) != kept {
				t.Errorf("%v: %s exists: %v", finish, name, !kept)
			}
		}
		if finish.MoveTo == "" {
			continue
		}
		got, err := os.ReadFile(filepath.Join(finish.MoveTo, "sub/b.1.log"))
		was, err2 := os.ReadFile(moved)
		if string(got) != "b\n" || string(was) != "taken\n" || err != nil || err2 != nil || !exists(filepath.Join(finish.MoveTo, "sub/a.gz")) {
			t.Errorf("moved: %q, %q, %v, %v", got, was, err, err2)
		}
	}
	dir := t.TempDir()
	put(t, filepath.Join(dir, "live.log"), "live\n")
	set := quick(dir)
	set.OnFinish = OnFinish{word: deleteFile}
	d := start(t, t.TempDir(), set, &shelf{}, func(c *WatchConfig) { c.UntilEOF = true })
	d.wait()
	if !exists(filepath.Join(dir, "live.log")) {
		t.Error("a live file was deleted")
	}
}

// TestSameTextAgain checks that a file created after another one with the same
// text was removed is a separate file and is read: a copy is made while its
// original exists.
func TestSameTextAgain(t *testing.T) {
	t.Parallel()
	text := strings.Join(numbered("l", 0, 20), "")
	for _, content := range []string{text, gz(t, text)} {
		for _, finish := range []OnFinish{{word: deleteFile}, {MoveTo: t.TempDir()}} {
			dir, sink := t.TempDir(), &shelf{}
			set := batch(dir)
			set.OnFinish = finish
			data := t.TempDir()
			for i, name := range []string{"a.log", "b.log", "b.log"} { // one run for each
				put(t, filepath.Join(dir, name), content)
				start(t, data, set, sink, nil).wait()
				if n := sink.count(); n != 20*(i+1) {
					t.Errorf("%v: %d lines after file %d, want %d", finish, n, i+1, 20*(i+1))
				}
				if names, err := os.ReadDir(dir); len(names) > 0 || err != nil {
					t.Errorf("%v: %d files remain, %v", finish, len(names), err)
				}
			}
		}
	}
}

// TestSameTextBeside checks that files with the same text are read once each,
// even if on_finish removes one while another is being examined.
func TestSameTextBeside(t *testing.T) {
	t.Parallel()
	text := strings.Join(numbered("l", 0, 30), "")
	for _, finish := range []OnFinish{{word: deleteFile}, {MoveTo: t.TempDir()}} {
		dir, sink := t.TempDir(), &shelf{}
		put(t, filepath.Join(dir, "c.log"), text)
		put(t, filepath.Join(dir, "b.log"), text)
		put(t, filepath.Join(dir, "a.gz"), gz(t, text))
		put(t, filepath.Join(dir, "d.gz"), gz(t, text)+gz(t, text))
		set := batch(dir)
		set.OnFinish = finish
		start(t, t.TempDir(), set, sink, nil).wait()
		if n := sink.count(); n != 150 {
			t.Errorf("%v: %d lines, want 150", finish, n)
		}
	}
}

// TestSameTextLater checks the same, after a while, for files that somebody
// else removes.
func TestSameTextLater(t *testing.T) {
	t.Parallel()
	dir, sink := t.TempDir(), &shelf{}
	text := strings.Join(numbered("l", 0, 20), "")
	d := start(t, t.TempDir(), quick(dir), sink, nil)
	for i, name := range []string{"a.log", "b.log", "b.log"} {
		path := filepath.Join(dir, name)
		put(t, path, text)
		until(t, "the lines", func() bool { return sink.count() == 20*(i+1) })
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		until(t, "the end of the file", func() bool { return d.w.Stats().Done == i+1 })
		time.Sleep(2 * d.w.cfg.RotateWait)
	}
	d.end()
}

// TestMovedByItsName checks that a rotated file is moved under its current
// name.
func TestMovedByItsName(t *testing.T) {
	t.Parallel()
	dir, done := t.TempDir(), t.TempDir()
	set := quick(dir)
	set.OnFinish = OnFinish{MoveTo: done}
	sink := &shelf{}
	path := filepath.Join(dir, "sub", "a.log")
	put(t, path, "1\n")
	d := start(t, t.TempDir(), set, sink, nil)
	until(t, "the line", func() bool { return sink.count() == 1 })
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(done, "sub", "a.log.1")
	until(t, "the file to be moved", func() bool {
		fi, err := os.Stat(moved)
		return err == nil && fi.Size() > 0
	})
	d.end()
}

// TestFinishedAtOnce finishes lanes before the reader that ended them does
// anything else.
func TestFinishedAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 20 {
		put(t, filepath.Join(dir, fmt.Sprint(i, ".log")), "a\n")
	}
	set := batch(dir)
	set.OnFinish = OnFinish{MoveTo: t.TempDir()}
	d := start(t, t.TempDir(), set, &shelf{eager: true}, nil)
	d.wait()
	if s := d.w.Stats(); s.Done != 20 || s.Open != 0 || len(d.reports) != 20 {
		t.Errorf("%d reports, %+v", len(d.reports), s)
	}
	if names, err := os.ReadDir(set.OnFinish.MoveTo); len(names) != 20 || err != nil {
		t.Errorf("%d files moved, %v", len(names), err)
	}
}

// TestRotatedBefore checks that a file rotated while a process ran is still a
// rotated file for the next process, which finishes it.
func TestRotatedBefore(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "a.log")
	put(t, path, "a\n")
	set := quick(path + "*")
	set.RotateWait = time.Hour
	sink := &shelf{}
	d := start(t, data, set, sink, nil)
	until(t, "the line", func() bool { return sink.count() == 1 })
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	put(t, path, "b\n")
	until(t, "the other line", func() bool { return sink.count() == 2 })
	d.end()
	set.RotateWait, set.OnFinish = 10*time.Millisecond, OnFinish{word: deleteFile}
	d = start(t, data, set, sink, nil)
	until(t, "the rotated file to be deleted", func() bool {
		_, err := os.Stat(path + ".1")
		return os.IsNotExist(err)
	})
	until(t, "the result to be stored", func() bool { return d.w.Stats().Done == 1 })
	d.end()
	if _, err := os.Stat(path); err != nil {
		t.Error("a live file was deleted")
	}
}

// TestFinishedLater ends a process after it has stored that a file is done and
// before it deletes the file. The next process deletes it.
func TestFinishedLater(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "a.log")
	put(t, path, "a\n")
	set := batch(path)
	d := start(t, data, set, &shelf{}, nil)
	d.wait()
	store, err := checkpoint.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	entries := store.Entries("file")
	entries[0].Finishing = true
	if err := store.Save(checkpoint.Update{Source: "file", Entries: entries}); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	set.OnFinish = OnFinish{word: deleteFile}
	d = start(t, data, set, &shelf{}, nil)
	d.wait()
	if _, err := os.Stat(path); err == nil {
		t.Error("the file was not deleted")
	}
}

// TestSameBeginning checks that files with the same beginning are separate
// files, and that a reused inode is a new file.
func TestSameBeginning(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), t.TempDir()
	head := strings.Repeat("# the same header in all of them\n", 50)
	sink := &shelf{}
	set := quick(dir + "/*.log")
	d := start(t, data, set, sink, nil)
	var want []string
	for i := range 60 {
		lines := numbered(fmt.Sprintf("f%02d", i), 0, 20)
		put(t, filepath.Join(dir, fmt.Sprintf("f%02d.log", i)), head+strings.Join(lines, ""))
		want = append(want, lines...)
	}
	seen := func() int {
		sink.mu.Lock()
		defer sink.mu.Unlock()
		n := 0
		for _, l := range sink.lines {
			if l[0] == 'f' {
				n++
			}
		}
		return n
	}
	until(t, "all files", func() bool { return seen() >= len(want) })
	for i := range 100 { // one after another, all with the inode of the first
		path := filepath.Join(dir, "again.log")
		line := fmt.Sprintf("f again %d\n", i)
		put(t, path, head[:33*(i%3)]+line)
		want = append(want, line)
		until(t, "a file of its own", func() bool { return seen() >= len(want) })
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	d.end()
	sink.mu.Lock()
	sink.lines = slices.DeleteFunc(sink.lines, func(l string) bool { return l[0] == '#' })
	sink.mu.Unlock()
	sink.check(t, want)
}

// TestStartEnd checks that data from before the first start is skipped, but not
// data added later, even while no process runs.
func TestStartEnd(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), t.TempDir()
	a, b := filepath.Join(dir, "a.log"), filepath.Join(dir, "b.log")
	put(t, a, "old\nhal")
	set := quick(dir)
	set.Start = startEnd
	sink := &shelf{}
	d := start(t, data, set, sink, nil)
	until(t, "the first scan", func() bool { return len(d.store.Entries("file")) == 1 })
	d.end()
	put(t, a, "f\nnew\n")
	put(t, b, "b\n")
	d = start(t, data, set, sink, nil)
	until(t, "three lines", func() bool { return sink.count() >= 3 })
	d.end()
	sink.check(t, []string{"half\n", "new\n", "b\n"})
}

// TestHeader checks that a lane that begins in the middle of a text has its
// header, and that no line is emitted in two pieces.
func TestHeader(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), t.TempDir()
	set := quick(dir)
	for _, name := range []string{"a.csv", "b.csv.gz"} {
		text := "name,url\n" + strings.Repeat("1,2\n", 3000)
		if strings.HasSuffix(name, ".gz") {
			text = gz(t, text)
		}
		put(t, filepath.Join(dir, name), text)
	}
	framing := func(c *WatchConfig) { c.Framing = lines{head: true} }
	sink := &shelf{}
	d := start(t, data, set, sink, framing)
	until(t, "both files", func() bool { return sink.count() == 6002 })
	d.end()
	put(t, filepath.Join(dir, "a.csv"), "3,4\n")
	put(t, filepath.Join(dir, "b.csv.gz"), gz(t, "5,6\n"))
	heads := map[string]string{}
	sink.onBatch = func(b *engine.Batch) { heads[filepath.Base(b.Lane.Name())] = string(b.Lane.Head()) }
	d = start(t, data, set, sink, framing)
	until(t, "the added data", func() bool { return sink.count() == 6004 })
	d.end()
	if heads["a.csv"] != "name,url\n" || heads["b.csv.gz"] != "name,url\n" {
		t.Errorf("%q", heads)
	}
}

// TestLongRecord checks that a record longer than the limit is emitted in
// pieces, and that a crash within it neither loses nor duplicates a byte.
func TestLongRecord(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), t.TempDir()
	text := "before\n" + strings.Repeat("x", 300<<10) + "\nafter\n"
	put(t, filepath.Join(dir, "a.log"), text)
	sink := &shelf{exact: true}
	small := func(c *WatchConfig) { c.MaxRecord = 8 << 10 }
	for limit := range 6 {
		hit := make(chan struct{}, 1)
		sink.full = func(n int) {
			if n >= 8*limit+1 {
				select {
				case hit <- struct{}{}:
				default:
				}
			}
		}
		d := start(t, data, batch(dir), sink, small)
		select {
		case <-hit:
			d.kill()
		case err := <-d.done:
			d.done <- err
			d.wait()
		}
	}
	sink.full = nil
	d := start(t, data, batch(dir), sink, small)
	d.wait()
	if got := strings.Join(sink.lines, ""); got != text {
		t.Errorf("%d bytes of %d", len(got), len(text))
	}
}

// TestUnreadableForNow checks that an unreadable file is reported, does not
// keep others from being read, and is read as soon as possible.
func TestUnreadableForNow(t *testing.T) {
	t.Parallel()
	if !testkit.AsNobody(t) {
		return
	}
	dir, data := t.TempDir(), t.TempDir()
	put(t, filepath.Join(dir, "b.log"), "b\n")
	path := filepath.Join(dir, "a.log")
	put(t, path, "a\n")
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	sink := &shelf{}
	d := start(t, data, quick(dir), sink, nil)
	until(t, "the file to be reported", func() bool { return d.w.Health() != nil && sink.count() == 1 })
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	until(t, "the file to be read", func() bool { return d.w.Health() == nil && sink.count() == 2 })
	d.end()
}

// TestHiddenFolder checks that files in a folder that is temporarily
// inaccessible do not count as gone: the folder is reported, and the files
// continue at their positions.
func TestHiddenFolder(t *testing.T) {
	t.Parallel()
	if !testkit.AsNobody(t) {
		return
	}
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.log"), filepath.Join(dir, "sub", "b.log")
	put(t, a, "1\n")
	put(t, b, "1\n")
	sink := &shelf{}
	set := quick(dir)
	set.IdleClose = 10 * time.Millisecond
	d := start(t, t.TempDir(), set, sink, nil)
	until(t, "the first lines", func() bool { return sink.count() == 2 && d.w.Stats().Descriptors == 0 })
	for n, hidden := range []string{dir, filepath.Dir(b)} {
		for _, mode := range []os.FileMode{0, 0o444} { // the folder is unreadable, or its files are inaccessible
			if err := os.Chmod(hidden, mode); err != nil {
				t.Fatal(err)
			}
			until(t, "the folder to be reported", func() bool { return d.w.Health() != nil })
			time.Sleep(2 * set.RotateWait)
			if s := d.w.Stats(); s.Done > 0 || s.Open != 2 || s.Unreadable == 0 {
				t.Errorf("%+v", s)
			}
			if err := os.Chmod(hidden, 0o755); err != nil {
				t.Fatal(err)
			}
			until(t, "the source to be healthy again", func() bool { return d.w.Health() == nil })
		}
		put(t, a, "2\n")
		put(t, b, "2\n")
		until(t, "the new lines", func() bool { return sink.count() == 2*(n+2) })
	}
	d.end()
}

// TestListFails checks that a folder that cannot be listed for a while, although its files
// can be accessed again, does not end them.
func TestListFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.log")
	put(t, path, "1\n")
	sink, set := &shelf{}, quick(dir)
	set.IdleClose = 10 * time.Millisecond
	var fails atomic.Bool
	d := startAt(t, t.TempDir(), set, sink, func(point string) error {
		if point == "source.list" && fails.Load() {
			return syscall.EIO
		}
		return nil
	})
	for n := range 2 {
		until(t, "the lines", func() bool { return sink.count() == n+1 && (n > 0 || d.w.Stats().Descriptors == 0) })
		fails.Store(true)
		until(t, "the folder to be reported", func() bool { return d.w.Health() != nil })
		time.Sleep(2 * set.RotateWait)
		if s := d.w.Stats(); s.Done > 0 || s.Open != 1 {
			t.Errorf("round %d: %+v", n, s)
		}
		fails.Store(false)
		until(t, "the source to be healthy again", func() bool { return d.w.Health() == nil })
		put(t, path, "2\n")
	}
	until(t, "the last line", func() bool { return sink.count() == 3 })
	d.end()
}

// TestHiddenInBatch checks that a run that ends with its input reports a folder
// that it could not read.
func TestHiddenInBatch(t *testing.T) {
	t.Parallel()
	if !testkit.AsNobody(t) {
		return
	}
	dir := t.TempDir()
	put(t, filepath.Join(dir, "sub", "a.log"), "1\n")
	if err := os.Chmod(filepath.Join(dir, "sub"), 0); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Chmod(filepath.Join(dir, "sub"), 0o755) }()
	for _, include := range []string{filepath.Join(dir, "sub"), filepath.Join(dir, "sub", "*.log"), filepath.Join(dir, "sub", "a.log")} {
		d := start(t, t.TempDir(), batch(include), &shelf{}, nil)
		d.wait()
		if len(d.reports) != 1 || d.reports[0].Verdict.Kind != compress.Unreadable {
			t.Errorf("%s: %+v", include, d.reports)
		}
	}
}

// TestGrowingArchive checks that a compressed file that is still being written
// is read further as it grows, with every line emitted once.
func TestGrowingArchive(t *testing.T) {
	t.Parallel()
	lines := noisy("g", 6000)
	packed := gz(t, strings.Join(lines, ""))
	dir := t.TempDir()
	sink := &shelf{}
	set := quick(dir)
	set.DamageAfter = time.Minute
	d := start(t, t.TempDir(), set, sink, nil)
	path := filepath.Join(dir, "a.gz")
	for i := range 8 {
		before := sink.count()
		put(t, path, packed[i*len(packed)/8:(i+1)*len(packed)/8])
		until(t, "more lines", func() bool { return sink.count() > before })
	}
	until(t, "all lines", func() bool { return sink.count() == len(lines) })
	d.end()
	sink.check(t, lines)
}

// TestIDs checks that the id of a lane survives renaming and compression of its
// file and a restart of the daemon.
func TestIDs(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "a.log")
	sink := &shelf{}
	set := quick(dir + "/a.log*")
	put(t, path, strings.Join(numbered("a", 0, 100), ""))
	d := start(t, data, set, sink, nil)
	until(t, "the first lines", func() bool { return sink.count() == 100 })
	d.end()
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	put(t, path+".1", "more\n")
	d = start(t, data, set, sink, nil)
	until(t, "one more", func() bool { return sink.count() == 101 })
	d.end()
	text, err := os.ReadFile(path + ".1")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path + ".1"); err != nil {
		t.Fatal(err)
	}
	put(t, path+".2.gz", gz(t, string(text)+"last\n"))
	d = start(t, data, set, sink, nil)
	until(t, "the last line", func() bool { return sink.count() == 102 })
	d.end()
	if ids := slices.Compact(slices.Sorted(slices.Values(sink.ids))); len(ids) != 1 {
		t.Errorf("ids %v", ids)
	}
}

// TestManyFiles checks that no more files are open than allowed, that reading
// continues in files that were closed, and that nothing stays open.
func TestManyFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	set := quick(dir + "/**/*.log")
	set.MaxOpenFiles, set.Readers = 10, 2
	set.IdleClose = 20 * time.Millisecond
	sink := &shelf{}
	d := start(t, t.TempDir(), set, sink, nil)
	var want []string
	most := 0
	for round := range 3 {
		for i := range 100 {
			lines := numbered(fmt.Sprint("f", i), round*5, 5)
			want = append(want, lines...)
			put(t, filepath.Join(dir, fmt.Sprint(i%7), fmt.Sprint(i, ".log")), strings.Join(lines, ""))
			most = max(most, d.w.Stats().Descriptors)
		}
		until(t, "a round", func() bool { return sink.count() == len(want) })
	}
	until(t, "idle files to be closed", func() bool { return d.w.Stats().Descriptors == 0 })
	if s := d.w.Stats(); most > set.MaxOpenFiles+set.Readers || s.Open != 100 || s.LagBytes != 0 {
		t.Errorf("at most %d open at a time; now %d open, lag %d", most, s.Open, s.LagBytes)
	}
	d.end()
	sink.check(t, want)
}

// TestKeptOriginal checks that of a file and its compressed form next to it
// only one is read, but both if only the names match.
func TestKeptOriginal(t *testing.T) {
	t.Parallel()
	lines, others := numbered("l", 0, 500), numbered("o", 0, 500)
	dir, data := t.TempDir(), t.TempDir()
	put(t, filepath.Join(dir, "a.log"), strings.Join(lines, ""))
	put(t, filepath.Join(dir, "a.log.gz"), gz(t, strings.Join(lines, "")))
	put(t, filepath.Join(dir, "b.log"), "b\n")
	put(t, filepath.Join(dir, "b.log.gz"), gz(t, strings.Join(others, "")))
	set := batch(dir)
	set.RotateWait = 5 * time.Second // the original must be read first
	for range 2 {
		sink := &shelf{}
		d := start(t, data, set, sink, nil)
		d.wait()
		if sink.count() > 0 {
			sink.check(t, join(lines, others, []string{"b\n"}))
		}
	}
}

// TestGone checks that a file that is deleted while being read is read to its
// end, and that a file truncated without a copy is counted as lost and read
// from its beginning.
func TestGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.log")
	sink := &shelf{}
	d := start(t, t.TempDir(), quick(dir), sink, nil)
	put(t, path, "one\ntwo\nhal")
	until(t, "two lines", func() bool { return sink.count() == 2 })
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	until(t, "the half line", func() bool { return sink.count() == 3 })
	put(t, path, "1\n2\n3 is longer\n")
	until(t, "a new file", func() bool { return sink.count() == 6 })
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	put(t, path, "4\n")
	until(t, "the data after the truncation", func() bool { return sink.count() == 7 })
	until(t, "the end of the old text", func() bool { return d.w.Stats().Done == 2 })
	if s := d.w.Stats(); s.Truncations != 1 {
		t.Errorf("%+v", s)
	}
	d.end()
	sink.check(t, []string{"one\n", "two\n", "hal", "1\n", "2\n", "3 is longer\n", "4\n"})
}

// TestReset checks that a file whose checkpoint is reset is read again.
func TestReset(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), t.TempDir()
	put(t, filepath.Join(dir, "a.log"), "a\n")
	sink := &shelf{}
	for _, want := range []int{1, 1, 2} {
		if want == 2 {
			if n, err := checkpoint.Reset(data, "**/a.log"); n != 1 || err != nil {
				t.Errorf("%d, %v", n, err)
			}
		}
		d := start(t, data, batch(dir), sink, nil)
		d.wait()
		if n := sink.count(); n != want {
			t.Errorf("%d lines, want %d", n, want)
		}
	}
}
