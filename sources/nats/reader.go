package nats

import (
	"context"
	"errors"
	"slices"
	"time"

	client "github.com/urlfold/urlfold/internal/client/nats"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// subjectHeader is the header that carries the subject of a message through the
// pipeline, for sinks that derive subjects from it.
const subjectHeader = "Nats-Subject"

// An adder adds messages to batches. It holds scratch memory.
type adder struct {
	value []byte
	names []string
}

// message adds m, with its position and its time in Unix nanoseconds, to b.
func (a *adder) message(b *engine.Batch, pos, at int64, m *client.Msg) {
	data := m.Data
	if data == nil {
		data = []byte{} // nil is a tombstone, which NATS does not have
	}
	b.AddMessage(pos, at, nil, data)
	a.value = append(a.value[:0], m.Subject...)
	b.AddHeader(subjectHeader, a.value)
	if len(m.Header) == 0 {
		return
	}
	// Sort the names: the map that holds the headers is in random order.
	a.names = a.names[:0]
	for name := range m.Header {
		if name != subjectHeader {
			a.names = append(a.names, name)
		}
	}
	slices.Sort(a.names)
	for _, name := range a.names {
		for _, v := range m.Header[name] {
			a.value = append(a.value[:0], v...)
			b.AddHeader(name, a.value)
		}
	}
}

// A reader makes batches from messages. It is used by one goroutine.
//
//	server ──▶ pull.C ──▶ held ──▶ batch ──▶ Emit
//
// Messages go through held while the reader waits for a free batch: it must
// have them to report them as in progress. They also wait there while the gate
// is shut.
type reader struct {
	s    *jetStream
	of   *epoch
	lane *engine.Lane
	pull *client.Pull

	b      *engine.Batch // nil: none started
	x      *receipt      // the receipt of b
	limit  int           // capacity of b in bytes
	end    int64         // sequence of the last message of b
	linger *time.Timer
	ticks  *time.Ticker

	opens   uint64    // openings of the gate that were handled
	born    time.Time // creation time of the consumer when last checked
	count   uint64    // consumer sequence of the last delivery
	last    delivery  // the delivery that follow compares with
	trusted string    // reply subject of a suspicious message that was held until the guard had checked

	held  []heldMsg
	since time.Time // lower bound of the arrival times in pull.C
	adder adder
}

type heldMsg struct {
	*client.Msg
	since, touched time.Time
}

// run reads until ctx is done, or until everything is read if the run ends
// then.
func (r *reader) run(ctx context.Context) error {
	defer r.ticks.Stop()
	defer r.linger.Stop()
	if shut, _ := r.s.gate.state(); !shut {
		r.pull.Tick(time.Now())
	}
	var err error
	for err == nil && ctx.Err() == nil {
		var m heldMsg
		if m, err = r.next(ctx); m.Msg != nil {
			err = r.take(ctx, m)
		}
	}
	if errors.Is(err, errEnd) || ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = nil
	}
	return errors.Join(err, r.stop())
}

// errEnd ends a run that ends with its input.
var errEnd = errors.New("all messages have been acknowledged")

// atEnd reports whether the run ends with its input and the consumer has
// nothing left to deliver: every message in the stream is acknowledged, by this
// instance or another. Messages that wait for redelivery count as left.
func (s *jetStream) atEnd(ctx context.Context) bool {
	if !s.cfg.UntilEOF {
		return false
	}
	i, err := s.Conn().ConsumerState(ctx, s.cfg.Stream, s.cfg.Durable)
	return err == nil && i.Pending == 0 && i.AckPending == 0
}

// next returns the next message, or none if it has done other work.
func (r *reader) next(ctx context.Context) (heldMsg, error) {
	if r.shut() {
		return heldMsg{}, r.wait(ctx)
	}
	if len(r.held) > 0 {
		m := r.held[0]
		r.held[0] = heldMsg{}
		if r.held = r.held[1:]; len(r.held) == 0 {
			r.held = nil
		}
		return m, nil
	}
	var m *client.Msg
	select {
	case m = <-r.pull.C:
	default:
		r.since = time.Now()
		select {
		case m = <-r.pull.C:
		case now := <-r.ticks.C:
			r.pull.Tick(now)
			if r.s.atEnd(ctx) {
				return heldMsg{}, errEnd
			}
			return heldMsg{}, nil
		case <-r.linger.C:
			return heldMsg{}, r.emit(ctx)
		case <-ctx.Done():
			return heldMsg{}, nil
		}
	}
	if !r.pull.Handle(m) {
		r.pull.Tick(time.Now())
		return heldMsg{}, nil
	}
	return heldMsg{m, r.since, r.since}, nil
}

// take adds m to a batch, or removes m as poison, or keeps m if it can do
// neither now.
func (r *reader) take(ctx context.Context, m heldMsg) error {
	meta, err := client.ParseReply(m.Reply)
	if err != nil {
		return err
	}
	if meta.Consumer <= r.count && m.Reply != r.trusted {
		r.trusted = m.Reply // consumer sequences only increase: this is another consumer, perhaps of another stream
		r.s.suspect()
		r.keep(m)
		return nil
	}
	r.count = meta.Consumer
	r.follow(meta)
	r.s.stats.received.Add(1)
	r.s.stats.pending.Store(meta.Pending)
	if meta.Delivered > 1 {
		r.s.stats.redelivered.Add(1)
	}
	if after := r.s.cfg.Poison.After; after > 0 && meta.Delivered > uint64(after) {
		r.s.remove(ctx, r.of, m.Msg, meta)
		return nil
	}
	if r.b != nil && len(r.b.In)+len(m.Data) > r.limit {
		if err := r.emit(ctx); err != nil {
			r.keep(m)
			return err
		}
	}
	if r.b == nil {
		if err := r.get(ctx, &m); err != nil {
			r.keep(m)
			return err
		}
	}
	r.add(m.Msg, meta)
	if len(r.b.Msgs) >= r.s.cfg.Batch.Messages {
		return r.emit(ctx)
	}
	return nil
}

