package kafka

import (
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// TestUntilEOF checks that a run that ends with its input reads everything,
// commits it and ends: with full and empty partitions, with a topic that needs
// more than one response of the broker, and without new records.
func TestUntilEOF(t *testing.T) {
	const n = 1000
	_, conn := kafkatest.Fake(t, kfake.SeedTopics(3, "in"))
	client := kafkatest.Client(t, conn, "in")
	kafkatest.Fill(t, client, "in", 2, 0, n) // nothing in the last partition
	for round, want := range []int{2 * n, 0} {
		cfg := quick(conn, "in")
		cfg.UntilEOF, cfg.FetchBytes = true, 4<<10
		out := &kafkatest.Collector{T: t}
		run := kafkatest.Start(t, engine.Options{Sources: []engine.Source{newSource(t, cfg)}, Sinks: []engine.Sink{out}})
		if err := run.Wait(); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if out.Count() != want {
			t.Errorf("round %d: %d records, want %d", round, out.Count(), want)
		}
		for p := range 2 * min(want, 1) {
			kafkatest.Check(t, "the partition", out.Got(p), n)
		}
		if got := kafkatest.Committed(t, conn, "g", "in", 2); !slices.Equal(got, []int64{n, n}) {
			t.Errorf("round %d: committed %v", round, got)
		}
	}
}

// TestUntilEOFMembers checks that a member that waits for messages in flight
// elsewhere does not end the run: a single member that is joined by another
// ends when its own partitions have been read.
func TestUntilEOFMembers(t *testing.T) {
	const parts, n = 4, 500
	_, conn := kafkatest.Fake(t, kfake.SeedTopics(parts, "in"))
	client := kafkatest.Client(t, conn, "in")
	kafkatest.Fill(t, client, "in", parts, 0, n)
	var runs []*kafkatest.Run
	var outs []*kafkatest.Collector
	for range 2 {
		cfg := quick(conn, "in")
		cfg.UntilEOF, cfg.FetchBytes, cfg.FetchWait = true, 1<<10, 20*time.Millisecond
		out := &kafkatest.Collector{T: t}
		outs = append(outs, out)
		runs = append(runs, kafkatest.Start(t, engine.Options{Sources: []engine.Source{newSource(t, cfg)}, Sinks: []engine.Sink{out}}))
	}
	for _, r := range runs {
		if err := r.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	for p := range parts {
		kafkatest.Check(t, "both", append(outs[0].Got(p), outs[1].Got(p)...), n)
	}
	want := slices.Repeat([]int64{n}, parts)
	if got := kafkatest.Committed(t, conn, "g", "in", parts); !slices.Equal(got, want) {
		t.Errorf("committed %v", got)
	}
}

// TestUntilEOFUnknown checks that an unknown end of the log is never reached.
func TestUntilEOFUnknown(t *testing.T) {
	p := &partition{s: &source{cfg: Config{UntilEOF: true}}}
	p.end.Store(-1)
	if p.atEnd(0) {
		t.Error("unknown end counts as reached")
	}
	p.end.Store(5)
	if p.atEnd(4) || !p.atEnd(5) {
		t.Error("wrong result for end 5")
	}
}
