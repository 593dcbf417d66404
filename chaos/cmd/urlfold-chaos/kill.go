package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urlfold/urlfold/chaos"
	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/internal/storage/compress"
)

var kills = []experiment{
	killOf(chaos.Plain, true), killOf(chaos.Gzip, true), killOf(chaos.Members, true), killOf(chaos.Zstd, true),
	killOf(chaos.Frames, true), killOf(chaos.S2, true),
	killRoute(),
	killOf(chaos.Plain, false), killOf(chaos.Gzip, false), killOf(chaos.Members, false), killOf(chaos.Zstd, false),
}

// killOf returns the experiment that kills runs over a large file of kind k.
func killOf(k chaos.Kind, exactly bool) experiment {
	e := experiment{
		name: "kill-" + string(k), no: "2", long: !exactly || k == chaos.Frames || k == chaos.S2, about: "kill -9 at random moments of runs over one large file: " + string(k) + ", exactly once",
		bound: "lost 0, doubled 0, reordered 0, corrupted 0; outputs, decompressed, identical to those of a run without kills; a restart decompresses at most a restart interval and a block again (a single zstd frame: everything before the kill)",
		run:   func(ctx context.Context, l *lab) error { return kill(ctx, l, k, true, "") },
	}
	if k == chaos.Plain {
		e.no, e.long = "1", false
	}
	if !exactly {
		e.name += "-alo"
		e.about = "like kill-" + string(k) + ", but at least once"
		e.bound = "lost 0, corrupted 0; doubled ≤ kills · (rate · (commit + sync interval) + records in flight)"
		e.run = func(ctx context.Context, l *lab) error { return kill(ctx, l, k, false, "") }
	}
	return e
}

// killRoute returns the experiment that kills runs whose records go to two
// outputs.
func killRoute() experiment {
	e := killOf(chaos.Plain, true)
	e.name = "kill-route"
	e.about = "like kill-plain, but a route sends half of the records to a second output, which is compressed"
	e.run = func(ctx context.Context, l *lab) error { return kill(ctx, l, chaos.Plain, true, "bytes < 32768") }
	return e
}

// The restart interval of the runs, which main sets, and an allowance for
// the distance between two ends of deflate blocks, about 100 KiB.
const (
	restartEvery = 1 << 20
	blockSlack   = 512 << 10
)

// A killing is the experiment on one input.
type killing struct {
	*setup
	lab   *lab
	kind  chaos.Kind
	lanes map[uint64]uint64
	took  time.Duration // duration of a run without kills
	want  chaos.Digests
	size  int64 // size of the text

	killed, early int   // kills during a run, and runs that ended before their kill
	again         int64 // maximum distance from a stored offset back to its restart point
	reinflated    int64 // maximum number of bytes decompressed again, as reported by the restarted process
	doubled       int64
	distance      int64
}

