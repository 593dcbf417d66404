package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"syscall"
	"time"

	"github.com/urlfold/urlfold/chaos"
	"github.com/urlfold/urlfold/internal/storage/fault"
)

var stops = []experiment{
	{
		name: "term", no: "23", about: "SIGTERM under load, several times in a run, also directly after a SIGHUP",
		bound: "exit code 0; after the restarts lost 0, doubled 0; each stop takes less than the timeout plus a second",
		run:   func(ctx context.Context, l *lab) error { return term(ctx, l) },
	},
	{
		name: "term-deadline", no: "23", about: "SIGTERM with a sink that is too slow for the shutdown timeout",
		bound: "exit code 3 within the timeout plus a second; after the restart lost 0, doubled ≤ the number of records logged as abandoned",
		run:   func(ctx context.Context, l *lab) error { return cutShort(ctx, l, false) },
	},
	{
		name: "term-twice", no: "23", about: "SIGTERM and then SIGINT with a slow sink",
		bound: "exit code 3 at once; after the restart lost 0, doubled ≤ the number of records logged as abandoned",
		run:   func(ctx context.Context, l *lab) error { return cutShort(ctx, l, true) },
	},
	{
		name: "term-burst", no: "23", about: "signals within 150 ms, SIGTERM and SIGINT in any order, and SIGTERM through timeout, which signals the program and then its group, while a slow sink still has batches",
		bound: "they count as one: exit code 0; after the restarts lost 0, doubled 0",
		aside: true,
		run:   termBurst,
	},
}

// input writes one large file for lane 0.
func (s *setup) input(l *lab, size int64) (map[uint64]uint64, error) {
	n, err := s.spec.WriteFile(l.path("in", "0.log"), chaos.Plain, 0, size)
	return map[uint64]uint64{0: n}, err
}

func term(ctx context.Context, l *lab) error {
	s := &setup{dir: l.dir, spec: chaos.Spec{Seed: l.seed, Format: chaos.Combined, Poison: 100}, dead: true, more: "shutdown_timeout: 10s\n"}
	lanes, err := s.input(l, l.size(48<<20, 1<<30))
	if err != nil {
		return err
	}
	stopped, ended := 0, false
	var longest time.Duration
	for i := 0; i < l.times(6, 40) && !ended; i++ {
		p, err := s.begin(ctx, l)
		if err != nil {
			return err
		}
		if _, err := p.Admin(ctx); err != nil {
			return err
		}
		select {
		case <-p.Done():
			ended = true
		case <-time.After(l.between(50*time.Millisecond, 300*time.Millisecond)):
			stopped++
		}
		if i%3 == 2 {
			if err := p.Signal(syscall.SIGHUP); err != nil {
				return err
			}
		}
		began := time.Now()
		if err := l.terminate(ctx, p, 0); err != nil {
			return err
		}
		longest = max(longest, time.Since(began))
	}
	if _, err := s.complete(ctx, l); err != nil {
		return err
	}
	l.did("%d SIGTERM, every third directly after a SIGHUP", stopped)
	l.figure("longest stop", longest)
	l.check(longest < 11*time.Second, "a stop took %v", longest)
	r, _, err := s.judge(lanes, false)
	if err != nil {
		return err
	}
	l.figure("oracle", r.String())
	l.check(r.Exact() && stopped > 0, "%d stops: %v: %v", stopped, r, r.Examples)
	return nil
}

// given matches the log line of a run that exceeded its shutdown timeout.
var given = regexp.MustCompile(`msg=stopped .*abandoned=(\d+) unresolved=(\d+)`)

func cutShort(ctx context.Context, l *lab, twice bool) error {
	const timeout = 2 * time.Second
	s := &setup{
		dir: l.dir, spec: chaos.Spec{Seed: l.seed, Format: chaos.Lines}, more: "shutdown_timeout: 2s\n",
		pipeline: "batch: {size: 16KiB}\n",
	}
	if twice {
		s.more = "shutdown_timeout: 60s\n"
	}
	lanes, err := s.input(l, l.size(4<<20, 16<<20))
	if err != nil {
		return err
	}
	var logged int64
	var longest time.Duration
	cuts := l.times(2, 10)
	for range cuts {
		n, took, err := s.cutOnce(ctx, l, twice)
		if err != nil {
			return err
		}
		logged += n
		longest = max(longest, took)
	}
	if _, err := s.complete(ctx, l); err != nil {
		return err
	}
	l.did("%d stops that exceeded the timeout", cuts)
	l.figure("longest stop", longest)
	l.check(longest < timeout+time.Second, "a stop took %v", longest)
	r, _, err := s.judge(lanes, false)
	if err != nil {
		return err
	}
	l.figure("oracle", r.String())
	l.figure("records logged as abandoned", logged)
	l.check(r.Right() && r.Reordered == 0, "%v: %v", r, r.Examples)
	l.check(r.Doubled <= logged, "%d records doubled, %d logged", r.Doubled, logged)
	return nil
}

