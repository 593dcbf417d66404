package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urlfold/urlfold/chaos"
	"github.com/urlfold/urlfold/internal/storage/disk"
)

var powers = []experiment{
	{
		name: "power-loss", no: "31",
		about: "the power fails at random points of a run: unsynced data is dropped, truncated or replaced by zeros; unsynced changes of names are undone",
		bound: "exactly once: outputs as without a power loss, lost 0, doubled 0, corrupted 0; at least once: lost 0, corrupted 0; a disk that ignores the syncs of outputs or of folders is detected",
		run:   powerLoss,
	},
}

// A powerCase is a configuration whose run is interrupted by power losses.
type powerCase struct {
	name    string
	kind    chaos.Kind // kind of the inputs
	exactly bool
	dead    bool
	sink    string
	out     string
	source  string
	share   int // share of the points, in percent
}

// powerCases cover each kind of output and each way to finish an input.
var powerCases = []powerCase{
	{name: "plain, exactly once, delete", kind: chaos.Plain, exactly: true, dead: true, source: ", on_finish: delete", share: 25},
	{name: "zstd, exactly once, move", kind: chaos.Gzip, exactly: true, dead: true, sink: ", compress: zstd", source: ", on_finish: {move_to: %q}", share: 20},
	{name: "rotated gzip, exactly once", kind: chaos.Plain, exactly: true, sink: ", compress: gzip, rotate: {size: 60KiB}", out: "{seq}.log.gz", source: ", on_finish: delete", share: 15},
	{name: "gzip, at least once, delete", kind: chaos.Members, dead: true, sink: ", compress: gzip", source: ", on_finish: delete", share: 20},
	{name: "one growing file, at least once, move", kind: chaos.Plain, dead: true, out: "all.log", source: ", on_finish: {move_to: %q}", share: 20},
}

// A powering is a running case.
type powering struct {
	*setup
	lab    *lab
	root   string
	lanes  map[uint64]uint64
	inputs map[string][]byte
	want   chaos.Digests
	ops    []disk.Op
	model  func(ignore func(*disk.Op) bool) (*chaos.Disk, error)
}

