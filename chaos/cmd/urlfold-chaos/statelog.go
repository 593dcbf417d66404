package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/urlfold/urlfold/chaos"
	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/internal/storage/fault"
)

// tearLog truncates the log at each byte of its last commit, flips a bit in
// each of its commits, and checks which checkpoint is loaded. From some of
// these states it runs the program until it ends.
func tearLog(ctx context.Context, l *lab) error {
	s, n, err := l.stateSetup(0, true)
	if err != nil {
		return err
	}
	if err := s.killSlow(ctx, l, 2); err != nil {
		return err
	}
	saved := map[string]string{s.dataDir: l.path("data"), s.outDir: l.path("out")}
	for from, to := range saved {
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			return err
		}
	}
	log := filepath.Join(s.dataDir, "checkpoint.log")
	whole, err := os.ReadFile(log)
	if err != nil {
		return err
	}
	begins := frameBegins(whole)
	looks, runs, last := 0, 0, begins[len(begins)-1]
	look := func(what string, data []byte, commits int, run bool) error {
		if err := os.WriteFile(log, whole[:append(begins, len(whole))[commits+1]], 0o640); err != nil {
			return err
		}
		want, _ := checkpoint.List(s.dataDir)
		if err := os.WriteFile(log, data, 0o640); err != nil {
			return err
		}
		got, _ := checkpoint.List(s.dataDir)
		l.check(len(want.Entries) == 1 && fmt.Sprint(got) == fmt.Sprint(want), "%s: %v, want %v", what, got, want)
		if looks++; !run {
			return nil
		}
		runs++
		return s.runFrom(ctx, l, saved, data, what, n)
	}
	for at := last; at < len(whole); at++ {
		run := at == last+1 || at == (last+len(whole))/2 || at == len(whole)-1
		if err := look(fmt.Sprintf("cut at byte %d of %d", at, len(whole)), whole[:at], len(begins)-2, run); err != nil {
			return err
		}
	}
	for i, at := range begins[1:] {
		data := bytes.Clone(whole)
		data[at+l.rng.IntN(append(begins, len(whole))[i+2]-at)] ^= 1
		if err := look(fmt.Sprintf("a bit flipped in commit %d", i+1), data, i, i == 0 || i == len(begins)/2); err != nil {
			return err
		}
	}
	l.did("%d truncations and flips of a log with %d commits, %d runs from the result", looks, len(begins)-1, runs)
	return nil
}

// frameBegins returns the offsets of the frames of a log, starting with the
// header.
func frameBegins(log []byte) (at []int) {
	for i := 0; ; i++ {
		k := bytes.Index(log[i:], []byte(frameMark))
		if k < 0 {
			return at
		}
		i += k
		at = append(at, i)
	}
}

// runFrom restores outputs and checkpoint, replaces the log by the given one,
// and runs the program until it ends.
func (s *setup) runFrom(ctx context.Context, l *lab, saved map[string]string, log []byte, what string, n uint64) error {
	for to, from := range saved {
		if err := errors.Join(os.RemoveAll(to), os.CopyFS(to, os.DirFS(from))); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(s.dataDir, "checkpoint.log"), log, 0o640); err != nil {
		return err
	}
	if _, err := s.complete(ctx, l); err != nil {
		return err
	}
	r, _, err := s.judge(map[uint64]uint64{0: n}, false)
	if err != nil {
		return err
	}
	l.check(r.Exact(), "%s: %v: %v", what, r, r.Examples)
	for to, from := range saved { // restore for the next check
		if err := errors.Join(os.RemoveAll(to), os.CopyFS(to, os.DirFS(from))); err != nil {
			return err
		}
	}
	return nil
}

// commitPoints are the fault points of a commit and of a compaction, in order.
var commitPoints = []string{
	"before_append", "after_append", "after_sync",
	"before_snapshot", "after_snapshot", "after_log", "after_keep", "before_rename", "after_snapshot_rename", "after_log_rename", "after_compaction",
}