// keep puts m back to the front of held.
func (r *reader) keep(m heldMsg) { r.held = slices.Insert(r.held, 0, m) }

// shut reports whether the gate is shut. After the gate was opened, it adapts
// to a new consumer.
func (r *reader) shut() bool {
	opens, shut := r.s.gate.openings()
	if !shut && opens != r.opens {
		r.opens = opens
		if info := r.s.info.Load(); !info.Since.Equal(r.born) {
			r.born, r.count, r.last = info.Since, 0, info.Delivered
		}
		r.pull.Rest(time.Now())
	}
	return shut
}

// wait holds arriving messages while the gate is shut.
func (r *reader) wait(ctx context.Context) error {
	select {
	case m := <-r.pull.C:
		now := time.Now()
		if r.pull.Handle(m) {
			r.held = append(r.held, heldMsg{m, now, now})
		}
	case <-r.ticks.C:
		if next := r.s.next.Load(); next != nil {
			return r.leave(ctx, next)
		}
	case <-r.linger.C:
		return r.emit(ctx)
	case <-ctx.Done():
	}
	return nil
}

// leave stops reading a stream whose name another stream has taken. It processes the
// messages of the old stream and returns the messages of the new one.
func (r *reader) leave(ctx context.Context, next *epoch) error {
	held := r.held
	r.held = nil
	for _, m := range held {
		meta, err := client.ParseReply(m.Reply)
		switch {
		case err != nil:
			return err
		case meta.Time >= next.stream.Created.UnixNano():
			r.held = append(r.held, m) // stop returns the message
		case r.b != nil && len(r.b.Msgs) >= r.s.cfg.Batch.Messages, r.b != nil && len(r.b.In)+len(m.Data) > r.limit:
			err = r.emit(ctx)
			fallthrough
		default:
			if err == nil && r.b == nil {
				err = r.get(ctx, &m)
			}
			if err != nil {
				return err
			}
			r.add(m.Msg, meta)
		}
	}
	return errReplaced
}

// add adds m to the batch.
func (r *reader) add(m *client.Msg, meta client.Meta) {
	r.adder.message(r.b, int64(meta.Stream), meta.Time, m)
	r.x.add(m.Reply, delivery{Consumer: meta.Consumer, Stream: meta.Stream})
	r.end = int64(meta.Stream)
}

// get gets a batch for m. While it waits, it reports messages that have arrived
// as in progress.
func (r *reader) get(ctx context.Context, m *heldMsg) error {
	step := max(r.s.info.Load().AckWait/4, time.Millisecond)
	if time.Since(r.since) > step {
		r.sweep(m)
	}
	for {
		one, cancel := context.WithTimeout(ctx, step)
		b, err := r.s.rt.Get(one, r.lane)
		cancel()
		if err == nil {
			r.b, r.limit = b, cap(b.In)
			r.x = r.s.receiptOf(b, r.of, m.since, m.touched)
			r.linger.Reset(r.s.cfg.Batch.Linger)
			return nil
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !errors.Is(err, context.DeadlineExceeded):
			return err
		}
		r.sweep(m)
	}
}

// sweep takes all messages that have arrived and reports them as in progress.
func (r *reader) sweep(m *heldMsg) {
	for len(r.pull.C) > 0 {
		if in := <-r.pull.C; r.pull.Handle(in) {
			r.held = append(r.held, heldMsg{in, r.since, r.since})
		}
	}
	now := time.Now()
	r.since = now
	r.pull.Rest(now)
	r.report(m, now)
	for i := range r.held {
		r.report(&r.held[i], now)
	}
}

// report reports m as in progress if that is due.
func (r *reader) report(m *heldMsg, now time.Time) {
	if r.s.due(m.since, m.touched, now) && r.s.Conn().Publish(m.Reply, client.InProgress) == nil {
		m.touched = now
		r.s.stats.progress.Add(1)
	}
}

// emit emits the batch.
func (r *reader) emit(ctx context.Context) error {
	if r.b == nil {
		return nil
	}
	b, x := r.b, r.x
	r.b, r.x = nil, nil
	r.linger.Stop()
	r.of.floor.received(x.dels)
	err := r.s.rt.Emit(ctx, b, engine.Position{A: r.end})
	if err != nil { // a hard stop: the pipeline has taken b back and never returns it
		r.s.forget(x)
		r.s.answer(x.refs, r.s.nak, &r.s.stats.naked)
	}
	return err
}

// stopTimeout limits each of the two waits for the server at the end of Run.
const stopTimeout = 2 * time.Second

// stop emits the partial batch and returns prefetched messages, so that another
// instance gets them immediately.
func (r *reader) stop() error {
	err := r.emit(context.Background())
	if errors.Is(err, engine.ErrStopped) {
		err = nil
	}
	_ = r.pull.Stop(stopTimeout) // undelivered messages are redelivered after ack_wait
	for len(r.pull.C) > 0 {
		if m := <-r.pull.C; r.pull.Handle(m) {
			r.held = append(r.held, heldMsg{Msg: m})
		}
	}
	refs := make([]string, len(r.held))
	for i, m := range r.held {
		refs[i] = m.Reply
	}
	r.s.answer(refs, client.Nak, &r.s.stats.naked)
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if r.s.Conn().Up() {
		_ = r.s.Conn().Flush(ctx) // Close flushes again and reports the error
	}
	return err
}
