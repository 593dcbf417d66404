package file

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/storage/fault"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// This file has three parts:
//
//   - generator: a source that, like the file source, stores its checkpoint and
//     the extents of the sinks in one file.
//   - The child: a run of a real pipeline that dies at a planned point.
//   - TestCrash: kills children until one ends by itself, and checks the
//     outputs.

const (
	crashLanes   = 3
	crashBatches = 40
	crashHeader  = "the names of columns\n" // of each output; dead letters have none
)

// crashVariants maps names to the configurations under test.
var crashVariants = map[string]func(dir string) LogConfig{
	"lanes, exactly once": func(dir string) LogConfig {
		c := config(filepath.Join(dir, "out", "{source.relpath}.zst"))
		c.ExactlyOnce = true
		return c
	},
	"rotated, exactly once": func(dir string) LogConfig {
		c := config(filepath.Join(dir, "out", "{time:%Y}-{seq}.log.gz"))
		c.ExactlyOnce = true
		c.Rotate.Records = 20
		return c
	},
	"rotated lanes, exactly once": func(dir string) LogConfig {
		c := config(filepath.Join(dir, "out", "{lane}", "{seq}.log"))
		c.ExactlyOnce = true
		c.Rotate.Size = 300
		return c
	},
	"one file, exactly once": func(dir string) LogConfig {
		c := config(filepath.Join(dir, "out", "all.log"))
		c.ExactlyOnce = true
		return c
	},
	"lanes":         func(dir string) LogConfig { return config(filepath.Join(dir, "out", "{source.relpath}.gz")) },
	"rotated lanes": rotated("{lane}-{seq}.log"),
	"rotated":       rotated("{seq}.log.zst"),
	"one file":      func(dir string) LogConfig { return config(filepath.Join(dir, "out", "all.log")) },
}

func rotated(name string) func(string) LogConfig {
	return func(dir string) LogConfig {
		c := config(filepath.Join(dir, "out", name))
		c.Rotate.Records = 20
		return c
	}
}

// batchText returns the text of batch i of a lane.
func batchText(lane string, i int) string {
	return fmt.Sprintf("%s %d a\n%s %d b\n", lane, i, lane, i)
}

// A generatorState is the stored state of a generator.
type generatorState struct {
	Pos      map[string]int64
	Extents  []engine.Extent
	Finished map[string]bool
}

// A generator is a source of lanes of numbered batches.
type generator struct {
	path string
	at   func(string) error
	mu   sync.Mutex
	p    generatorState
	rt   engine.Runtime
}

func newGenerator(path string, at func(string) error) (*generator, error) {
	g := &generator{path: path, at: at, p: generatorState{Pos: map[string]int64{}, Finished: map[string]bool{}}}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return g, nil
	}
	if err != nil {
		return nil, err
	}
	return g, json.Unmarshal(data, &g.p)
}

func (g *generator) Open(_ context.Context, rt engine.Runtime) error {
	g.rt = rt
	return nil
}

func (g *generator) Close(context.Context) error { return nil }

func (g *generator) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	errs := make([]error, crashLanes)
	for i := range crashLanes {
		name := fmt.Sprintf("lane%d", i)
		g.mu.Lock()
		finished := g.p.Finished[name]
		g.mu.Unlock()
		if !finished {
			wg.Go(func() { errs[i] = g.lane(ctx, name) })
		}
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (g *generator) lane(ctx context.Context, name string) error {
	g.mu.Lock()
	next := g.p.Pos[name]
	g.mu.Unlock()
	l := g.rt.NewLane(name, engine.LaneLimits{})
	defer g.rt.End(l)
	l.SetID("id of " + name)
	for ; next < crashBatches; next++ {
		b, err := g.rt.Get(ctx, l)
		if err != nil {
			return err
		}
		b.In = append(b.In[:0], batchText(name, int(next))...)
		if err := g.rt.Emit(ctx, b, engine.Position{A: next + 1}); err != nil {
			return err
		}
	}
	l.Complete()
	return nil
}

func (g *generator) Commit(ctx context.Context, ups []engine.LanePos) error {
	return g.CommitCut(ctx, ups, nil)
}

func (g *generator) CommitCut(_ context.Context, ups []engine.LanePos, extents []engine.Extent) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, up := range ups {
		g.p.Pos[up.Lane.Name()] = up.Pos.A
	}
	g.p.Extents = slices.Clone(extents)
	return g.store()
}

