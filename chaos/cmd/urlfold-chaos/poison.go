package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/urlfold/urlfold/chaos"
	"github.com/urlfold/urlfold/internal/storage/checkpoint"
)

var poisons = []experiment{
	{
		name: "poison", no: "10", about: "every third record cannot be parsed; kills while the records are read (for panics of the codec see model)",
		bound: "the ledger balanced at every scrape; after each kill, every record before the stored offset is in an output or a dead letter; lost 0",
		run:   poison,
	},
	{
		name: "dead-down", no: "11", about: "the folder of the dead letters is missing while records arrive that cannot be parsed",
		bound: "no checkpoint beyond these records; not ready, with the reason; lost 0 and doubled 0 after the folder is back",
		run:   deadDown,
	},
}

func poison(ctx context.Context, l *lab) error {
	s := &setup{dir: l.dir, spec: chaos.Spec{Seed: l.seed, Format: chaos.Lines, Poison: 3}, dead: true, sink: ", compress: none"}
	lanes, err := s.input(l, l.size(12<<20, 128<<20))
	if err != nil {
		return err
	}
	scrapes, killed := 0, 0
	for range l.times(2, 30) {
		p, err := s.begin(ctx, l)
		if err != nil {
			return err
		}
		for end := time.Now().Add(l.between(200*time.Millisecond, time.Second)); time.Now().Before(end); scrapes++ {
			m, err := p.Scrape(ctx)
			if err != nil {
				break // the run has ended; other failures show up below
			}
			l.check(m.Off() == 0, "the ledger is off by %v records", m.Off())
		}
		p.Kill()
		killed++
		if err := s.covered(l); err != nil {
			return err
		}
	}
	if _, err := s.complete(ctx, l); err != nil {
		return err
	}
	r, _, err := s.judge(lanes, false)
	if err != nil {
		return err
	}
	l.did("%d kills; the checkpoint was compared with the outputs after each", killed)
	l.figure("scrapes with a balanced ledger", scrapes)
	l.figure("oracle", r.String())
	l.check(r.Right(), "%v: %v", r, r.Examples)
	l.check(scrapes > killed, "%d scrapes and %d kills", scrapes, killed)
	return nil
}

// covered checks that all records before the stored offsets are in the outputs.
// Inputs must be named LANE.log, and outputs must not be compressed.
func (s *setup) covered(l *lab) error {
	c, _ := checkpoint.List(s.dataDir)
	o := chaos.NewOracle(s.spec)
	for _, e := range c.Entries {
		lane, err := strconv.ParseUint(strings.TrimSuffix(filepath.Base(e.Path), ".log"), 10, 64)
		if err != nil {
			return err
		}
		var rec []byte
		var n uint64
		for size := int64(0); size < e.Offset; n++ {
			rec = s.spec.Append(rec[:0], lane, n)
			size += int64(len(rec))
		}
		o.Expect(lane, n)
	}
	if _, err := s.feed(o, false); err != nil {
		return err
	}
	r := o.Result()
	l.check(r.Lost == 0, "%[2]d of %[1]d records before the stored offset are in no output: %[3]v", r.Expected, r.Lost, r.Examples)
	return nil
}

func deadDown(ctx context.Context, l *lab) error {
	s := &setup{
		dir: l.dir, mode: "tail", in: l.path("in", "*.log"), source: quickSource, dead: true, sink: ", compress: none",
		spec: chaos.Spec{Seed: l.seed, Format: chaos.Lines, Poison: 50},
	}
	s.defaults()
	s.away = s.deadDir + ".away"
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
	var total uint64
	lanes := map[uint64]uint64{}
	rounds := l.times(1, 20)
	for r := range uint64(rounds) {
		if err := s.swapDead(false); err != nil {
			return err
		}
		n, err := s.spec.WriteFile(l.path("in", fmt.Sprintf("%d.log", r)), chaos.Plain, r, 1<<20)
		if err != nil {
			return err
		}
		lanes[r] = n
		total += n
		if err := s.stuck(ctx, l, p, "dead_letter"); err != nil {
			return err
		}
		if err := s.swapDead(true); err != nil {
			return err
		}
		if err := l.awaitRecords(ctx, p, total); err != nil {
			return err
		}
		if err := l.awaitReady(ctx, p); err != nil {
			return err
		}
	}
	l.did("the folder was missing %d times", rounds)
	return s.endsExact(ctx, l, p, lanes)
}

// swapDead replaces the folder of the dead letters by a file or, if back is
// set, restores the folder.
func (s *setup) swapDead(back bool) error {
	if back {
		if err := os.Remove(s.deadDir); err != nil {
			return err
		}
		return os.Rename(s.away, s.deadDir)
	}
	if err := os.MkdirAll(s.deadDir, 0o755); err != nil {
		return err
	}
	if err := os.Rename(s.deadDir, s.away); err != nil {
		return err
	}
	return os.WriteFile(s.deadDir, nil, 0o644)
}

// stuck waits until the process reports that it is not ready because of part,
// and checks for a while that it does not store a checkpoint that it must not
// store.
func (s *setup) stuck(ctx context.Context, l *lab, p *chaos.Process, part string) error {
	var why string
	err := until(ctx, time.Minute, "not ready", func() (bool, error) {
		status, body, err := p.Get(ctx, "/readyz")
		if err != nil {
			return false, err
		}
		why = reasons(body)
		return status == http.StatusServiceUnavailable && strings.Contains(why, part), nil
	})
	if err != nil {
		return fmt.Errorf("%w: %s", err, why)
	}
	if len(l.report.Figures) < 2 {
		l.figure("reason for not being ready", why)
	}
	for range l.times(2, 5) {
		pause(ctx, 8*commitEvery)
		if err := s.covered(l); err != nil {
			return err
		}
	}
	return nil
}

// reasons returns the failing checks of /readyz with their reasons.
func reasons(body []byte) string {
	var page struct {
		Checks []struct {
			Name   string `json:"name"`
			OK     bool   `json:"ok"`
			Reason string `json:"reason"`
		} `json:"checks"`
	}
	if err := json.Unmarshal(body, &page); err != nil {
		return err.Error()
	}
	var list []string
	for _, c := range page.Checks {
		if !c.OK {
			list = append(list, c.Name+": "+c.Reason)
		}
	}
	return strings.Join(list, "; ")
}