// killCompaction kills runs at each step of a commit and of a compaction. A
// process compacts before its first commit, so the second run has a previous
// generation to keep.
func killCompaction(ctx context.Context, l *lab) error {
	bin, err := l.faulty(ctx)
	if err != nil {
		return err
	}
	kills := 0
	for i, point := range commitPoints {
		for hit := 1; hit <= l.times(1, 3); hit++ {
			s, n, err := l.stateSetup(10*i+hit, true)
			if err != nil {
				return err
			}
			if err := s.killSlow(ctx, l, 1); err != nil {
				return err
			}
			plan := fmt.Sprintf("file.before_sync=delay:5ms,checkpoint.%s=kill@%d", point, hit)
			for range 2 {
				p, err := l.startBin([]string{fault.Env + "=" + plan}, bin, "run", "-c", s.config())
				if err != nil {
					return err
				}
				if code, err := p.Wait(ctx, endTimeout); err != nil {
					return err
				} else if code != 0 {
					kills++
				}
			}
			p, err := s.complete(ctx, l)
			if err != nil {
				return fmt.Errorf("%s: %w", plan, err)
			}
			r, _, err := s.judge(map[uint64]uint64{0: n}, false)
			if err != nil {
				return err
			}
			l.check(r.Exact(), "%s: %v: %v", plan, r, r.Examples)
			for line := range strings.Lines(p.Output()) {
				l.check(!strings.Contains(line, "checkpoint damaged") || strings.Contains(line, "incomplete commit"), "%s: %s", plan, line)
			}
			if err := os.RemoveAll(s.dir); err != nil {
				return err
			}
		}
	}
	l.did("%d kills at %d points", kills, len(commitPoints))
	l.check(kills >= len(commitPoints), "only %d kills, want at least %d", kills, len(commitPoints))
	return nil
}

// A removal is a way to harm the data directory while a run is writing.
type removal struct {
	name  string
	harm  func(dir string) error // dir is the data directory
	ends  bool                   // the run must end with exit code 1
	mend  func(dir string) error // called before the next start
	blank bool                   // no checkpoint remains: records may be doubled
}

// away returns the path that a data directory is moved to.
func away(dir string) string { return dir + ".away" }

var removals = []removal{
	{name: "checkpoint removed", harm: removing("checkpoint")},
	{name: "checkpoint.log removed", harm: removing("checkpoint.log")},
	{name: "all checkpoint files removed", harm: removing("checkpoint", "checkpoint.log", "checkpoint.1", "checkpoint.1.log")},
	{name: "checkpoint.log cut", harm: func(dir string) error { return os.Truncate(filepath.Join(dir, "checkpoint.log"), 60) }},
	{name: "restart points removed", harm: func(dir string) error { return os.RemoveAll(filepath.Join(dir, "restart")) }},
	{name: "moved, with a link to it", harm: func(dir string) error { return errors.Join(os.Rename(dir, away(dir)), os.Symlink(away(dir), dir)) }},
	{name: "lock removed", ends: true, harm: removing("lock")},
	{name: "lock replaced", ends: true, harm: func(dir string) error {
		return errors.Join(removing("lock")(dir), os.WriteFile(filepath.Join(dir, "lock"), nil, 0o644))
	}},
	{
		name: "another folder in its place", ends: true,
		harm: func(dir string) error { return errors.Join(os.Rename(dir, away(dir)), os.Mkdir(dir, 0o755)) },
		mend: func(dir string) error { return errors.Join(os.RemoveAll(dir), os.Rename(away(dir), dir)) },
	},
	{
		name: "a link to another folder in its place", ends: true,
		harm: func(dir string) error {
			return errors.Join(os.Rename(dir, away(dir)), os.Mkdir(dir+".other", 0o755), os.Symlink(dir+".other", dir))
		},
		mend: func(dir string) error { return errors.Join(os.Remove(dir), os.Rename(away(dir), dir)) },
	},
	{name: "data directory removed", ends: true, blank: true, harm: os.RemoveAll},
}

func removing(names ...string) func(dir string) error {
	return func(dir string) error {
		var errs []error
		for _, name := range names {
			if err := os.Remove(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
				errs = append(errs, err)
			}
		}
		return errors.Join(errs...)
	}
}

// quickly is the maximum time in which a run must notice the harm, and end if
// it has to, on a busy machine.
const quickly = 10 * time.Second

