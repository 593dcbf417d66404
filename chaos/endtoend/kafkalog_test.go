package endtoend

import (
	"cmp"
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/urlfold/urlfold/chaos"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
)

// This file contains what happens to the log of a partition while the program reads
// it, or between two runs: it is deleted and created again, gets another leader, or
// loses its end.

// rounds returns how often a test repeats its fault: URLFOLD_ROUNDS, or few.
func rounds(t *testing.T, short, long int) int {
	n, err := strconv.Atoi(cmp.Or(os.Getenv("URLFOLD_ROUNDS"), strconv.Itoa(few(short, long))))
	if err != nil {
		t.Fatalf("URLFOLD_ROUNDS: %v", err)
	}
	return n
}

// recreate deletes the input, whose records are all committed, and creates it again.
func (w *kafkaWorld) recreate() {
	w.t.Helper()
	kafkatest.Recreate(w.t, w.conn, w.topic("in"), kafkaPartitions)
	w.client = kafkatest.Client(w.t, w.conn, w.topic("in"), w.topic("out"), w.topic("dead"))
	w.gone, w.records = append(w.gone, w.records), 0
}

// resets returns how often the program has started again in another log of a
// partition, for one of the reasons.
func resets(t *testing.T, p *chaos.Process, reasons ...string) (n float64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	m, err := p.Scrape(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, reason := range reasons {
		n += m.Sum("urlfold_source_resets_total", `reason="`+reason+`"`)
	}
	return n
}

// TestKafkaRecreated deletes the input topic and creates it again, with more records
// or fewer than before: while the program runs; while it is stopped; and while it is
// stopped and the broker keeps the offsets of the deleted topic, as brokers do for a
// while. Each record of each topic must come out once. If the program knows the old
// topic, it must count a reset for each partition.
func TestKafkaRecreated(t *testing.T) {
	onBrokers(t, func(t *testing.T, w *kafkaWorld) {
		n, known := rounds(t, 3, 30), 0
		p := start(t, w.config())
		w.fill(1000)
		w.drained()
		for i := range n {
			size := [...]uint64{300, 2000, 700, 3500}[i%4] // never the size of the previous topic: see drained
			counted := 0.0
			switch i % 3 {
			case 0: // while it runs
				counted = resets(t, p, "recreated")
				w.recreate()
				w.fill(size)
				known++
			case 1:
				stop(t, p)
				w.recreate()
				w.fill(size)
				p = start(t, w.config())
			case 2:
				stop(t, p)
				offsets, notes := kafkatest.CommittedNotes(t, w.conn, w.name, w.topic("in"), kafkaPartitions)
				w.recreate()
				w.fill(size)
				kafkatest.Rewind(t, w.conn, w.name, w.topic("in"), offsets, notes...)
				p = start(t, w.config())
				known++
			}
			w.drained()
			if got := resets(t, p, "recreated") - counted; i%3 != 1 && got != kafkaPartitions {
				t.Errorf("round %d: %v resets, want %d", i, got, kafkaPartitions)
			}
		}
		stop(t, p)
		r := w.judge()
		t.Logf("figure: %d topics deleted and created again, %d of them known to the program: %v", n, known, &r)
		if !r.Right() || r.Doubled > 0 {
			t.Errorf("%v", r.Examples)
		}
	})
}

// TestKafkaElections moves the leaders of all partitions again and again, while the
// program reads and between two runs. An election is no other log: each record must
// come out once, and no reset may be counted.
func TestKafkaElections(t *testing.T) {
	t.Parallel()
	c, conn := kafkatest.Fake(t, kfake.NumBrokers(3), kfake.GroupMinSessionTimeout(time.Second))
	w := newKafka(t, conn)
	w.fake = true
	p := start(t, w.config())
	n := rounds(t, 5, 100)
	for i := range n {
		w.fill(200)
		for part := range int32(kafkaPartitions) {
			leader := c.LeaderFor(w.topic("in"), part)
			if err := c.MoveTopicPartition(w.topic("in"), part, (leader+1)%3); err != nil {
				t.Fatal(err)
			}
		}
		w.client.Refresh()
		if i%5 == 4 {
			stop(t, p)
			p = start(t, w.config())
		}
	}
	w.drained()
	count := resets(t, p, "recreated", "truncated", "ended")
	stop(t, p)
	r := w.judge()
	t.Logf("figure: %d elections of %d leaders: %v", n, kafkaPartitions, &r)
	if !r.Right() || r.Doubled > 0 || count > 0 {
		t.Errorf("%v resets; %v", count, r.Examples)
	}
}

// TestKafkaTruncated lets the logs of all partitions lose their end: a new leader says
// that the epoch of the last record ended before the position. The program must go
// back to that end, say so, and lose nothing. The records after the end come twice,
// because the broker of the test still has them.
func TestKafkaTruncated(t *testing.T) {
	t.Parallel()
	const all, end = 1000, 600
	c, conn := kafkatest.Fake(t, kfake.NumBrokers(3), kfake.GroupMinSessionTimeout(time.Second))
	w := newKafka(t, conn)
	w.fake = true
	p := start(t, w.config())
	w.fill(all)
	w.drained()
	c.ControlKey(int16(kmsg.OffsetForLeaderEpoch), func(r kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		req := r.(*kmsg.OffsetForLeaderEpochRequest)
		resp := req.ResponseKind().(*kmsg.OffsetForLeaderEpochResponse)
		for _, topic := range req.Topics {
			at := kmsg.OffsetForLeaderEpochResponseTopic{Topic: topic.Topic}
			for _, part := range topic.Partitions {
				one := kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
				one.Partition, one.EndOffset = part.Partition, end
				at.Partitions = append(at.Partitions, one)
			}
			resp.Topics = append(resp.Topics, at)
		}
		return resp, nil, true
	})
	for part := range int32(kafkaPartitions) {
		if err := c.MoveTopicPartition(w.topic("in"), part, (c.LeaderFor(w.topic("in"), part)+1)%3); err != nil {
			t.Fatal(err)
		}
	}
	w.client.Refresh()
	w.fill(100)
	w.drained()
	count := resets(t, p, "truncated")
	stop(t, p)
	r := w.judge()
	t.Logf("figure: %d logs lost their last %d records: %v", kafkaPartitions, all-end, &r)
	if said := strings.Count(p.Output(), "kafka log truncated"); !r.Right() || r.Doubled != kafkaPartitions*(all-end) || count != kafkaPartitions || said == 0 {
		t.Errorf("%v resets, logged %d times; %v", count, said, r.Examples)
	}
}
