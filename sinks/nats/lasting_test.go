package nats

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	server "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	client "github.com/urlfold/urlfold/internal/client/nats"
	"github.com/urlfold/urlfold/internal/testkit"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// await waits until ok returns true.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("timed out waiting for: %s", what)
		}
	}
}

// TestTroubleThatLasts: a stream that is full, missing, or not permitted is
// reported by the log, by Health and by a metric until it accepts the refused
// messages, even if another stream accepts the others in the meantime.
func TestTroubleThatLasts(t *testing.T) {
	t.Parallel()
	f := func(what string, options func(*server.Options), hurt, heal func(*world), want string) {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, options)
			w.stream(jetstream.StreamConfig{Name: "WELL", Subjects: []string{"well.>"}})
			hurt(w)
			var log testkit.Log
			s := w.open(func(c *JetStreamConfig) {
				c.Subject, c.Logger, c.CheckStreams = "{subject}", slog.New(slog.NewTextHandler(&log, nil)), false
				c.Publish.AckTimeout = 100 * time.Millisecond
				if options != nil {
					c.User, c.Password = "some", "s"
				}
			})
			done := make(chan struct{})
			go func() {
				defer close(done)
				bad := batch(laneOf("l"), 1, "a")
				bad.AddHeader(subjectHeader, []byte("out.x"))
				put(t, s, bad)
			}()
			await(t, "the problem in Health", func() bool { return s.Health() != nil && s.Stats().Failing == 1 })
			for i := range 20 {
				good := batch(laneOf("l"), int64(10+i), "c")
				good.AddHeader(subjectHeader, []byte("well.x"))
				put(t, s, good)
			}
			if err := s.Health(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("messages accepted by another stream hide the problem: %v", err)
			}
			log.Wants(t, "level=WARN", "write failed, retrying")
			if heal == nil {
				return
			}
			heal(w)
			<-done
			await(t, "the recovery in Health", func() bool { return s.Health() == nil && s.Stats().Failing == 0 })
			log.Wants(t, "level=INFO", "write recovered", "lasted=")
		})
	}
	f("full", nil, func(w *world) {
		w.change(jetstream.StreamConfig{Name: "OUT", Subjects: []string{"out.>"}, Duplicates: time.Hour, MaxMsgs: 1, Discard: jetstream.DiscardNew})
		if _, err := w.js.Publish(bg(w.t), "out.y", nil); err != nil {
			w.t.Fatal(err)
		}
	}, func(w *world) {
		w.change(jetstream.StreamConfig{Name: "OUT", Subjects: []string{"out.>"}, Duplicates: time.Hour, MaxMsgs: -1})
	}, "maximum messages exceeded")
	f("deleted", nil, func(w *world) {
		if err := w.js.DeleteStream(bg(w.t), "OUT"); err != nil {
			w.t.Fatal(err)
		}
	}, func(w *world) {
		w.stream(jetstream.StreamConfig{Name: "OUT", Subjects: []string{"out.>"}})
	}, `no stream matches the subject "out.x"`)
	f("forbidden", func(o *server.Options) {
		o.Users = []*server.User{
			{Username: "all", Password: "a"},
			{Username: "some", Password: "s", Permissions: &server.Permissions{Publish: &server.SubjectPermission{Deny: []string{"out.>"}}}},
		}
		o.NoAuthUser = "all"
	}, func(*world) {}, nil, `Publish to "out.x"`)
}

// change changes the configuration of a stream.
func (w *world) change(c jetstream.StreamConfig) {
	w.t.Helper()
	if _, err := w.js.UpdateStream(bg(w.t), c); err != nil {
		w.t.Fatal(err)
	}
}

// put submits b and waits only for its answer.
func put(t *testing.T, s engine.Sink, b *engine.Batch) {
	answer := make(chan engine.Result, 1)
	if err := s.Submit(bg(t), b, engine.NewTicket(&b.Out, func(r engine.Result) { answer <- r })); err != nil {
		t.Error(err)
		return
	}
	if r := <-answer; r.Err != nil && !errors.Is(r.Err, client.ErrClosed) {
		t.Error(r.Err)
	}
}
