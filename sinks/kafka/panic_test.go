package kafka

import (
	"context"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
	"github.com/urlfold/urlfold/pipeline/engine"
)

type panics struct{ kafka.Client }

func (panics) Produce(context.Context, string, int, []byte) (int64, error) {
	return -1, []error{}[len("x")]
}

// TestPanic: a panic of a writer is a fatal error with its stack.
func TestPanic(t *testing.T) {
	_, conn := kafkatest.Fake(t, kfake.SeedTopics(1, "out"))
	s := newSink(t, conn, nil)
	if err := s.Open(kafkatest.Context(t)); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close(kafkatest.Context(t)) }() // the records were not written
	s.client = panics{s.client}
	r := submit(t, s, "http://h/1", "http://h/2")
	if r.Class != engine.Fatal || !strings.Contains(r.Err.Error(), "kafka sink: BUG: panic: ") || !strings.Contains(r.Err.Error(), "Produce") {
		t.Errorf("%v, class %v", r.Err, r.Class)
	}
}
