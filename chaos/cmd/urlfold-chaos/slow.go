package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urlfold/urlfold/chaos"
	"github.com/urlfold/urlfold/internal/storage/fault"
)

var slows = []experiment{
	{
		name: "slow", no: "21", about: "a sink that takes half a second per batch, and a faster source; 10 minutes (short run: some seconds)",
		bound: "resident memory flat (maximum of the last third, and median of the heap after collections, within 5 % of the values of the first third; short run: 25 %); goroutines and open files do not grow; the source waits; the ledger balanced at every scrape",
		run:   slow, aside: true,
	},
	{
		name: "order", no: "26", about: "64 workers, 40 files, and two sinks that are slow and fail at random: one with a common output, one with an output per file",
		bound: "the order of each file preserved in every sink; lost 0, doubled 0",
		run:   order,
	},
}

// A sample is the resource usage of a process at one moment.
type sample struct {
	rss        int64
	live       float64 // bytes of the heap after the last collection
	goroutines float64
	waited     float64 // seconds for which the source has waited
	files      int
}

func slow(ctx context.Context, l *lab) error {
	s := &setup{
		dir: l.dir, mode: "tail", in: l.path("in", "*.log"), source: quickSource, more: "memory_limit: 256MiB\n",
		spec: chaos.Spec{Seed: l.seed, Format: chaos.Combined},
	}
	if _, err := s.input(l, l.size(24<<20, 256<<20)); err != nil {
		return err
	}
	if err := os.WriteFile(s.config(), []byte(insertSink(s.text(), "  - discard: {delay: 500ms}\n")), 0o644); err != nil {
		return err
	}
	// Frequent collections make the heap reach its final size sooner.
	p, err := l.start(ctx, []string{"GOGC=25"}, "run", "-c", s.config())
	if err != nil {
		return err
	}
	if err := l.awaitReady(ctx, p); err != nil {
		return err
	}
	// Measuring takes memory, too: it runs from the start, but counts only
	// after warm.
	warm, length, every := 3*time.Minute, 10*time.Minute, time.Second
	if l.short {
		warm, length, every = 2*time.Second, 6*time.Second, 200*time.Millisecond
	}
	var all []sample
	begin := time.Now()
	for ; time.Since(begin) < warm+length && ctx.Err() == nil; pause(ctx, every) {
		one, err := l.sample(ctx, p)
		if err != nil {
			return err
		}
		if time.Since(begin) > warm {
			all = append(all, one)
		}
	}
	m, err := p.Scrape(ctx)
	if err != nil {
		return err
	}
	l.did("%d samples in %v, after a warm-up of %v", len(all), length, warm)
	l.figure("records read, records delivered", fmt.Sprintf("%.0f, %d", m.Sum("urlfold_source_records_total"), m.Delivered()))
	l.judgeWaiting(all, every)
	l.judgeSamples(all)
	p.Kill()
	return ctx.Err()
}

// sample measures a process.
func (l *lab) sample(ctx context.Context, p *chaos.Process) (one sample, err error) {
	m, err := p.Scrape(ctx)
	if err != nil {
		return one, err
	}
	l.check(m.Off() == 0, "the ledger is off by %v records", m.Off())
	one.goroutines, one.live, one.waited = m["go_goroutines"], m["go_gc_heap_live_bytes"], m.Sum("urlfold_source_backpressure_seconds_total")
	if one.rss, _, err = p.RSS(); err != nil {
		return one, skipError("measuring memory requires /proc")
	}
	_, one.files, err = p.Descriptors()
	return one, err
}

// judgeWaiting checks that the source waits for the sink. every is the least time
// between two samples.
func (l *lab) judgeWaiting(all []sample, every time.Duration) {
	if !l.check(len(all) > 1, "%d samples, want at least 2", len(all)) {
		return
	}
	least := every.Seconds() * float64(len(all)-1)
	waited := all[len(all)-1].waited - all[0].waited
	l.figure("waiting of the source", fmt.Sprintf("%.1f s in at least %.1f s", waited, least))
	l.check(2*waited > least, "the source does not wait: %.1f s in at least %.1f s", waited, least)
}

