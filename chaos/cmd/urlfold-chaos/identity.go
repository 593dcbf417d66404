package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/urlfold/urlfold/chaos"
	"github.com/urlfold/urlfold/internal/storage/checkpoint"
)

var identities = []experiment{
	{
		name: "inodes", no: "6", about: "thousands of files that are deleted and created again, some with the same beginning, some shorter than the fingerprint of a file",
		bound: "every record of every file once",
		run:   inodes,
	},
	{
		name: "half", no: "7", about: "half a line, a pause, and a restart of the program before the other half is written",
		bound: "every line once and complete",
		run:   half,
	},
}

// foreign is the host in lines that are not records of a Spec.
const foreign = "foreign.example"

// header is a common beginning of files, longer than the fingerprint of a file.
var header = strings.Repeat("http://"+foreign+"/the/same/in/all/of/them\n", 40)

// A crowd is the experiment with files that appear and disappear.
type crowd struct {
	*setup
	lab     *lab
	p       *chaos.Process
	oracle  *chaos.Oracle
	files   int // number of files at a time
	headers int
	records uint64          // number of records written since the program started
	inodes  map[uint64]bool // inodes used until now
	again   int             // number of files that reused an inode
	lanes   []*chaosFile    // files of the current round
}

// A chaosFile is a small file of one lane.
type chaosFile struct {
	path string
	text []byte
	done int // number of bytes written
}

func inodes(ctx context.Context, l *lab) error {
	s := &crowd{
		lab: l, files: l.times(30, 500), inodes: map[uint64]bool{},
		setup: &setup{dir: l.dir, mode: "tail", in: l.path("in", "*.log"), out: "all.log", source: quickSource, spec: chaos.Spec{Seed: l.seed, Format: chaos.Lines}},
	}
	s.oracle = chaos.NewOracle(s.spec)
	s.oracle.Foreign(foreign)
	if err := os.MkdirAll(l.path("in"), 0o755); err != nil {
		return err
	}
	rounds := l.times(3, 20)
	for r := range rounds {
		if err := s.round(ctx, r); err != nil {
			return fmt.Errorf("round %d: %w", r, err)
		}
	}
	if err := l.terminate(ctx, s.p, 0); err != nil {
		return err
	}
	if _, err := s.feed(s.oracle, false); err != nil {
		return err
	}
	r := s.oracle.Result()
	l.did("%d rounds of %d files, each created, read and deleted", rounds, s.files)
	l.figure("oracle", r.String())
	l.figure("files that reused an inode", s.again)
	l.check(r.Exact(), "%v: %v", &r, r.Examples)
	l.check(r.Foreign == int64(s.headers), "%d lines of headers, want %d", r.Foreign, s.headers)
	return nil
}

// round creates files, lets them grow, and removes them when they are
// completely read. Every second round starts a new process.
func (s *crowd) round(ctx context.Context, r int) error {
	l := s.lab
	if r%2 == 0 {
		if s.p != nil {
			if err := l.terminate(ctx, s.p, 0); err != nil {
				return err
			}
		}
		var err error
		if s.p, err = s.begin(ctx, l); err != nil {
			return err
		}
		s.records = 0
	}
	if err := s.make(r); err != nil {
		return err
	}
	for step := range 3 {
		pause(ctx, l.between(0, 200*time.Millisecond))
		if err := s.grow(step); err != nil {
			return err
		}
	}
	if err := l.awaitRecords(ctx, s.p, s.records); err != nil {
		return err
	}
	for _, f := range s.lanes {
		if err := os.Remove(f.path); err != nil {
			return err
		}
	}
	return nil
}

// make prepares the files of a round, some with a header.
func (s *crowd) make(r int) error {
	s.lanes = s.lanes[:0]
	for i := range s.files {
		lane := uint64(r*s.files + i)
		f := &chaosFile{path: s.lab.path("in", fmt.Sprintf("%d.log", i))}
		n := uint64(1 + i%4)
		if i%3 == 1 {
			f.text = append(f.text, header...)
			s.headers += strings.Count(header, "\n")
			s.records += uint64(strings.Count(header, "\n"))
			n += 30
		}
		for k := range n {
			f.text = s.spec.Append(f.text, lane, k)
		}
		s.oracle.Expect(lane, n)
		s.records += n
		s.lanes = append(s.lanes, f)
	}
	return nil
}

