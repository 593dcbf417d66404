package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/internal/storage/fault"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// config returns a test configuration that writes path.
func config(path string) LogConfig {
	c := DefaultLogConfig()
	c.Path = path
	c.SyncInterval = time.Millisecond
	return c
}

// An openedLog is the result of NewLog with all of its interfaces.
type openedLog interface {
	engine.Sink
	engine.ExtentReporter
	engine.CutObserver
	engine.Finisher
	engine.Healther

	Stats() logStats
	Metrics(emit func(name, help, kind string, value float64, labels ...string))
}

// makeLog is NewLog with the result type openedLog.
func makeLog(cfg LogConfig) (openedLog, error) {
	out, err := NewLog(cfg)
	if err != nil {
		return nil, err
	}
	return out.(openedLog), nil
}

// openLog returns an open sink for cfg, with faults at its fault points.
func openLog(t testing.TB, cfg LogConfig, faults string) openedLog {
	t.Helper()
	out, err := makeLog(cfg)
	must(t, err)
	if faults != "" {
		plan, err := fault.Parse(faults)
		must(t, err)
		inner(out).files.at = plan.At
	}
	inner(out).firstRetry = time.Millisecond
	must(t, out.Open(ctx))
	t.Cleanup(func() { _ = out.Close(ctx) })
	return out
}

func inner(out openedLog) *log {
	return out.(*log)
}

// laneOfRel returns a lane with the given identity.
func laneOfRel(rel string) *engine.Lane {
	l := new(engine.Lane)
	l.SetID("id of " + rel)
	l.SetRel(rel)
	return l
}

// A writer submits batches and collects the answers.
type writer struct {
	t   testing.TB
	out openedLog
	wg  sync.WaitGroup
	mu  sync.Mutex
	bad []engine.Result
}

func newWriter(t testing.TB, out openedLog) *writer {
	return &writer{t: t, out: out}
}

// write submits text, whose arena is overwritten after the answer.
func (w *writer) write(l *engine.Lane, text string) {
	w.t.Helper()
	b := &engine.Batch{Lane: l}
	b.Out.Bytes = []byte(text)
	for range strings.Count(text, "\n") {
		b.Out.Recs = append(b.Out.Recs, engine.OutRec{})
	}
	w.wg.Add(1)
	must(w.t, w.out.Submit(ctx, b, engine.NewTicket(&b.Out, func(r engine.Result) {
		defer w.wg.Done()
		clear(b.Out.Bytes)
		if r.Err != nil || r.Class != engine.OK {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.bad = append(w.bad, r)
		}
	})))
}

// barrier calls Barrier and checks the answers.
func (w *writer) barrier() {
	w.t.Helper()
	must(w.t, w.out.Barrier(ctx))
	w.wg.Wait()
	if len(w.bad) > 0 {
		w.t.Fatalf("answers: %+v", w.bad)
	}
}

// text returns the decompressed content of an intact file.
func text(t testing.TB, path string) string {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	r := compress.NewReader(f, compress.Options{Name: strings.TrimSuffix(path, partSuffix)})
	defer r.Close()
	got, err := io.ReadAll(r)
	if v := r.Verdict(); err != nil || v.Kind != compress.OK {
		t.Errorf("%s: %v, %v", path, v, err)
	}
	return string(got)
}

// tree returns the files below dir with their decompressed contents.
func tree(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			fmt.Fprintf(&b, "%s=%q ", rel, text(t, path))
		}
		return err
	}))
	return strings.TrimSpace(b.String())
}

func wantTree(t testing.TB, dir, want string) {
	t.Helper()
	if got := tree(t, dir); got != want {
		t.Errorf("files:\n got %s\nwant %s", got, want)
	}
}

// TestShared: a single file without rotation grows under its final name, and a
// second run continues it.
func TestShared(t *testing.T) {
	for _, name := range []string{"out.log", "out.log.gz", "out.log.zst"} {
		dir := t.TempDir()
		for i := range 2 {
			out := openLog(t, config(filepath.Join(dir, "sub", name)), "")
			w := newWriter(t, out)
			w.write(nil, fmt.Sprintf("a%d\n", i))
			w.write(nil, fmt.Sprintf("b%d", i)) // a record without a line end
			w.barrier()
			must(t, out.Close(ctx))
		}
		wantTree(t, dir, fmt.Sprintf("sub/%s=%q", name, "a0\nb0\na1\nb1\n"))
	}
}

