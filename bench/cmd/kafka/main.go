// Kafka measures the throughput of one instance from Kafka to Kafka: of urlfold
// with its codec, and of the bare client library, which copies messages without
// parsing them. The loops run alternately in one process, on two cores, from
// one topic and with the same settings, so that a slow phase of the machine or
// of the broker affects all of them. Rates differ between machines; the ratio
// within a round is what counts.
//
//	URLFOLD_KAFKA=$(.ci/kafka start) go run ./cmd/kafka [-n 1000000] [-rounds 5]
//
// The broker runs on the same machine, so its share of the cores affects all
// rates.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"time"

	"github.com/urlfold/urlfold/bench"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "kafka:", err)
		os.Exit(1)
	}
}

// least is the ratio below which the program fails.
const least = 0.8

func run() error {
	n := flag.Int("n", 1_000_000, "number of messages")
	rounds := flag.Int("rounds", 5, "number of rounds; their median is printed")
	compression := flag.String("compression", "zstd", "compression of both topics: none, gzip, snappy, lz4 or zstd")
	only := flag.String("only", "", "run only the loop with this name")
	profile := flag.String("cpuprofile", "", "write a CPU profile to this file")
	flag.Parse()
	addr := os.Getenv("URLFOLD_KAFKA")
	if addr == "" {
		return fmt.Errorf("URLFOLD_KAFKA is not set; start a broker with: URLFOLD_KAFKA=$(.ci/kafka start)")
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
	end, err := bench.Profile(*profile)
	if err != nil {
		return err
	}
	defer end()
	fmt.Printf("%d messages, URLs of %.1f bytes, keys of %d bytes, %d partitions, %s, GOMAXPROCS 2, %d rounds\n\n",
		*n, float64(bytes)/float64(*n), keyLen, partitions, *compression, *rounds)
	return bench.Race(os.Stdout, b.loops(ctx, *n), *rounds, *only, least)
}

// A loop copies the input topic to an output topic until ctx is done.
type loop func(ctx context.Context, b *broker, group, out string) error

func (b *broker) loops(ctx context.Context, n int) []bench.Loop {
	timed := func(l loop) func() (bench.Measure, error) {
		return func() (bench.Measure, error) { return b.time(ctx, l, n) }
	}
	return []bench.Loop{
		{Name: "urlfold", Run: timed(urlfold)},
		{Name: "bare Reader+Writer", Run: timed(readerWriter)},
		{Name: "bare Group+Produce", Run: timed(groupProduce)},
	}
}

// warmup is the share of the messages that is not timed, because of joining the
// group, first connections and first allocations.
const warmup = 0.1

// time runs l and measures it from the end of the warm-up until the last
// message.
func (b *broker) time(ctx context.Context, l loop, n int) (bench.Measure, error) {
	name := fmt.Sprintf("bench-%d", time.Now().UnixNano())
	if err := b.create(ctx, name); err != nil {
		return bench.Measure{}, err
	}
	defer b.remove(name)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() { done <- l(ctx, b, name, name) }()
	var begin, used time.Time
	var cpu time.Duration
	first := 0
	for {
		select {
		case err := <-done:
			return bench.Measure{}, fmt.Errorf("loop ended early: %w", err)
		case <-time.After(10 * time.Millisecond):
		}
		got, err := b.count(ctx, name)
		if err != nil {
			return bench.Measure{}, err
		}
		if begin.IsZero() && float64(got) >= warmup*float64(n) {
			begin, first, cpu = time.Now(), got, bench.CPUTime()
		}
		if got >= n {
			used = time.Now()
			cpu = bench.CPUTime() - cpu
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
