package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/urlfold/urlfold/chaos"
	"github.com/urlfold/urlfold/internal/storage/checkpoint"
)

var lookalikes = []experiment{{
	name: "lookalike", no: "6", about: "files of the same length, with the same first and last KiB and different records in between: overwritten in place, with their old times, replaced, rotated, copied and compressed, while the program runs, is killed, or is stopped",
	bound: "every record of every text once; no record of a copy",
	run:   lookalike,
}}

// A twins is the experiment with texts that look alike.
type twins struct {
	*setup
	lab     *lab
	p       *chaos.Process
	oracle  *chaos.Oracle
	files   int
	lane    uint64
	records uint64         // number of records of all texts
	texts   map[int]string // current text of each file
	ways    map[string]int
}

// twinBytes is the length of every text, and twinRecords its number of records.
const (
	twinBytes   = 12 << 10
	twinRecords = 40
)

func lookalike(ctx context.Context, l *lab) error {
	s := &twins{
		lab: l, files: l.times(8, 40), texts: map[int]string{}, ways: map[string]int{},
		setup: &setup{dir: l.dir, mode: "tail", in: l.path("in", "*.log*"), out: "all.log", source: quickSource, exactly: true, spec: chaos.Spec{Seed: l.seed, Format: chaos.Lines}},
	}
	s.oracle = chaos.NewOracle(s.spec)
	s.oracle.Foreign(foreign)
	if err := os.MkdirAll(l.path("in"), 0o755); err != nil {
		return err
	}
	for i := range s.files {
		if err := os.WriteFile(s.path(i), []byte(s.text(i)), 0o644); err != nil {
			return err
		}
	}
	rounds := l.times(6, 40)
	for r := range rounds {
		if err := s.round(ctx, r); err != nil {
			return fmt.Errorf("round %d: %w", r, err)
		}
	}
	if err := s.settle(ctx); err != nil {
		return err
	}
	pause(ctx, 2*time.Second) // duplicates would appear soon
	if err := l.terminate(ctx, s.p, 0); err != nil {
		return err
	}
	if _, err := s.feed(s.oracle, false); err != nil {
		return err
	}
	res := s.oracle.Result()
	l.did("%d rounds of %d files: %v", rounds, s.files, s.ways)
	l.figure("oracle", res.String())
	l.check(res.Exact(), "%v: %v", &res, res.Examples)
	return nil
}

func (s *twins) path(i int) string { return s.lab.path("in", fmt.Sprintf("%d.log", i)) }

// text returns the next text for file i: header, records of a new lane,
// padding, footer.
func (s *twins) text(i int) string {
	frame := strings.Repeat("http://"+foreign+"/the/same/in/all/of/them\n", 40)
	text := []byte(frame)
	for n := range uint64(twinRecords) {
		text = s.spec.Append(text, s.lane, n)
	}
	const padding = "http://" + foreign + "/"
	pad := twinBytes - len(text) - len(frame) - len(padding) - 1
	text = append(append(text, padding...), strings.Repeat("p", pad)...)
	text = append(append(text, '\n'), frame...)
	s.oracle.Expect(s.lane, twinRecords)
	s.records += twinRecords
	s.lane++
	s.texts[i] = string(text)
	return s.texts[i]
}

// round waits until the program has read everything and then replaces the texts
// of the files by other texts or by copies: while the program runs, after a
// kill, or just before a kill.
func (s *twins) round(ctx context.Context, r int) error {
	l := s.lab
	if err := s.settle(ctx); err != nil {
		return err
	}
	down := r%3 == 1
	if down {
		s.p.Kill()
	}
	for i := range s.files {
		if err := s.change(i, l.rng.IntN(len(twinWays))); err != nil {
			return err
		}
	}
	if r%3 == 2 {
		pause(ctx, l.between(0, 300*time.Millisecond))
		s.p.Kill()
		down = true
	}
	if down {
		s.p = nil
	}
	return nil
}

// settle starts the program if it is not running and waits until the positions
// of all texts are stored. No program can read a text that was overwritten too
// early.
func (s *twins) settle(ctx context.Context) error {
	if s.p == nil {
		p, err := s.begin(ctx, s.lab)
		if err != nil {
			return err
		}
		s.p = p
	}
	var at, want int
	err := until(ctx, time.Minute, "all texts", func() (bool, error) {
		c, _ := checkpoint.List(s.dataDir)
		read := map[string]bool{}
		for _, e := range c.Entries {
			if e.Offset == twinBytes {
				read[e.ID] = true
			}
		}
		at, want = len(read), int(s.lane)
		return at >= want, nil
	})
	if err != nil {
		return fmt.Errorf("%d of %d texts read: %w\n%s", at, want, err, lastLines(s.p.Output(), 10))
	}
	return nil
}

// twinWays are the ways in which a file gets another text, or only seems to.
var twinWays = []struct {
	name string
	do   func(s *twins, i int, path string) error
}{
	{"written over", func(s *twins, i int, path string) error { return overwrite(path, s.text(i)) }},
	{"emptied and written", func(s *twins, i int, path string) error {
		return os.WriteFile(path, []byte(s.text(i)), 0o644)
	}},
	{"written over, old times", func(s *twins, i int, path string) error {
		fi, err := os.Stat(path)
		if err != nil {
			return err
		}
		if err := overwrite(path, s.text(i)); err != nil {
			return err
		}
		return os.Chtimes(path, fi.ModTime(), fi.ModTime())
	}},
	{"replaced", func(s *twins, i int, path string) error { return replaceBy(path, s.text(i)) }},
	{"rotated", func(s *twins, i int, path string) error {
		if err := os.Rename(path, fmt.Sprintf("%s.%d", path, s.lane)); err != nil {
			return err
		}
		return os.WriteFile(path, []byte(s.text(i)), 0o644)
	}},
	{"compressed", func(s *twins, i int, path string) error {
		packed, err := gzipped([]byte(s.texts[i]))
		if err != nil {
			return err
		}
		if err := os.WriteFile(fmt.Sprintf("%s.%d.gz", path, s.lane), packed, 0o644); err != nil {
			return err
		}
		return replaceBy(path, s.text(i))
	}},
	{"touched", func(_ *twins, _ int, path string) error { return os.Chtimes(path, time.Now(), time.Now()) }},
	{"replaced by a copy", func(s *twins, i int, path string) error { return replaceBy(path, s.texts[i]) }},
}

// change applies a way to file i.
func (s *twins) change(i, way int) error {
	w := twinWays[way]
	s.ways[w.name]++
	return w.do(s, i, s.path(i))
}

// overwrite writes over the beginning of a file without truncating it.
func overwrite(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(text); err != nil {
		_ = f.Close() // err is the cause
		return err
	}
	return f.Close()
}

// replaceBy replaces a file by another one with the given text.
func replaceBy(path, text string) error {
	aside := path[:len(path)-len(".log")] + ".tmp"
	if err := os.WriteFile(aside, []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(aside, path)
}
