package endtoend

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/urlfold/urlfold/chaos"
	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
)

// kafkaPartitions is the number of partitions of the input and of the output.
const kafkaPartitions = 6

// A kafkaWorld is a broker with the topics in, out and dead, and a description
// of the records written to in: a lane of the Spec in each partition.
type kafkaWorld struct {
	t      *testing.T
	conn   connect.Kafka
	client kafka.Client
	spec   chaos.Spec

	name    string   // name of the group, and prefix of the names of the topics
	policy  string   // on_error.refused; empty: the default
	records uint64   // number of records in each partition of the input
	gone    []uint64 // the same of topics of the same name that were deleted

	fake bool // the broker is kfake
	// renew replaces all members by a single one, which the test stops. It is nil for a test
	// without other members.
	renew func()
}

// onBrokers runs a test with a broker in this process, and with the real broker
// that URLFOLD_KAFKA names.
func onBrokers(t *testing.T, test func(t *testing.T, w *kafkaWorld)) {
	t.Run("fake", func(t *testing.T) {
		t.Parallel()
		_, conn := kafkatest.Fake(t, kfake.GroupMinSessionTimeout(time.Second))
		w := newKafka(t, conn)
		w.fake = true
		test(t, w)
	})
	t.Run("real", func(t *testing.T) {
		conn := kafkatest.Real(t)
		t.Parallel()
		test(t, newKafka(t, conn))
	})
}

func newKafka(t *testing.T, conn connect.Kafka) *kafkaWorld {
	t.Helper()
	w := &kafkaWorld{
		t: t, conn: conn, name: fmt.Sprintf("e2e-%d", time.Now().UnixNano()),
		spec: chaos.Spec{Seed: 8, Format: chaos.Lines, Poison: 500},
	}
	w.client = kafkatest.Client(t, conn, w.topic("in"), w.topic("out"), w.topic("dead"))
	for _, name := range []string{"in", "out"} {
		kafkatest.CreateTopic(t, conn, w.topic(name), kafkaPartitions, nil)
	}
	kafkatest.CreateTopic(t, conn, w.topic("dead"), 1, nil)
	return w
}

func (w *kafkaWorld) topic(name string) string { return w.name + "-" + name }

// config returns a configuration that copies from in to out. A killed member
// leaves the group after four seconds, because a loaded machine may not send
// heartbeats for two.
func (w *kafkaWorld) config() string {
	return fmt.Sprintf(`
version: 1
data_dir: %q
sources:
  - kafka:
      from: lines
      brokers: [%q]
      topics: [%s-in]
      group: %[3]s
      session_timeout: 4s
codec: {profile: equiv}
sinks:
  - kafka: {brokers: [%[2]q], topic: %[3]s-out}
dead_letter: {kafka: {brokers: [%[2]q], topic: %[3]s-dead}}
order: lane
commit_interval: 200ms
on_error: {refused: %s}
admin: {listen: "127.0.0.1:0"}
`, w.t.TempDir(), w.conn.Brokers[0], w.name, cmp.Or(w.policy, "dead-letter"))
}

// lane returns the lane of a partition of the input, after a number of deletions.
func (w *kafkaWorld) lane(deletions, partition int) uint64 {
	return uint64(deletions*kafkaPartitions + partition)
}

// fill writes n more records to each partition.
func (w *kafkaWorld) fill(n uint64) {
	w.t.Helper()
	const few = 100
	for end := w.records + n; w.records < end; w.records += few {
		for p := range kafkaPartitions {
			batch := make([]kafka.Record, few)
			for i := range batch {
				line := w.spec.Append(nil, w.lane(len(w.gone), p), w.records+uint64(i))
				batch[i] = kafka.Record{Millis: time.Now().UnixMilli(), Value: bytes.TrimSuffix(line, []byte("\n"))}
			}
			kafkatest.Write(w.t, w.client, w.topic("in"), p, "none", batch...)
		}
	}
}

// stored returns the number of messages in out.
func (w *kafkaWorld) stored() (n int64) {
	w.t.Helper()
	for p := range kafkaPartitions {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		end, err := w.client.Offset(ctx, w.topic("out"), p, kafka.Latest)
		cancel()
		if err != nil {
			w.t.Fatal(err)
		}
		n += end
	}
	return n
}

// drained waits until the whole input is committed.
func (w *kafkaWorld) drained() {
	w.t.Helper()
	all := slices.Repeat([]int64{int64(w.records)}, kafkaPartitions)
	w.await("all is committed", func() (n int64, done bool) {
		committed := kafkatest.Committed(w.t, w.conn, w.name, w.topic("in"), kafkaPartitions)
		for _, offset := range committed {
			n += offset
		}
		return n, slices.Equal(committed, all)
	})
}