// judgeSamples compares the last third of the samples with the first.
func (l *lab) judgeSamples(all []sample) {
	if !l.check(len(all) >= 9, "%d samples, want at least 9", len(all)) {
		return
	}
	third := len(all) / 3
	begin, end := all[:third], all[len(all)-third:]
	l.figure("resident memory, MiB: median and maximum of the first third; of the last third", fmt.Sprintf("%.1f, %.1f; %.1f, %.1f",
		mib(medianRSS(begin)), mib(mostRSS(begin)), mib(medianRSS(end)), mib(mostRSS(end))))
	l.figure("heap after collections, MiB: median of the first third, of the last third", fmt.Sprintf("%.1f, %.1f", medianLive(begin)/(1<<20), medianLive(end)/(1<<20)))
	slack := 1.05
	if l.short {
		slack = 1.25 // in a few seconds the heap does not reach its final size
	}
	// Between two collections the heap grows by its garbage, so the comparison
	// uses the maxima, and the heap after collections.
	l.check(float64(mostRSS(end)) <= slack*float64(mostRSS(begin)), "resident memory has grown from %.1f to %.1f MiB", mib(mostRSS(begin)), mib(mostRSS(end)))
	l.check(medianLive(end) <= slack*medianLive(begin), "heap after collections has grown from %.1f to %.1f MiB", medianLive(begin)/(1<<20), medianLive(end)/(1<<20))
	a, b := all[0], all[len(all)-1]
	l.figure("goroutines, open files at the beginning; at the end", fmt.Sprintf("%.0f, %d; %.0f, %d", a.goroutines, a.files, b.goroutines, b.files))
	l.check(b.goroutines <= a.goroutines+4 && b.files <= a.files+2, "resources have grown from %.0f goroutines and %d files to %.0f and %d", a.goroutines, a.files, b.goroutines, b.files)
}

func byRSS(a, b sample) int { return int((a.rss - b.rss) >> 10) }

func mostRSS(all []sample) int64 { return slices.MaxFunc(all, byRSS).rss }

func medianLive(all []sample) float64 {
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b sample) int { return cmp.Compare(a.live, b.live) })
	return sorted[len(sorted)/2].live
}

func medianRSS(all []sample) int64 {
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, byRSS)
	return sorted[len(sorted)/2].rss
}

func mib(n int64) float64 { return float64(n) / (1 << 20) }

func order(ctx context.Context, l *lab) error {
	s := &setup{
		dir: l.dir, out: filepath.Join("a", "all.log"), spec: chaos.Spec{Seed: l.seed, Format: chaos.Lines}, sink: ", compress: none",
		pipeline: "workers: 64\nbatch: {size: 4KiB}\n", source: quickSource,
	}
	s.defaults()
	lanes := map[uint64]uint64{}
	for lane := range uint64(40) {
		n, err := s.spec.WriteFile(l.path("in", fmt.Sprintf("%d.log", lane)), chaos.Plain, lane, l.size(64<<10, 2<<20))
		if err != nil {
			return err
		}
		lanes[lane] = n
	}
	second := fmt.Sprintf("  - file: {path: %q, sync_interval: 10ms}\n", l.path("out", "b", "{source.relpath}"))
	if err := os.WriteFile(s.config(), []byte(insertSink(s.text(), second)), 0o644); err != nil {
		return err
	}
	bin, err := l.faulty(ctx)
	if err != nil {
		return err
	}
	rules := []string{"file.before_sync=delay:2ms"}
	for range 12 {
		from := 1 + l.rng.IntN(2000)
		rules = append(rules, fmt.Sprintf("file.before_write=%s@%d..%d", [...]string{"eio", "enospc", "delay:30ms"}[l.rng.IntN(3)], from, from+l.rng.IntN(4)))
	}
	p, err := l.startBin([]string{fault.Env + "=" + strings.Join(rules, ",")}, bin, "run", "-c", s.config())
	if err != nil {
		return err
	}
	if err := l.ends(ctx, p, 0); err != nil {
		return err
	}
	for _, sink := range []string{"a", "b"} {
		s.outDir = l.path("out", sink)
		r, _, err := s.judge(lanes, false)
		if err != nil {
			return err
		}
		l.figure("oracle, sink "+sink, r.String())
		l.check(r.Exact(), "sink %s: %v: %v", sink, r, r.Examples)
	}
	return nil
}
