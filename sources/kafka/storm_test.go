package kafka

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A tally records what was delivered to all members of a group.
type tally struct {
	mu   sync.Mutex
	seen []map[int64]bool // delivered offsets, by partition
	upTo []int64          // all offsets before this one were delivered
}

func newTally(parts int) *tally {
	l := &tally{seen: make([]map[int64]bool, parts), upTo: make([]int64, parts)}
	for p := range l.seen {
		l.seen[p] = map[int64]bool{}
	}
	return l
}

// add records the messages of b. It is called before the batch is answered.
func (l *tally) add(b *engine.Batch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var p int
	if _, err := fmt.Sscanf(b.Lane.ID(), "kafka/"+topicOf(b)+"/%d", &p); err != nil {
		panic(err)
	}
	for _, m := range b.Msgs {
		l.seen[p][m.Pos] = true
	}
	for l.seen[p][l.upTo[p]] {
		l.upTo[p]++
	}
}

func topicOf(b *engine.Batch) string {
	name := b.Lane.Name()
	for i := range name {
		if name[i] == '[' {
			return name[:i]
		}
	}
	return name
}

func (l *tally) prefix(p int) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.upTo[p]
}

// TestStormFake is experiment 14 for a second and a half; with URLFOLD_LONG=1,
// ten minutes with slower members.
func TestStormFake(t *testing.T) {
	const parts = 8
	c, conn := kafkatest.Fake(t, kfake.SeedTopics(parts, "storm"))
	delivered := newTally(parts)
	c.ControlKey(int16(kmsg.OffsetCommit), func(r kmsg.Request) (kmsg.Response, error, bool) {
		for _, topic := range r.(*kmsg.OffsetCommitRequest).Topics {
			for _, p := range topic.Partitions {
				if upTo := delivered.prefix(int(p.Partition)); p.Offset > upTo {
					t.Errorf("partition %d: committed %d, but delivered only up to %d", p.Partition, p.Offset, upTo)
				}
			}
		}
		return nil, nil, false
	})
	storm(t, conn, "storm", "g", parts, delivered)
}

func TestStormReal(t *testing.T) {
	const parts = 8
	conn := kafkatest.Real(t)
	topic := fmt.Sprintf("storm-%d", time.Now().UnixNano())
	kafkatest.CreateTopic(t, conn, topic, parts, nil)
	storm(t, conn, topic, topic, parts, newTally(parts))
}

// storm lets members of a group come and go while records arrive, and checks
// that no record is lost, that committed offsets never decrease or exceed what
// was delivered, and that each lane is in order.
func storm(t *testing.T, conn connect.Kafka, topic, group string, parts int, delivered *tally) {
	const members = 8
	span, delay := kafkatest.Span(1500*time.Millisecond, 10*time.Minute), kafkatest.Span(30*time.Millisecond, 2*time.Second)
	pace := kafkatest.Span(20*time.Millisecond, 500*time.Millisecond)
	client := kafkatest.Client(t, conn, topic)
	var produced int
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(over)
		for end := time.Now().Add(span); time.Now().Before(end) || produced < 1000; produced += 40 {
			kafkatest.Fill(t, client, topic, parts, produced, produced+40)
			<-time.After(pace)
		}
	})
	quit := make(chan struct{})
	wg.Go(func() { watchCommits(t, conn, group, topic, parts, delivered, quit) })
	var runs sync.WaitGroup
	sinks := make([]*kafkatest.Collector, 0, 100)
	var mu sync.Mutex
	begin := func() *kafkatest.Run {
		out := &kafkatest.Collector{T: t, Seen: delivered.add, Hold: func(ctx context.Context) {
			select {
			case <-time.After(rand.N(delay)):
			case <-ctx.Done():
			}
		}}
		mu.Lock()
		sinks = append(sinks, out)
		mu.Unlock()
		cfg := quick(conn, topic)
		cfg.Group = group
		cfg.SessionTimeout, cfg.RebalanceTimeout, cfg.DrainTimeout = 3*time.Second, 4*time.Second, time.Second // many members are killed
		return kafkatest.Start(t, engine.Options{Sources: []engine.Source{newSource(t, cfg)}, Sinks: []engine.Sink{out}, Ordering: engine.OrderPerLane})
	}
	for range members {
		runs.Go(func() {
			for {
				run := begin()
				select {
				case <-time.After(100*time.Millisecond + rand.N(2*time.Second)):
				case <-over:
				}
				if rand.N(4) == 0 {
					run.Kill()
				} else if err := run.Stop(); err != nil {
					t.Errorf("Run: %v", err)
				}
				run.Forget()
				select {
				case <-over:
					return
				default:
				}
			}
		})
	}
	runs.Wait()
	last := begin()
	kafkatest.Until(t, "all records to be delivered", func() bool {
		for p := range parts {
			if delivered.prefix(p) < int64(produced) {
				return false
			}
		}
		return true
	})
	all := slices.Repeat([]int64{int64(produced)}, parts)
	kafkatest.Until(t, "all offsets to be committed", func() bool { return slices.Equal(kafkatest.Committed(t, conn, group, topic, parts), all) })
	if err := last.Stop(); err != nil {
		t.Errorf("Run: %v", err)
	}
	close(quit)
	wg.Wait()
	total, doubled := 0, 0
	for _, s := range sinks {
		if n := s.Swapped(); n != 0 {
			t.Errorf("%d messages are out of order within their lane", n)
		}
	}
	for p := range parts {
		var got []int
		for _, s := range sinks {
			got = append(got, s.Got(p)...)
		}
		doubled += kafkatest.Check(t, fmt.Sprintf("partition %d", p), got, produced)
		total += produced
	}
	if !t.Failed() {
		t.Logf("%v, %d members at a time, %d in total: %d records, 0 lost, 0 out of order, %d duplicated", span, members, len(sinks), total, doubled)
	}
}

// watchCommits checks that committed offsets do not decrease and do not exceed
// what was delivered.
func watchCommits(t *testing.T, conn connect.Kafka, group, topic string, parts int, delivered *tally, quit <-chan struct{}) {
	was := make([]int64, parts)
	for {
		for p, offset := range kafkatest.Committed(t, conn, group, topic, parts) {
			if offset >= 0 && offset < was[p] {
				t.Errorf("partition %d: committed offset decreased from %d to %d", p, was[p], offset)
			}
			if upTo := delivered.prefix(p); offset > upTo {
				t.Errorf("partition %d: committed %d, but delivered only up to %d", p, offset, upTo)
			}
			was[p] = max(was[p], offset)
		}
		select {
		case <-quit:
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}
