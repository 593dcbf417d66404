package nats_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/testkit/proxy"
	"github.com/urlfold/urlfold/pipeline/engine"
	sink "github.com/urlfold/urlfold/sinks/nats"
	source "github.com/urlfold/urlfold/sources/nats"
)

func (w *world) core(change func(*source.CoreConfig)) *source.Core {
	w.t.Helper()
	cfg := source.DefaultCore()
	cfg.Servers = []string{w.srv.URL()}
	cfg.Subjects = []string{"live.>"}
	cfg.Batch.Linger = 5 * time.Millisecond
	if change != nil {
		change(&cfg)
	}
	s, err := source.NewCore(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	return s.(*source.Core)
}

// publish publishes n URLs to core NATS, numbered from from on.
func (w *world) publish(from, n int) {
	w.t.Helper()
	for i := from; i < from+n; i++ {
		if err := w.nc.Publish("live.x", []byte(url(i))); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := w.nc.Flush(); err != nil {
		w.t.Fatal(err)
	}
}

// TestCoreOpenLost checks that a source subscribes with the next connection if it loses the
// first one before the server has its subscription.
func TestCoreOpenLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	between := proxy.New(t, w.srv.Addr())
	var lost atomic.Bool
	between.Filter(func(to io.Writer, from io.Reader) error {
		for lines := bufio.NewReader(from); ; {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return err
			}
			if bytes.HasPrefix(line, []byte("SUB ")) && lost.CompareAndSwap(false, true) {
				return io.ErrUnexpectedEOF
			}
			if _, err := to.Write(line); err != nil {
				return err
			}
		}
	}, nil)
	src := w.core(func(c *source.CoreConfig) { c.Servers = []string{"nats://" + between.Addr()} })
	out := &tally{seen: map[string]int{}}
	r := start(t, src, out, nil)
	until(t, "the subscription", func() bool { return w.listeners("live.x") == 1 })
	w.publish(0, 10)
	r.end()
	if !lost.Load() || len(out.seen) != 10 {
		t.Errorf("a connection was lost: %t; %d of 10 messages", lost.Load(), len(out.seen))
	}
}

// TestCoreRoundtrip checks that two members of a queue group share the
// published messages, and that a third subscriber gets what their sinks
// publish. Messages that have arrived when the members are stopped are not
// lost.
func TestCoreRoundtrip(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n = 4000
	var got []*nats.Msg
	done := make(chan struct{})
	sub, err := w.nc.Subscribe("seen.>", func(m *nats.Msg) {
		if got = append(got, m); len(got) == n {
			close(done)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	var runs []*run
	var sources []*source.Core
	for range 2 {
		cfg := sink.DefaultCore()
		cfg.Headers.Headers = []string{"input", "source"}
		cfg.Servers, cfg.Subject = []string{w.srv.URL()}, "seen.{subject}"
		out, err := sink.NewCore(cfg)
		if err != nil {
			t.Fatal(err)
		}
		src := w.core(func(c *source.CoreConfig) { c.Queue = "q" })
		sources = append(sources, src)
		runs = append(runs, start(t, src, out, nil))
	}
	for _, src := range sources {
		until(t, "both sources to connect", func() bool { return src.Health() == nil })
	}
	until(t, "both subscriptions", func() bool { return w.listeners("live.x") == 2 })
	w.publish(0, n)
	for _, r := range runs {
		r.end()
	}
	select {
	case <-done:
	case <-time.After(patience):
	}
	if err := sub.Drain(); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, m := range got {
		seen[string(m.Data)]++
		if m.Subject != "seen.live.x" || m.Header.Get("Nats-Subject") != "" || m.Header.Get("Nats-Msg-Id") != "" {
			t.Fatalf("subject %s, headers %v", m.Subject, m.Header)
		}
	}
	a, b := sources[0].Stats(), sources[1].Stats()
	if len(seen) != n || len(got) != n || a.Received == 0 || b.Received == 0 || a.Dropped+b.Dropped > 0 {
		t.Errorf("%d messages, %d distinct; %+v, %+v", len(got), len(seen), a, b)
	}
}

// listeners returns the number of subscriptions of other connections that match
// a subject.
func (w *world) listeners(subject string) int { return w.srv.Listeners(subject) }

// TestCoreFlood checks that the messages dropped at the pending limits are
// exactly the missing ones.
func TestCoreFlood(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*source.CoreConfig){
		"messages": func(c *source.CoreConfig) { c.Pending.Messages = 100 },
		"bytes":    func(c *source.CoreConfig) { c.Pending.Bytes = 8 * field.KiB },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			src := w.core(func(c *source.CoreConfig) { change(c); c.Batch.Messages = 10 })
			seen := &tally{seen: map[string]int{}}
			r := start(t, src, slow{seen, 5 * time.Millisecond}, func(o *engine.Options) { o.Batches = 4 })
			until(t, "the subscription", func() bool { return w.listeners("live.x") == 1 })
			n := few(20000, 2000000)
			w.publish(0, n)
			until(t, "all messages to arrive or be dropped", func() bool {
				s := src.Stats()
				return s.Received+s.Dropped == int64(n)
			})
			r.end()
			s := src.Stats()
			if missing := n - len(seen.seen); int64(missing) != s.Dropped || s.Dropped == 0 || s.Received+s.Dropped != int64(n) {
				t.Errorf("%d messages are missing; %+v", missing, s)
			}
			if m := metricsOf(t, src); m["source_dropped_total|reason|slow-consumer"] != float64(s.Dropped) || m["source_messages_total"] != float64(s.Received) {
				t.Errorf("%v; %+v", m, s)
			}
			t.Logf("%d messages, %d dropped and counted, 0 others lost", n, s.Dropped)
		})
	}
}

// A tally is a sink that counts records. It is used by one worker at a time.
type tally struct {
	mu   chan struct{}
	seen map[string]int
}

func (s *tally) Open(context.Context) error {
	s.mu = make(chan struct{}, 1)
	return nil
}

func (s *tally) Submit(_ context.Context, _ *engine.Batch, t engine.Ticket) error {
	s.mu <- struct{}{}
	defer func() { <-s.mu }()
	out := t.Stream()
	for _, r := range out.Recs {
		s.seen[string(out.Bytes[r.Off:r.Off+r.Len])]++
	}
	t.Done(engine.Result{})
	return nil
}

func (s *tally) Barrier(context.Context) error { return nil }
func (s *tally) Close(context.Context) error   { return nil }
func (s *tally) Caps() engine.SinkCaps         { return engine.SinkCaps{} }
