package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/testkit/chaos"
)

var kills = []experiment{
	killOf(chaos.Plain, true), killOf(chaos.Gzip, true), killOf(chaos.Members, true), killOf(chaos.Zstd, true),
	killOf(chaos.Frames, true), killOf(chaos.S2, true),
	killOf(chaos.Plain, false), killOf(chaos.Gzip, false), killOf(chaos.Members, false), killOf(chaos.Zstd, false),
}

// killOf returns the experiment that kills runs over a file of kind k.
func killOf(k chaos.Kind, exactly bool) experiment {
	e := experiment{
		name: "kill-" + string(k), no: "2", long: !exactly || k == chaos.Frames || k == chaos.S2, about: "kill -9 at random instants of runs over one large file: " + string(k) + ", exactly once",
		bound: "lost 0, doubled 0, reordered 0, corrupted 0; outputs, decompressed, identical to those of a run that was not killed; what a restart decompresses again ≤ a restart interval and a block (one zstd frame: all before)",
		run:   func(ctx context.Context, l *lab) error { return kill(ctx, l, k, true) },
	}
	if k == chaos.Plain {
		e.no, e.long = "1", false
	}
	if !exactly {
		e.name += "-alo"
		e.about = "the same, at least once"
		e.bound = "lost 0, corrupted 0; doubled ≤ kills · (rate · (commit + sync interval) + records in flight)"
		e.run = func(ctx context.Context, l *lab) error { return kill(ctx, l, k, false) }
	}
	return e
}

// The restart interval of the runs: the least that there is, and the bytes between two
// ends of deflate blocks, which are some 100 KiB.
const (
	restartEvery = 1 << 20
	blockSlack   = 512 << 10
)

// A killing is the experiment with one input.
type killing struct {
	*setup
	lab   *lab
	kind  chaos.Kind
	lanes map[uint64]uint64
	took  time.Duration // of a run that is not killed
	want  chaos.Digests
	size  int64 // of the text

	killed, early int   // kills that hit, and those that came too late
	again         int64 // most that a restart had to decompress again, by the progress
	reinflated    int64 // and by what the restarts themselves say
	doubled       int64
	distance      int64
}

func kill(ctx context.Context, l *lab, k chaos.Kind, exactly bool) error {
	s := &killing{lab: l, kind: k, size: l.size(6<<20, 192<<20), setup: &setup{
		dir: l.dir, spec: chaos.Spec{Seed: l.seed, Format: chaos.Combined, Poison: 1000}, exactly: exactly, dead: true,
		source: fmt.Sprintf(", restart_point_every: %d", restartEvery),
		sink:   ", compress: zstd",
	}}
	if k == chaos.Plain {
		s.sink = ", compress: none"
	}
	if err := s.prepare(ctx); err != nil {
		return err
	}
	runs, hits := l.times(1, 20), l.times(3, 5)
	if !exactly || k == chaos.Frames || k == chaos.S2 {
		runs = l.times(1, 6)
	}
	for i := range runs {
		if err := s.once(ctx, i, hits); err != nil {
			return fmt.Errorf("run %d: %w", i, err)
		}
	}
	l.did("%d runs over %d MiB (%s), %d kills that hit, %d that came after the end", runs, s.size>>20, k, s.killed, s.early)
	l.check(s.killed >= runs, "%d kills have hit in %d runs", s.killed, runs)
	l.figure("doubled records, all runs", s.doubled)
	l.figure("greatest distance", s.distance)
	if k == chaos.Plain {
		return nil
	}
	l.figure("most bytes to decompress again after a kill", s.again)
	l.figure("most bytes that a restart says it has decompressed again, of all files", s.reinflated)
	if k != chaos.Zstd { // of which one frame has no such places
		files := int64(len(s.lanes))
		l.check(s.again <= restartEvery+blockSlack && s.reinflated <= files*(restartEvery+blockSlack),
			"a restart had %d bytes of a file to decompress again, or %d of %d files", s.again, s.reinflated, files)
	}
	if k == chaos.Gzip {
		return s.badSum(ctx)
	}
	return nil
}

