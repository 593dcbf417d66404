package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/urlfold/urlfold/chaos"
)

var reloads = []experiment{{
	name: "reload", no: "24", about: "1,000 SIGHUP under load: changed rules, a sink added or removed, a configuration with a mistake",
	bound: "lost 0, doubled 0; each record processed by exactly one generation of rules; a mistake changes nothing",
	run:   reload,
}}

// A reloading is the running experiment.
type reloading struct {
	*setup
	lab   *lab
	p     *chaos.Process
	rules int // number of reloads of each kind
	wrong int
	sinks int
}

func reload(ctx context.Context, l *lab) error {
	n := l.times(60, 1000)
	s := &reloading{lab: l, setup: &setup{
		dir: l.dir, mode: "tail", in: l.path("in", "*.log"), out: "all.log", source: quickSource,
		spec: chaos.Spec{Seed: l.seed, Format: chaos.Combined},
	}}
	if err := os.MkdirAll(l.path("in"), 0o755); err != nil {
		return err
	}
	var err error
	if s.p, err = s.begin(ctx, l); err != nil {
		return err
	}
	if err := l.awaitReady(ctx, s.p); err != nil {
		return err
	}
	writing, stop := context.WithCancel(ctx)
	defer stop()
	w := &chaos.Live{Spec: s.spec, Path: l.path("in", "live.log"), Rate: 10000, Duration: time.Hour, Half: 0.1}
	written := make(chan error, 1)
	go func() { written <- w.Run(writing) }()
	for i := range n {
		if err := s.once(ctx, i); err != nil {
			stop()
			return errors.Join(fmt.Errorf("reload %d: %w", i, err), <-written)
		}
	}
	stop()
	if err := <-written; err != nil {
		return err
	}
	l.did("%d reloads with changed rules, %d with changed sinks, %d with a mistake, while %d records were written", s.rules, s.sinks, s.wrong, w.Records)
	return s.settle(ctx, w.Records)
}

// once reloads once and waits until the program has accepted or rejected the
// configuration.
func (s *reloading) once(ctx context.Context, i int) error {
	before, err := s.p.Scrape(ctx)
	if err != nil {
		return err
	}
	text, invalid := "", i%10 == 7
	switch {
	case invalid:
		text = s.text() + "sinks_: []\n"
		s.wrong++
	case i%20 == 5:
		s.sinks++
		set := ""
		if s.more == "" {
			set = "  - discard: {}\n"
		}
		s.more, s.sink = set, ""
		text = s.withSink()
	default:
		s.rules++
		s.profile = map[string]string{"equiv": "whatwg", "whatwg": "equiv"}[s.profile]
		text = s.withSink()
	}
	if err := replaceFile(s.config(), text); err != nil {
		return err
	}
	if err := s.p.Signal(syscall.SIGHUP); err != nil {
		return err
	}
	const gen, successful = `urlfold_config_reloads_total{result="success"}`, "urlfold_config_last_reload_successful"
	return until(ctx, 20*time.Second, "the reload", func() (bool, error) {
		m, err := s.p.Scrape(ctx)
		if err != nil {
			return false, err
		}
		s.lab.check(m.Off() == 0, "reload %d: the ledger is off by %v records", i, m.Off())
		if invalid {
			s.lab.check(m[gen] == before[gen], "reload %d: a mistake changed the number of reloads from %[3]v to %[2]v", i, m[gen], before[gen])
			return m[successful] == 0, nil
		}
		return m[gen] > before[gen] && m[successful] == 1, nil
	})
}

// withSink returns the configuration with the second sink, if there is one.
func (s *reloading) withSink() string {
	second := s.more
	s.more = ""
	text := s.text()
	s.more = second
	if second == "" {
		return text
	}
	return insertSink(text, second)
}

// settle stops the program after all records are emitted, and checks its
// output.
func (s *reloading) settle(ctx context.Context, records uint64) error {
	l := s.lab
	l.awaitEmitted(ctx, s.p, records, records)
	if err := l.terminate(ctx, s.p, 0); err != nil {
		return err
	}
	r, _, err := s.judge(map[uint64]uint64{0: records}, false)
	if err != nil {
		return err
	}
	l.figure("oracle", r.String())
	l.figure("records by the first and the second set of rules", fmt.Sprintf("%d, %d", r.Forms[chaos.Folded], r.Forms[chaos.Kept]))
	l.check(r.Exact(), "%v: %v", r, r.Examples)
	l.check(r.Forms[chaos.Folded] > 0 && r.Forms[chaos.Kept] > 0 && r.Forms[chaos.Raw] == 0, "records by form: %v", r.Forms)
	return nil
}

// replaceFile replaces a file atomically by one with the given text.
func replaceFile(path, text string) error {
	if err := os.WriteFile(path+".new", []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
