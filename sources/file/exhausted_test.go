package file

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/fault"
	"github.com/urlfold/urlfold/internal/testkit"
)

// crowdOf makes a tree of 2n files, every other one compressed, and returns
// their lines.
func crowdOf(t testing.TB, dir string, n int) (all []string) {
	t.Helper()
	for i := range n {
		plain, packed := numbered(fmt.Sprint("p", i), 0, 20), numbered(fmt.Sprint("z", i), 0, 20)
		put(t, filepath.Join(dir, fmt.Sprint(i%3), fmt.Sprint(i, ".log")), strings.Join(plain, ""))
		put(t, filepath.Join(dir, fmt.Sprint(i%3), fmt.Sprint(i, ".gz")), gz(t, strings.Join(packed, "")))
		all = join(all, plain, packed)
	}
	return all
}

// TestExhausted checks that a temporary lack of descriptors or memory, or an
// unresponsive share, is not a verdict on a file: every file is read once, and
// none is reported.
func TestExhausted(t *testing.T) {
	t.Parallel()
	for _, plan := range []string{
		"source.open=emfile@1..40", "source.open=enfile@30..50", "source.read=enomem@1..30", "source.list=emfile@1..4",
		"source.list=enfile@2..3", "source.*=emfile@20..60", "source.open=estale@5..6", "source.read=estale@20..21", "source.read=eio@40..41",
	} {
		for _, mode := range []string{modeBatch, modeTail} {
			for _, damage := range []string{damageEmit, damageSkip} {
				t.Run(plan+"/"+mode+"/"+damage, func(t *testing.T) {
					t.Parallel()
					points, err := fault.Parse(plan)
					if err != nil {
						t.Fatal(err)
					}
					dir := t.TempDir()
					lines := crowdOf(t, dir, 15)
					set := quick(dir)
					set.Mode, set.OnDamage = mode, damage
					sink := &shelf{}
					d := startAt(t, t.TempDir(), set, sink, points.At)
					if mode == modeBatch {
						d.wait()
					} else {
						until(t, "all lines", func() bool { return sink.count() >= len(lines) })
						d.end()
					}
					sink.check(t, lines)
					for name, kind := range d.kinds() {
						if kind != "ok" {
							t.Errorf("%s: %s", name, kind)
						}
					}
				})
			}
		}
	}
}

// startAt is start with fault points.
func startAt(t testing.TB, dir string, set Settings, sink *shelf, at func(string) error) *daemon {
	t.Helper()
	return start(t, dir, set, sink, func(c *WatchConfig) { c.at = at })
}

// TestUnreachable checks that a run that ends with its input reports a file
// that cannot be read, keeps its position, and that the next run reads the
// rest.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a.log", "a.gz"} {
		dir, data := t.TempDir(), t.TempDir()
		lines := noisy("l", 4000)
		text := strings.Join(lines, "")
		if name == "a.gz" {
			text = gz(t, text)
		}
		put(t, filepath.Join(dir, name), text)
		points, err := fault.Parse("source.read=eio@5..")
		if err != nil {
			t.Fatal(err)
		}
		sink := &shelf{exact: true}
		d := startAt(t, data, batch(dir), sink, points.At)
		d.wait()
		if got := d.kinds()[name]; got != compress.Unreadable.String() {
			t.Errorf("%s: verdict %q", name, got)
		}
		start(t, data, batch(dir), sink, nil).wait()
		sink.check(t, lines)
	}
}

// TestExhaustedTail checks that an error while reading the identifying parts of
// a file does not make it count as another file.
func TestExhaustedTail(t *testing.T) {
	t.Parallel()
	for from := 1; from <= 12; from++ {
		dir, data := t.TempDir(), t.TempDir()
		lines, more := numbered("l", 0, 300), numbered("m", 0, 10)
		put(t, filepath.Join(dir, "a.log"), strings.Join(lines, ""))
		sink := &shelf{}
		start(t, data, batch(dir), sink, nil).wait()
		put(t, filepath.Join(dir, "a.log"), strings.Join(more, ""))
		points, err := fault.Parse(fmt.Sprintf("source.read=eio@%d", from))
		if err != nil {
			t.Fatal(err)
		}
		startAt(t, data, batch(dir), sink, points.At).wait()
		sink.check(t, join(lines, more))
	}
}

// TestExhaustedOnce is TestExhausted for a Source: a file whose descriptor
// becomes available late is read, and one without a descriptor ends the run
// without a verdict.
func TestExhaustedOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	want := crowdOf(t, dir, 6)
	for _, plan := range []string{"source.open=emfile@1..8", "source.read=enomem@2..9"} {
		points, err := fault.Parse(plan)
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(Config{Paths: []string{dir}, Framing: lines{}})
		if err != nil {
			t.Fatal(err)
		}
		s.at = points.At
		rt := testkit.NewRuntime(16, 4<<10)
		if err := errors.Join(s.Open(t.Context(), rt), s.Run(t.Context()), s.Close(t.Context())); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, name := range rt.Lanes() {
			got = append(got, strings.SplitAfter(strings.TrimSuffix(string(rt.Text(name)), "\n"), "\n")...)
			got[len(got)-1] += "\n"
		}
		slices.Sort(got)
		if all := slices.Sorted(slices.Values(want)); !slices.Equal(got, all) {
			t.Errorf("%s: %d lines, want %d", plan, len(got), len(all))
		}
		for _, r := range s.Reports() {
			if r.Verdict.Kind != compress.OK {
				t.Errorf("%s: %s: %v", plan, r.Path, r.Verdict)
			}
		}
	}
	if err := patiently(t.Context(), 0, func() error { return syscall.EMFILE }); !errors.Is(err, syscall.EMFILE) {
		t.Error(err)
	}
}
