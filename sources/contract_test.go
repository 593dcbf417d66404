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
	"github.com/urlfold/urlfold/pipeline"
	"github.com/urlfold/urlfold/sources/file"
)

// This file is structured in the following way:
//
//   - The table: every source, in every form that reads another way.
//   - TestContract: what each of them must keep (pipeline.Source).
//
// testkit.Runtime sees, in all tests, whether batches come back, lanes are ended
// once, offsets have no gaps and pieces are in order.

// A subject is a source under test and what it is to read.
type subject struct {
	name   string
	source func(t *testing.T) pipeline.Source
	lanes  []string // in order
	text   []string // of each
	broken func(t *testing.T) pipeline.Source
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
	files := func(parallel int, stdin string, paths ...string) func(t *testing.T) pipeline.Source {
		return func(t *testing.T) pipeline.Source {
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
		{"stdin of a daemon", func(t *testing.T) pipeline.Source {
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

func mustOpen(t *testing.T, s pipeline.Source, rt pipeline.Runtime) {
	t.Helper()
	if err := s.Open(context.Background(), rt); err != nil {
		t.Fatal(err)
	}
}

// finish closes the source and fails the test for every promise that was broken.
func finish(t *testing.T, s pipeline.Source, rt *testkit.Runtime) {
	t.Helper()
	for _, w := range rt.Broken() {
		t.Error(w)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// whole: Run emits every record once, in order in its lane, opens the lanes in
// order, and returns nil at the end of the input. One batch is enough for it.
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

// stopped: after a soft stop Run returns nil, and what it has emitted is the
// beginning of each lane, up to the end of a record.
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
			t.Errorf("%s: %d bytes are not the first records", name, len(got))
		}
	}
	if after == 0 && len(rt.Emitted()) > 0 {
		t.Errorf("%d batches after the stop", len(rt.Emitted()))
	}
}

// stoppedHard: when Emit fails Run gives up, with that error.
func stoppedHard(t *testing.T, sub subject) {
	rt := testkit.NewRuntime(4, arena)
	rt.OnEmit = func(n int) {
		if n == 3 {
			rt.HardStop()
		}
	}
	s := sub.source(t)
	mustOpen(t, s, rt)
	if err := s.Run(context.Background()); !errors.Is(err, pipeline.ErrStopped) {
		t.Errorf("Run: %v", err)
	}
	finish(t, s, rt)
	if n := len(rt.Emitted()); n != 3 {
		t.Errorf("%d batches, the stop came after 3", n)
	}
}

// closed: Close is good without Run, without Open and after an Open that failed.
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
		t.Error("Open of what is not there succeeds")
	}
	if err := s.Close(ctx); err != nil {
		t.Errorf("after an Open that failed: %v", err)
	}
	if len(rt.Lanes()) > 0 {
		t.Error("Open has opened a lane")
	}
}
