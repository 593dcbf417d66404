package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urlfold/urlfold/internal/storage/fault"
)

var dedupes = []experiment{
	{
		name: "kill-dedupe", no: "31", about: "kill -9 at random moments of runs with dedupe over one file with duplicates at every distance, exactly once",
		bound: "the output is identical, to the byte, to that of a run without kills",
		run:   func(ctx context.Context, l *lab) error { return killDedupe(ctx, newDeduping(l, 1, true)) },
	},
	{
		name: "kill-dedupe-lanes", no: "31", about: "like kill-dedupe, with five files that are read at the same time",
		bound: "each key comes exactly once",
		run:   func(ctx context.Context, l *lab) error { return killDedupe(ctx, newDeduping(l, 5, true)) },
	},
	{
		name: "kill-dedupe-alo", no: "31", about: "like kill-dedupe-lanes, but at least once", long: true,
		bound: "no key is missing",
		run:   func(ctx context.Context, l *lab) error { return killDedupe(ctx, newDeduping(l, 5, false)) },
	},
	{
		name: "kill-dedupe-mark", no: "31", about: "like kill-dedupe, with keep: mark, so that all records are written",
		bound: "the output with its marks is identical, to the byte, to that of a run without kills",
		run:   func(ctx context.Context, l *lab) error { return killDedupe(ctx, newMarking(l)) },
	},
	{
		name: "dedupe-errors", no: "22", about: "dedupe with full disks, errors and kills at each step of storing keys and positions, exactly once",
		bound: "the output is identical, to the byte, to that of a run without errors",
		run:   dedupeErrors,
	},
	{
		name: "kill-dedupe-jetstream", no: "31", about: "kill -9 of members at random moments under load, with dedupe for a JetStream source: three members share a consumer and a bucket, some messages hold two records, and once with windows; then a member that sleeps for longer than claim_timeout, a stream that is created again, and a full bucket",
		bound: "no key is missing; with msg_id: position in the sink, each key comes exactly once",
		run:   killDedupeJetStream,
	},
	{
		name: "kill-dedupe-subject", no: "31", about: "kill -9 at random moments of runs from a file to a JetStream stream with msg_id: subject, whose server is stopped and started meanwhile",
		bound: "each key comes exactly once",
		run: func(ctx context.Context, l *lab) error {
			l.endToEnd(ctx, dedupeKills(l), "^TestDedupeSubject", 1)
			return nil
		},
	},
	{
		name: "kill-dedupe-kafka", no: "31", about: "kill -9 of members at random moments under load, with dedupe for a Kafka source: three members of a group share six partitions and a changelog, and others join and leave; also with windows, whose keys the changelog must forget; on a broker in the process and, if URLFOLD_KAFKA names one, on a real broker that compacts the changelog all the time",
		bound: "no key is missing; without kills, no key comes again",
		run:   killDedupeKafka,
	},
}

// A deduping is an experiment with dedupe.
type deduping struct {
	*setup
	lab     *lab
	lanes   int
	took    time.Duration // duration of a run without kills
	want    [][]byte      // output of that run, sorted if there are several lanes
	doubled int
	mark    bool // keep: mark
}

func killDedupe(ctx context.Context, d *deduping) error {
	l := d.lab
	if err := d.prepare(ctx); err != nil {
		return err
	}
	goal := l.times(10, 100)
	if l.kills > 0 {
		goal = l.kills
	}
	killed, rounds := 0, 0
	for ; killed < goal; rounds++ {
		if rounds > 20*goal {
			return fmt.Errorf("only %d kills in %d runs", killed, rounds)
		}
		n, err := d.round(ctx, min(goal-killed, 25))
		if err != nil {
			return fmt.Errorf("run %d: %w", rounds, err)
		}
		killed += n
	}
	l.did("%d runs, %d kills during a run, %d lanes, %d records written", rounds, killed, d.lanes, len(d.want))
	if !d.exactly {
		l.figure("keys that came again", d.doubled)
	}
	return nil
}

func killDedupeJetStream(ctx context.Context, l *lab) error {
	l.endToEnd(ctx, dedupeKills(l), "^TestDedupeNATS", 4)
	return nil
}

// killDedupeKafka uses kfake and the broker that URLFOLD_KAFKA names.
func killDedupeKafka(ctx context.Context, l *lab) error {
	cases := 3
	if os.Getenv("URLFOLD_KAFKA") != "" {
		cases *= 2
	}
	l.endToEnd(ctx, dedupeKills(l), "^TestKafkaDedupe", cases)
	return nil
}

// dedupeKills returns the environment variable with the number of kills, for
// the tests of chaos/endtoend.
func dedupeKills(l *lab) string {
	goal := l.times(10, 100)
	if l.kills > 0 {
		goal = l.kills
	}
	return fmt.Sprintf("URLFOLD_DEDUPE_KILLS=%d", goal)
}

func newDeduping(l *lab, lanes int, exactly bool) *deduping {
	return &deduping{lab: l, lanes: lanes, setup: &setup{
		dir: l.dir, out: "all.txt", exactly: exactly, more: "dedupe: {by: equivalent}\n", commit: 20 * time.Millisecond, source: ", max_readers: 5",
	}}
}

// newMarking returns an experiment with marks.
func newMarking(l *lab) *deduping {
	d := newDeduping(l, 1, true)
	d.mark = true
	d.codec, d.more = ", to: {jsonl: {fields: [url]}}", "dedupe: {by: equivalent, keep: mark}\non_error: {rejected: drop}\n"
	return d
}

