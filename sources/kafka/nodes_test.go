package kafka

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
)

// TestElectionsReal is TestElections and TestTruncated with real brokers.
func TestElectionsReal(t *testing.T) {
	conn, kill, join := kafkatest.RealNodes(t)
	kafkatest.CreateReplicated(t, conn, "in", 2, 3)
	n := elections(t, conn)
	for i, running := range []bool{true, false} {
		sole, other := 2+i, 3-i
		kafkatest.Lead(t, conn, "in", other, sole) // which then has all records
		kafkatest.Lead(t, conn, "in", sole, other)
		n = truncation(t, conn, n, running, func() { kill(strconv.Itoa(other)) }, func() {
			kill(strconv.Itoa(sole))
			join(strconv.Itoa(other))
		})
		join(strconv.Itoa(sole))
	}
}

// elections holds 100 elections during reading. It returns the number of records.
func elections(t *testing.T, conn connect.Kafka) (n int) {
	const few, times = 20, 100
	client := kafkatest.Client(t, conn, "in")
	out := &kafkatest.Collector{T: t}
	s, run := start(t, quick(conn, "in"), out)
	before := leaderEpoch(t, client)
	for i := range times {
		write(t, client, "in", 0, n, n+few)
		n += few
		if !kafkatest.Lead(t, conn, "in", 3-i%2, 2+i%2) {
			t.Fatal("no election")
		}
		client.Refresh()
	}
	kafkatest.Until(t, "the last records", func() bool { return kafkatest.Committed(t, conn, "g", "in", 1)[0] == int64(n) })
	stop(t, run)
	if d := kafkatest.Check(t, "the partition", out.Got(0), n); d != 0 || s.Stats().Resets != 0 {
		t.Errorf("%d records twice, %d resets", d, s.Stats().Resets)
	}
	t.Logf("%d elections, leader epoch %d to %d, %d records, none twice", times, before, leaderEpoch(t, client), n)
	return n
}

func leaderEpoch(t *testing.T, client kafka.Client) int32 {
	state, err := client.LogState(kafkatest.Context(t), "in", 0)
	if err != nil {
		t.Fatal(err)
	}
	return state.Epoch
}

// truncation reads 40 records that only one broker has, and lets another one become
// the leader, which has n. It returns the number of records that this one has then.
func truncation(t *testing.T, conn connect.Kafka, n int, running bool, kill, replace func()) int {
	const gone, fresh = 40, 10
	client := kafkatest.Client(t, conn, "in")
	committed := func(want int) func() bool {
		return func() bool { return kafkatest.Committed(t, conn, "g", "in", 1)[0] == int64(want) }
	}
	out, log := &kafkatest.Collector{T: t}, &logBuffer{}
	s, run := startLogged(t, quick(conn, "in"), out, log)
	kill()
	write(t, client, "in", 1, 0, gone)
	kafkatest.Until(t, "the records of one broker", committed(n+gone))
	if !running {
		stop(t, run)
	}
	replace()
	client.Refresh()
	write(t, client, "in", 2, 0, fresh)
	if !running {
		out = &kafkatest.Collector{T: t}
		s, run = startLogged(t, quick(conn, "in"), out, log)
	}
	kafkatest.Until(t, "the position after the truncation", committed(n+fresh))
	stop(t, run)
	if kafkatest.Check(t, "the new records", out.Got(2), fresh) != 0 {
		t.Errorf("records twice: %v", out.Got(2))
	}
	want := fmt.Sprintf("from=%d to=%d offsets=%d", n, n+gone, gone)
	if lines := log.with("kafka log truncated"); len(lines) != 1 || !strings.Contains(lines[0], want) {
		t.Errorf("logged %q, want %s", lines, want)
	}
	if got := s.Stats().Resets; got != 1 {
		t.Errorf("%d resets, want 1", got)
	}
	t.Logf("running %t: %s", running, want)
	return n + fresh
}
