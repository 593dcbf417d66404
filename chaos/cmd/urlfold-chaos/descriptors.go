package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/urlfold/urlfold/chaos"
)

var descriptorLimits = []experiment{{
	name: "descriptors", no: "31", about: "more files than the process may have open (ulimit -n 64, 256 and 600), plain and compressed, each with its own output; read to the end, and tailed with kills",
	bound: "every record once; exit code 0; no verdict except ok; a warning names the limit; exit code 78 with a limit of 40",
	run:   descriptors,
}}

func descriptors(ctx context.Context, l *lab) error {
	files, limits := 2000, []int{64, 256, 600}
	if l.short {
		files, limits = 400, []int{64, 256}
	}
	s := &setup{dir: l.dir, spec: chaos.Spec{Seed: l.seed, Format: chaos.Lines}, exactly: true}
	lanes := map[uint64]uint64{}
	for i := range files {
		lanes[uint64(i)] = uint64(1 + i%5)
		if err := s.writeSmall(uint64(i), lanes[uint64(i)]); err != nil {
			return err
		}
	}
	for _, limit := range limits {
		began := time.Now()
		if err := s.limited(ctx, l, limit, lanes); err != nil {
			return fmt.Errorf("ulimit -n %d: %w", limit, err)
		}
		l.figure(fmt.Sprintf("time with ulimit -n %d", limit), time.Since(began))
	}
	l.did("%d files, half of them compressed, read to the end and tailed with one kill, with limits of %v descriptors", files, limits)
	p, err := s.beginLimited(ctx, l, 40)
	if err != nil {
		return err
	}
	return l.ends(ctx, p, 78)
}

// writeSmall writes a file of n records; every second file is compressed.
func (s *setup) writeSmall(lane, n uint64) error {
	s.defaults()
	dir := fmt.Sprintf("%s/in/%d", s.dir, lane%20)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var text []byte
	for k := range n {
		text = s.spec.Append(text, lane, k)
	}
	if lane%2 == 0 {
		return os.WriteFile(fmt.Sprintf("%s/%d.log", dir, lane), text, 0o644)
	}
	packed, err := gzipped(text)
	if err != nil {
		return err
	}
	return os.WriteFile(fmt.Sprintf("%s/%d.log.gz", dir, lane), packed, 0o644)
}

// gzipped returns text compressed with gzip.
func gzipped(text []byte) ([]byte, error) {
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	if _, err := zw.Write(text); err != nil {
		return nil, err
	}
	err := zw.Close()
	return b.Bytes(), err
}

// beginLimited is like begin, but limits the number of descriptors.
func (s *setup) beginLimited(ctx context.Context, l *lab, limit int) (*chaos.Process, error) {
	if err := s.write(); err != nil {
		return nil, err
	}
	bin, err := l.program(ctx)
	if err != nil {
		return nil, err
	}
	script := fmt.Sprintf(`ulimit -n %d && exec "$0" "$@"`, limit)
	return l.startBin(nil, "/bin/sh", "-c", script, bin, "run", "-c", s.config())
}

// limited runs the program with a limit, first to the end of the files and then
// tailing them.
func (s *setup) limited(ctx context.Context, l *lab, limit int, lanes map[uint64]uint64) error {
	for _, mode := range []string{"batch", "tail"} {
		if err := s.clear(); err != nil {
			return err
		}
		s.mode = mode
		p, err := s.beginLimited(ctx, l, limit)
		if err != nil {
			return err
		}
		if mode == "batch" {
			err = l.ends(ctx, p, 0)
		} else {
			p, err = s.tailLimited(ctx, l, p, limit, lanes)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", mode, err)
		}
		r, _, err := s.judge(lanes, false)
		if err != nil {
			return err
		}
		l.check(r.Exact(), "ulimit -n %d, %s: %v: %v", limit, mode, r, r.Examples)
		for line := range strings.Lines(p.Output()) {
			bad := strings.Contains(line, "verdict=") && !strings.Contains(line, "verdict=ok")
			l.check(!bad, "ulimit -n %d, %s: %s", limit, mode, line)
		}
		named := strings.Contains(p.Output(), fmt.Sprintf("descriptor_limit=%d", limit))
		l.check(named, "ulimit -n %d, %s: no log line names the limit", limit, mode)
	}
	return nil
}

// tailLimited kills p once while it tails, lets another process read all
// records, and stops it.
func (s *setup) tailLimited(ctx context.Context, l *lab, p *chaos.Process, limit int, lanes map[uint64]uint64) (*chaos.Process, error) {
	pause(ctx, l.between(100*time.Millisecond, 2*time.Second))
	p.Kill()
	p, err := s.beginLimited(ctx, l, limit)
	if err != nil {
		return nil, err
	}
	err = until(ctx, 3*time.Minute, "all records", func() (bool, error) {
		r, _, err := s.judge(lanes, false)
		return err == nil && r.Lost == 0, nil // an output that is being written cannot always be read
	})
	if err != nil {
		return nil, fmt.Errorf("%w; its last output:\n%s", err, lastLines(p.Output(), 12))
	}
	return p, l.terminate(ctx, p, 0)
}
