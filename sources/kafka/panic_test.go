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

// A brittle source has a client that panics.
type brittle struct {
	*source
	client func(kafka.Client) kafka.Client
}

func (b brittle) Open(ctx context.Context, rt engine.Runtime) error {
	err := b.source.Open(ctx, rt)
	if err == nil {
		b.source.client = b.client(b.source.client)
	}
	return err
}

type panicsInFetch struct{ kafka.Client }

func (panicsInFetch) Fetch(context.Context, *kafka.FetchRequest, *kafka.Fetched) error {
	return []error{}[len("x")]
}

type panicsInLog struct{ kafka.Client }

func (panicsInLog) LogState(context.Context, string, int) (kafka.Log, error) { panic("a secret") }

// TestPanic: a panic in a goroutine of the source ends the run with an error that has
// its stack, and nothing of a record.
func TestPanic(t *testing.T) {
	_, conn := kafkatest.Fake(t, kfake.SeedTopics(1, "in"))
	for name, client := range map[string]func(kafka.Client) kafka.Client{
		"panicsInFetch": func(c kafka.Client) kafka.Client { return panicsInFetch{c} },
		"panicsInLog":   func(c kafka.Client) kafka.Client { return panicsInLog{c} },
	} {
		s := brittle{newSource(t, quick(conn, "in")), client}
		run := kafkatest.Start(t, engine.Options{Sources: []engine.Source{s}, Sinks: []engine.Sink{&kafkatest.Collector{T: t}}})
		err := run.Wait()
		if err == nil || !strings.Contains(err.Error(), "kafka source: BUG: panic: ") || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
