package nats

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/internal/ground/pause"
	"github.com/urlfold/urlfold/internal/testkit/natstest"
	"github.com/urlfold/urlfold/internal/testkit/proxy"
)

// A load is a number of messages to one subject.
type load struct {
	subject  string
	resolved []atomic.Int32
	good     atomic.Int32
}

func (l *load) Message(i int, m *Msg) {
	m.Subject, m.Data = l.subject, fmt.Append(nil, i)
	m.Header["Nats-Msg-Id"] = []string{fmt.Sprint(i)}
}

func (l *load) Resolved(i int, err error) {
	l.resolved[i].Add(1)
	if err == nil {
		l.good.Add(1)
	}
}

// TestLateAnswers checks that late acknowledgments count if every one takes
// longer than the timeout: each message is resolved once and stored once.
func TestLateAnswers(t *testing.T) {
	t.Parallel()
	srv := natstest.Start(t, nil)
	p := proxy.New(t, srv.Addr())
	cfg := connect.DefaultNATS()
	cfg.Servers = []string{"nats://" + p.Addr()}
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	conn, err := Connect(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.js.CreateStream(ctx, streamConfig("S", "s")); err != nil {
		t.Fatal(err)
	}
	w, err := conn.NewWindow(16, time.Millisecond, Accept{})
	if err != nil {
		t.Fatal(err)
	}
	p.Delay(40 * time.Millisecond) // in both directions; the keeper runs every 10 ms
	const n = 64
	l := &load{subject: "s", resolved: make([]atomic.Int32, n)}
	if err := w.Publish(ctx, l, 0, n); err != nil {
		t.Fatal(err)
	}
	for l.good.Load() < n {
		if pause.For(ctx, 5*time.Millisecond) != nil {
			t.Fatalf("%d of %d messages resolved; %+v", l.good.Load(), n, w.Stats())
		}
	}
	s := w.Stats()
	p.Delay(0)
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	for i := range l.resolved {
		if got := l.resolved[i].Load(); got != 1 {
			t.Errorf("message %d resolved %d times", i, got)
		}
	}
	info, err := conn.js.Stream(ctx, "S")
	if err != nil || info.CachedInfo().State.Msgs != n {
		t.Fatalf("%v, %+v", err, info.CachedInfo().State)
	}
	if s.Timeouts == 0 || s.Again == 0 {
		t.Errorf("no acknowledgment was late, so the test proves nothing: %+v", s)
	}
}

// A closer closes the window while its first message is being published.
type closer struct {
	load
	w      *Window
	closed error
}

func (c *closer) Message(i int, m *Msg) {
	c.load.Message(i, m)
	if i == 0 {
		c.closed = c.w.Close()
	}
}

// TestCloseWhilePublishing checks that messages that have a slot when the
// window is closed are not sent, and that Publish returns an error.
func TestCloseWhilePublishing(t *testing.T) {
	t.Parallel()
	cfg := connect.DefaultNATS()
	cfg.Servers = []string{natstest.Start(t, nil).URL()}
	conn, err := Connect(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	w, err := conn.NewWindow(16, time.Minute, Accept{})
	if err != nil {
		t.Fatal(err)
	}
	c := &closer{load: load{subject: "s", resolved: make([]atomic.Int32, 8)}, w: w}
	if err := w.Publish(t.Context(), c, 0, 8); !errors.Is(err, ErrClosed) || c.closed != nil {
		t.Errorf("Publish: %v, want %v; Close: %v", err, ErrClosed, c.closed)
	}
	if got := w.Stats().Published; got != 1 {
		t.Errorf("%d messages published, want only the first one", got)
	}
}
