package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urlfold/urlfold/chaos"
)

// A setup is a configuration with its files:
//
//	DIR/c.yaml  DIR/in/  DIR/out/  DIR/dead/  DIR/data/
type setup struct {
	dir     string
	in      string // glob; default DIR/in/**
	mode    string // default batch
	spec    chaos.Spec
	profile string // default equiv
	out     string // path in DIR/out; default {source.relpath}
	exactly bool
	dead    bool
	route   string // condition of the records that go to OUT/second instead; empty: no route

	// Additional keys in the syntax of a YAML flow mapping, each with a comma
	// in front.
	source, codec, sink, letter, pipeline string
	more                                  string // additional sections

	commit time.Duration // default commitEvery

	outDir, deadDir, dataDir string // default: in DIR
	away                     string // where the folder of dead letters was moved to
}

// commitEvery is the commit interval of a setup. It is shorter than the default
// so that a short run has several commits.
const commitEvery = 50 * time.Millisecond

// set sets s to def if it is empty.
func set(s *string, def string) {
	if *s == "" {
		*s = def
	}
}

// defaults fills in the empty fields.
func (s *setup) defaults() {
	set(&s.in, filepath.Join(s.dir, "in", "**"))
	set(&s.mode, "batch")
	set(&s.profile, "equiv")
	set(&s.out, "{source.relpath}")
	set(&s.outDir, filepath.Join(s.dir, "out"))
	set(&s.deadDir, filepath.Join(s.dir, "dead"))
	set(&s.dataDir, filepath.Join(s.dir, "data"))
	if s.commit == 0 {
		s.commit = commitEvery
	}
	if s.spec.Format == "" {
		s.spec.Format = chaos.Lines
	}
}

// text returns the text of the configuration.
func (s *setup) text() string {
	s.defaults()
	var b strings.Builder
	fmt.Fprintf(&b, "version: 1\ndata_dir: %q\nstate: {on_loss: reread}\nsources:\n  - file: {from: %s, include: [%q], mode: %s%s}\n", s.dataDir, s.spec.Format, s.in, s.mode, s.source)
	fmt.Fprintf(&b, "codec: {profile: %s", s.profile)
	if s.spec.Format == chaos.Combined {
		b.WriteString(", target: all")
	}
	fmt.Fprintf(&b, "%s}\nsinks:\n  - file: {path: %q, sync_interval: 50ms", s.codec, filepath.Join(s.outDir, s.out))
	if s.exactly {
		b.WriteString(", exactly_once: true")
	}
	if s.route != "" {
		fmt.Fprintf(&b, ", name: first%s}\n  - file: {path: %q, name: second, sync_interval: 50ms, exactly_once: %t}\n", s.sink, filepath.Join(s.outDir, "second", s.out+".zst"), s.exactly)
		fmt.Fprintf(&b, "route:\n  - {where: %q, sinks: [second]}\n  - else: [first]\n", s.route)
	} else {
		fmt.Fprintf(&b, "%s}\n", s.sink)
	}
	if s.dead {
		fmt.Fprintf(&b, "dead_letter: {file: {path: %q, sync_interval: 50ms%s}}\n", filepath.Join(s.deadDir, "{source.relpath}.jsonl"), s.letter)
	}
	fmt.Fprintf(&b, "order: lane\ncommit_interval: %v\n%s", s.commit, s.pipeline)
	b.WriteString("admin: {listen: \"127.0.0.1:0\"}\n" + s.more)
	return b.String()
}

// config returns the path of the configuration file.
func (s *setup) config() string { return filepath.Join(s.dir, "c.yaml") }

// write writes the configuration.
func (s *setup) write() error {
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(s.config(), []byte(s.text()), 0o644)
}

// begin writes the configuration and starts the program.
func (s *setup) begin(ctx context.Context, l *lab) (*chaos.Process, error) {
	if err := s.write(); err != nil {
		return nil, err
	}
	return l.start(ctx, nil, "run", "-c", s.config())
}

// killAfter starts the program and kills it after d. It returns false if the
// program has ended before that.
func (s *setup) killAfter(ctx context.Context, l *lab, d time.Duration) (killed bool, err error) {
	p, err := s.begin(ctx, l)
	if err != nil {
		return false, err
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.Done():
	case <-ctx.Done():
		return false, ctx.Err()
	}
	if p.Ended() {
		return false, nil
	}
	p.Kill()
	return true, nil
}

// complete runs the program until it ends and requires exit code 0.
func (s *setup) complete(ctx context.Context, l *lab) (*chaos.Process, error) {
	p, err := s.begin(ctx, l)
	if err != nil {
		return nil, err
	}
	return p, l.ends(ctx, p, 0)
}

// clear removes everything except the input.
func (s *setup) clear() error {
	s.defaults()
	for _, dir := range []string{s.outDir, s.deadDir, s.dataDir} {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// judge checks the outputs against the expected records.
func (s *setup) judge(lanes map[uint64]uint64, sequence bool) (*chaos.Result, chaos.Digests, error) {
	o := chaos.NewOracle(s.spec)
	for id, n := range lanes {
		o.Expect(id, n)
	}
	d, err := s.feed(o, sequence)
	if err != nil {
		return nil, nil, err
	}
	r := o.Result()
	return &r, d, nil
}

// feed passes the outputs to an oracle.
func (s *setup) feed(o *chaos.Oracle, sequence bool) (chaos.Digests, error) {
	d, err := o.ReadTree(s.outDir, sequence)
	if err != nil {
		return nil, err
	}
	if s.away != "" {
		if _, err := o.ReadTree(s.away, sequence); err != nil {
			return nil, err
		}
	}
	dead, err := o.ReadTree(s.deadDir, sequence)
	for name, sum := range dead {
		d[filepath.Join("dead", name)] = sum
	}
	return d, err
}

// until waits until ok returns true, at most for d.
func until(ctx context.Context, d time.Duration, what string, ok func() (bool, error)) error {
	deadline := time.Now().Add(d)
	for {
		done, err := ok()
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", what, err)
		case done:
			return nil
		case time.Now().After(deadline):
			return fmt.Errorf("timeout after %v: %s", d, what)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// insertSink adds a sink to a configuration.
func insertSink(text, sink string) string {
	const before = "order: "
	head, rest, _ := strings.Cut(text, before)
	if head, dead, ok := strings.Cut(head, "dead_letter: {"); ok {
		return head + sink + "dead_letter: {" + dead + before + rest
	}
	return head + sink + before + rest
}

// endsExact stops p and checks that every record of lanes was delivered exactly
// once.
func (s *setup) endsExact(ctx context.Context, l *lab, p *chaos.Process, lanes map[uint64]uint64) error {
	if err := l.terminate(ctx, p, 0); err != nil {
		return err
	}
	r, _, err := s.judge(lanes, false)
	if err != nil {
		return err
	}
	l.figure("oracle", r.String())
	l.check(r.Exact(), "%v: %v", r, r.Examples)
	return nil
}
