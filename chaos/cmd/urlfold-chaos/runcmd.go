package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// experiments are all experiments, ordered by group.
var experiments = slices.Concat(kills, paths, dedupes, damages, harms, quarantines, rotations, identities, nightlies, lookalikes, descriptorLimits, hostiles, poisons, refusals, brokers, stops, reloads, states, disks, slows, powers, suites)

func list(_ context.Context, _ []string, stdout, _ io.Writer) error {
	for _, e := range experiments {
		if _, err := fmt.Fprintf(stdout, "%-18s %-3s %s\n%22s bound: %s\n", e.name, e.no, e.about, "", e.bound); err != nil {
			return err
		}
	}
	return nil
}

// runFlags are the flags of run.
type runFlags struct {
	short, json, keep bool
	seed              uint64
	bytes             int64
	kills             int
	dir               string
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	var o runFlags
	fs := flag.NewFlagSet("run", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.BoolVar(&o.short, "short", false, "run shorter experiments: seconds instead of minutes")
	fs.BoolVar(&o.json, "json", false, "print a JSON object for each experiment")
	fs.BoolVar(&o.keep, "keep", false, "keep the folders of failed experiments")
	fs.Uint64Var(&o.seed, "seed", 1, "seed of all random decisions")
	fs.Int64Var(&o.bytes, "bytes", 0, "size of large inputs in bytes; 0: default of each experiment")
	fs.IntVar(&o.kills, "kills", 0, "number of kills in each experiment with dedupe; 0: default of each experiment")
	fs.StringVar(&o.dir, "dir", "", "working folder, on a disk with free space (default: a temporary folder)")
	if err := fs.Parse(args); err != nil {
		return err
	}
	chosen, err := choose(fs.Args(), o.short)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(o.dir, "urlfold-chaos-")
	if err != nil {
		return err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if !o.keep {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	t, err := newTools(ctx, dir)
	if err != nil {
		return err
	}
	return conductAll(ctx, t, dir, &o, chosen, stdout, stderr)
}

// conductAll runs the experiments one after the other, and in parallel to them
// the experiments marked aside.
func conductAll(ctx context.Context, t tools, dir string, o *runFlags, chosen []experiment, stdout, stderr io.Writer) error {
	var failed []string
	conclude := func(r report) error {
		if !r.Pass && r.Skipped == "" {
			failed = append(failed, r.Name)
			if o.keep {
				return tell(stdout, &r, o.json)
			}
		}
		return errors.Join(tell(stdout, &r, o.json), os.RemoveAll(filepath.Join(dir, r.Name)))
	}
	var aside []chan report
	for i := range chosen {
		e := &chosen[i]
		l := &lab{tools: t, dir: filepath.Join(dir, e.name), seed: o.seed, short: o.short, bytes: o.bytes, kills: o.kills}
		if e.aside && !o.short {
			done := make(chan report, 1)
			go func() { done <- e.conduct(ctx, l) }()
			aside = append(aside, done)
		}
	}
	for i := range chosen {
		e := &chosen[i]
		if e.aside && !o.short {
			continue
		}
		l := &lab{tools: t, dir: filepath.Join(dir, e.name), seed: o.seed, short: o.short, bytes: o.bytes, kills: o.kills}
		if err := conclude(e.conduct(ctx, l)); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	for _, done := range aside {
		if err := conclude(<-done); err != nil {
			return err
		}
	}
	if len(failed) > 0 {
		_, _ = fmt.Fprintln(stderr, "failed:", strings.Join(failed, " ")) // an error is acceptable: the reports name the failures, too
		return errFailed
	}
	return nil
}

// choose returns the experiments with the given names. A name that ends in *
// selects all experiments with that prefix. Without names it returns all
// experiments; in short runs it omits the experiments marked long.
func choose(names []string, short bool) ([]experiment, error) {
	var chosen []experiment
	if len(names) == 0 {
		for _, e := range experiments {
			if !short || !e.long {
				chosen = append(chosen, e)
			}
		}
		return chosen, nil
	}
	for _, name := range names {
		prefix, star := strings.CutSuffix(name, "*")
		before := len(chosen)
		for _, e := range experiments {
			if e.name == name || star && strings.HasPrefix(e.name, prefix) {
				chosen = append(chosen, e)
			}
		}
		if len(chosen) == before {
			return nil, fmt.Errorf("unknown experiment %q (run \"urlfold-chaos list\" for the names)", name)
		}
	}
	return chosen, nil
}