// TestLanes: each lane has its own output, which is published when the lane is
// finished, even if it is empty. A skipped lane has none. There are more lanes
// than descriptors.
func TestLanes(t *testing.T) {
	dir := t.TempDir()
	cfg := config(filepath.Join(dir, "{source.relpath}.zst"))
	cfg.OpenFiles = 2
	out := openLog(t, cfg, "")
	w := newWriter(t, out)
	lanes := []*engine.Lane{laneOfRel("x/a.log.gz"), laneOfRel("x/b.log"), laneOfRel("c"), laneOfRel("empty"), laneOfRel("skipped")}
	lanes[4].Skip()
	for round := range 3 {
		for _, l := range lanes[:3] {
			w.write(l, fmt.Sprintf("%s %d\n", l.Rel(), round))
		}
		w.barrier()
		if n := out.Stats().OpenFiles; n > 2 {
			t.Errorf("%d files are open", n)
		}
	}
	for _, l := range lanes[1:] {
		for range 2 { // Finish is idempotent
			must(t, finish(ctx, out, l))
		}
	}
	must(t, out.Close(ctx))
	wantTree(t, dir, `c.zst="c 0\nc 1\nc 2\n" empty.zst="" x/a.log.zst.part="x/a.log.gz 0\nx/a.log.gz 1\nx/a.log.gz 2\n" x/b.log.zst="x/b.log 0\nx/b.log 1\nx/b.log 2\n"`)

	// The next run continues unfinished outputs and overwrites nothing.
	out = openLog(t, cfg, "")
	w = newWriter(t, out)
	w.write(lanes[0], "more\n")
	again := laneOfRel("c")
	again.SetID("another file of this name")
	w.write(again, "new\n")
	w.barrier()
	must(t, finish(ctx, out, lanes[0]))
	must(t, finish(ctx, out, again))
	must(t, finish(ctx, out, laneOfRel("x/b.log"))) // repeated after a crash
	must(t, out.Close(ctx))
	wantTree(t, dir, `c-2.zst="new\n" c.zst="c 0\nc 1\nc 2\n" empty.zst="" x/a.log.zst="x/a.log.gz 0\nx/a.log.gz 1\nx/a.log.gz 2\nmore\n" x/b.log.zst="x/b.log 0\nx/b.log 1\nx/b.log 2\n"`)
}

func TestRotation(t *testing.T) {
	f := func(name string, r Rotation, want string) {
		t.Helper()
		dir := t.TempDir()
		cfg := config(filepath.Join(dir, "{seq}.log"))
		cfg.Rotate = r
		out := openLog(t, cfg, "")
		w := newWriter(t, out)
		for i := range 5 {
			w.write(nil, fmt.Sprintf("r%d\ns%d\n", i, i))
		}
		w.barrier()
		if got := ls(t, dir); !strings.HasSuffix(got, "log.part") {
			t.Errorf("%s: the unfinished file is not recognizable: %s", name, got)
		}
		must(t, out.Close(ctx))
		wantTree(t, dir, want)
	}
	f("size", Rotation{Size: 12}, `0001.log="r0\ns0\nr1\ns1\n" 0002.log="r2\ns2\nr3\ns3\n" 0003.log="r4\ns4\n"`)
	f("records", Rotation{Records: 3}, `0001.log="r0\ns0\nr1\ns1\n" 0002.log="r2\ns2\nr3\ns3\n" 0003.log="r4\ns4\n"`)
	f("never", Rotation{Size: field.GiB}, `0001.log="r0\ns0\nr1\ns1\nr2\ns2\nr3\ns3\nr4\ns4\n"`)
}

// TestRotationByTime: a file is rotated at its time even without further
// records.
func TestRotationByTime(t *testing.T) {
	dir := t.TempDir()
	cfg := config(filepath.Join(dir, "{time:%Y}-{seq}.log"))
	cfg.Rotate.Every = 20 * time.Millisecond
	out := openLog(t, cfg, "")
	w := newWriter(t, out)
	w.write(nil, "a\n")
	w.barrier()
	for out.Stats().Published == 0 {
		<-time.After(time.Millisecond)
	}
	w.write(nil, "b\n")
	w.barrier()
	must(t, out.Close(ctx))
	year := time.Now().UTC().Format("2006")
	wantTree(t, dir, fmt.Sprintf(`%s-0001.log="a\n" %s-0002.log="b\n"`, year, year))
}

// TestRotatedRecord: a file does not end within an oversize record.
func TestRotatedRecord(t *testing.T) {
	dir := t.TempDir()
	cfg := config(filepath.Join(dir, "{seq}.log"))
	cfg.Rotate.Size = 2
	out := openLog(t, cfg, "")
	pieces := []engine.Piece{engine.Whole, engine.First, engine.Middle, engine.Last, engine.Whole}
	for i, text := range []string{"a\n", "bb", "bb", "bb\n", "c\n"} {
		b := &engine.Batch{Piece: pieces[i]}
		b.Out.Bytes = []byte(text)
		must(t, out.Submit(ctx, b, engine.NewTicket(&b.Out, func(engine.Result) {})))
	}
	must(t, out.Barrier(ctx))
	must(t, out.Close(ctx))
	wantTree(t, dir, `0001.log="a\n" 0002.log="bbbbbb\n" 0003.log="c\n"`)
}

