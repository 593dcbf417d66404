package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urlfold/urlfold/internal/chaos"
)

var states = []experiment{
	{
		name: "checkpoint", no: "25", about: "the stored progress torn, empty, with a flipped bit, of another version, gone, both states damaged, times of files set back and forth",
		bound: "lost 0, corrupted 0; what was damaged is named in a warning; doubled ≤ what came since the state before (all, if both are damaged)",
		run:   damageState,
	},
	{
		name: "two", no: "25", about: "a second process on the same data directory",
		bound: "it refuses with exit code 1, and does not touch anything; the first one goes on",
		run:   second,
	},
}

// A spoiling is one way to damage the progress.
type spoiling struct {
	name  string
	spoil func(data []byte, at int) []byte
	quiet bool // nothing is to be warned of
}

var spoilings = []spoiling{
	{"torn", func(data []byte, at int) []byte { return data[:at] }, false},
	{"empty", func([]byte, int) []byte { return nil }, false},
	{"a flipped bit", func(data []byte, at int) []byte { data[at] ^= 1; return data }, false},
	{"another version", func(data []byte, _ int) []byte {
		return bytes.Replace(data, []byte(`"version":1`), []byte(`"version":9`), 1)
	}, false},
	{"garbage behind it", func(data []byte, _ int) []byte { return append(data, "more\n"...) }, false},
	{"zeros", func(data []byte, _ int) []byte { return make([]byte, len(data)) }, false},
	{"as it was", func(data []byte, _ int) []byte { return data }, true},
}

func damageState(ctx context.Context, l *lab) error {
	for i := range l.times(len(spoilings)+1, 60) {
		if err := damageOnce(ctx, l, i); err != nil {
			return err
		}
	}
	return nil
}

// damageOnce kills a run, damages the progress, and lets it come to its end. After
// each way has had its turn, both states are damaged.
func damageOnce(ctx context.Context, l *lab, i int) error {
	how, both := &spoilings[i%len(spoilings)], i >= len(spoilings)
	s := &setup{
		dir: l.path(fmt.Sprint(i)), spec: chaos.Spec{Seed: l.seed + uint64(i), Format: chaos.Lines}, pipeline: ", batch: {bytes: 16KiB}",
		exactly: i%2 == 0,
	}
	s.defaults()
	n, err := s.spec.WriteFile(filepath.Join(s.dir, "in", "0.log"), chaos.Plain, 0, 3<<20)
	if err != nil {
		return err
	}
	if err := s.write(); err != nil {
		return err
	}
	if err := s.killSlow(ctx, l); err != nil {
		return err
	}
	if err := s.spoil(l, how, both); err != nil {
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
	what := how.name
	if both {
		what += ", both states"
	}
	if i < len(spoilings)+2 {
		l.figure(what, fmt.Sprintf("lost %d, doubled %d (distance %d), corrupted %d", r.Lost, r.Doubled, r.Distance, r.Corrupted))
	}
	l.check(r.Right(), "%s: %v: %v", what, r, r.Examples)
	l.check(!s.exactly || !how.quiet || r.Doubled == 0, "%s: %v", what, r)
	l.check(how.quiet != strings.Contains(p.Output(), "cannot be used"), "%s: the warning is missing, or should be: %s", what, lastLines(p.Output(), 5))
	return os.RemoveAll(s.dir)
}

// killSlow starts the program with a sink that takes its time, and kills it when it
// has stored two states.
func (s *setup) killSlow(ctx context.Context, l *lab) error {
	bin, err := l.faulty(ctx)
	if err != nil {
		return err
	}
	p, err := l.startBin([]string{"URLFOLD_FAULT=file.before_sync=delay:20ms"}, bin, "run", "-c", s.config())
	if err != nil {
		return err
	}
	defer p.Kill()
	return until(ctx, time.Minute, "two states", func() (bool, error) {
		_, err := os.Stat(filepath.Join(s.dataDir, "checkpoint.1"))
		return err == nil || p.Ended(), nil
	})
}

// spoil damages the progress, and sets times back or forth.
func (s *setup) spoil(l *lab, how *spoiling, both bool) error {
	names := []string{"checkpoint", "checkpoint.1"}
	if !both {
		names = names[:1]
	}
	for _, name := range names {
		path := filepath.Join(s.dataDir, name)
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
	l.figure("the second one says", lastLines(q.Output(), 1))
	l.check(strings.Contains(q.Output(), "another process"), "the second one does not say why: %s", q.Output())
	if err := l.awaitRecords(ctx, p, lanes[0]); err != nil {
		return err
	}
	return s.endsExact(ctx, l, p, lanes)
}
