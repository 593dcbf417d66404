package file

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/storage/checkpoint"
)

// TestInodeGivenAgain considers a file that has the inode of a file that
// disappeared unread, and that is the compressed form of a known text. It must
// continue the known text instead of starting over as the file whose inode it
// has.
func TestInodeGivenAgain(t *testing.T) {
	dir := t.TempDir()
	store, err := checkpoint.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	w, err := makeWatcher(WatchConfig{Settings: quick(dir + "/*"), Framing: lines{}, Host: Host{Store: store}})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(numbered("a.log", 0, 300), "")
	path := filepath.Join(dir, "a.log.1.gz")
	put(t, path, gz(t, text))
	all, _ := w.store.scan(context.Background())
	s := all[0]
	known := &track{
		path: filepath.Join(dir, "a.log"), id: "known", life: over, read: reading{head: []byte(text[:1024])},
		positions: []position{positionAfter(text)},
		key:       headKey{1024, digestOf([]byte(text[:1024]))},
	}
	w.known.index(known, headKey{})
	for name, lost := range map[string]*track{
		"known by its creation time": {read: reading{head: []byte(text[:1024]), stamp: 1}},
		"known by its beginning":     {read: reading{head: []byte("another text\n")}},
	} {
		t.Run(name, func(t *testing.T) {
			lost.path, lost.id, lost.sight.file = filepath.Join(dir, "b.log"), "lost", s
			lost.sight.file.path = lost.path
			w.known.tracks = []*track{known, lost}
			p := &candidate{s: s, meeting: meeting{time.Now().Add(-time.Hour), 10}, listed: true}
			decided := false
			for range 2 { // the first call requests the comparison
				l, err := w.files.lookAt(&p.s)
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(name, "beginning") {
					l.stamp = 0
				}
				decided = w.consider(p, lost, l, time.Now())
				if l.f != nil {
					_ = l.f.Close()
				}
				if p.asked != nil {
					p.do(t.Context(), w)
				}
			}
			if !decided || !known.sight.bound || lost.sight.bound || len(w.known.tracks) != 2 {
				t.Errorf("decided: %v; bound to the known text: %v, to the lost one: %v; %d tracks", decided, known.sight.bound, lost.sight.bound, len(w.known.tracks))
			}
			w.bound.unbind(known)
		})
	}
}

// TestSameBeginningShorter overwrites a file with a shorter text that begins
// like the first batch of the old one. For a while it could be an unfinished
// copy of the old text, but it must not be held back forever.
func TestSameBeginningShorter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.log")
	header, old, fresh := numbered("header", 0, 40), numbered("old", 0, 300), numbered("new", 0, 100)
	put(t, path, strings.Join(header, ""))
	sink := &shelf{}
	d := start(t, t.TempDir(), quick(path), sink, nil)
	until(t, "the header", func() bool { return sink.count() == 40 })
	put(t, path, strings.Join(old, ""))
	until(t, "the old text", func() bool { return sink.count() == 340 })
	if err := os.WriteFile(path, []byte(strings.Join(header, "")+strings.Join(fresh, "")), 0o644); err != nil {
		t.Fatal(err)
	}
	until(t, "the new text", func() bool { return sink.count() >= 480 })
	d.end()
	if n := sink.count(); n != 480 {
		t.Errorf("%d lines, want 480", n)
	}
}

// positionAfter returns the position at the end of a text.
func positionAfter(text string) position {
	h := newTextHash()
	_, _ = h.WriteString(text)
	return position{
		off: int64(len(text)), line: int64(strings.Count(text, "\n")) + 1, tail: digestOf([]byte(text[max(0, len(text)-tailBytes):])),
		sum: h.Sum64(), state: &h,
	}
}
