package kafka

import (
	"context"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// TestStopUnreachable: while no broker can be reached, the end of the context
// ends Open of the sink and the source, although RequestTimeout is an hour.
func TestStopUnreachable(t *testing.T) {
	conn := kafkatest.Connection("127.0.0.1:1") // nothing listens there
	conn.RequestTimeout = time.Hour
	f := func(name string, open func(context.Context) error, end func(context.Context) error) {
		t.Helper()
		ctx, cancel := context.WithCancel(kafkatest.Context(t))
		opened := make(chan error, 1)
		go func() { opened <- open(ctx) }()
		select {
		case err := <-opened:
			t.Errorf("%s: Open did not wait for the broker: %v", name, err)
			cancel()
			return
		case <-time.After(300 * time.Millisecond):
		}
		cancel()
		select {
		case err := <-opened:
			if err == nil {
				t.Errorf("%s: no error", name)
			}
		case <-kafkatest.Context(t).Done():
			t.Errorf("%s: Open has not ended", name)
		}
		if err := end(kafkatest.Context(t)); err != nil {
			t.Errorf("%s: Close: %v", name, err)
		}
	}
	sink, source := newSink(t, conn, nil), newSource(t, conn)
	f("sink", sink.Open, sink.Close)
	f("source", func(ctx context.Context) error { return source.Open(ctx, nil) }, source.Close)
}

// TestStopPipeline: a soft stop ends a run that waits for an unreachable
// broker, without an error.
func TestStopPipeline(t *testing.T) {
	conn := kafkatest.Connection("127.0.0.1:1")
	conn.RequestTimeout = time.Hour
	run := kafkatest.Start(t, engine.Options{
		Sources: []engine.Source{newSource(t, conn)}, Sinks: []engine.Sink{newSink(t, conn, nil)}, ShutdownTimeout: time.Hour,
	})
	kafkatest.Until(t, "the run opens its sink", func() bool { return run.P.Snapshot().State == engine.Opening })
	if err := run.Stop(); err != nil {
		t.Error(err)
	}
}
