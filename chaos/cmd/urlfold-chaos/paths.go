package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urlfold/urlfold/chaos"
)

var paths = []experiment{{
	name: "kill-paths", no: "1", about: "kill -9 at random moments of runs, each of which writes to another path than the run before, exactly once",
	bound: "the outputs with their final names hold every record once",
	run:   killPaths,
}}

// outputPaths are templates of every sort of output: one that grows, one for
// each input, and numbered ones.
var outputPaths = []string{
	"one.log", "two.log.gz", "three/{source.name}.log.zst", "four/{time:%Y}.log", "five/{source.relpath}", "six/{lane}.gz", "seven/{seq}.log",
}

func killPaths(ctx context.Context, l *lab) error {
	s := &setup{dir: l.dir, spec: chaos.Spec{Seed: l.seed, Format: chaos.Lines}, exactly: true, pipeline: "workers: 1\n"}
	s.defaults()
	lanes := map[uint64]uint64{}
	for lane := range uint64(3) {
		n, err := s.spec.WriteFile(filepath.Join(s.dir, "in", fmt.Sprintf("%d.log", lane)), chaos.Plain, lane, l.size(20<<20, 100<<20))
		if err != nil {
			return err
		}
		lanes[lane] = n
	}
	killed, late := 0, 0
	for run := range l.times(8, 100) {
		for range 1 + l.rng.IntN(3) {
			hit, published, err := s.killLate(ctx, l)
			if err != nil {
				return err
			}
			if hit {
				killed++
			}
			if published {
				late++
			}
		}
		s.out = outputPaths[l.rng.IntN(len(outputPaths))]
		if _, err := s.complete(ctx, l); err != nil {
			return err
		}
		if err := removeParts(s.outDir); err != nil {
			return err
		}
		r, _, err := s.judge(lanes, false)
		if err != nil {
			return err
		}
		l.check(r.Lost == 0 && r.Doubled == 0 && r.Corrupted == 0, "run %d: %v: %v", run, r, r.Examples)
		if err := s.clear(); err != nil {
			return err
		}
	}
	l.figure("kills during a run", killed)
	l.figure("kills while an output had its final name", late)
	l.check(late > 0, "no kill came while an output had its final name")
	return nil
}

// killLate starts the program with another path. It kills it at a random moment
// after a commit, and reports whether an output had its final name by then.
func (s *setup) killLate(ctx context.Context, l *lab) (hit, published bool, err error) {
	s.out = outputPaths[l.rng.IntN(len(outputPaths))]
	p, err := s.begin(ctx, l)
	if err != nil {
		return false, false, err
	}
	defer p.Kill()
	err = until(ctx, endTimeout, "a commit", func() (bool, error) { return s.logCommits() > 0 || p.Ended(), nil })
	if err != nil {
		return false, false, err
	}
	pause(ctx, l.between(0, 300*time.Millisecond))
	hit = !p.Ended()
	p.Kill()
	_, err = os.Stat(filepath.Join(s.outDir, s.out)) // exists only for an output that grows
	return hit, hit && err == nil, nil
}

// removeParts removes unfinished outputs, which no checkpoint covers.
func removeParts(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".part") {
			err = os.Remove(path)
		}
		return err
	})
}
