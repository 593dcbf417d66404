package objects

import (
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/urlfold/urlfold/config/connect"
	client "github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
	"github.com/urlfold/urlfold/sources/kafka"
)

// kafkaQueue returns a queue that is open, in the topic "q" of a group.
func kafkaQueue(t *testing.T, conn connect.Kafka) *topics {
	t.Helper()
	c := *kafka.Default()
	c.Kafka, c.Topics, c.Group, c.SessionTimeout = conn, []string{"q"}, "g", time.Second
	q, err := newTopics(c, 8, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := q.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return q
}

// received returns n messages of q.
func received(t *testing.T, q *topics, n int) (all []*message) {
	t.Helper()
	kafkatest.Until(t, "messages", func() bool {
		list, err := q.fetch(t.Context(), 10)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, list...)
		return len(all) >= n
	})
	return all
}

// TestKafka: an offset is committed when all messages before it are acknowledged, and the
// others are delivered again. Empty messages are ignored.
func TestKafka(t *testing.T) {
	_, conn := kafkatest.Fake(t, kfake.SeedTopics(1, "q"))
	p, err := newKafkaPublisher(kafka.Config{Kafka: conn, Topics: []string{"q"}}, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.publish(t.Context(), []Reference{{URL: "s3://b/0"}, {URL: "s3://b/1"}, {URL: "s3://b/2"}}); err != nil {
		t.Fatal(err)
	}
	_ = p.close(t.Context()) // it returns no error
	kafkatest.Write(t, kafkatest.Client(t, conn, "q"), "q", 0, "none", client.Record{}, client.Record{Value: []byte("last")})
	acknowledge := func(n int, which ...int) (texts []string) {
		q := kafkaQueue(t, conn)
		for i, m := range received(t, q, n) {
			texts = append(texts, string(m.text))
			answer := q.giveBack
			if slices.Contains(which, i) {
				answer = q.ack
			}
			_ = answer(t.Context(), m) // they return no error
		}
		// close gives up a message whose Submit has not returned, although it is acknowledged.
		kafkatest.Until(t, "the answers", func() bool { return len(which) < n || q.pipeline.Snapshot().InFlight == 0 })
		if err := q.close(t.Context()); err != nil {
			t.Fatal(err)
		}
		return texts
	}
	all := []string{`{"url":"s3://b/0"}`, `{"url":"s3://b/1"}`, `{"url":"s3://b/2"}`, "last"}
	for _, step := range []struct {
		want      []string
		which     []int
		committed int64
	}{{all, []int{0, 2, 3}, 1}, {all[1:], []int{0}, 2}, {all[2:], []int{0, 1}, 5}} {
		if got := acknowledge(len(step.want), step.which...); !slices.Equal(got, step.want) {
			t.Errorf("messages %q, want %q", got, step.want)
		}
		if got := kafkatest.Committed(t, conn, "g", "q", 1)[0]; got != step.committed {
			t.Errorf("after %v, the committed offset is %d, want %d", step.which, got, step.committed)
		}
	}
}

// TestKafkaPublishes: the references reach all partitions, and the only one of several
// topics that is named.
func TestKafkaPublishes(t *testing.T) {
	_, conn := kafkatest.Fake(t, kfake.SeedTopics(3, "q", "other"))
	c := kafka.Config{Kafka: conn, Topics: []string{"other", "q"}}
	for _, topic := range []string{"", "none"} {
		if _, err := newKafkaPublisher(c, topic); err == nil {
			t.Errorf("topic %q: no error", topic)
		}
	}
	p, err := newKafkaPublisher(c, "q")
	if err != nil {
		t.Fatal(err)
	}
	refs := slices.Repeat([]Reference{{URL: "s3://b/k"}}, 7*perBatch)
	if err := p.publish(t.Context(), refs); err != nil {
		t.Fatal(err)
	}
	n := 0
	for i, records := range kafkatest.Read(t, kafkatest.Client(t, conn, "q"), "q", 3) {
		if n += len(records); len(records) < perBatch {
			t.Errorf("partition %d has %d references", i, len(records))
		}
	}
	if n != len(refs) {
		t.Errorf("%d references, want %d", n, len(refs))
	}
}