func (g *generator) Finish(_ context.Context, lanes []*engine.Lane) []error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, l := range lanes {
		g.p.Finished[l.Name()] = true
	}
	if err := g.store(); err != nil {
		return slices.Repeat([]error{err}, len(lanes))
	}
	return nil
}

func (g *generator) store() error {
	data, err := json.Marshal(g.p)
	if err != nil {
		return err
	}
	_ = g.at("state.before_rename")
	if err := os.WriteFile(g.path+".new", data, 0o644); err != nil {
		return err
	}
	if err := os.Rename(g.path+".new", g.path); err != nil {
		return err
	}
	return g.at("state.after_rename")
}

// letters is a codec that copies its records, and writes a dead letter for
// every seventh batch.
type letters struct{}

func (letters) Process(b *engine.Batch) {
	text := b.In[b.Next:]
	var lane string
	var i int
	_, _ = fmt.Sscanf(string(text), "%s %d", &lane, &i) // written by this file
	b.Out.Bytes = append(b.Out.Bytes, text...)
	b.Out.Recs = append(b.Out.Recs, engine.OutRec{}, engine.OutRec{})
	b.Stats.Records, b.Stats.Emitted = 2, 2
	if i%7 == 0 {
		b.Dead.Bytes = fmt.Appendf(b.Dead.Bytes, "dead %s %d\n", lane, i)
		b.Dead.Recs = append(b.Dead.Recs, engine.OutRec{})
	}
	b.Next = len(b.In)
}

func (letters) Reject(*engine.Batch) {}
func (letters) Refuse(*engine.Batch) {}

// extentsOf returns the extents of one sink.
func extentsOf(extents []engine.Extent, sink string) (own []engine.Extent) {
	for _, m := range extents {
		if m.Sink == sink {
			own = append(own, m)
		}
	}
	return own
}

// runChild is the child process: one run of a pipeline in dir.
func runChild(dir, variant, faults string) error {
	plan, err := fault.Parse(faults)
	if err != nil {
		return err
	}
	g, err := newGenerator(filepath.Join(dir, "state"), plan.At)
	if err != nil {
		return err
	}
	cfg := crashVariants[variant](dir)
	cfg.Header = []byte(crashHeader)
	dead := config(filepath.Join(dir, "dead", "letters.jsonl.zst"))
	dead.ExactlyOnce = cfg.ExactlyOnce
	cfg.Resume, dead.Resume = extentsOf(g.p.Extents, "sink 1"), extentsOf(g.p.Extents, engine.DeadLetterName)
	var sinks [2]openedLog
	for i, c := range []LogConfig{cfg, dead} {
		if sinks[i], err = makeLog(c); err != nil {
			return err
		}
		inner(sinks[i]).files.at, inner(sinks[i]).firstRetry = plan.At, time.Millisecond
	}
	p, err := engine.New(engine.Options{
		Sources: []engine.Source{g}, Sinks: []engine.Sink{sinks[0]}, DeadLetter: sinks[1],
		NewCodec: func() engine.Codec { return letters{} }, Ordering: engine.OrderPerLane, Workers: 4,
		ExactlyOnce: cfg.ExactlyOnce, CommitInterval: 2 * time.Millisecond,
	})
	if err != nil {
		return err
	}
	return p.Run(ctx)
}