// prepare writes the input, and runs without a kill.
func (s *killing) prepare(ctx context.Context) error {
	l := s.lab
	s.defaults()
	s.lanes = map[uint64]uint64{}
	for lane, size := range []int64{s.size, s.size / 50} {
		n, err := s.spec.WriteFile(filepath.Join(s.dir, "in", fmt.Sprintf("%d.log%s", lane, s.kind.Ext())), s.kind, uint64(lane), size)
		if err != nil {
			return err
		}
		s.lanes[uint64(lane)] = n
	}
	p, err := s.complete(ctx, l)
	if err != nil {
		return err
	}
	s.took = p.Took()
	r, want, err := s.judge(s.lanes, false)
	if err != nil {
		return err
	}
	s.want = want
	l.figure("a run without kills", fmt.Sprintf("%v: %v", s.took.Round(time.Millisecond), r))
	l.check(r.Exact(), "without a kill: %v: %v", r, r.Examples)
	return s.clear()
}

// once runs the program, kills it some times, and lets it come to its end.
func (s *killing) once(ctx context.Context, run, hits int) error {
	// The start takes a part of the time, so that later kills would find nothing
	// to hit if all of them were spread over it.
	span := s.took * 2 / time.Duration(hits)
	killed := 0
	for tries := 0; killed == 0 && tries < 10; tries++ {
		if err := s.clear(); err != nil {
			return err
		}
		var err error
		if killed, err = s.killSome(ctx, span, hits); err != nil {
			return err
		}
		span /= 2 // it is quicker than it was
	}
	s.killed += killed
	if err := s.completeWatched(ctx); err != nil {
		return err
	}
	if err := s.verdict(run, killed); err != nil {
		return err
	}
	return s.clear()
}

// killSome kills runs that go on where the last one was killed, until one of them
// comes to its end before.
func (s *killing) killSome(ctx context.Context, span time.Duration, hits int) (killed int, err error) {
	for range hits {
		p, err := s.begin(ctx, s.lab)
		if err != nil {
			return killed, err
		}
		t := time.NewTimer(s.lab.between(20*time.Millisecond, span))
		select {
		case <-t.C:
		case <-p.Done():
		case <-ctx.Done():
			return killed, ctx.Err()
		}
		t.Stop()
		if p.Ended() {
			s.early++
			return killed, nil
		}
		p.Kill()
		killed++
		if err := s.measure(); err != nil {
			return killed, err
		}
	}
	return killed, nil
}

// completeWatched lets the program come to its end, and asks it meanwhile how much it
// has decompressed again.
func (s *killing) completeWatched(ctx context.Context) error {
	p, err := s.begin(ctx, s.lab)
	if err != nil {
		return err
	}
	for !p.Ended() && ctx.Err() == nil {
		if m, err := p.Scrape(ctx); err == nil { // else it is coming to its end
			s.lab.check(m.Off() == 0, "the ledger is off by %v records", m.Off())
			s.reinflated = max(s.reinflated, int64(m.Sum("urlfold_source_reinflated_bytes_total")))
		}
		pause(ctx, 50*time.Millisecond)
	}
	return s.lab.ends(ctx, p, 0)
}

// badSum spoils the checksum of the input, and looks whether a run that was killed
// and went on inside of the member still finds that out.
func (s *killing) badSum(ctx context.Context) error {
	l := s.lab
	path := filepath.Join(s.dir, "in", "0.log"+s.kind.Ext())
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	data[len(data)-6] ^= 1
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return err
	}
	var from int64
	for tries := 0; from == 0 && tries < 10; tries++ {
		if err := s.clear(); err != nil {
			return err
		}
		if from, err = s.killInside(ctx); err != nil {
			return err
		}
	}
	l.figure("a wrong checksum, to be found by a run that begins at byte", from)
	if !l.check(from > 0, "no kill has hit behind a restart point") {
		return nil
	}
	p, err := s.begin(ctx, l)
	if err != nil {
		return err
	}
	if err := l.ends(ctx, p, 4); err != nil {
		return err
	}
	l.check(strings.Contains(p.Output(), "bad-crc"), "nothing is said of the checksum: %s", lastLines(p.Output(), 5))
	return nil
}