// await waits until step reports that it is done. If kfake keeps partitions for a member
// that was killed, so that n does not grow, a single new member continues.
func (w *kafkaWorld) await(what string, step func() (n int64, done bool)) {
	w.t.Helper()
	var n int64
	moved, highest := time.Now(), int64(-1)
	advance(w.t, what, func() int64 { return n }, func() (done bool) {
		n, done = step()
		switch {
		case n > highest:
			moved, highest = time.Now(), n
		case !done && w.fake && w.renew != nil && time.Since(moved) > forgotten:
			w.t.Logf("kfake waits for a member that was killed; a single new one continues at %d", n)
			w.renew()
			moved = time.Now()
		}
		return done
	})
}

// forgotten is the time without progress after which a single new member continues in a
// group of kfake. A member whose connection breaks while it waits for the answer to
// JoinGroup has no session timeout there (group.reply in the groups of kfake), unlike with a
// real broker. If the others synchronize, it keeps its partitions until a member joins.
// Each JoinGroup also starts the timeout of the rebalance again (group.rebalance), so
// several members that repeat it, one after the other, would prevent its end.
const forgotten = 20 * time.Second

// judge counts the delivered records.
func (w *kafkaWorld) judge() chaos.Result {
	w.t.Helper()
	o := chaos.NewOracle(w.spec)
	for deletions, n := range append(slices.Clone(w.gone), w.records) {
		for p := range kafkaPartitions {
			o.Expect(w.lane(deletions, p), n)
		}
	}
	return w.judgeWith(o)
}

// judgeWith counts the delivered records with an oracle that expects them.
func (w *kafkaWorld) judgeWith(o *chaos.Oracle) chaos.Result {
	w.t.Helper()
	for topic, parts := range map[string]int{"out": kafkaPartitions, "dead": 1} {
		for _, records := range kafkatest.Read(w.t, w.client, w.topic(topic), parts) {
			s := o.NewStream()
			for _, r := range records {
				s.Line(r.Value)
			}
		}
	}
	return o.Result()
}

// TestKafkaKill kills the program at random moments, while it starts, joins its
// group and works: 5 times or, with URLFOLD_LONG=1, 50 times. No record may be
// lost; records that were written but not committed are doubled.
func TestKafkaKill(t *testing.T) {
	onBrokers(t, func(t *testing.T, w *kafkaWorld) {
		kills, working := few(5, 50), 0
		for i := range kills {
			before := w.stored()
			w.fill(1500)
			p := start(t, w.config())
			if i%3 < 2 { // kill it while it is working
				more := rand.Int64N(6000)
				advance(t, "it works", w.stored, func() bool { return w.stored() > before+more || p.Ended() })
			} else { // kill it at any time
				time.Sleep(rand.N(2 * time.Second))
			}
			if p.Ended() {
				t.Fatal("it has ended by itself")
			}
			p.Kill()
			if w.stored() > before {
				working++
			}
		}
		p := start(t, w.config())
		w.drained()
		stop(t, p)
		r := w.judge()
		t.Logf("%d kills, %d of them at work: %v", kills, working, &r)
		if !r.Right() {
			t.Errorf("%v", r.Examples)
		}
	})
}

// TestKafkaMembers lets three instances share a topic under load, while members
// are killed, added and stopped. No record may be lost, and each instance must
// get a share.
func TestKafkaMembers(t *testing.T) {
	onBrokers(t, func(t *testing.T, w *kafkaWorld) {
		changes := few(6, 60)
		members := churn(t, w.config(), changes, func() { w.fill(1000) }, w.stored, 1000)
		w.renew = func() { members = renewed(t, members, w.config()) }
		shares := w.share(members)
		w.drained()
		for _, p := range members {
			stop(t, p)
		}
		r := w.judge()
		t.Logf("%d changes of 3 to 4 members; the last of them took %v records of %d: %v", changes, shares, w.records*kafkaPartitions, &r)
		if !r.Right() {
			t.Errorf("%v", r.Examples)
		}
	})
}

// renewed kills the members, and returns a new one.
func renewed(t *testing.T, members []*chaos.Process, config string) []*chaos.Process {
	t.Helper()
	for _, p := range members {
		p.Kill()
	}
	return []*chaos.Process{start(t, config)}
}

// share writes until each member has read something, and returns the number of
// records that each has read.
func (w *kafkaWorld) share(members []*chaos.Process) (shares []float64) {
	w.t.Helper()
	until(w.t, "each has something to do", func() bool {
		w.fill(100)
		shares = shares[:0]
		for _, p := range members {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			m, err := p.Scrape(ctx)
			cancel()
			if err != nil {
				w.t.Fatal(err)
			}
			shares = append(shares, m.Sum("urlfold_source_records_total"))
		}
		return !slices.Contains(shares, 0)
	})
	return shares
}
