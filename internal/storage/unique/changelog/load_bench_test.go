package changelog

import (
	"testing"

	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// BenchmarkLoad measures how long a member needs for the keys of a partition that
// it gets, from a broker in the process, per key.
func BenchmarkLoad(b *testing.B) {
	const keys = 5_000_000
	_, conn := kafkatest.Fake(b)
	kafkatest.CreateTopic(b, conn, "in", parts, nil)
	cfg := configOf(conn, "equivalent")
	cfg.MaxMemory, cfg.Dir = 256<<20*parts, b.TempDir()
	c, err := Open(b.Context(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	l := laneOf(0)
	for from := 0; from < keys; from += 100 * batchEntries {
		if err := c.Seal(b.Context(), l, entries(from, 100*batchEntries)); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if err := c.Load(b.Context(), l, engine.Position{A: keys}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/keys, "ns/key")
	if err := c.Close(); err != nil {
		b.Fatal(err)
	}
}