// killInside kills a run as soon as there is a restart point to go on from, and
// returns where that is; 0 if the run has come to its end before.
func (s *killing) killInside(ctx context.Context) (from int64, err error) {
	p, err := s.begin(ctx, s.lab)
	if err != nil {
		return 0, err
	}
	defer p.Kill()
	err = until(ctx, endTimeout, "a restart point", func() (bool, error) {
		from, err = s.farthest()
		return from > 0 || p.Ended(), err
	})
	if err != nil {
		return 0, err
	}
	p.Kill()
	return s.farthest() // it may have gone on, or have come to its end
}

// farthest returns the greatest place that a restart would begin at.
func (s *killing) farthest() (most int64, err error) {
	c, _ := checkpoint.List(s.dataDir)
	for _, e := range c.Entries {
		if e.State != checkpoint.Reading {
			continue // it has come to its end, and has told what it has found
		}
		from, err := pointOffset(s.dataDir, e.Restart)
		if err != nil {
			return 0, err
		}
		most = max(most, from)
	}
	return most, nil
}

// verdict compares what came out with what had to.
func (s *killing) verdict(run, killed int) error {
	l := s.lab
	r, got, err := s.judge(s.lanes, false)
	if err != nil {
		return err
	}
	s.doubled += r.Doubled
	s.distance = max(s.distance, r.Distance)
	if s.exactly {
		diff := s.want.Diff(got)
		l.check(r.Exact() && len(diff) == 0, "run %d, %d kills: %v: %v; outputs that differ: %v", run, killed, r, r.Examples, diff)
		return nil
	}
	l.check(r.Right() && r.Reordered == 0, "run %d, %d kills: %v: %v", run, killed, r, r.Examples)
	bound := int64(killed) * s.perKill(r.Expected)
	l.check(r.Doubled <= bound, "run %d: %d records doubled by %d kills, the bound is %d", run, r.Doubled, killed, bound)
	return nil
}

// perKill is how many records a kill may double: those of a commit interval and of a
// sync interval, and those in flight.
func (s *killing) perKill(records int64) int64 {
	rate := float64(records) / s.took.Seconds()
	// The rate of a run as a whole is below that of its middle by its start and its end.
	const peak, inFlight = 3, 64
	perBatch := (128 << 10) * records / s.size
	return int64(peak*rate*(commitEvery+50*time.Millisecond).Seconds()) + inFlight*perBatch
}

// measure looks how far back a restart would begin.
func (s *killing) measure() error {
	if s.kind == chaos.Plain {
		return nil
	}
	c, warnings := checkpoint.List(s.dataDir)
	for _, w := range warnings {
		s.lab.check(false, "after a kill the progress: %s", w)
	}
	for _, e := range c.Entries {
		if e.State != checkpoint.Reading {
			continue
		}
		from, err := pointOffset(s.dataDir, e.Restart)
		if err != nil {
			return err
		}
		s.again = max(s.again, e.Offset-from)
	}
	return nil
}

// pointOffset returns the place in the text where a stored restart point stands.
func pointOffset(dataDir string, id int64) (int64, error) {
	if id == 0 {
		return 0, nil
	}
	data, err := os.ReadFile(filepath.Join(dataDir, "restart", fmt.Sprint(id)))
	if err != nil {
		return 0, err
	}
	const sum = 8 // bytes of the checksum before the point
	var p compress.RestartPoint
	if err := p.UnmarshalBinary(data[min(sum, len(data)):]); err != nil {
		return 0, err
	}
	return p.Offset(), nil
}
