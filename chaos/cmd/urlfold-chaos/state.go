package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urlfold/urlfold/chaos"
	"github.com/urlfold/urlfold/internal/storage/fault"
)

var states = []experiment{
	{
		name: "checkpoint", no: "25", about: "snapshot and log of the checkpoint torn, empty, with a flipped bit, of another version, with trailing bytes, missing, both generations damaged, file times changed",
		bound: "lost 0, corrupted 0; exactly once: doubled 0 if only the snapshot is damaged, else ≤ the records after the last commit before the damage; a warning names the damage",
		run:   damageState,
	},
	{
		name: "log-torn", no: "25", about: "the log truncated at each byte of its last commit, and a bit flipped in each commit",
		bound: "the loaded checkpoint is from the last commit before the damage, never from a later one; a run that continues from there: lost 0, doubled 0",
		run:   tearLog,
	},
	{
		name: "compaction", no: "25", about: "kill -9 at each step of a commit and of a compaction",
		bound: "exactly once: lost 0, doubled 0, corrupted 0, at every step; no warning except that of an incomplete commit",
		run:   killCompaction,
	},
	{
		name: "state-removed", no: "25", about: "checkpoint files, and the data directory itself, removed, truncated, replaced and moved during a run, with and without a signal right after it",
		bound: "checkpoint files are restored within some commit intervals; a run without its lock ends with exit code 1 within some seconds; lost 0, and doubled 0 where the checkpoint still exists",
		run:   removeState,
	},
	{
		name: "two", no: "25", about: "a second process on the same data directory",
		bound: "it fails with exit code 1 and changes nothing; the first process continues",
		run:   second,
	},
}

// A spoiling is a way to damage a checkpoint file.
type spoiling struct {
	name  string
	spoil func(data []byte, at int) []byte // nil: the file is removed
	quiet bool                             // no warning is expected
}

var spoilings = []spoiling{
	{"torn", func(data []byte, at int) []byte { return data[:at] }, false},
	{"empty", func([]byte, int) []byte { return nil }, false},
	{"a flipped bit", func(data []byte, at int) []byte { data[at] ^= 1; return data }, false},
	{"another version", func(data []byte, _ int) []byte {
		return bytes.Replace(data, []byte(`"version":2`), []byte(`"version":9`), 1)
	}, false},
	{"garbage after the end", func(data []byte, _ int) []byte { return append(data, "more\n"...) }, false},
	{"zeros", func(data []byte, _ int) []byte { return make([]byte, len(data)) }, false},
	{"removed", nil, false},
	{"as it was", func(data []byte, _ int) []byte { return data }, true},
}

// stateFiles are sets of files that are damaged together.
var stateFiles = [][]string{
	{"checkpoint"},
	{"checkpoint.log"},
	{"checkpoint", "checkpoint.log"},
	{"checkpoint", "checkpoint.log", "checkpoint.1", "checkpoint.1.log"},
}

func damageState(ctx context.Context, l *lab) error {
	for i := range l.times(len(spoilings)*len(stateFiles)/2, 2*len(spoilings)*len(stateFiles)) {
		if err := damageOnce(ctx, l, i); err != nil {
			return err
		}
	}
	return nil
}

// damageOnce kills a run, damages the checkpoint, and lets the next run finish.
func damageOnce(ctx context.Context, l *lab, i int) error {
	how, names := &spoilings[i%len(spoilings)], stateFiles[i/len(spoilings)%len(stateFiles)]
	s, n, err := l.stateSetup(i, i%3 > 0)
	if err != nil {
		return err
	}
	if err := s.killSlow(ctx, l, 2); err != nil {
		return err
	}
	if err := s.spoil(l, how, names); err != nil {
		return err
	}
	p, err := s.complete(ctx, l)
	if err != nil {
		return fmt.Errorf("%s: %w", how.name, err)
	}
	r, _, err := s.judge(map[uint64]uint64{0: n}, false)
	if err != nil {
		return err
	}
	what := how.name + ": " + strings.Join(names, ", ")
	l.figure(what, fmt.Sprintf("lost %d, doubled %d (distance %d), corrupted %d", r.Lost, r.Doubled, r.Distance, r.Corrupted))
	l.check(r.Right(), "%s: %v: %v", what, r, r.Examples)
	l.check(!s.exactly || len(names) > 1 || names[0] != "checkpoint" || r.Doubled == 0, "%s: %v", what, r)
	warned := strings.Contains(p.Output(), "checkpoint damaged")
	mayBeQuiet := how.spoil == nil && len(names) == len(stateFiles) // no file remains that could be damaged
	l.check(mayBeQuiet || how.quiet != warned, "%s: warning is %v, want %v: %s", what, warned, !how.quiet, lastLines(p.Output(), 5))
	return os.RemoveAll(s.dir)
}

