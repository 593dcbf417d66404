package nats

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	client "github.com/urlfold/urlfold/internal/client/nats"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A flight is a batch that is being published: the Load of a Window. Its ticket
// is answered when all of its messages are resolved, and the batch is read
// until then.
type flight struct {
	page
	sink   *jetStream
	ticket engine.Ticket
	groups []group // with framing: lines
	left   atomic.Int32
	wave   atomic.Int32  // if inTurn: messages in flight
	turn   chan struct{} // if inTurn: signaled when wave reaches 0
	inTurn bool          // publish in order
	done   chan struct{} // closed after the ticket is answered or f is given up

	submitted chan struct{} // closed when Submit reads the batch no more

	answered atomic.Bool // the ticket is answered, or about to be

	mu     sync.Mutex
	result engine.Result // refused records, and records not tried because an earlier record of the lane was refused
}

// A group is a range of records [from, to) that form one message.
type group struct{ from, to int }

// newFlight returns the flight for t. Its left counter starts at one more than
// the number of messages; the extra count belongs to Submit.
func newFlight(s *jetStream, b *engine.Batch, t engine.Ticket) *flight {
	f := &flight{
		page: page{b: b, s: t.Stream(), dead: b.IsDead(t.Stream())},
		sink: s, ticket: t, turn: make(chan struct{}, 1), done: make(chan struct{}),
		submitted: make(chan struct{}),
	}
	f.inTurn = s.cfg.Publish.Ordered || t.Again()
	if s.cfg.Framing == framingLines {
		limit := s.Conn().MaxPayload()
		f.group(min(limit, cmp.Or(s.Limit, limit)) - headroom)
	}
	f.left.Store(int32(f.len()) + 1)
	return f
}

// headroom is the number of bytes reserved for headers in a message of many
// records.
const headroom = 512

// group divides the records into messages of at most limit bytes. A longer
// record gets a separate message.
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
	if f.sink.cfg.MsgID == idBatch {
		m.Header[idHeader] = []string{f.sink.press.batchID(&f.page, g)}
	}
	for k := g.from; k < g.to; k++ {
		m.Data = append(append(m.Data, f.data(k)...), '\n')
	}
}

// Resolved implements [client.Load].
func (f *flight) Resolved(i int, err error) {
	if err != nil {
		f.refuse(i, err)
	}
	if f.inTurn && f.wave.Add(-1) == 0 {
		f.turn <- struct{}{}
	}
	f.land()
}

// refuse registers that message i is permanently refused.
func (f *flight) refuse(i int, err error) {
	f.ticket.Hold()
	f.mu.Lock()
	defer f.mu.Unlock()
	refuse(&f.result, err, f.records(nil, i)...)
}

// records appends the indexes of the records in message i.
func (f *flight) records(dst []uint32, i int) []uint32 {
	g := group{i, i + 1}
	if f.groups != nil {
		g = f.groups[i]
	}
	for k := g.from; k < g.to; k++ {
		dst = append(dst, uint32(k))
	}
	return dst
}

// leave counts the messages from first on as answered but not tried.
func (f *flight) leave(first int) {
	f.mu.Lock()
	for i := first; i < f.len(); i++ {
		f.result.Untried = f.records(f.result.Untried, i)
	}
	f.mu.Unlock()
	f.left.Add(int32(first - f.len()))
}

// land counts one message, or Submit, as done. After the last message it
// answers the ticket.
func (f *flight) land() {
	if f.left.Add(-1) > 0 {
		return
	}
	r := &f.result
	slices.Sort(r.Failed)
	if r.Failed == nil && r.Untried != nil {
		r.Err, r.Class = errUntried, engine.Retryable
	}
	f.answer(*r)
}

var errUntried = errors.New("nats sink: an earlier record was refused")

// answer answers the ticket once, even if Close runs concurrently. Barrier
// waits until the answer is complete.
func (f *flight) answer(r engine.Result) {
	if f.answered.Swap(true) {
		return
	}
	f.ticket.Done(r)
	f.sink.remove(f)
	close(f.done)
}