// termBurst stops a run again and again by bursts of signals.
func termBurst(ctx context.Context, l *lab) error {
	s := &setup{
		dir: l.dir, spec: chaos.Spec{Seed: l.seed, Format: chaos.Lines}, more: "shutdown_timeout: 60s\n",
		pipeline: "batch: {size: 16KiB}\n",
	}
	lanes, err := s.input(l, l.size(12<<20, 200<<20))
	if err != nil {
		return err
	}
	if err := s.write(); err != nil {
		return err
	}
	bin, err := l.faulty(ctx)
	if err != nil {
		return err
	}
	program, missing := exec.LookPath("timeout")
	var bursts, timeouts int
	for i := range l.times(4, 100) {
		signals, command := l.signals(), []string{bin, "run", "-c", s.config()}
		if i%2 == 1 && missing == nil { // timeout passes a signal on to the program, and then to its process group, so that the program gets it twice
			timeouts++
			signals, command = signals[:1], append([]string{program, "1h"}, command...)
		} else {
			bursts++
		}
		if err := l.burst(ctx, signals, command); err != nil {
			return err
		}
	}
	if _, err := s.complete(ctx, l); err != nil {
		return err
	}
	l.did("%d bursts of signals, %d signals through timeout", bursts, timeouts)
	r, _, err := s.judge(lanes, false)
	if err != nil {
		return err
	}
	l.figure("oracle", r.String())
	l.check(r.Exact(), "%v: %v", r, r.Examples)
	return nil
}

// signals returns two or three signals that end the program.
func (l *lab) signals() (all []os.Signal) {
	for range 2 + l.rng.IntN(2) {
		all = append(all, [...]os.Signal{syscall.SIGTERM, os.Interrupt}[l.rng.IntN(2)])
	}
	return all
}

// burst starts the program with a slow sink, sends it signals within 150 ms while
// batches are under way, and requires exit code 0.
func (l *lab) burst(ctx context.Context, signals []os.Signal, command []string) error {
	p, err := l.startBin([]string{fault.Env + "=file.before_write=delay:20ms"}, command[0], command[1:]...)
	if err != nil {
		return err
	}
	if err := underWay(ctx, p); err != nil {
		return err
	}
	gap := 150 * time.Millisecond / time.Duration(len(signals))
	for i, sig := range signals {
		if i > 0 {
			pause(ctx, l.between(0, gap))
		}
		if err := p.Signal(sig); err != nil {
			return err
		}
	}
	return l.ends(ctx, p, 0)
}

// underWay waits until p has batches under way, or has ended.
func underWay(ctx context.Context, p *chaos.Process) error {
	return until(ctx, time.Minute, "batches under way", func() (bool, error) {
		m, err := p.Scrape(ctx)
		if p.Ended() {
			return true, nil
		}
		return m["urlfold_inflight_batches"] > 20, err
	})
}

// cutOnce starts the program with a slow sink and stops it. It returns the
// number of records that the log reports as abandoned or unresolved.
func (s *setup) cutOnce(ctx context.Context, l *lab, twice bool) (logged int64, took time.Duration, err error) {
	if err := s.write(); err != nil {
		return 0, 0, err
	}
	bin, err := l.faulty(ctx)
	if err != nil {
		return 0, 0, err
	}
	p, err := l.startBin([]string{fault.Env + "=file.before_write=delay:150ms"}, bin, "run", "-c", s.config())
	if err != nil {
		return 0, 0, err
	}
	if _, err := p.Admin(ctx); err != nil {
		return 0, 0, err
	}
	err = until(ctx, time.Minute, "batches under way", func() (bool, error) {
		m, err := p.Scrape(ctx)
		return m["urlfold_inflight_batches"] > 40, err
	})
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return 0, 0, err
	}
	if twice {
		pause(ctx, 700*time.Millisecond) // sooner, the two would count as one
		if err := p.Signal(os.Interrupt); err != nil {
			return 0, 0, err
		}
	}
	if err := l.ends(ctx, p, 3); err != nil {
		return 0, 0, err
	}
	took = time.Since(began)
	m := given.FindStringSubmatch(p.Output())
	if m == nil {
		return 0, took, fmt.Errorf("no log line reports abandoned batches:\n%s", lastLines(p.Output(), 8))
	}
	for _, text := range m[1:] {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return 0, took, err
		}
		logged += n
	}
	return logged, took, nil
}