func TestMain(m *testing.M) {
	dir := os.Getenv("FILE_LOG_CHILD")
	if dir == "" {
		os.Exit(m.Run())
	}
	if v := os.Getenv("FILE_LOG_VARIANT"); v != "" && v == limited {
		runLimited(dir)
		return
	}
	if err := runChild(dir, os.Getenv("FILE_LOG_VARIANT"), os.Getenv("FILE_LOG_FAULTS")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestCrash kills runs at random points, restarts them, and compares the output
// with the input. URLFOLD_CRASHES sets the number of kills.
func TestCrash(t *testing.T) {
	rounds, err := strconv.Atoi(os.Getenv("URLFOLD_CRASHES"))
	if err != nil {
		rounds = 1
	}
	for _, variant := range slices.Sorted(maps.Keys(crashVariants)) {
		t.Run(variant, func(t *testing.T) {
			t.Parallel()
			for range rounds {
				crash(t, variant, rand.Uint64())
			}
		})
	}
}

func crash(t *testing.T, variant string, seed uint64) {
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(seed, 0))
	finished := map[string]string{}
	kills := 0
	for done := false; !done; {
		faults := fmt.Sprintf("*=kill@%d", 1+random.IntN(120))
		switch random.IntN(4) { // sometimes with a failure before that
		case 0:
			faults += ",file.before_sync=eio@2..3"
		case 1:
			faults += ",file.after_write=enospc@3..5"
		}
		if kills > 12 {
			faults = "" // because such a run does not end
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "FILE_LOG_CHILD="+dir, "FILE_LOG_VARIANT="+variant, "FILE_LOG_FAULTS="+faults)
		out, err := cmd.CombinedOutput()
		exit, failed := errors.AsType[*exec.ExitError](err)
		switch {
		case err == nil:
			done = true
		case failed && exit.ExitCode() == -1 && faults != "":
			kills++
		default:
			t.Fatalf("seed %d, %s: %v\n%s", seed, faults, err, out)
		}
		checkFinished(t, dir, finished)
	}
	once := crashVariants[variant](dir).ExactlyOnce
	outputs := outputsOf(t, filepath.Join(dir, "out"), crashHeader)
	checkCrash(t, outputs, once, func(lane string, i int) string { return batchText(lane, i) })
	checkCrash(t, outputsOf(t, filepath.Join(dir, "dead"), ""), once, func(lane string, i int) string {
		if i%7 != 0 {
			return ""
		}
		return fmt.Sprintf("dead %s %d\n", lane, i)
	})
	if t.Failed() {
		t.Fatalf("failed after %d kills, with seed %d", kills, seed)
	}
	t.Logf("%d kills", kills)
}

// checkFinished checks that files with final names never change, except those
// that always grow.
func checkFinished(t *testing.T, dir string, finished map[string]string) {
	t.Helper()
	_ = filepath.WalkDir(filepath.Join(dir, "out"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, partSuffix) || filepath.Base(path) == "all.log" {
			return nil
		}
		data := content(t, path)
		if was, ok := finished[path]; ok && was != data {
			t.Errorf("%s was finished, but has changed", path)
		}
		finished[path] = data
		return nil
	})
	for path := range finished {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s was finished, but no longer exists", path)
		}
	}
}

// outputsOf returns the contents of all files below dir, sorted by name and
// without the header with which each of them must begin.
func outputsOf(t *testing.T, dir, header string) string {
	t.Helper()
	var b strings.Builder
	for _, r := range reports(t, dir) {
		if !r.Intact() {
			t.Errorf("%s: %+v", r.Path, r)
		}
		records, ok := strings.CutPrefix(text(t, r.Path), header)
		if !ok {
			t.Errorf("%s does not begin with its header", r.Path)
		}
		b.WriteString(records)
	}
	return b.String()
}

// checkCrash checks that all records are in the output: those of each lane in
// order and once, or at least once without exactly-once delivery.
func checkCrash(t *testing.T, got string, once bool, batch func(lane string, i int) string) {
	t.Helper()
	total := 0
	for n := range crashLanes {
		lane := fmt.Sprintf("lane%d", n)
		var want, own strings.Builder
		for i := range crashBatches {
			want.WriteString(batch(lane, i))
		}
		for line := range strings.Lines(got) {
			if strings.Contains(line, lane) {
				own.WriteString(line)
			}
			if line[len(line)-1] != '\n' || !strings.Contains(want.String(), line) && strings.Contains(line, lane) {
				t.Errorf("not in the input: %q", line)
			}
		}
		total += own.Len()
		if once && own.String() != want.String() {
			t.Errorf("%s: %d bytes, want %d in order", lane, own.Len(), want.Len())
		}
		for line := range strings.Lines(want.String()) {
			if !strings.Contains(own.String(), line) {
				t.Errorf("lost: %q", line)
			}
		}
	}
	if total != len(got) {
		t.Errorf("%d bytes of %d belong to no lane", len(got)-total, len(got))
	}
}