func removeState(ctx context.Context, l *lab) error {
	var slowest time.Duration
	for i := range removals {
		for _, signaled := range []bool{false, true} {
			took, err := removeOnce(ctx, l, &removals[i], signaled, i)
			if err != nil {
				return fmt.Errorf("%s: %w", removals[i].name, err)
			}
			slowest = max(slowest, took)
		}
	}
	l.did("%d kinds of harm, each with and without a signal right after it", len(removals))
	l.figure("longest time until the checkpoint was restored or the run had ended", slowest)
	return nil
}

// removeOnce harms the data directory of a run. It returns the time until the
// checkpoint was restored or the run had ended.
func removeOnce(ctx context.Context, l *lab, how *removal, signaled bool, i int) (took time.Duration, err error) {
	s := &setup{
		dir: l.path(fmt.Sprint(i, signaled)), mode: "tail", source: quickSource, sink: ", compress: none",
		spec: chaos.Spec{Seed: l.seed + uint64(i), Format: chaos.Lines}, exactly: true,
	}
	s.defaults()
	lanes := map[uint64]uint64{}
	write := func(lane uint64) error {
		n, err := s.spec.WriteFile(filepath.Join(s.dir, "in", fmt.Sprint(lane, ".log")), chaos.Plain, lane, 1<<20)
		lanes[lane] = n
		return err
	}
	if err := write(0); err != nil {
		return 0, err
	}
	p, err := s.begin(ctx, l)
	if err != nil {
		return 0, err
	}
	if err := l.awaitReady(ctx, p); err != nil {
		return 0, err
	}
	if err := l.awaitRecords(ctx, p, lanes[0]); err != nil {
		return 0, err
	}
	pause(ctx, 4*commitEvery) // wait for a checkpoint
	if err := write(1); err != nil {
		return 0, err
	}
	began := time.Now()
	if err := stopped(ctx, p, func() error { return how.harm(s.dataDir) }); err != nil {
		return 0, err
	}
	if took, err = s.survive(ctx, l, p, how, signaled, began); err != nil {
		return 0, err
	}
	what := fmt.Sprintf("%s, signal %v", how.name, signaled)
	l.check(took < quickly, "%s: it took %v", what, took)
	if how.mend != nil {
		if err := how.mend(s.dataDir); err != nil {
			return 0, err
		}
	}
	if err := write(2); err != nil {
		return 0, err
	}
	s.mode, s.source = "batch", ""
	if _, err := s.complete(ctx, l); err != nil {
		return 0, err
	}
	r, _, err := s.judge(lanes, false)
	if err != nil {
		return 0, err
	}
	l.check(r.Right() && (how.blank || r.Doubled == 0), "%s: %v: %v", what, r, r.Examples)
	return took, os.RemoveAll(s.dir)
}

// stopped calls harm while p is stopped, so that p sees none or all of the
// harm: without a data directory for a moment, p would rightly end.
func stopped(ctx context.Context, p *chaos.Process, harm func() error) error {
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	pause(ctx, 50*time.Millisecond) // until all threads have stopped
	return errors.Join(harm(), p.Signal(syscall.SIGCONT))
}

// survive waits until p has restored its checkpoint or has ended, and ends it.
func (s *setup) survive(ctx context.Context, l *lab, p *chaos.Process, how *removal, signaled bool, began time.Time) (time.Duration, error) {
	if signaled {
		if err := p.Signal(syscall.SIGTERM); err != nil {
			return 0, err
		}
	}
	want := 0
	if how.ends {
		want = 1
	}
	if signaled || how.ends {
		err := l.ends(ctx, p, want)
		l.check(!how.ends || strings.Contains(p.Output(), "lock file was removed or replaced"), "%s: the reason is missing: %s", how.name, lastLines(p.Output(), 5))
		return time.Since(began), err
	}
	err := until(ctx, time.Minute, "checkpoint files", func() (bool, error) {
		if p.Ended() {
			return false, fmt.Errorf("the run ended: %s", lastLines(p.Output(), 5))
		}
		c, warnings := checkpoint.List(s.dataDir)
		_, err := os.Stat(filepath.Join(s.dataDir, "checkpoint"))
		return err == nil && len(warnings) == 0 && len(c.Entries) == 2, nil
	})
	took := time.Since(began)
	if err != nil {
		return 0, err
	}
	p.Kill() // the restored files must already be on disk
	return took, nil
}
