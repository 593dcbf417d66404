package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/urlfold/urlfold/chaos"
	"github.com/urlfold/urlfold/internal/storage/fault"
)

var disks = []experiment{
	fullOf("output", "sink file-sink-1", func(s *setup, dir string) { s.outDir = dir }),
	fullOf("dead", "sink dead_letter", func(s *setup, dir string) { s.deadDir = dir }),
	fullOf("state", "checkpoint", func(s *setup, dir string) { s.dataDir = dir }),
	{
		name: "disk-errors", no: "22", about: "EIO from fsync, ENOSPC and EIO from write, repeatedly, in outputs and dead letters",
		bound: "lost 0, doubled 0; data that was not synced is written again from the last synced offset",
		run:   diskErrors,
	},
}

// fullOf returns the experiment that fills the disk of one folder: a tmpfs in a
// separate mount namespace.
func fullOf(what, part string, place func(s *setup, dir string)) experiment {
	return experiment{
		name: "full-" + what, no: "22", about: "a disk that becomes full and gets space again, for this folder: " + what,
		bound: "not ready while the disk is full, with the reason; nothing unwritten counts as done; lost 0 and doubled 0 after there is space again",
		run: inNamespace("full-"+what, func(ctx context.Context, l *lab) error {
			s := &setup{
				dir: l.dir, mode: "tail", in: l.path("in", "*.log"), source: quickSource, dead: true, sink: ", compress: none",
				spec: chaos.Spec{Seed: l.seed, Format: chaos.Lines, Poison: 2}, exactly: true,
			}
			s.defaults()
			small := l.path("small")
			place(s, filepath.Join(small, "folder"))
			if err := mountSmall(small, smallDisk); err != nil {
				return skipError("cannot mount a file system: " + err.Error())
			}
			return fill(ctx, l, s, part)
		}),
	}
}

// smallDisk is the size of the small disk in bytes. It has space for everything
// that the experiment writes.
const smallDisk = 128 << 20

func fill(ctx context.Context, l *lab, s *setup, part string) error {
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
	rounds := uint64(l.times(1, 10))
	for range rounds {
		free := int64(256 << 10)
		if part == "checkpoint" {
			free = 0
		}
		if err := fillUp(l.path("small", "filler"), free); err != nil {
			return err
		}
		n, err := s.write4M(l, uint64(len(lanes)), lanes)
		if err != nil {
			return err
		}
		total += n
		if part == "checkpoint" {
			n, err := s.fillLastPage(ctx, l, p, lanes)
			if err != nil {
				return err
			}
			total += n
		}
		if err := s.stuck(ctx, l, p, part); err != nil {
			return err
		}
		if err := os.Remove(l.path("small", "filler")); err != nil {
			return err
		}
		if err := l.awaitRecords(ctx, p, total); err != nil {
			return err
		}
		if err := l.awaitReady(ctx, p); err != nil {
			return err
		}
	}
	l.did("the disk became full %d times", rounds)
	return s.endsExact(ctx, l, p, lanes)
}

// write4M writes 4 MiB of input as the file of another lane and returns its
// number of records.
func (s *setup) write4M(l *lab, lane uint64, lanes map[uint64]uint64) (n uint64, err error) {
	n, err = s.spec.WriteFile(l.path("in", fmt.Sprintf("%d.log", lane)), chaos.Plain, lane, 4<<20)
	lanes[lane] = n
	return n, err
}

// fillLastPage writes more input until a commit fails, and returns the number
// of records. Even on a full disk, the last page of the checkpoint log has
// space for some commits.
func (s *setup) fillLastPage(ctx context.Context, l *lab, p *chaos.Process, lanes map[uint64]uint64) (total uint64, err error) {
	for range 40 {
		pause(ctx, 8*commitEvery)
		status, _, err := p.Get(ctx, "/readyz")
		if err != nil || status == http.StatusServiceUnavailable {
			return total, err
		}
		n, err := s.write4M(l, uint64(len(lanes)), lanes)
		if err != nil {
			return total, err
		}
		total += n
	}
	return total, nil
}

// fillUp fills the disk with a file and then frees the given number of bytes.
func fillUp(path string, free int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	block := make([]byte, 64<<10)
	var size int64
	for err == nil {
		var n int
		n, err = f.Write(block)
		size += int64(n)
	}
	for err = nil; err == nil; { // fill the last page
		_, err = f.Write(block[:1])
	}
	if free > 0 {
		if err := f.Truncate(max(0, size-free)); err != nil {
			_ = f.Close() // err is the cause
			return err
		}
	}
	return f.Close()
}

func diskErrors(ctx context.Context, l *lab) error {
	bin, err := l.faulty(ctx)
	if err != nil {
		return err
	}
	points := []string{"file.before_create", "file.before_write", "file.after_write", "file.before_sync", "file.after_sync", "file.before_sync_dir", "file.before_rename", "file.after_rename"}
	rounds := l.times(3, 60)
	var total int64
	for i := range rounds {
		var rules []string
		for range 3 {
			from := 1 + l.rng.IntN(8)
			rules = append(rules, fmt.Sprintf("%s=%s@%d..%d", points[l.rng.IntN(len(points))], [...]string{"eio", "enospc"}[l.rng.IntN(2)], from, from+l.rng.IntN(3)))
		}
		plan := strings.Join(rules, ",")
		s := &setup{
			dir: l.path(fmt.Sprint(i)), spec: chaos.Spec{Seed: l.seed + uint64(i), Format: chaos.Lines, Poison: 20}, dead: true,
			exactly: i%3 == 0, sink: []string{", compress: none", ", compress: zstd"}[i%2],
		}
		s.defaults()
		n, err := s.spec.WriteFile(filepath.Join(s.dir, "in", "0.log"), chaos.Plain, 0, 4<<20)
		if err != nil {
			return err
		}
		if err := s.write(); err != nil {
			return err
		}
		p, err := l.startBin([]string{fault.Env + "=" + plan}, bin, "run", "-c", s.config())
		if err != nil {
			return err
		}
		if err := l.ends(ctx, p, 0); err != nil {
			return fmt.Errorf("%s: %w", plan, err)
		}
		r, _, err := s.judge(map[uint64]uint64{0: n}, false)
		if err != nil {
			return fmt.Errorf("%s: %w", plan, err)
		}
		total += r.Records + r.Letters
		l.check(r.Exact(), "%s: %v: %v", plan, r, r.Examples)
		if err := os.RemoveAll(s.dir); err != nil {
			return err
		}
	}
	l.did("%d runs with three errors each at random points, %d records in total", rounds, total)
	return nil
}

// take copies the results of the process in the namespace to r.
func (r *report) take(inner *report) {
	r.Done, r.Figures, r.Wrong, r.Skipped = inner.Done, inner.Figures, inner.Wrong, inner.Skipped
}

// insideEnv passes the folder of the built programs to the process in the
// namespace.
const insideEnv = "URLFOLD_CHAOS_INSIDE"

// inNamespace returns an experiment that runs in a separate process with its
// own mount namespace.
func inNamespace(name string, run func(ctx context.Context, l *lab) error) func(ctx context.Context, l *lab) error {
	return func(ctx context.Context, l *lab) error {
		if os.Getenv(insideEnv) != "" {
			return run(ctx, l)
		}
		if _, err := l.program(ctx); err != nil {
			return err
		}
		inner, err := l.unshared(ctx, name)
		if err != nil {
			return err
		}
		l.report.take(inner)
		if inner.Skipped != "" {
			return skipError(inner.Skipped)
		}
		return nil
	}
}
