package file

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// directives is a Framing of lines in which lines with a '#' are directives.
type directives struct{ lines }

func (directives) Directive(_, block []byte) []byte {
	var last []byte
	for line := range bytes.Lines(block) {
		if line[0] == '#' {
			last = line
		}
	}
	return last
}

// TestDirective checks that every batch has the directive in force at its
// start, also after a restart in mid-file.
func TestDirective(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), t.TempDir()
	set := quick(filepath.Join(dir, "*"))
	text := func(from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&b, "#%d\n", i)
			for range 3000 + i {
				fmt.Fprintf(&b, "%d\n", i)
			}
		}
		return b.String()
	}
	framing := func(c *WatchConfig) { c.Framing = directives{} }
	sink := &shelf{}
	sink.onBatch = func(b *engine.Batch) {
		head := string(b.Head)
		if b.Head == nil {
			head = string(b.Lane.Head())
		}
		if first, _, _ := strings.Cut(string(b.In), "\n"); first[0] != '#' && head != "#"+first+"\n" {
			t.Errorf("offset %d: record %q has the directive %q", b.Off, first, head)
		}
	}
	want := 0
	for round, parts := range [][2]int{{0, 9}, {9, 10}, {10, 17}} {
		more := text(parts[0], parts[1])
		if round > 0 {
			more = fmt.Sprint(parts[0]-1, "\n") + more // belongs to the directive before the restart
		}
		want += strings.Count(more, "\n")
		put(t, filepath.Join(dir, "a.log"), more)
		put(t, filepath.Join(dir, "b.gz"), gz(t, more))
		d := start(t, data, set, sink, framing)
		until(t, "all lines", func() bool { return sink.count() == 2*want })
		d.end()
	}
}

// TestDirectiveInCheckpoint checks that after a kill in mid-file the directive
// comes from the checkpoint. The file now holds another directive, which shows
// that it is not read for it. If the checkpoint has no directive, as written by
// earlier versions, the directive is read from the file.
func TestDirectiveInCheckpoint(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("x\n", 20<<10)
	before := "#old\n" + body + "#new\n" + body
	f := func(name string, edit func(e *checkpoint.Entry), framing Framing, want string) {
		t.Helper()
		dir, data := t.TempDir(), t.TempDir()
		path := filepath.Join(dir, "a.log")
		put(t, path, before)
		set := quick(filepath.Join(dir, "*"))
		sink := &shelf{}
		d := start(t, data, set, sink, func(c *WatchConfig) { c.Framing = directives{} })
		until(t, "a checkpoint of all lines", func() bool {
			e := d.store.Entries("file")
			return len(e) == 1 && e[0].Offset == int64(len(before))
		})
		d.kill()

		store, err := checkpoint.Open(data)
		if err != nil {
			t.Fatal(err)
		}
		e := store.Entries("file")[0]
		if e.Directive != "#new\n" {
			t.Errorf("%s: directive %q in the checkpoint", name, e.Directive)
		}
		edit(&e)
		if err := errors.Join(store.Save(checkpoint.Update{Source: "file", Entries: []checkpoint.Entry{e}}), store.Close()); err != nil {
			t.Fatal(err)
		}
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = file.WriteAt([]byte("#NEW\n"), int64(len("#old\n")+len(body)))
		_, err2 := file.WriteAt([]byte("after\n"), int64(len(before)))
		if err := errors.Join(err, err2, file.Close()); err != nil {
			t.Fatal(err)
		}

		var heads []string
		sink = &shelf{onBatch: func(b *engine.Batch) {
			head := b.Head
			if head == nil {
				head = b.Lane.Head()
			}
			heads = append(heads, string(head))
		}}
		d = start(t, data, set, sink, func(c *WatchConfig) { c.Framing = framing })
		until(t, "the line after", func() bool { return sink.count() == 1 })
		d.end()
		if len(heads) != 1 || heads[0] != want {
			t.Errorf("%s: next line has the directive %q, want %q", name, heads, want)
		}
	}
	f("kept", func(*checkpoint.Entry) {}, directives{}, "#new\n")
	f("earlier version", func(e *checkpoint.Entry) { e.Directive = "" }, directives{}, "#NEW\n")
	f("another format", func(*checkpoint.Entry) {}, lines{}, "")
	f("directives of another format", func(e *checkpoint.Entry) { e.Directive = "%x\n" }, directives{}, "#NEW\n")
}

// TestDirectiveOfMisfits checks that the records after the verified part of a
// damaged file are judged by the directive in force there, and by directives
// among them.
func TestDirectiveOfMisfits(t *testing.T) {
	t.Parallel()
	some := func(line string) string { return strings.Repeat(line+"\n", 50) }
	one := gz(t, "#a\n"+some("a")+"#b\n"+some("b"))
	two := []byte(gz(t, some("b")+"#c\n"+some("c")+"x\n"+some("c")))
	two[len(two)-5] ^= 1 // in the checksum
	fits := func(head []byte) func([]byte) bool {
		return func(rec []byte) bool { return "#"+string(rec) == string(head) }
	}
	f := func(name, data, onDamage string, want int64) {
		t.Helper()
		dir := write(t, map[string]string{name: data})
		s, _ := run(t, Config{
			Paths: []string{filepath.Join(dir, name)}, OnDamage: onDamage,
			FramingOf: func(string) Framing { return directives{} },
			FitOf:     func(_ string, head []byte) func([]byte) bool { return fits(head) },
		})
		if r := s.Reports()[0]; r.Misfit != want {
			t.Errorf("%s, %s: first misfit in line %d, want %d: %+v", name, onDamage, r.Misfit, want, r)
		}
		set := quick(filepath.Join(dir, "*"))
		set.OnDamage, set.Mode = onDamage, modeBatch
		d := start(t, t.TempDir(), set, &shelf{}, func(c *WatchConfig) { c.Framing, c.NewFit, c.UntilEOF = directives{}, fits, true })
		d.wait()
		if r := d.reports[0]; r.Misfit != want {
			t.Errorf("%s, %s, followed: first misfit in line %d, want %d", name, onDamage, r.Misfit, want)
		}
	}
	for _, onDamage := range OnDamageNames() {
		if onDamage == damageStop {
			continue // the run fails
		}
		f("two.gz", one+string(two), onDamage, 102+50+1+50+1)
		f("first.gz", string(two)+one, onDamage, 1)
	}
}
