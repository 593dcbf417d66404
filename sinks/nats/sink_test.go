package nats

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	server "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/urlfold/urlfold/codec"
	client "github.com/urlfold/urlfold/internal/client/nats"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/testkit/natstest"
	"github.com/urlfold/urlfold/internal/testkit/proxy"
	"github.com/urlfold/urlfold/pipeline/engine"
)

const second = time.Second

// patience is the maximum time that a test waits for an event. Because a
// machine may be slow, tests draw no conclusions from durations.
const patience = 180 * second

func bg(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// A world is a server with a stream OUT that captures "out.>".
type world struct {
	t   *testing.T
	srv *natstest.Server
	js  jetstream.JetStream
}

func newWorld(t *testing.T, change func(*server.Options)) *world {
	t.Helper()
	w := &world{t: t, srv: natstest.Start(t, change)}
	nc, err := nats.Connect(w.srv.URL(), nats.MaxReconnects(-1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	if w.js, err = jetstream.New(nc); err != nil {
		t.Fatal(err)
	}
	w.stream(jetstream.StreamConfig{Name: "OUT", Subjects: []string{"out.>"}, Duplicates: time.Hour})
	return w
}

func (w *world) stream(c jetstream.StreamConfig) {
	w.t.Helper()
	if _, err := w.js.CreateStream(bg(w.t), c); err != nil {
		w.t.Fatal(err)
	}
}

// messages returns all messages of a stream, in order.
func (w *world) messages(stream string) []*jetstream.RawStreamMsg {
	w.t.Helper()
	ctx := bg(w.t)
	s, err := w.js.Stream(ctx, stream)
	if err != nil {
		w.t.Fatal(err)
	}
	var all []*jetstream.RawStreamMsg
	for seq := uint64(1); seq <= s.CachedInfo().State.LastSeq; seq++ {
		m, err := s.GetMsg(ctx, seq)
		if err != nil {
			w.t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

func (w *world) config(change func(*JetStreamConfig)) JetStreamConfig {
	c := DefaultJetStream()
	c.Headers.Headers = []string{"input", "flags", "source"}
	c.Servers, c.Subject = []string{w.srv.URL()}, "out.x"
	c.ReconnectWait, c.Publish.AckTimeout = 10*time.Millisecond, second
	if change != nil {
		change(&c)
	}
	return c
}

// makeJetStream is NewJetStream with a concrete result type.
func makeJetStream(cfg JetStreamConfig) (*jetStream, error) {
	s, err := NewJetStream(cfg)
	if err != nil {
		return nil, err
	}
	return s.(*jetStream), nil
}

// open returns a sink that is open until the test ends.
func (w *world) open(change func(*JetStreamConfig)) *jetStream {
	w.t.Helper()
	s, err := makeJetStream(w.config(change))
	if err != nil {
		w.t.Fatal(err)
	}
	if err := s.Open(bg(w.t)); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

// laneOf returns a lane with the given identity.
func laneOf(id string) *engine.Lane {
	l := new(engine.Lane)
	l.SetID(id)
	return l
}

// batch returns a batch with one message, and one record, per value. The first
// message has the sequence number from.
func batch(lane *engine.Lane, from int64, values ...string) *engine.Batch {
	b := &engine.Batch{Lane: lane}
	for i, v := range values {
		b.AddMessage(from+int64(i), 0, nil, []byte(v))
		add(&b.Out, uint32(b.Msgs[i].Value.Off), uint32(i), v+"\n")
	}
	return b
}

func add(s *engine.Stream, src, msg uint32, text string) {
	s.Recs = append(s.Recs, engine.OutRec{
		Span: engine.Span{Off: uint32(len(s.Bytes)), Len: uint32(len(text))}, Src: src, Msg: msg,
	})
	s.Bytes = append(s.Bytes, text...)
}

// submit submits a stream of b and waits for the answer. It then overwrites all
// of the batch, as its reuse would.
func submit(t *testing.T, s engine.Sink, b *engine.Batch, out *engine.Stream) engine.Result {
	t.Helper()
	answers := make(chan engine.Result, 2)
	err := s.Submit(bg(t), b, engine.NewTicket(out, func(r engine.Result) {
		scribble(b)
		answers <- r
	}))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Barrier(bg(t)); err != nil {
		t.Fatal(err)
	}
	if len(answers) != 1 {
		t.Fatalf("%d answers after Barrier", len(answers))
	}
	return <-answers
}

func scribble(b *engine.Batch) {
	for _, arena := range [][]byte{b.In, b.Side, b.Out.Bytes, b.Dead.Bytes} {
		for i := range arena {
			arena[i] = '#'
		}
	}
}

// TestScribble: regardless of connection losses, no byte of a batch is read
// after its answer, and every submitted message is stored exactly once.
func TestScribble(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	p := proxy.New(t, w.srv.Addr())
	s := w.open(func(c *JetStreamConfig) {
		c.Servers, c.Publish.MaxPending = []string{"nats://" + p.Addr()}, 300
		c.Publish.AckTimeout = 50 * time.Millisecond
	})
	const workers, batches, records = 4, 10, 100
	p.Delay(20 * time.Millisecond) // so that even a fast machine is not done before the first cut
	var cutter, wg sync.WaitGroup
	stop := make(chan struct{})
	cutter.Go(func() {
		for i := range 15 { // limited, because a slow machine must make progress between two cuts
			select {
			case <-stop:
				return
			case <-time.After(80 * time.Millisecond):
				p.Cut()
				p.Delay(time.Duration(i%3) * time.Millisecond)
			}
		}
	})
	var answered atomic.Int64
	for k := range workers {
		wg.Go(func() {
			lane := laneOf(fmt.Sprint("lane ", k))
			for i := range batches {
				var values []string
				for j := range records {
					values = append(values, fmt.Sprintf("record %d.%d.%d %s", k, i, j, strings.Repeat("x", j)))
				}
				b := batch(lane, int64(i*records), values...)
				err := s.Submit(bg(t), b, engine.NewTicket(&b.Out, func(r engine.Result) {
					scribble(b)
					if r.Err == nil {
						answered.Add(1)
					}
				}))
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	cutter.Wait()
	if err := s.Barrier(bg(t)); err != nil {
		t.Fatal(err)
	}
	if answered.Load() != workers*batches {
		t.Errorf("%d good answers to %d batches", answered.Load(), workers*batches)
	}
	seen := map[string]int{}
	for _, m := range w.messages("OUT") {
		if bytes.IndexByte(m.Data, '#') >= 0 {
			t.Fatalf("a message that was not submitted: %q", m.Data)
		}
		seen[string(m.Data)]++
	}
	for text, n := range seen {
		if n != 1 {
			t.Errorf("%q is stored %d times", text, n)
		}
	}
	if len(seen) != workers*batches*records || p.Cuts() == 0 || s.Stats().Again == 0 {
		t.Errorf("%d messages, %d cuts, %+v", len(seen), p.Cuts(), s.Stats())
	}
	t.Logf("%d cuts, %+v", p.Cuts(), s.Stats())
	m := metricsOf(t, s)
	if m["sink_retries_total|class|network"] == 0 || m["sink_reconnects_total"] == 0 ||
		m["sink_messages_total"] != workers*batches*records || m["sink_pending_messages"] != 0 || m["sink_pending_messages_limit"] != 300 {
		t.Errorf("%v", m)
	}
}

// TestIDs: exactly the messages that are submitted again are dropped.
func TestIDs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	s := w.open(nil)
	lane := laneOf("lane")
	twoOfOne := func() *engine.Batch { // two records in the first message, three outputs
		b := &engine.Batch{Lane: lane}
		b.AddMessage(7, 0, nil, []byte("aabb"))
		b.AddMessage(8, 0, nil, []byte("cc"))
		add(&b.Out, 0, 0, "a1")
		add(&b.Out, 0, 0, "a2")
		add(&b.Out, 2, 0, "b")
		add(&b.Out, 4, 1, "c")
		add(&b.Dead, 2, 0, "b's dead letter")
		return b
	}
	for range 2 {
		b := twoOfOne()
		if r := submit(t, s, b, &b.Out); r.Err != nil {
			t.Fatal(r)
		}
		b = twoOfOne()
		if r := submit(t, s, b, &b.Dead); r.Err != nil {
			t.Fatal(r)
		}
	}
	// The same records in another batch, after other records were rejected.
	b := &engine.Batch{Lane: lane}
	b.AddMessage(6, 0, nil, []byte("zz"))
	b.AddMessage(7, 0, nil, []byte("aabb"))
	add(&b.Out, 4, 1, "b")
	if r := submit(t, s, b, &b.Out); r.Err != nil {
		t.Fatal(r)
	}
	b = batch(laneOf("another lane"), 8, "c of another lane")
	if r := submit(t, s, b, &b.Out); r.Err != nil {
		t.Fatal(r)
	}
	var got []string
	for _, m := range w.messages("OUT") {
		got = append(got, string(m.Data))
	}
	if want := "a1 a2 b c b's dead letter c of another lane"; strings.Join(got, " ") != want || s.Stats().Duplicates != 6 {
		t.Errorf("%q, %+v", got, s.Stats())
	}
}

// TestBatchIDs: with msg_id: batch, a message has the same id when its records
// are read again, and another id if it contains other records, even if it
// starts at the same position.
func TestBatchIDs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	s := w.open(func(c *JetStreamConfig) { c.MsgID, c.Framing = "batch", "lines" })
	part := func(lane *engine.Lane, off int64, n int) *engine.Batch {
		b := &engine.Batch{Lane: lane, Off: off}
		for i := range n {
			add(&b.Out, uint32(2*i), 0, fmt.Sprintf("%d\n", off+int64(2*i)))
		}
		return b
	}
	lane := laneOf("lane")
	for _, c := range []struct {
		b    *engine.Batch
		dups int64
	}{
		{part(lane, 0, 3), 0}, {part(lane, 6, 3), 0},
		{part(lane, 0, 3), 1}, {part(lane, 6, 3), 2}, // again
		{part(lane, 0, 6), 2}, {part(lane, 0, 2), 2}, {part(lane, 2, 2), 2}, // divided differently
		{part(laneOf("other"), 0, 3), 2},
	} {
		if r := submit(t, s, c.b, &c.b.Out); r.Err != nil {
			t.Fatal(r)
		}
		if got := s.Stats().Duplicates; got != c.dups {
			t.Errorf("%d duplicates, want %d", got, c.dups)
		}
	}
	if got := w.messages("OUT"); len(got) != 6 || string(got[0].Data) != "0\n2\n4\n" {
		t.Errorf("%d messages, the first is %q", len(got), got[0].Data)
	}
}

// TestKeys: with msg_id: key, each page is stored once. Records without a URL
// are all stored.
func TestKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	s := w.open(func(c *JetStreamConfig) { c.MsgID, c.Subject = "key", "out.{key%4}.{host_key%2}" })
	if !s.NeedsFacts() {
		t.Error("NeedsFacts is false")
	}
	b := batch(laneOf("lane"), 1, "a", "a again", "b", "no url", "no url either")
	b.Out.Facts = []record.Fact{
		{Key: codec.KeyFromUint64s(1, 5), Host: 3, Flags: codec.Flags{}.With(codec.FlagNonHex)},
		{Key: codec.KeyFromUint64s(1, 5), Host: 3}, {Key: codec.KeyFromUint64s(1, 6), Host: 4}, {}, {},
	}
	if r := submit(t, s, b, &b.Out); r.Err != nil {
		t.Fatal(r)
	}
	var got []string
	for _, m := range w.messages("OUT") {
		got = append(got, m.Subject+" "+string(m.Data)+" "+m.Header.Get("urlfold-flags"))
	}
	want := "out.1.1 a " + codec.FlagNonHex.String() + "|out.2.0 b |out.0.0 no url |out.0.0 no url either "
	if strings.Join(got, "|") != want {
		t.Errorf("%q", got)
	}
}

// TestSubjects: with msg_id: subject, the stream stores each page once, also when another
// process publishes it again, and all records without a URL.
func TestSubjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.stream(jetstream.StreamConfig{
		Name: "PAGES", Subjects: []string{"pages.>"}, MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true,
	})
	b := batch(laneOf("lane"), 1, "a", "a again", "b", "no url", "no url either")
	b.Out.Facts = []record.Fact{{Key: codec.KeyFromUint64s(1, 5)}, {Key: codec.KeyFromUint64s(1, 5)}, {Key: codec.KeyFromUint64s(1, 6)}, {}, {}}
	for life, duplicates := range []int64{1, 5} {
		s := w.open(func(c *JetStreamConfig) { c.MsgID, c.Subject = "subject", "pages.{key}" })
		if r := submit(t, s, b, &b.Out); r.Err != nil || s.Health() != nil {
			t.Fatal(r, s.Health())
		}
		if got := s.Stats(); got.Duplicates != duplicates || got.Again != 0 {
			t.Errorf("life %d: %+v, want %d duplicates", life+1, got, duplicates)
		}
	}
	var got []string
	for _, m := range w.messages("PAGES") {
		got = append(got, string(m.Data))
	}
	if strings.Join(got, "|") != "a|b|no url|no url either" {
		t.Errorf("%q", got)
	}
}

// TestSubjectStreams: msg_id: subject refuses streams that would store a page twice, keep
// only its last message, or forget it.
func TestSubjectStreams(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	first := jetstream.StreamConfig{Name: "PAGES", Subjects: []string{"pages.>"}, MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true}
	for _, c := range []struct {
		name string
		edit func(c *jetstream.StreamConfig)
		want string
	}{
		{"all", func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject, c.DiscardNewPerSubject = -1, false }, "--max-msgs-per-subject=1"},
		{"last", func(c *jetstream.StreamConfig) { c.Discard, c.DiscardNewPerSubject = jetstream.DiscardOld, false }, "--discard=new"},
		{"queue", func(c *jetstream.StreamConfig) { c.Retention = jetstream.WorkQueuePolicy }, "retention: limits"},
		{"part", func(c *jetstream.StreamConfig) { c.Subjects = []string{"pages.0", "pages.1"} }, "does not match all subjects"},
	} {
		cfg := first
		c.edit(&cfg)
		w.stream(cfg)
		s, err := NewJetStream(w.config(func(c *JetStreamConfig) { c.MsgID, c.Subject = "subject", "pages.{key}" }))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Open(bg(t)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if err := errors.Join(s.Close(bg(t)), w.js.DeleteStream(bg(t), "PAGES")); err != nil {
			t.Error(err)
		}
	}
}

// TestRefused: a message that is too large for the server or the stream is
// permanently refused; the other messages of its batch are stored.
func TestRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *server.Options) { o.MaxPayload = 4096 })
	w.stream(jetstream.StreamConfig{Name: "SMALL", Subjects: []string{"small"}, MaxMsgSize: 1000})
	for _, subject := range []string{"out.x", "small"} {
		s := w.open(func(c *JetStreamConfig) { c.Subject = subject })
		b := batch(laneOf("lane"), 1, "a", strings.Repeat("long", 2000), "b")
		r := submit(t, s, b, &b.Out)
		if r.Class != engine.Permanent || r.Err == nil || len(r.Failed) != 1 || r.Failed[0] != 1 || strings.Contains(r.Err.Error(), "long") {
			t.Errorf("%s: %+v", subject, r)
		}
	}
	if a, b := w.messages("OUT"), w.messages("SMALL"); len(a) != 2 || len(b) != 2 {
		t.Errorf("%d and %d messages", len(a), len(b))
	}
}

// TestNoStream: while no stream captures the subject, nothing is answered and
// Health names the subject. Afterwards the sink continues.
func TestNoStream(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	s := w.open(func(c *JetStreamConfig) { c.Subject, c.CheckStreams = "later.x", false })
	b := batch(laneOf("lane"), 1, "a", "b")
	var answers atomic.Int64
	err := s.Submit(bg(t), b, engine.NewTicket(&b.Out, func(r engine.Result) {
		if r.Err == nil {
			answers.Add(1)
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); s.Health() == nil || !strings.Contains(s.Health().Error(), `"later.x"`); {
		if time.Now().After(end) {
			t.Fatalf("Health: %v", s.Health())
		}
		time.Sleep(time.Millisecond)
	}
	if answers.Load() != 0 {
		t.Error("answered, although nothing is stored")
	}
	if m := metricsOf(t, s); m["sink_retries_total|class|blocked"] == 0 || m["sink_pending_messages"] != 2 {
		t.Errorf("%v", m)
	}
	w.stream(jetstream.StreamConfig{Name: "LATER", Subjects: []string{"later.>"}})
	if err := s.Barrier(bg(t)); err != nil {
		t.Fatal(err)
	}
	if answers.Load() != 1 || len(w.messages("LATER")) != 2 || s.Health() != nil {
		t.Errorf("%d answers, %v", answers.Load(), s.Health())
	}
}

// TestOrdered: with publish.ordered, no message overtakes another one of its
// subject, even if any acknowledgment may be lost with the connection.
func TestOrdered(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	p := proxy.New(t, w.srv.Addr())
	s := w.open(func(c *JetStreamConfig) {
		c.Servers, c.Publish.Ordered, c.Subject = []string{"nats://" + p.Addr()}, true, "out.{key%4}"
	})
	if !s.Caps().Ordered {
		t.Error("Caps does not report Ordered")
	}
	lane := laneOf("lane")
	const batches, records = 10, 40
	for i := range batches {
		var values []string
		for j := range records {
			values = append(values, fmt.Sprintf("%06d", i*records+j))
		}
		b := batch(lane, int64(i*records), values...)
		for j := range values {
			b.Out.Facts = append(b.Out.Facts, record.Fact{Key: codec.KeyFromUint64s(0, uint64(j))})
		}
		go p.Cut()
		if r := submit(t, s, b, &b.Out); r.Err != nil {
			t.Fatal(r)
		}
	}
	last := map[string]string{}
	all := w.messages("OUT")
	for _, m := range all {
		if string(m.Data) <= last[m.Subject] && last[m.Subject] != "" {
			t.Errorf("%s after %s in %s", m.Data, last[m.Subject], m.Subject)
		}
		last[m.Subject] = string(m.Data)
	}
	if len(all) != batches*records || len(last) != 4 {
		t.Errorf("%d messages in %d subjects", len(all), len(last))
	}
}

// TestLines: a batch is one message, or several if it exceeds the server's
// limit.
func TestLines(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *server.Options) { o.MaxPayload = 2048 })
	s := w.open(func(c *JetStreamConfig) { c.Framing, c.MsgID = "lines", "none" })
	var values []string
	for i := range 100 {
		values = append(values, fmt.Sprintf("a line of some length, number %d", i))
	}
	values[50] = strings.Repeat("too long for the server ", 100)
	b := batch(laneOf("lane"), 1, values...)
	r := submit(t, s, b, &b.Out)
	if r.Class != engine.Permanent || len(r.Failed) != 1 || r.Failed[0] != 50 {
		t.Errorf("%+v", r)
	}
	var got []byte
	all := w.messages("OUT")
	for _, m := range all {
		got = append(got, m.Data...)
	}
	want := strings.Join(append(values[:50:50], values[51:]...), "\n") + "\n"
	if n := len(all); string(got) != want || n < 3 || n > 6 {
		t.Errorf("%d messages, %d bytes of %d", n, len(got), len(want))
	}
}

// TestClose: Close answers open tickets, and a Submit that waits for the window
// returns when its context is done.
func TestClose(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	s := w.open(func(c *JetStreamConfig) { c.Subject, c.CheckStreams, c.Publish.MaxPending = "nobody", false, 3 })
	var got []engine.Result
	first := batch(laneOf("lane"), 1, "a", "b")
	if err := s.Submit(bg(t), first, engine.NewTicket(&first.Out, func(r engine.Result) { got = append(got, r) })); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	next := batch(laneOf("lane"), 3, "c", "d", "e")
	err := s.Submit(ctx, next, engine.NewTicket(&next.Out, func(r engine.Result) { t.Errorf("answered: %+v", r) }))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Submit: %v", err)
	}
	if err := s.Barrier(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Barrier: %v", err)
	}
	if err := s.Close(ctx); err != nil {
		t.Errorf("Close: %v", err)
	}
	if len(got) != 1 || got[0].Class != engine.Retryable || !errors.Is(got[0].Err, client.ErrClosed) {
		t.Errorf("%+v", got)
	}
	if s.Health() == nil {
		t.Error("Health returns nil after Close")
	}
}

// TestBarrierWaits: Barrier returns only after all calls of Done have returned.
func TestBarrierWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	s := w.open(func(c *JetStreamConfig) { c.Subject = "out.x" })
	b := batch(laneOf("lane"), 1, "a")
	answering, goOn, brought := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	answer := func(engine.Result) { close(answering); <-goOn }
	go func() { _ = s.Submit(bg(t), b, engine.NewTicket(&b.Out, answer)) }()
	<-answering
	go func() { brought <- s.Barrier(bg(t)) }()
	select {
	case err := <-brought:
		t.Errorf("Barrier returns (%v) while a batch is being answered", err)
		close(goOn)
		return
	case <-time.After(20 * time.Millisecond): // most likely, Barrier is waiting now
	}
	close(goOn)
	if err := <-brought; err != nil {
		t.Error(err)
	}
}

// TestCheckConnect: problems with streams are reported before the first record.
func TestCheckConnect(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.stream(jetstream.StreamConfig{Name: "SHARDS", Subjects: []string{"shard.0", "shard.1"}, Duplicates: second, Storage: jetstream.MemoryStorage})
	w.stream(jetstream.StreamConfig{Name: "SILENT", Subjects: []string{"silent"}, NoAck: true})
	w.stream(jetstream.StreamConfig{Name: "FEW", Subjects: []string{"few"}, MaxMsgsPerSubject: 1})
	w.stream(jetstream.StreamConfig{Name: "SEALED", Subjects: []string{"sealed"}})
	if _, err := w.js.UpdateStream(bg(t), jetstream.StreamConfig{Name: "SEALED", Subjects: []string{"sealed"}, Sealed: true}); err != nil {
		t.Fatal(err)
	}
	f := func(subject, expect, want string, warnings int) {
		t.Helper()
		s, err := makeJetStream(w.config(func(c *JetStreamConfig) { c.Subject, c.ExpectStream = subject, expect }))
		if err != nil {
			t.Fatal(err)
		}
		err = s.CheckConnect(bg(t))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", subject, err, want)
		}
		if len(s.Warnings()) != warnings {
			t.Errorf("%s: %q", subject, s.Warnings())
		}
	}
	f("out.x", "", "", 1) // stored in files
	f("out.{host_key%64}", "OUT", "", 1)
	f("out.{host_key%64}", "SHARDS", `belongs to stream "OUT", but expect_stream is "SHARDS"`, 0)
	f("out.{host_key%64}", "NONE", `stream not found: "NONE"`, 0)
	f("shard.{key%2}", "", "", 1)
	f("shard.{key%3}", "", `no stream matches the subject "shard.2"`, 1)
	f("nobody.{key}", "", `no stream matches the subject "nobody.*"`, 0)
	f("{subject}", "", "", 0)
	f("silent", "", `stream "SILENT" does not acknowledge`, 0)
	f("sealed", "", `stream "SEALED" is sealed`, 0)
	f("few", "", "", 2)
}