// stateSetup returns a setup with one input file in its own folder.
func (l *lab) stateSetup(i int, exactly bool) (s *setup, records uint64, err error) {
	s = &setup{
		dir: l.path(fmt.Sprint(i)), spec: chaos.Spec{Seed: l.seed + uint64(i), Format: chaos.Lines}, pipeline: "batch: {size: 16KiB}\n",
		exactly: exactly,
	}
	s.defaults()
	records, err = s.spec.WriteFile(filepath.Join(s.dir, "in", "0.log"), chaos.Plain, 0, 12<<20)
	if err != nil {
		return nil, 0, err
	}
	return s, records, s.write()
}

// killSlow starts the program with a slow sink and kills it after some commits,
// once per generation.
func (s *setup) killSlow(ctx context.Context, l *lab, generations int) error {
	bin, err := l.faulty(ctx)
	if err != nil {
		return err
	}
	for range generations {
		p, err := l.startBin([]string{fault.Env + "=file.before_sync=delay:60ms"}, bin, "run", "-c", s.config())
		if err != nil {
			return err
		}
		before := s.logCommits()
		err = until(ctx, time.Minute, "three commits", func() (bool, error) {
			n := s.logCommits()
			return p.Ended() || n != before && n >= 3, nil
		})
		p.Kill()
		if err != nil {
			return err
		}
	}
	return nil
}

// frameMark is the magic number at the beginning of each commit in a log.
const frameMark = "\xf5ufr"

// logCommits returns the number of commits in the log.
func (s *setup) logCommits() int {
	data, err := os.ReadFile(filepath.Join(s.dataDir, "checkpoint.log"))
	if err != nil {
		return 0
	}
	return bytes.Count(data, []byte(frameMark)) - 1 // the first frame is the header
}

// spoil damages checkpoint files and changes their times.
func (s *setup) spoil(l *lab, how *spoiling, names []string) error {
	for _, name := range names {
		path := filepath.Join(s.dataDir, name)
		if how.spoil == nil {
			if err := os.Remove(path); err != nil {
				return err
			}
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, how.spoil(data, 1+l.rng.IntN(len(data)-1)), 0o644); err != nil {
			return err
		}
		then := time.Now().Add(time.Duration(l.rng.Int64N(int64(1000*time.Hour))) - 500*time.Hour)
		if err := os.Chtimes(path, then, then); err != nil {
			return err
		}
	}
	return nil
}

func second(ctx context.Context, l *lab) error {
	s := &setup{dir: l.dir, mode: "tail", in: l.path("in", "*.log"), source: quickSource, spec: chaos.Spec{Seed: l.seed, Format: chaos.Lines}}
	lanes, err := s.input(l, 8<<20)
	if err != nil {
		return err
	}
	p, err := s.begin(ctx, l)
	if err != nil {
		return err
	}
	if err := l.awaitReady(ctx, p); err != nil {
		return err
	}
	q, err := l.finish(ctx, 1, "run", "-c", s.config())
	if err != nil {
		return err
	}
	l.figure("error of the second process", lastLines(q.Output(), 1))
	l.check(strings.Contains(q.Output(), "another process"), "the second process does not report the cause: %s", q.Output())
	if err := l.awaitRecords(ctx, p, lanes[0]); err != nil {
		return err
	}
	return s.endsExact(ctx, l, p, lanes)
}
