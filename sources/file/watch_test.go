package file

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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

// TestBatch: everything is read once; a second run finds nothing to do, and a
// third one what was added.
func TestBatch(t *testing.T) {
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

// TestTail: what is appended comes out, a half line waits for its other half, also
// over a restart, and line numbers go on.
func TestTail(t *testing.T) {
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