// storingPoints are the fault points at which keys and positions are stored.
var storingPoints = []string{
	"keyset.write", "keyset.sync", "checkpoint.before_append", "checkpoint.after_append", "checkpoint.after_sync",
	"checkpoint.before_snapshot", "checkpoint.after_snapshot", "checkpoint.after_keep", "checkpoint.after_snapshot_rename",
}

func dedupeErrors(ctx context.Context, l *lab) error {
	d := newDeduping(l, 1, true)
	if err := d.prepare(ctx); err != nil {
		return err
	}
	bin, err := l.faulty(ctx)
	if err != nil {
		return err
	}
	rounds, killed := l.times(10, 100), 0
	for range rounds {
		var rules []string
		for range 3 {
			from := 1 + l.rng.IntN(3)
			what := [...]string{"eio", "enospc", "kill"}[l.rng.IntN(3)]
			rules = append(rules, fmt.Sprintf("%s=%s@%d..%d", storingPoints[l.rng.IntN(len(storingPoints))], what, from, from+l.rng.IntN(2)))
		}
		plan := strings.Join(rules, ",")
		if err := d.write(); err != nil {
			return err
		}
		p, err := l.startBin([]string{fault.Env + "=" + plan}, bin, "run", "-c", d.config())
		if err != nil {
			return err
		}
		if code, err := p.Wait(ctx, endTimeout); err != nil {
			return fmt.Errorf("%s: %w; its last output:\n%s", plan, err, lastLines(p.Output(), 12))
		} else if code != 0 {
			killed++
		}
		if _, err := d.round(ctx, 0); err != nil {
			return fmt.Errorf("%s: %w", plan, err)
		}
	}
	l.did("%d runs with three faults each; a fault ended %d of them early", rounds, killed)
	return nil
}

// prepare writes the inputs and runs the program once without a kill.
func (d *deduping) prepare(ctx context.Context) error {
	l := d.lab
	d.defaults()
	if err := os.MkdirAll(filepath.Join(d.dir, "in"), 0o755); err != nil {
		return err
	}
	keys := map[int]bool{}
	records := l.times(100_000, 1_000_000)
	for lane := range d.lanes {
		if err := d.writeLane(lane, records/d.lanes, keys); err != nil {
			return err
		}
	}
	p, err := d.complete(ctx, l)
	if err != nil {
		return err
	}
	d.took = p.Took()
	if d.want, err = d.output(); err != nil {
		return err
	}
	if d.mark {
		firsts := 0
		for _, line := range d.want {
			firsts += bytes.Count(line, []byte(`"duplicate":false}`))
		}
		l.check(len(d.want) == records && firsts == len(keys), "a run without kills writes %d of %d records, and %d of %d keys without a mark", len(d.want), records, firsts, len(keys))
	} else {
		l.check(len(d.want) == len(keys), "a run without kills writes %d records of %d keys", len(d.want), len(keys))
	}
	l.figure("a run without kills", d.took)
	return d.clear()
}

// writeLane writes an input of n records. The distance of a duplicate to its
// first record is between one record and the whole input.
func (d *deduping) writeLane(lane, n int, keys map[int]bool) error {
	f, err := os.Create(filepath.Join(d.dir, "in", fmt.Sprintf("%d.log", lane)))
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(d.lab.seed, uint64(lane)))
	w := bufio.NewWriter(f)
	for i := range n {
		key := i/3 + 1
		if i%3 > 0 {
			key = 1 + int(rng.ExpFloat64()*float64(int(1)<<rng.IntN(20)))%(i/3+1) // recent, or long ago
			if rng.IntN(2) == 0 {
				key = i/3 + 2 - key
			}
		}
		key = max(key, 1)
		keys[key] = true
		scheme := [...]string{"http", "HTTP"}[rng.IntN(2)]
		if _, err := fmt.Fprintf(w, "%s://example.com/%d\n", scheme, key); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// output returns the lines of the output.
func (d *deduping) output() ([][]byte, error) {
	data, err := os.ReadFile(filepath.Join(d.outDir, "all.txt"))
	if err != nil {
		return nil, err
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	if d.lanes > 1 {
		slices.SortFunc(lines, bytes.Compare)
	}
	return lines, nil
}

// round runs the program until it ends, with at most most kills, and compares
// its output.
func (d *deduping) round(ctx context.Context, most int) (killed int, err error) {
	for killed < most {
		hit, err := d.killAfter(ctx, d.lab, d.lab.between(10*time.Millisecond, d.took/2))
		if err != nil {
			return killed, err
		}
		if !hit {
			break
		}
		killed++
	}
	if _, err := d.complete(ctx, d.lab); err != nil {
		return killed, err
	}
	got, err := d.output()
	if err != nil {
		return killed, err
	}
	if !d.exactly {
		all := len(got)
		got = slices.CompactFunc(got, bytes.Equal)
		d.doubled += all - len(got)
	}
	d.lab.check(slices.EqualFunc(got, d.want, bytes.Equal), "%d kills: %d records, want %d: %s", killed, len(got), len(d.want), firstDifference(got, d.want))
	return killed, d.clear()
}

// firstDifference describes the first difference of two lists of lines.
func firstDifference(got, want [][]byte) string {
	for i := range min(len(got), len(want)) {
		if !bytes.Equal(got[i], want[i]) {
			return fmt.Sprintf("line %d is %q, want %q", i+1, got[i], want[i])
		}
	}
	return "one is a prefix of the other"
}