func kill(ctx context.Context, l *lab, k chaos.Kind, exactly bool, route string) error {
	s := &killing{lab: l, kind: k, size: l.size(6<<20, 192<<20), setup: &setup{
		dir: l.dir, spec: chaos.Spec{Seed: l.seed, Format: chaos.Combined, Poison: 1000}, exactly: exactly, dead: true,
		route: route,
		sink:  ", compress: zstd",
		// A short run takes less than a tenth of a second on a fast machine.
		commit: time.Duration(l.times(10, 50)) * time.Millisecond,
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
	l.did("%d runs over %d MiB (%s), %d kills during a run, %d runs that ended before their kill", runs, s.size>>20, k, s.killed, s.early)
	l.check(s.killed >= runs, "only %d kills in %d runs", s.killed, runs)
	l.figure("doubled records, all runs", s.doubled)
	l.figure("maximum distance", s.distance)
	if k == chaos.Plain {
		return nil
	}
	l.figure("maximum bytes to decompress again after a kill", s.again)
	l.figure("maximum bytes that a restarted process decompressed again, all files", s.reinflated)
	if k != chaos.Zstd { // a single zstd frame has no restart points
		files := int64(len(s.lanes))
		l.check(s.again <= restartEvery+blockSlack && s.reinflated <= files*(restartEvery+blockSlack),
			"a restart had to decompress %d bytes of a file again, or %d bytes of %d files", s.again, s.reinflated, files)
	}
	if k == chaos.Gzip {
		return s.badSum(ctx)
	}
	return nil
}

// prepare writes the input and runs the program once without a kill.
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
	l.check(r.Exact(), "run without a kill: %v: %v", r, r.Examples)
	if s.route != "" {
		first, second := want["0.log"], want[filepath.Join("second", "0.log.zst")]
		l.check(first != "" && second != "" && first != second, "the route does not divide the records: %v", want)
	}
	return s.clear()
}

// once runs the program, kills it several times, and lets it finish.
func (s *killing) once(ctx context.Context, run, hits int) error {
	// Starting takes part of the time. If the kills were spread over all of it,
	// the later ones would come too late.
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
		span /= 2 // the run was faster than expected
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

// killSome kills runs in a row until one ends before its kill.
func (s *killing) killSome(ctx context.Context, span time.Duration, hits int) (killed int, err error) {
	for range hits {
		hit, err := s.killAfter(ctx, s.lab, s.lab.between(20*time.Millisecond, span))
		if err != nil {
			return killed, err
		}
		if !hit {
			s.early++
			return killed, nil
		}
		killed++
		if err := s.measure(); err != nil {
			return killed, err
		}
	}
	return killed, nil
}

// completeWatched lets the program finish and reads meanwhile how many bytes it
// decompressed again.
func (s *killing) completeWatched(ctx context.Context) error {
	p, err := s.begin(ctx, s.lab)
	if err != nil {
		return err
	}
	for !p.Ended() && ctx.Err() == nil {
		if m, err := p.Scrape(ctx); err == nil { // fails when the process is ending
			s.lab.check(m.Off() == 0, "the ledger is off by %v records", m.Off())
			s.reinflated = max(s.reinflated, int64(m.Sum("urlfold_source_reinflated_bytes_total")))
		}
		pause(ctx, 50*time.Millisecond)
	}
	return s.lab.ends(ctx, p, 0)
}

// badSum changes the checksum of the input and checks that a run that was
// killed and resumed inside the member still detects it.
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
	for tries := 0; from == 0 && tries < 30; tries++ {
		if err := s.clear(); err != nil {
			return err
		}
		if from, err = s.killInside(ctx); err != nil {
			return err
		}
	}
	l.figure("a wrong checksum, detected by a run that started at byte", from)
	if !l.check(from > 0, "no kill came after a restart point") {
		return nil
	}
	p, err := s.begin(ctx, l)
	if err != nil {
		return err
	}
	if err := l.ends(ctx, p, 4); err != nil {
		return err
	}
	l.check(strings.Contains(p.Output(), "bad-crc"), "the wrong checksum is not reported: %s", lastLines(p.Output(), 5))
	return nil
}

// killInside kills a run as soon as there is a restart point and returns its
// offset, or 0 if the run ended first.
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
	return s.farthest() // the run may have advanced or ended
}

// farthest returns the greatest offset at which a restart would begin.
func (s *killing) farthest() (most int64, err error) {
	c, _ := checkpoint.List(s.dataDir)
	for _, e := range c.Entries {
		if e.State != checkpoint.Reading {
			continue // the file is done, and its verdict was reported
		}
		from, err := pointOffset(s.dataDir, e.Restart)
		if err != nil {
			return 0, err
		}
		most = max(most, from)
	}
	return most, nil
}

// verdict compares the outputs with the expected ones.
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
		l.check(r.Exact() && len(diff) == 0, "run %d, %d kills: %v: %v; different outputs: %v", run, killed, r, r.Examples, diff)
		return nil
	}
	l.check(r.Right() && r.Reordered == 0, "run %d, %d kills: %v: %v", run, killed, r, r.Examples)
	bound := int64(killed) * s.perKill(r.Expected)
	l.check(r.Doubled <= bound, "run %d: %d records doubled by %d kills, limit %d", run, r.Doubled, killed, bound)
	return nil
}

// perKill returns the maximum number of records that a kill may double: the
// records of a commit interval and of a sync interval, and the records in
// flight.
func (s *killing) perKill(records int64) int64 {
	rate := float64(records) / s.took.Seconds()
	// The average rate of a run is below its peak, because of the start and the
	// end.
	const peak, inFlight = 3, 64
	perBatch := (128 << 10) * records / s.size
	return int64(peak*rate*(commitEvery+50*time.Millisecond).Seconds()) + inFlight*perBatch
}

// measure records how far back a restart would begin.
func (s *killing) measure() error {
	if s.kind == chaos.Plain {
		return nil
	}
	c, warnings := checkpoint.List(s.dataDir)
	for _, w := range warnings {
		s.lab.check(false, "checkpoint after a kill: %s", w)
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

// pointOffset returns the offset in the text of a stored restart point.
func pointOffset(dataDir string, id int64) (int64, error) {
	if id == 0 {
		return 0, nil
	}
	data, err := os.ReadFile(filepath.Join(dataDir, "restart", fmt.Sprint(id)))
	if err != nil {
		return 0, err
	}
	const sum = 8 // size of the checksum before the point
	var p compress.RestartPoint
	if err := p.UnmarshalBinary(data[min(sum, len(data)):]); err != nil {
		return 0, err
	}
	return p.Offset(), nil
}