// grow writes the next part of each file: some files in one step, others in
// three.
func (s *crowd) grow(step int) error {
	for i, f := range s.lanes {
		to := len(f.text)
		if i%3 == 0 && step < 2 {
			to = len(f.text) * (step + 1) / 3
		}
		if err := appendTo(f.path, f.text[f.done:to]); err != nil {
			return err
		}
		f.done = to
		if step > 0 {
			continue
		}
		if n, ok := inode(f.path); ok {
			if s.inodes[n] {
				s.again++
			}
			s.inodes[n] = true
		}
	}
	return nil
}

// appendTo appends to a file and creates it if it does not exist.
func appendTo(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.Write(text); err != nil {
		_ = f.Close() // err is the cause
		return err
	}
	return f.Close()
}

// awaitRecords waits until the process has emitted n records.
func (l *lab) awaitRecords(ctx context.Context, p *chaos.Process, n uint64) error {
	var got uint64
	err := until(ctx, 2*time.Minute, "records", func() (bool, error) {
		m, err := p.Scrape(ctx)
		if err != nil {
			return false, err
		}
		l.check(m.Off() == 0, "the ledger is off by %v records", m.Off())
		got = m.Delivered()
		return got >= n, nil
	})
	if err != nil {
		return fmt.Errorf("%d records of %d: %w", got, n, err)
	}
	return nil
}

func half(ctx context.Context, l *lab) error {
	s := &setup{
		dir: l.dir, mode: "tail", in: l.path("in", "*.log"), source: quickSource, exactly: true,
		spec: chaos.Spec{Seed: l.seed, Format: chaos.Combined},
	}
	if err := os.MkdirAll(l.path("in"), 0o755); err != nil {
		return err
	}
	rest := 10 * time.Second
	if l.short {
		rest = 500 * time.Millisecond
	}
	p, err := s.begin(ctx, l)
	if err != nil {
		return err
	}
	var records uint64
	var size int64
	rounds := l.times(2, 8)
	for r := range rounds {
		var text []byte
		for range 50 {
			text = s.spec.Append(text, 0, records)
			records++
		}
		cut := len(text) - 1 - l.rng.IntN(100)
		if err := appendTo(l.path("in", "0.log"), text[:cut]); err != nil {
			return err
		}
		whole := int64(bytes.LastIndexByte(text[:cut], '\n') + 1)
		if err := s.awaitOffset(ctx, size+whole); err != nil {
			return err
		}
		pause(ctx, rest/2)
		if r%2 == 0 {
			p.Kill()
		} else if err := l.terminate(ctx, p, 0); err != nil {
			return err
		}
		if p, err = s.begin(ctx, l); err != nil {
			return err
		}
		if err := l.awaitReady(ctx, p); err != nil {
			return err
		}
		pause(ctx, rest/2)
		if err := appendTo(l.path("in", "0.log"), text[cut:]); err != nil {
			return err
		}
		size += int64(len(text))
		if err := s.awaitOffset(ctx, size); err != nil {
			return err
		}
	}
	if err := l.terminate(ctx, p, 0); err != nil {
		return err
	}
	r, _, err := s.judge(map[uint64]uint64{0: records}, false)
	if err != nil {
		return err
	}
	l.did("%d half lines, with pauses of %v and alternating restarts by SIGKILL and SIGTERM", rounds, rest)
	l.figure("oracle", r.String())
	l.check(r.Exact(), "%v: %v", r, r.Examples)
	return nil
}

// awaitOffset waits until the stored offset of the only file is n.
func (s *setup) awaitOffset(ctx context.Context, n int64) error {
	var at int64
	err := until(ctx, time.Minute, "the stored offset", func() (bool, error) {
		c, _ := checkpoint.List(s.dataDir)
		if len(c.Entries) > 0 {
			at = c.Entries[0].Offset
		}
		return at >= n, nil
	})
	if err == nil && at > n {
		err = fmt.Errorf("the last complete line ends at byte %d", n)
	}
	if err != nil {
		return fmt.Errorf("stored offset is %d, want %d: %w", at, n, err)
	}
	return nil
}
