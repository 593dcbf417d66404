package file

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/pipeline/engine"
)

// rawText returns withdrawn text with the given content.
func rawText(text string) *engine.Unverified {
	return &engine.Unverified{Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
}

// TestKeepUnverified: the text is stored once, under a name that no other file
// has.
func TestKeepUnverified(t *testing.T) {
	dir := t.TempDir()
	final := filepath.Join(dir, "a.log")
	f := func(text, want string) {
		t.Helper()
		path, err := keepUnverified(final, rawText(text), 0o600)
		must(t, err)
		if filepath.Base(path) != want && path != want {
			t.Errorf("%q is in %s, want %s", text, path, want)
		}
		if path != "" && content(t, path) != text {
			t.Errorf("%s holds %q, want %q", path, content(t, path), text)
		}
	}
	f("first\n", "a.log.unverified")
	f("first\n", "a.log.unverified") // stored again, because the first run was killed before it could report the file
	f("other\n", "a.log-2.unverified")
	f("first\n", "a.log.unverified")
	f("other\n", "a.log-2.unverified")
	f("othes\n", "a.log-3.unverified")
	f("", "")
	if got := ls(t, dir); strings.Contains(got, ".part") {
		t.Errorf("unexpected file %s", got)
	}
	fi, err := os.Stat(final + unverifiedSuffix)
	must(t, err)
	if fi.Mode().Perm() != 0o600 {
		t.Errorf("permissions %v", fi.Mode())
	}
}

// TestKeepUnverifiedFails: nothing is stored for an input that no longer
// exists. An input that cannot be read is an error, and leaves no file.
func TestKeepUnverifiedFails(t *testing.T) {
	dir := t.TempDir()
	gone := &engine.Unverified{Open: func() (io.ReadCloser, error) { return nil, fs.ErrNotExist }}
	if path, err := keepUnverified(filepath.Join(dir, "a"), gone, 0o600); path != "" || err != nil {
		t.Errorf("%s, %v", path, err)
	}
	broken := errors.New("broken")
	for _, u := range []*engine.Unverified{
		{Open: func() (io.ReadCloser, error) { return nil, broken }},
		{Open: func() (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(strings.NewReader("x"), badReader{broken})), nil
		}},
	} {
		if _, err := keepUnverified(filepath.Join(dir, "a"), u, 0o600); !errors.Is(err, broken) {
			t.Errorf("the error is %v", err)
		}
	}
	if got := ls(t, dir); got != "" {
		t.Errorf("unexpected file %s", got)
	}
}

type badReader struct{ err error }

func (b badReader) Read([]byte) (int, error) { return 0, b.err }

// TestSpan: an output is truncated to the start of its last segment if that is
// not verified.
func TestSpan(t *testing.T) {
	l, other := &engine.Lane{}, &engine.Lane{}
	l.Hold()
	var s span
	if at := (place{at: 7}); s.covered(at) != at || s.verified(l, at) != at {
		t.Error("an output without batches is truncated")
	}
	s.next(&engine.Batch{Lane: l}, 0)
	s.next(&engine.Batch{Lane: l}, 100)
	if got := s.verified(l, place{at: 200}).at; got != 0 {
		t.Errorf("%d bytes remain with an unverified segment", got)
	}
	s.next(&engine.Batch{Lane: l, Segment: 3}, 200)
	if got := s.verified(l, place{at: 300}).at; got != 200 {
		t.Errorf("%d bytes remain, want 200", got)
	}
	if got := s.verified(other, place{at: 300}).at; got != 300 {
		t.Errorf("another lane truncates to %d", got)
	}
}

// TestReportUnverified: a report recognizes unverified files.
func TestReportUnverified(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"a": "x\n", "a.unverified": "y\n", "a-2.unverified": "z", "b.unverified.part": "half"})
	got := map[string]Report{}
	for _, r := range reports(t, dir) {
		got[filepath.Base(r.Path)] = r
	}
	for name, want := range map[string][3]bool{ // unverified, leftover, intact
		"a": {false, false, true}, "a.unverified": {true, false, false}, "a-2.unverified": {true, false, false}, "b.unverified.part": {false, true, false},
	} {
		if r := got[name]; r.Unverified != want[0] || r.Leftover != want[1] || r.Intact() != want[2] {
			t.Errorf("%s: %+v", name, r)
		}
	}
	cfg := config(filepath.Join(dir, "{source.relpath}"))
	if finished, err := cfg.FinishWithoutExtent(); err != nil || len(finished) > 0 {
		t.Errorf("%v were finished like outputs: %v", finished, err)
	}
}

// TestCanCutBack: only outputs with a single input that are renamed at its end
// qualify.
func TestCanCutBack(t *testing.T) {
	for path, want := range map[string]bool{
		"out/{source.relpath}": true, "out/{lane}.gz": true, "out/all": false, "out/{lane}-{seq}": false, "out/{time}-{lane}": false, "out/{source.name}": false,
	} {
		cfg := config(path)
		if got := cfg.CanCutBack(); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}
