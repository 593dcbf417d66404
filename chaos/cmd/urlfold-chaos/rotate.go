package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/urlfold/urlfold/chaos"
)

var rotations = []experiment{{
	name: "rotate", no: "5", about: "five logs, each rotated ten times a second in a different way (create, copytruncate, compress, delaycompress, dateext) while it is written",
	bound: "lost 0 (copytruncate: at most the records written between copy and truncate), corrupted 0; doubled 0 (copytruncate: copies that are rotated again before they were read may be read twice, counted); open descriptors return to the baseline; the ledger balanced at every scrape",
	run:   rotate,
}}

// quickSource holds source settings with short waits.
const quickSource = ", poll_interval: 50ms, rotate_wait: 1s, damage_after: 1s, idle_close: 2s"

func rotate(ctx context.Context, l *lab) error {
	s := &setup{
		dir: l.dir, mode: "tail", in: l.path("in", "*.log*"), out: "all.log", source: quickSource,
		spec: chaos.Spec{Seed: l.seed, Format: chaos.Lines},
	}
	if err := os.MkdirAll(l.path("in"), 0o755); err != nil {
		return err
	}
	p, err := s.begin(ctx, l)
	if err != nil {
		return err
	}
	if err := l.awaitReady(ctx, p); err != nil {
		return err
	}
	_, baseline, err := p.Descriptors()
	if err != nil {
		return skipError("counting descriptors requires /proc")
	}
	writers, err := l.writeAll(ctx, s, p)
	if err != nil {
		return err
	}
	var written, forgiven uint64
	o := chaos.NewOracle(s.spec)
	var copied uint64 // lane that is rotated by copytruncate
	for _, w := range writers {
		if w.How == chaos.CopyTruncate {
			copied = w.Lane
		}
		o.Expect(w.Lane, w.Records)
		written += w.Records
		for _, g := range w.Forgiven {
			o.Excuse(w.Lane, g.From, g.To)
			forgiven += g.To - g.From
		}
		l.did("%s: %d records, %d rotations", w.How, w.Records, w.Rotated)
	}
	l.awaitEmitted(ctx, p, written-forgiven, written)
	l.figure("open files before", baseline)
	if err := l.awaitDescriptors(ctx, p, baseline+len(writers)); err != nil {
		return err
	}
	if err := l.terminate(ctx, p, 0); err != nil {
		return err
	}
	if _, err := s.feed(o, false); err != nil {
		return err
	}
	r := o.Result()
	l.figure("oracle", r.String())
	l.figure("written between copy and truncate", forgiven)
	l.figure("doubled by copytruncate", r.DoubledIn[copied])
	l.check(r.Right() && r.Doubled == r.DoubledIn[copied], "%v: %v; doubled by log: %v", &r, r.Examples, r.DoubledIn)
	return nil
}

// writeAll runs a writer for each way of rotation in parallel, and scrapes the
// process meanwhile.
func (l *lab) writeAll(ctx context.Context, s *setup, p *chaos.Process) ([]*chaos.Live, error) {
	var wg sync.WaitGroup
	var writers []*chaos.Live
	errs := make([]error, len(chaos.Rotations()))
	for i, how := range chaos.Rotations() {
		w := &chaos.Live{
			Spec: s.spec, Lane: uint64(i), Path: l.path("in", string(how)+".log"), Rate: 4000, Every: 100 * time.Millisecond,
			How: how, Half: 0.1, Duration: time.Duration(l.times(3, 60)) * time.Second,
		}
		writers = append(writers, w)
		wg.Go(func() { errs[i] = w.Run(ctx) })
	}
	over := make(chan struct{})
	go func() { wg.Wait(); close(over) }()
	scrapes := 0
	for running := true; running; scrapes++ {
		select {
		case <-over:
			running = false
		case <-time.After(100 * time.Millisecond):
		}
		m, err := p.Scrape(ctx)
		if err != nil {
			<-over
			return nil, err
		}
		l.check(m.Off() == 0, "the ledger is off by %v records", m.Off())
	}
	l.figure("scrapes with a balanced ledger", scrapes)
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", writers[i].How, err)
		}
	}
	return writers, nil
}

// awaitReady waits until the process is ready.
func (l *lab) awaitReady(ctx context.Context, p *chaos.Process) error {
	return until(ctx, 20*time.Second, "ready", func() (bool, error) {
		status, _, err := p.Get(ctx, "/readyz")
		return status == 200, err
	})
}

// awaitEmitted waits until the process has emitted at least least records. It
// records a failure but returns no error, because the oracle reports which
// records are missing. It then waits a little for duplicates.
func (l *lab) awaitEmitted(ctx context.Context, p *chaos.Process, least, most uint64) {
	var got uint64
	err := until(ctx, time.Minute, "all records emitted", func() (bool, error) {
		m, err := p.Scrape(ctx)
		if err != nil {
			return false, err
		}
		got = m.Delivered()
		return got >= least, nil
	})
	l.check(err == nil, "%v: %d records emitted, want %d to %d", err, got, least, most)
	pause(ctx, 1500*time.Millisecond)
}

// awaitDescriptors waits until at most n files are open.
func (l *lab) awaitDescriptors(ctx context.Context, p *chaos.Process, n int) error {
	open := 0
	err := until(ctx, 30*time.Second, "descriptors", func() (bool, error) {
		var err error
		_, open, err = p.Descriptors()
		return open <= n, err
	})
	l.figure("open files after", open)
	l.check(err == nil, "%d files are open, want at most %d", open, n)
	return ctx.Err()
}

// terminate sends SIGTERM and waits for the process to exit with the given
// code.
func (l *lab) terminate(ctx context.Context, p *chaos.Process, code int) error {
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return l.ends(ctx, p, code)
}
