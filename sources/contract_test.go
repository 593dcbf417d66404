package sources_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/testkit"
	"github.com/urlfold/urlfold/pipeline/engine"
	"github.com/urlfold/urlfold/sources/file"
)

// This file contains:
//
//   - The table of all sources, in every variant that reads differently.
//   - TestContract: the requirements for each (engine.Source).
//
// In all tests, testkit.Runtime checks that batches come back, lanes are ended
// once, offsets have no gaps and pieces are in order.

// A subject is a source under test and its expected output.
type subject struct {
	name   string
	source func(t *testing.T) engine.Source
	lanes  []string // in order
	text   []string // of each
	broken func(t *testing.T) engine.Source
}

// text returns n lines.
func text(n int) string {
	return strings.Repeat("a record of some length\n", n)
}

func subjects(t *testing.T) []subject {
	dir := t.TempDir()
	var paths, texts []string
	for i, name := range []string{"a", "b", "c", "d", "e"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text(i*i*20)), 0o644); err != nil {
			t.Fatal(err)
		}
		paths, texts = append(paths, path), append(texts, text(i*i*20))
	}
	files := func(parallel int, stdin string, paths ...string) func(t *testing.T) engine.Source {
		return func(t *testing.T) engine.Source {
			s, err := file.New(file.Config{
				Paths: paths, Stdin: strings.NewReader(stdin), Framing: lines{}, Parallel: parallel, Linger: time.Microsecond,
			})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
	}
	gone := files(1, "", filepath.Join(dir, "gone"), paths[1])
	return []subject{
		{"files", files(1, "", dir), paths, texts, gone},
		{"files, three at once", files(3, "", dir), paths, texts, gone},
		{"stdin", files(1, text(200), "-"), []string{"-"}, []string{text(200)}, gone},
		{"stdin of a daemon", func(t *testing.T) engine.Source {
			s, err := file.NewStdin(file.DefaultStdin(), file.Config{Stdin: strings.NewReader(text(200)), Framing: lines{}, Linger: time.Microsecond}, nil)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}, []string{"-"}, []string{text(200)}, nil},
		{"stdin and files", files(2, text(50), paths[2], "-"), []string{paths[2], "-"}, []string{texts[2], text(50)}, gone},
	}
}

type lines struct{}

func (lines) Cut(block []byte) int { return bytes.LastIndexByte(block, '\n') + 1 }
func (lines) Head([]byte) int      { return 0 }

func TestContract(t *testing.T) {
	for _, sub := range subjects(t) {
		t.Run(sub.name, func(t *testing.T) {
			t.Run("whole", func(t *testing.T) { whole(t, sub, 4) })
			t.Run("one batch", func(t *testing.T) { whole(t, sub, 1) })
			t.Run("stopped before", func(t *testing.T) { stopped(t, sub, 0) })
			t.Run("stopped", func(t *testing.T) {
				for after := 1; after < 12; after++ {
					stopped(t, sub, after)
				}
			})
			t.Run("stopped hard", func(t *testing.T) { stoppedHard(t, sub) })
			t.Run("close", func(t *testing.T) { closed(t, sub) })
		})
	}
}

const arena = 100

func mustOpen(t *testing.T, s engine.Source, rt engine.Runtime) {
	t.Helper()
	if err := s.Open(context.Background(), rt); err != nil {
		t.Fatal(err)
	}
}

// finish closes the source and fails the test for each broken requirement.
func finish(t *testing.T, s engine.Source, rt *testkit.Runtime) {
	t.Helper()
	for _, w := range rt.Broken() {
		t.Error(w)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// whole checks that Run emits every record once, in order within its lane,
// opens the lanes in order, and returns nil at the end of the input. One batch
// must be enough.
func whole(t *testing.T, sub subject, batches int) {
	rt := testkit.NewRuntime(batches, arena)
	s := sub.source(t)
	mustOpen(t, s, rt)
	if err := s.Run(context.Background()); err != nil {
		t.Fatalf("Run: %v", err)
	}
	finish(t, s, rt)
	if !slices.Equal(rt.Lanes(), sub.lanes) {
		t.Errorf("lanes %q, want %q", rt.Lanes(), sub.lanes)
	}
	for i, name := range sub.lanes {
		if got := string(rt.Text(name)); got != sub.text[i] {
			t.Errorf("%s: %d bytes of %d", name, len(got), len(sub.text[i]))
		}
	}
}

// stopped checks that after a soft stop Run returns nil, and that it has
// emitted the beginning of each lane up to the end of a record.
func stopped(t *testing.T, sub subject, after int) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	rt := testkit.NewRuntime(4, arena)
	rt.OnEmit = func(n int) {
		if n == after {
			cancel()
		}
	}
	if after == 0 {
		cancel()
	}
	s := sub.source(t)
	mustOpen(t, s, rt)
	if err := s.Run(ctx); err != nil {
		t.Errorf("Run: %v", err)
	}
	finish(t, s, rt)
	for i, name := range sub.lanes {
		got := string(rt.Text(name))
		if !strings.HasPrefix(sub.text[i], got) || got != "" && !strings.HasSuffix(got, "\n") {
			t.Errorf("%s: the %d emitted bytes are not the first records", name, len(got))
		}
	}
	if after == 0 && len(rt.Emitted()) > 0 {
		t.Errorf("%d batches after the stop", len(rt.Emitted()))
	}
}

// stoppedHard checks that Run returns the error of Emit.
func stoppedHard(t *testing.T, sub subject) {
	rt := testkit.NewRuntime(4, arena)
	rt.OnEmit = func(n int) {
		if n == 3 {
			rt.HardStop()
		}
	}
	s := sub.source(t)
	mustOpen(t, s, rt)
	if err := s.Run(context.Background()); !errors.Is(err, engine.ErrStopped) {
		t.Errorf("Run: %v", err)
	}
	finish(t, s, rt)
	if n := len(rt.Emitted()); n != 3 {
		t.Errorf("%d batches, want 3 before the stop", n)
	}
}

// closed checks that Close works without Run, without Open and after a failed
// Open.
func closed(t *testing.T, sub subject) {
	ctx := context.Background()
	if err := sub.source(t).Close(ctx); err != nil {
		t.Errorf("without Open: %v", err)
	}
	s := sub.source(t)
	rt := testkit.NewRuntime(1, arena)
	mustOpen(t, s, rt)
	if err := s.Close(ctx); err != nil {
		t.Errorf("without Run: %v", err)
	}
	if sub.broken == nil {
		return
	}
	s = sub.broken(t)
	if err := s.Open(ctx, rt); err == nil {
		t.Error("Open of a missing input succeeds")
	}
	if err := s.Close(ctx); err != nil {
		t.Errorf("after a failed Open: %v", err)
	}
	if len(rt.Lanes()) > 0 {
		t.Error("failed Open has opened a lane")
	}
}