func powerLoss(ctx context.Context, l *lab) error {
	points := l.times(24, 200)
	total, again, lost := 0, 0, ""
	for i := range powerCases {
		c := &powerCases[i]
		s, err := l.record(ctx, i, c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		n := max(1, points*c.share/100)
		bad, twice, err := s.cutMany(ctx, n, nil)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		for _, b := range bad {
			l.check(false, "%s: %s", c.name, b)
		}
		total, again = total+n, again+twice
		lost += fmt.Sprintf("; %s: %d operations, %d cuts", c.name, len(s.ops), n)
		if i != 0 {
			continue
		}
		for _, control := range []struct {
			name   string
			ignore func(*disk.Op) bool
		}{
			{"ignored fsync of outputs", func(op *disk.Op) bool { return op.Op == "sync" && strings.HasPrefix(op.Path, s.outDir) }},
			{"ignored fsync of all files", func(op *disk.Op) bool { return op.Op == "sync" }},
			{"ignored fsync of the folder of outputs", func(op *disk.Op) bool { return op.Op == "syncdir" && strings.HasPrefix(op.Path, s.outDir) }},
		} {
			bad, _, err := s.cutMany(ctx, l.times(6, 20), control.ignore)
			if err != nil {
				return err
			}
			l.figure(control.name+": harmful power losses", len(bad))
			l.check(len(bad) > 0, "%s: no power loss did harm, so the experiment detects nothing", control.name)
		}
	}
	l.did("%d power losses, %d of them followed by a second one during the next run%s", total, again, lost)
	return nil
}

// record runs a whole case and records its operations.
func (l *lab) record(ctx context.Context, i int, c *powerCase) (*powering, error) {
	dir := l.path(fmt.Sprint(i))
	root := filepath.Join(dir, "disk")
	source := c.source
	if strings.Contains(source, "%q") {
		source = fmt.Sprintf(source, filepath.Join(root, "done"))
	}
	s := &powering{lab: l, root: root, lanes: map[uint64]uint64{}, inputs: map[string][]byte{}, setup: &setup{
		dir: dir, spec: chaos.Spec{Seed: l.seed, Poison: 100}, exactly: c.exactly, dead: c.dead, sink: c.sink, out: c.out,
		in: filepath.Join(root, "in", "**"), source: ", allow_empty: true, poll_interval: 10ms" + source,
		outDir: filepath.Join(root, "out"), deadDir: filepath.Join(root, "dead"), dataDir: filepath.Join(root, "data"),
		pipeline: "batch: {size: 8KiB}\n", commit: 10 * time.Millisecond,
	}}
	if !c.dead {
		s.spec.Poison = 0
	}
	for lane := range uint64(6) {
		path := filepath.Join(root, "in", fmt.Sprintf("%d.log%s", lane, c.kind.Ext()))
		n, err := s.spec.WriteFile(path, c.kind, lane, int64(20<<10+lane*40<<10))
		if err != nil {
			return nil, err
		}
		s.lanes[lane] = n
		if s.inputs[path], err = os.ReadFile(path); err != nil {
			return nil, err
		}
	}
	if err := s.setup.write(); err != nil {
		return nil, err
	}
	first, err := chaos.NewDisk(root, filepath.Join(root, "in"), filepath.Join(dir, "keep"))
	if err != nil {
		return nil, err
	}
	s.model = func(ignore func(*disk.Op) bool) (*chaos.Disk, error) {
		d := first.Clone()
		d.Ignore = ignore
		return d, nil
	}
	if s.ops, err = s.runRecorded(ctx, "ops"); err != nil {
		return nil, err
	}
	r, want, err := s.judge(s.lanes, false)
	if err != nil {
		return nil, err
	}
	s.want = want
	l.check(r.Right() && (!c.exactly || r.Exact()), "%s: run without a power loss: %v: %v", c.name, r, r.Examples)
	return s, nil
}

// runRecorded runs the program until it ends, slowed down, and returns its file
// operations.
func (s *powering) runRecorded(ctx context.Context, name string) ([]disk.Op, error) {
	bin, err := s.lab.faulty(ctx)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(s.dir, name)
	_ = os.Remove(path) // left by an earlier run
	env := []string{disk.RecordEnv + "=" + path, "URLFOLD_FAULT=file.before_write=delay:1ms"}
	p, err := s.lab.startBin(env, bin, "run", "-c", s.config())
	if err != nil {
		return nil, err
	}
	if err := s.lab.ends(ctx, p, 0); err != nil {
		return nil, err
	}
	return chaos.ReadOps(path)
}

// cutMany simulates a power loss at n random points of the recorded run. Each
// time it lets the program continue with what remains, and returns what was
// wrong in the end. Without ignore, it sometimes interrupts the continued run
// with a second power loss.
func (s *powering) cutMany(ctx context.Context, n int, ignore func(*disk.Op) bool) (bad []string, twice int, err error) {
	d, err := s.model(ignore)
	if err != nil {
		return nil, 0, err
	}
	points := s.points(n)
	at := 0
	for i, point := range points {
		for ; at < point; at++ {
			if err := d.Apply(&s.ops[at]); err != nil {
				return nil, 0, fmt.Errorf("operation %d: %w", at, err)
			}
		}
		lost, err := d.Cut(s.lab.rng)
		if err != nil {
			return nil, 0, err
		}
		where := fmt.Sprintf("after operation %d of %d (%s)", point, len(s.ops), lost)
		if ignore == nil && i%5 == 4 {
			twice++
			if lost, err = s.cutAgain(ctx); err != nil {
				return nil, 0, fmt.Errorf("%s: %w", where, err)
			}
			where += ", then again (" + lost + ")"
		}
		if wrong := s.goOn(ctx); wrong != "" {
			bad = append(bad, where+": "+wrong)
		}
		if ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
	}
	return bad, twice, nil
}

// points returns n random points of the recorded run, sorted. Every second
// point follows an operation on names, because such operations are rare and the
// most error-prone.
func (s *powering) points(n int) []int {
	var names []int
	for i := range s.ops {
		switch s.ops[i].Op {
		case "rename", "link", "remove", "syncdir":
			names = append(names, i+1)
		}
	}
	points := make([]int, n)
	for i := range points {
		points[i] = s.lab.rng.IntN(len(s.ops)) + 1
		if i%2 == 1 {
			points[i] = names[s.lab.rng.IntN(len(names))]
		}
	}
	slices.Sort(points)
	return points
}

// cutAgain runs the program on the remains of a power loss and interrupts that
// run with another one.
func (s *powering) cutAgain(ctx context.Context) (lost string, err error) {
	keep := filepath.Join(s.dir, "keep2")
	if err := os.RemoveAll(keep); err != nil {
		return "", err
	}
	d, err := chaos.NewDisk(s.root, filepath.Join(s.root, "in"), keep)
	if err != nil {
		return "", err
	}
	ops, err := s.runRecorded(ctx, "ops2")
	if err != nil {
		return "", err
	}
	for i := range ops[:rand.New(rand.NewPCG(s.lab.rng.Uint64(), 0)).IntN(len(ops)+1)] {
		if err := d.Apply(&ops[i]); err != nil {
			return "", err
		}
	}
	return d.Cut(s.lab.rng)
}

// goOn runs the program until it ends and returns what is wrong then.
func (s *powering) goOn(ctx context.Context) string {
	if _, err := s.complete(ctx, s.lab); err != nil {
		return err.Error()
	}
	if wrong := s.archived(); wrong != "" {
		return wrong
	}
	r, got, err := s.judge(s.lanes, false)
	switch {
	case err != nil:
		return err.Error()
	case !r.Right() || s.exactly && !r.Exact():
		return fmt.Sprintf("%v: %v", r, r.Examples)
	case s.exactly && s.rotates():
		return "" // the ends of the files depend on the moments of the power losses
	case s.exactly && len(got.Diff(s.want)) > 0:
		return fmt.Sprintf("outputs differ: %v", got.Diff(s.want))
	}
	return ""
}

// archived returns what is wrong with the inputs that were to be moved: each
// must be unchanged at its old or its new path. If the power fails while a name
// is reserved, the empty file that reserves it remains, and the input gets the
// next name.
func (s *powering) archived() string {
	if !strings.Contains(s.source, "move_to") {
		return ""
	}
	for path, want := range s.inputs {
		stem, _, _ := strings.Cut(filepath.Base(path), ".")
		names, _ := filepath.Glob(filepath.Join(s.root, "done", stem+".*")) // the pattern is valid
		found := slices.ContainsFunc(append(names, path), func(name string) bool {
			text, err := os.ReadFile(name)
			return err == nil && bytes.Equal(text, want)
		})
		if !found {
			return filepath.Base(path) + " is at neither its old nor its new path"
		}
	}
	return ""
}

func (s *powering) rotates() bool { return strings.Contains(s.sink, "rotate") }
