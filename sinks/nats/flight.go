package nats

import (
	"slices"
	"sync"
	"sync/atomic"

	client "github.com/urlfold/urlfold/internal/nats"
	"github.com/urlfold/urlfold/pipeline"
)

// A flight is a batch on its way: the Load of a Window. The batch is read while a
// message of it is not settled, and its ticket is answered when all are.
type flight struct {
	page
	sink   *JetStream
	ticket pipeline.Ticket
	groups []group // with framing: lines
	left   atomic.Int32
	wave   atomic.Int32  // in order: messages that are under way
	turn   chan struct{} // in order: none is
	done   chan struct{} // closed when the ticket is answered

	answered atomic.Bool // or about to be

	mu     sync.Mutex
	failed []uint32
	err    error
}

// A group is a run of records that make one message: [from, to).
type group struct{ from, to int }

// newFlight returns the flight of what t holds. It counts one more than there are
// messages, for Submit.
func newFlight(s *JetStream, b *pipeline.Batch, t pipeline.Ticket) *flight {
	f := &flight{
		page: page{b: b, s: t.Stream(), dead: t.Stream() == &b.Dead},
		sink: s, ticket: t, turn: make(chan struct{}, 1), done: make(chan struct{}),
	}
	if s.cfg.Framing == framingLines {
		f.group(s.conn.Load().MaxPayload() - headroom)
	}
	f.left.Store(int32(f.len()) + 1)
	return f
}

// headroom is kept free for headers in a message of many records.
const headroom = 512

// group cuts the records into runs of at most limit bytes.
func (f *flight) group(limit int) {
	size := limit + 1
	for i, r := range f.page.s.Recs {
		n := int(r.Len) + 1
		if size+n > limit {
			f.groups = append(f.groups, group{i, i})
			size = 0
		}
		f.groups[len(f.groups)-1].to = i + 1
		size += n
	}
}

// len returns the number of messages.
func (f *flight) len() int {
	if f.groups != nil {
		return len(f.groups)
	}
	return len(f.page.s.Recs)
}

// Message implements [client.Load].
func (f *flight) Message(i int, m *client.Msg) {
	if f.groups == nil {
		f.sink.press.fill(&f.page, i, m)
		return
	}
	g := f.groups[i]
	m.Subject = f.sink.press.subject.make(nil, "")
	if f.sink.cfg.ExpectStream != "" {
		m.Header[expectHeader] = []string{f.sink.cfg.ExpectStream}
	}
	for k := g.from; k < g.to; k++ {
		m.Data = append(append(m.Data, f.data(k)...), '\n')
	}
}

// Settled implements [client.Load].
func (f *flight) Settled(i int, err error) {
	if err != nil {
		f.refuse(i, err)
	}
	if f.sink.cfg.Publish.Ordered && f.wave.Add(-1) == 0 {
		f.turn <- struct{}{}
	}
	f.land()
}

// refuse notes that message i will never be taken.
func (f *flight) refuse(i int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
	g := group{i, i + 1}
	if f.groups != nil {
		g = f.groups[i]
	}
	for k := g.from; k < g.to; k++ {
		f.failed = append(f.failed, uint32(k))
	}
}

// land counts one message, or Submit, as done, and answers after the last one.
func (f *flight) land() {
	if f.left.Add(-1) > 0 {
		return
	}
	r := pipeline.Result{}
	if f.err != nil {
		slices.Sort(f.failed)
		r = pipeline.Result{Err: f.err, Class: pipeline.Permanent, Failed: f.failed}
	}
	f.answer(r)
}

// answer answers the ticket, once: Close may come while that is being done. Until it is
// done Barrier waits for it.
func (f *flight) answer(r pipeline.Result) {
	if f.answered.Swap(true) {
		return
	}
	f.ticket.Done(r)
	f.sink.remove(f)
	close(f.done)
}