// TestAnswersFollowSync: no batch is answered before the sync that covers it.
// The fault points are listed in the order in which they must be reached.
func TestAnswersFollowSync(t *testing.T) {
	var mu sync.Mutex
	var met []string
	note := func(what string) error {
		mu.Lock()
		defer mu.Unlock()
		met = append(met, what)
		return nil
	}
	out, err := makeLog(config(filepath.Join(t.TempDir(), "out")))
	must(t, err)
	inner(out).files.at = note
	must(t, out.Open(ctx))
	b := &engine.Batch{}
	b.Out.Bytes = []byte("a\n")
	must(t, out.Submit(ctx, b, engine.NewTicket(&b.Out, func(engine.Result) { _ = note("answer") })))
	must(t, out.Barrier(ctx))
	must(t, out.Close(ctx))
	want := []string{"file.before_create", "file.before_write", "file.after_write", "file.before_sync", "file.after_sync",
		"file.before_sync_dir", "file.after_sync_dir", "answer"}
	if !slices.Equal(met, want) {
		t.Errorf("met %v\nwant %v", met, want)
	}
}

// TestSyncReachesFile: what the sink does between the points of a sync reaches the
// system, which refuses to sync a closed file.
func TestSyncReachesFile(t *testing.T) {
	out, err := makeLog(config(filepath.Join(t.TempDir(), "out")))
	must(t, err)
	f, err := disk.Recreate(filepath.Join(t.TempDir(), "closed"), 0o644)
	must(t, err)
	must(t, f.Close())
	if err := inner(out).files.sync(&output{f: f}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("%v, want %v", err, os.ErrClosed)
	}
}

// TestFaults: during temporary failures, no answer is wrong, and everything
// submitted is written once, in order.
func TestFaults(t *testing.T) {
	points := []string{"file.before_create", "file.before_write", "file.after_write", "file.before_sync", "file.after_sync",
		"file.before_sync_dir", "file.after_sync_dir", "file.before_rename", "file.after_rename", "file.before_mend", "file.before_replace"}
	for _, point := range points {
		for _, what := range []string{"enospc", "eio"} {
			dir := t.TempDir()
			cfg := config(filepath.Join(dir, "{seq}.log.gz"))
			cfg.Rotate.Records = 3
			plan := fmt.Sprintf("%s=%s@2..4", point, what)
			if point == "file.before_mend" || point == "file.before_replace" {
				plan += ",file.after_sync=" + what + "@2"
			}
			out := openLog(t, cfg, plan)
			w := newWriter(t, out)
			var want strings.Builder
			for i := range 20 {
				fmt.Fprintf(&want, "r%d\n", i)
				w.write(nil, fmt.Sprintf("r%d\n", i))
				if i%2 == 0 {
					w.barrier()
				}
			}
			w.barrier()
			for out.Health() != nil { // files may still lack their final names
				<-time.After(time.Millisecond)
			}
			must(t, out.Close(ctx))
			var got strings.Builder
			for name := range strings.FieldsSeq(ls(t, dir)) {
				if !strings.HasSuffix(name, ".log.gz") {
					t.Errorf("%s: %s exists", plan, name)
				}
				got.WriteString(text(t, filepath.Join(dir, name)))
			}
			if got.String() != want.String() {
				t.Errorf("%s: got %q", plan, got.String())
			}
		}
	}
}

// TestFull: while the disk is full, nothing is answered, Health reports the
// file and the reason, and Submit waits and respects its context. Afterwards
// the sink continues by itself.
func TestFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.log")
	out := openLog(t, config(path), "file.after_write=enospc@2..3")
	w := newWriter(t, out)
	w.write(nil, "a\n")
	w.barrier()
	w.write(nil, "secret.example\n")
	if err := out.Health(); err == nil || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "secret") {
		t.Errorf("Health: %v", err)
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	b := &engine.Batch{}
	b.Out.Bytes = []byte("never\n")
	if err := out.Submit(over, b, engine.NewTicket(&b.Out, func(engine.Result) { t.Error("answered") })); err == nil {
		t.Error("Submit accepts a batch after a hard stop")
	}
	if err := out.Barrier(over); err == nil {
		t.Error("Barrier succeeds, although nothing is durable")
	}
	w.write(nil, "c\n") // waits
	w.barrier()
	if err := out.Health(); err != nil {
		t.Errorf("Health: %v", err)
	}
	if got := text(t, path); got != "a\nsecret.example\nc\n" || out.Stats().Retries == 0 {
		t.Errorf("%q, %+v", got, out.Stats())
	}
}

