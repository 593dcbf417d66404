// Kafka prints how fast one instance goes from Kafka to Kafka: urlfold with its
// codec, and the bare client library copying messages without looking at them. The
// loops take turns in one process, on two cores, from one topic and with the same
// settings, so that a slow moment of the machine or of the broker is slow for all of
// them. Rates move from machine to machine; the ratio within a round is what counts.
//
//	URLFOLD_KAFKA=$(.ci/kafka start) go run ./cmd/kafka [-n 1000000] [-rounds 5]
//
// The broker works on the same machine: its share of the cores is in all rates.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/pprof"
	"slices"
	"time"

	"github.com/urlfold/urlfold/bench"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "kafka:", err)
		os.Exit(1)
	}
}

// least is the ratio below which the run fails.
const least = 0.8

func run() error {
	n := flag.Int("n", 1_000_000, "messages")
	rounds := flag.Int("rounds", 5, "rounds; the median of them is printed")
	compression := flag.String("compression", "zstd", "of both topics: none, gzip, snappy, lz4, zstd")
	only := flag.String("only", "", "run this loop alone")
	profile := flag.String("cpuprofile", "", "write a profile of the processor to this file")
	flag.Parse()
	addr := os.Getenv("URLFOLD_KAFKA")
	if addr == "" {
		return fmt.Errorf("URLFOLD_KAFKA is not set: .ci/kafka start prints the address of a broker")
	}
	runtime.GOMAXPROCS(2)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	b, err := newBroker(addr, *compression)
	if err != nil {
		return err
	}
	bytes, err := b.fill(ctx, *n)
	if err != nil {
		return err
	}
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	fmt.Printf("%d messages, URLs of %.1f bytes, keys of %d bytes, %d partitions, %s, GOMAXPROCS 2, %d rounds\n\n",
		*n, float64(bytes)/float64(*n), keyLen, partitions, *compression, *rounds)
	return b.race(ctx, *n, *rounds, *only)
}

// race lets the loops take turns.
func (b *broker) race(ctx context.Context, n, rounds int, only string) error {
	loops := slices.DeleteFunc(loops(), func(l loop) bool { return only != "" && l.name != only })
	all := make([][]bench.Measure, rounds)
	for round := range all {
		all[round] = make([]bench.Measure, len(loops))
		for i := range loops {
			k := (i + round) % len(loops) // each is the first once
			m, err := b.time(ctx, loops[k], n)
			if err != nil {
				return fmt.Errorf("%s: %w", loops[k].name, err)
			}
			all[round][k] = m
			fmt.Fprintf(os.Stderr, "round %d: %-24s %8.0f messages/s, %4.0f ns of processor each\n", round+1, loops[k].name, m.Rate, m.CPU)
		}
	}
	var names []string
	for _, l := range loops {
		names = append(names, l.name)
	}
	return bench.Race(os.Stdout, names, all, least)
}

// A loop copies the input topic into an output topic until ctx is done.
type loop struct {
	name string
	run  func(ctx context.Context, b *broker, group, out string) error
}

func loops() []loop {
	return []loop{
		{"urlfold", urlfold},
		{"bare Reader+Writer", readerWriter},
		{"bare Group+Produce", groupProduce},
	}
}

// warmup is the share of the messages that is not timed: joining a group, first
// connections, first allocations.
const warmup = 0.1

// time runs l from the first message to the last.
func (b *broker) time(ctx context.Context, l loop, n int) (bench.Measure, error) {
	name := fmt.Sprintf("bench-%d", time.Now().UnixNano())
	if err := b.create(ctx, name); err != nil {
		return bench.Measure{}, err
	}
	defer b.remove(name)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() { done <- l.run(ctx, b, name, name) }()
	var begin, used time.Time
	var cpu time.Duration
	first := 0
	for {
		select {
		case err := <-done:
			return bench.Measure{}, fmt.Errorf("it has ended early: %w", err)
		case <-time.After(10 * time.Millisecond):
		}
		got, err := b.count(ctx, name)
		if err != nil {
			return bench.Measure{}, err
		}
		if begin.IsZero() && float64(got) >= warmup*float64(n) {
			begin, first, cpu = time.Now(), got, bench.Processor()
		}
		if got >= n {
			used = time.Now()
			cpu = bench.Processor() - cpu
			break
		}
	}
	stop()
	if err := <-done; err != nil {
		return bench.Measure{}, err
	}
	timed := float64(n - first)
	rate := timed / used.Sub(begin).Seconds()
	return bench.Measure{Rate: rate, Bytes: rate * b.mean, CPU: float64(cpu.Nanoseconds()) / timed}, nil
}
