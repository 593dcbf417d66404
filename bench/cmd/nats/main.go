// Nats measures the throughput of one instance from JetStream to JetStream: of
// urlfold with its codec, and of the bare client library, which copies messages
// without parsing them. The loops run alternately in one process, on two cores,
// from one stream and with the same limits, so that a slow phase of the machine
// or of the server affects all of them. Rates differ between machines; the
// ratio within a round is what counts.
//
//	URLFOLD_NATS=$(.ci/nats start) go run ./cmd/nats [-n 300000] [-rounds 5]
//
// The server runs on the same machine, so its share of the cores affects all
// rates.
package main

import (
	"context"
	"errors"
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
		fmt.Fprintln(os.Stderr, "nats:", err)
		os.Exit(1)
	}
}

// least is the ratio below which the program fails.
const least = 0.8

func run() error {
	n := flag.Int("n", 300_000, "number of messages")
	rounds := flag.Int("rounds", 5, "number of rounds; their median is printed")
	storage := flag.String("storage", "file", "storage of both streams: file or memory")
	only := flag.String("only", "", "run only the loop with this name")
	profile := flag.String("cpuprofile", "", "write a CPU profile to this file")
	flag.Parse()
	addr := os.Getenv("URLFOLD_NATS")
	if addr == "" {
		return errors.New("URLFOLD_NATS is not set; start a server with: URLFOLD_NATS=$(.ci/nats start)")
	}
	runtime.GOMAXPROCS(2)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	end, err := bench.Profile(*profile)
	if err != nil {
		return err
	}
	defer end()
	s, err := newServer(addr, *storage)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.fill(ctx, *n); err != nil {
		return err
	}
	fmt.Printf("%d messages, URLs of %.1f bytes, %s storage, prefetch %d, window %d, GOMAXPROCS 2, %d rounds\n\n",
		*n, s.mean, *storage, prefetch, window, *rounds)
	return bench.Race(os.Stdout, s.loops(ctx), *rounds, *only, least)
}

// A loop copies the input stream to a subject until ctx is done, through a
// consumer with the given name, and acknowledges each message after its copy is
// stored.
type loop func(ctx context.Context, s *server, consumer, subject string) error

func (s *server) loops(ctx context.Context) []bench.Loop {
	timed := func(l loop) func() (bench.Measure, error) {
		return func() (bench.Measure, error) { return s.time(ctx, l, false) }
	}
	return []bench.Loop{
		{Name: "urlfold", Run: timed(urlfold)},
		{Name: "urlfold dedupe", Run: timed(deduped)},
		{Name: "urlfold subjects", Run: func() (bench.Measure, error) { return s.time(ctx, subjects, true) }},
		{Name: "bare Messages", Run: timed(bareMessages)},
		{Name: "bare Fetch", Run: timed(bareFetch)},
	}
}

// warmup is the share of the messages that is not timed, because of
// connections, first pulls and first allocations.
const warmup = 0.1

// time runs l and measures it from the end of the warm-up until the last
// message is acknowledged. single: the output keeps one message for each subject.
func (s *server) time(ctx context.Context, l loop, single bool) (m bench.Measure, err error) {
	out, err := s.create(ctx, fmt.Sprintf("bench-%d", time.Now().UnixNano()), single)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, s.remove(out)) }()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() { done <- l(ctx, s, out.name, out.subject) }()
	var began time.Time
	var cpu time.Duration
	for first := 0; ; {
		select {
		case err := <-done:
			return m, fmt.Errorf("loop ended early: %w", err)
		case <-time.After(10 * time.Millisecond):
		}
		got, rest, err := s.progress(ctx, out)
		switch {
		case err != nil:
			return m, err
		case began.IsZero() && float64(got) >= warmup*float64(s.n):
			began, first, cpu = time.Now(), got, bench.CPUTime()
		case got >= s.n && rest == 0:
			timed := float64(s.n - first)
			m.Rate = timed / time.Since(began).Seconds()
			m.Bytes, m.CPU = m.Rate*s.mean, float64((bench.CPUTime()-cpu).Nanoseconds())/timed
			stop()
			return m, <-done
		}
	}
}