// TestCloseAnswers: after a hard stop, Close answers the rest, and not as
// durable.
func TestCloseAnswers(t *testing.T) {
	cfg := config(filepath.Join(t.TempDir(), "out.log"))
	out := openLog(t, cfg, "file.before_sync=eio,file.before_mend=eio")
	b := &engine.Batch{}
	b.Out.Bytes = []byte("a\n")
	var got []engine.Result
	must(t, out.Submit(ctx, b, engine.NewTicket(&b.Out, func(r engine.Result) { got = append(got, r) })))
	over, cancel := context.WithCancel(ctx)
	cancel()
	must(t, out.Close(over))
	if len(got) != 1 || got[0].Class != engine.Retryable || got[0].Err == nil {
		t.Errorf("%+v", got)
	}
}

// TestAbandoned: after a failed sync, the sink does not trust the file and
// copies its durable part to another one, unless the disk was merely full.
func TestAbandoned(t *testing.T) {
	for what, copied := range map[string]bool{"eio": true, "enospc": false} {
		path := filepath.Join(t.TempDir(), "out.log")
		out := openLog(t, config(path), "file.before_sync="+what+"@2")
		w := newWriter(t, out)
		w.write(nil, "a\n")
		w.barrier()
		before, err := os.Stat(path)
		must(t, err)
		keep, err := os.Open(path) // so that its inode is not reused
		must(t, err)
		w.write(nil, "b\n")
		w.barrier()
		after, err := os.Stat(path)
		must(t, err)
		if os.SameFile(before, after) == copied || text(t, path) != "a\nb\n" {
			t.Errorf("%s: replaced by a copy: %v, with %q", what, !copied, text(t, path))
		}
		must(t, keep.Close())
		must(t, out.Close(ctx))
	}
}

// TestExtents: an extent covers only durable data.
func TestExtents(t *testing.T) {
	cfg := config(filepath.Join(t.TempDir(), "{lane}"))
	cfg.ExactlyOnce, cfg.SyncInterval = true, time.Hour
	out := openLog(t, cfg, "")
	w := newWriter(t, out)
	w.write(laneOfRel("a"), "a\n")
	w.barrier()
	w.write(laneOfRel("a"), "b\n")
	extents := out.Extents(nil)
	if len(extents) != 1 || extents[0].Length != 2 || extents[0].Lane != "id of a" {
		t.Errorf("%+v", extents)
	}
	w.barrier()
}

// TestSyncsAtOnce: the sink syncs before the interval has passed when half of
// the batches, or enough bytes, wait.
func TestSyncsAtOnce(t *testing.T) {
	for _, c := range []struct {
		batches int
		bytes   field.Size
	}{{4, field.GiB}, {1000, 4}} {
		cfg := config(filepath.Join(t.TempDir(), "out"))
		cfg.SyncInterval, cfg.Batches, cfg.SyncBytes = time.Hour, c.batches, c.bytes
		out := openLog(t, cfg, "")
		w := newWriter(t, out)
		w.write(nil, "a\n")
		w.write(nil, "b\n")
		w.wg.Wait()
		must(t, out.Close(ctx))
	}
}

// TestNameTaken: a final name that has been taken in the meantime is not
// overwritten. Health reports it, and the file is renamed when the name becomes
// free.
func TestNameTaken(t *testing.T) {
	dir := t.TempDir()
	cfg := config(filepath.Join(dir, "{seq}"))
	cfg.Rotate.Records = 1
	out := openLog(t, cfg, "")
	w := newWriter(t, out)
	w.write(nil, "a\n")
	w.barrier()
	taken := filepath.Join(dir, "0001")
	must(t, os.WriteFile(taken, []byte("theirs"), 0o644))
	w.write(nil, "b\n")
	w.barrier()
	if err := out.Health(); err == nil || !strings.Contains(err.Error(), taken) || content(t, taken) != "theirs" {
		t.Errorf("Health: %v; the file is %q", err, content(t, taken))
	}
	must(t, os.Remove(taken))
	w.barrier()
	if err := out.Health(); err != nil {
		t.Errorf("Health: %v", err)
	}
	must(t, out.Close(ctx))
	wantTree(t, dir, `0001="a\n" 0002="b\n"`)
}

// finish calls Finish for the lanes and joins the errors.
func finish(ctx context.Context, out openedLog, lanes ...*engine.Lane) error {
	return errors.Join(out.Finish(ctx, lanes)...)
}
