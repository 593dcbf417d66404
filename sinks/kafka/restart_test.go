package kafka

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// TestRestartFake stops and restarts the broker while records are written.
func TestRestartFake(t *testing.T) {
	const parts = 3
	conn, restart := kafkatest.Restartable(t, kfake.SeedTopics(parts, "in"), kfake.SeedTopics(parts, "out"))
	restarts(t, conn, parts, restart)
}

// TestRestartReal kills a real broker that it has started. It requires
// URLFOLD_KAFKA, which indicates that one is available, and URLFOLD_LONG=1.
func TestRestartReal(t *testing.T) {
	const parts = 3
	conn, restart := kafkatest.RestartableReal(t)
	kafkatest.CreateTopic(t, conn, "in", parts, nil)
	kafkatest.CreateTopic(t, conn, "out", parts, nil)
	restarts(t, conn, parts, restart)
}

// restarts restarts the broker during a run: twice, or with URLFOLD_LONG=1 for
// ten minutes. Nothing is lost, and partitions keep their order.
func restarts(t *testing.T, conn connect.Kafka, parts int, restart func()) {
	client := kafkatest.Client(t, conn, "in", "out")
	source := newSource(t, conn)
	run := kafkatest.Start(t, engine.Options{
		Sources: []engine.Source{source}, Sinks: []engine.Sink{newSink(t, conn, func(cfg *Config) { cfg.PartitionBy = "input" })},
		Ordering: engine.OrderPerLane,
	})
	n, times := 0, 0
	for end := time.Now().Add(kafkatest.Span(0, 10*time.Minute)); times < 2 || time.Now().Before(end); times++ {
		kafkatest.Fill(t, client, "in", parts, n, n+2000)
		n += 2000
		kafkatest.Until(t, "the pipeline is at work", func() bool { return run.P.Snapshot().Ledger.Emitted > int64(parts*(n-1800)) })
		restart()
		client.Refresh()
		kafkatest.Until(t, "the broker answers", func() bool {
			_, err := client.Offset(kafkatest.Context(t), "in", 0, kafka.Latest)
			return err == nil
		})
	}
	want := slices.Repeat([]int64{int64(n)}, parts)
	kafkatest.Until(t, fmt.Sprint("the position ", n), func() bool { return slices.Equal(kafkatest.Committed(t, conn, "g", "in", parts), want) })
	if err := run.Stop(); err != nil {
		t.Fatal(err)
	}
	doubled := compare(t, kafkatest.Read(t, client, "out", parts), parts, n)
	t.Logf("%d restarts, %d records, lost 0, out of order 0, %d duplicated", times, parts*n, doubled)
}
