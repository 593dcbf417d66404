package nats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/urlfold/urlfold/internal/ground/logging"
	"github.com/urlfold/urlfold/internal/ground/pause"
)

// This file contains:
//
//   - Load, what to publish; Window, its slots and their states.
//   - Publish: sending messages.
//   - ack: handling acknowledgments.
//   - The keeper: publishing unacknowledged messages again.

// A Load is a set of messages that are published together, such as a batch.
type Load interface {
	// Message sets the subject, data and header of message i. m is empty,
	// except for a header map to reuse. Message is called each time that i is
	// published, from several goroutines, but never after Resolved(i), and must
	// yield the same message each time.
	Message(i int, m *Msg)
	// Resolved is called once for each i: with nil when message i is stored in
	// a stream, or with an error if it never will be. The call may come before
	// Publish returns, from several goroutines, and must not block.
	Resolved(i int, err error)
}

// A Window publishes messages to JetStream with a fixed limit of unacknowledged
// messages. Each message holds a slot until it is acknowledged:
//
//	          Publish              published            ack
//	vacant ────────────▶ sending ─────────────▶ flying ─────▶ vacant, Resolved
//	                        ▲                     │
//	   keeper: there is a   │                     │ timeout, disconnect,
//	connection, a pause is  │                     │ no stream, error
//	                 over   └────── waiting ◀─────┘
//
// While a message is being sent, its bytes are being read; an acknowledgment
// that arrives meanwhile is reported to the owner only afterwards. The reply
// subject contains the number of the slot and a use counter, so that a late
// acknowledgment cannot resolve another message. A message keeps its reply
// subject when it is published again: if acknowledgments take longer than the
// timeout, the first one still counts. Each timeout doubles the next timeout
// for the message, up to eight times the first. A message is republished
// unchanged, forever; only a message that the server or the client will never
// accept is resolved with an error.
type Window struct {
	conn    *Conn
	timeout time.Duration
	prefix  string // prefix of reply subjects
	sub     *client.Subscription
	notify  chan struct{}   // wakes the keeper
	ctx     context.Context // done after Close
	quit    context.CancelFunc
	which   Accept
	keeper  sync.WaitGroup
	again   sync.Mutex // held while the keeper sends
	telling sync.WaitGroup

	mu      sync.Mutex
	streams map[string]*streamName
	slots   []slot
	free    []uint32
	waiters []chan struct{}
	redo    []uint64 // tokens of slots in state waiting
	uses    uint32
	order   uint64
	closed  bool
	stats   WindowStats // without InFlight

	failures atomic.Int32 // consecutive rounds of the keeper without a success
	outage   *logging.Outage
}

// WindowStats are the figures of a Window.
type WindowStats struct {
	InFlight   int   // messages that are not resolved
	Failing    int   // messages among them that failed at least once
	Published  int64 // messages sent, not counting repetitions
	Again      int64 // messages sent again
	Duplicates int64 // messages that the stream already had, by their ids or subjects

	// The reasons why messages are sent again.
	Timeouts int64 // not acknowledged in time
	Cuts     int64 // connection lost
	Homeless int64 // no stream matches the subject
	Refusals int64 // refused by the stream for now
}

type slotState uint8

const (
	vacant  slotState = iota
	sending           // a goroutine reads its bytes
	flying            // published, waiting for the acknowledgment
	waiting           // to be published again
)

// A slot holds a message in progress.
type slot struct {
	load  Load
	i     int
	use   uint32 // with the index of the slot, the token of the message
	state slotState
	late  uint8  // number of timeouts
	fails bool   // counted in WindowStats.Failing
	order uint64 // order of first publication
	at    time.Time

	// Events that occurred while the message was being sent.
	cut      bool // the connection was lost
	answered bool
	err      error // the error, if answered is set
}

func token(use, idx uint32) uint64 { return uint64(use)<<32 | uint64(idx) }

// NewWindow returns a window for size messages. A message is published again
// unless it is acknowledged within timeout. The argument which selects the
// streams whose acknowledgments count.
func (c *Conn) NewWindow(size int, timeout time.Duration, which Accept) (*Window, error) {
	w := &Window{
		conn: c, timeout: timeout, which: which, streams: map[string]*streamName{}, prefix: c.nc.NewInbox() + ".",
		outage: logging.NewOutage(c.log, "write failed, retrying", "write recovered"),
		notify: make(chan struct{}, 1), slots: make([]slot, size),
	}
	for i := range size {
		w.free = append(w.free, uint32(size-1-i))
	}
	var err error
	ack := func(m *client.Msg) {
		if err := Protect(func() { w.ack(m) }); err != nil {
			w.outage.Set(err) // the message is published again
		}
	}
	if w.sub, err = c.nc.Subscribe(w.prefix+"*", ack); err != nil {
		return nil, err
	}
	if err := w.sub.SetPendingLimits(-1, -1); err != nil { // no limit here: the window limits the answers
		return nil, err
	}
	w.ctx, w.quit = context.WithCancel(context.Background())
	c.Watch(func(up bool) {
		if up {
			w.failures.Store(0) // refusals of the last connection must not delay messages
			w.nudge()
			return
		}
		w.cut()
	})
	w.keeper.Go(func() { Keep(w.ctx, w.outage.Set, w.keep) })
	return w, nil
}

// Stats returns the current figures.
func (w *Window) Stats() WindowStats {
	w.mu.Lock()
	defer w.mu.Unlock()
	st := w.stats
	st.InFlight = len(w.slots) - len(w.free)
	return st
}

// Health returns nil, or why messages are not acknowledged. It returns an error
// as long as a single message is not accepted, regardless of the others.
func (w *Window) Health() error { return w.outage.Err() }

// Publish publishes the messages first to first+n-1 of l. It blocks while the
// window is full. A nil error means that each message was published, or will be
// published again. After an error, of ctx or ErrClosed, no message of l is in
// progress, but a call of Resolved may be.
func (w *Window) Publish(ctx context.Context, l Load, first, n int) error {
	var some [64]uint32
	m := client.Msg{Header: client.Header{}}
	for i := first; i < first+n; {
		got, err := w.acquire(ctx, some[:min(len(some), first+n-i)])
		if err != nil {
			w.Forget(l)
			return err
		}
		for _, idx := range got {
			if !w.begin(idx, l, i, &m) {
				w.Forget(l)
				return ErrClosed
			}
			i++
		}
	}
	return nil
}

// acquire takes free slots, at least one and at most len(dst).
func (w *Window) acquire(ctx context.Context, dst []uint32) ([]uint32, error) {
	for {
		w.mu.Lock()
		if w.closed {
			w.mu.Unlock()
			return nil, ErrClosed
		}
		if n := min(len(dst), len(w.free)); n > 0 {
			at := len(w.free) - n
			copy(dst, w.free[at:])
			w.free = w.free[:at]
			w.mu.Unlock()
			return dst[:n], nil
		}
		wake := make(chan struct{})
		w.waiters = append(w.waiters, wake)
		w.mu.Unlock()
		select {
		case <-wake:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// release returns a slot and wakes the goroutines that wait for one. The caller
// holds mu.
func (w *Window) release(idx uint32) {
	if w.slots[idx].fails {
		if w.stats.Failing--; w.stats.Failing == 0 {
			w.outage.Clear()
		}
	}
	w.slots[idx] = slot{use: w.slots[idx].use}
	w.free = append(w.free, idx)
	// Do not wake the waiters for a single slot, because each has many
	// messages to publish.
	if len(w.waiters) > 0 && len(w.free) >= min(len(w.slots)/4+1, 64) {
		w.wakeAll()
	}
}

func (w *Window) wakeAll() {
	for _, c := range w.waiters {
		close(c)
	}
	w.waiters = w.waiters[:0]
}

// begin publishes message i of l for the first time. It returns false if the
// window has been closed.
func (w *Window) begin(idx uint32, l Load, i int, m *client.Msg) bool {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return false
	}
	w.stats.Published++
	w.order++
	w.uses++
	s := &w.slots[idx]
	*s = slot{load: l, i: i, use: w.uses, order: w.order}
	s.begin()
	t := token(s.use, idx)
	w.mu.Unlock()
	w.send(t, l, i, m)
	return true
}

// begin marks the slot as being sent. The caller holds mu of the window.
func (s *slot) begin() {
	s.state, s.at = sending, time.Now()
	s.cut, s.answered, s.err = false, false, nil
}

// send publishes message i of l, whose slot was marked by begin.
func (w *Window) send(t uint64, l Load, i int, m *client.Msg) {
	clear(m.Header)
	m.Subject, m.Data = "", nil
	l.Message(i, m)
	var b [80]byte
	m.Reply = string(strconv.AppendUint(append(b[:0], w.prefix...), t, 16))
	err := w.conn.nc.PublishMsg(m) // afterwards, nothing reads the bytes of the message
	w.mu.Lock()
	s := w.find(t)
	if s == nil { // Forget was called in the meantime
		w.mu.Unlock()
		return
	}
	s.state = flying
	answered, answer, cut := s.answered, s.err, s.cut
	w.mu.Unlock()
	switch {
	case answered:
		w.resolve(t, answer)
	case Refuses(err):
		w.resolve(t, err)
	case err != nil:
		w.postpone(t, err)
	case cut:
		w.postpone(t, ErrDown)
	}
}

// Refuses reports whether err means that the client will never publish the
// message, whatever the state of the connection: it exceeds max_payload of the
// server, or its subject or a header name is invalid.
func Refuses(err error) bool {
	return errors.Is(err, client.ErrMaxPayload) || errors.Is(err, client.ErrBadSubject) || errors.Is(err, client.ErrBadHeaderMsg)
}

// resolve finishes the message with the token t, if it is in progress.
func (w *Window) resolve(t uint64, err error) {
	w.mu.Lock()
	s := w.find(t)
	if s == nil {
		w.mu.Unlock()
		return
	}
	if s.state == sending {
		s.answered, s.err = true, err
		w.mu.Unlock()
		return
	}
	l, i := s.load, s.i
	w.release(uint32(t))
	w.telling.Add(1)
	w.mu.Unlock()
	l.Resolved(i, err)
	w.telling.Done()
}

// find returns the slot of the token t, or nil if its message is no longer in
// progress. The caller holds mu.
func (w *Window) find(t uint64) *slot {
	idx := uint32(t)
	if int64(idx) >= int64(len(w.slots)) {
		return nil
	}
	s := &w.slots[idx]
	if s.state == vacant || s.use != uint32(t>>32) {
		return nil
	}
	return s
}

// postpone schedules the message with the token t to be published again.
func (w *Window) postpone(t uint64, err error) {
	w.mu.Lock()
	s := w.find(t)
	switch {
	case s == nil || s.state == waiting:
	case s.state == sending:
		s.cut = true
	default:
		s.state = waiting
		w.redo = append(w.redo, t)
		// Count the reason why the message is published again.
		switch {
		case errors.Is(err, errTimeout):
			w.stats.Timeouts++
		case errors.Is(err, errNobody):
			w.stats.Homeless++
		case errors.Is(err, errStream), errors.Is(err, errAnswer):
			w.stats.Refusals++
		default:
			w.stats.Cuts++
		}
		if !s.fails {
			s.fails = true
			w.stats.Failing++
		}
		w.outage.Set(err)
	}
	w.mu.Unlock()
	w.nudge()
}

func (w *Window) nudge() {
	select {
	case w.notify <- struct{}{}:
	default:
	}
}

// Forget gives up all messages of l in progress. A call of Resolved may still
// be running when it returns.
func (w *Window) Forget(l Load) {
	w.again.Lock() // the keeper may be reading a message of l
	defer w.again.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.slots {
		if w.slots[i].load == l {
			w.release(uint32(i))
		}
	}
}

// Close gives up all messages in progress. Once it returns, Resolved is not
// called any more.
func (w *Window) Close() error {
	w.mu.Lock()
	w.closed = true
	w.wakeAll()
	w.mu.Unlock()
	w.quit()
	w.keeper.Wait()
	w.mu.Lock()
	for i := range w.slots {
		if w.slots[i].load != nil {
			w.release(uint32(i))
		}
	}
	w.mu.Unlock()
	w.telling.Wait()
	return w.sub.Unsubscribe()
}

// ack handles the acknowledgment of a message.
func (w *Window) ack(m *client.Msg) {
	t, err := strconv.ParseUint(m.Subject[min(len(w.prefix), len(m.Subject)):], 16, 64)
	if err != nil {
		return
	}
	s, err := readAck(m)
	switch {
	case err == nil || w.which.OnePerSubject && errors.Is(err, errTaken):
		if s.duplicate || err != nil {
			w.mu.Lock()
			w.stats.Duplicates++
			w.mu.Unlock()
		}
		w.failures.Store(0)
		w.accept(t, s.stream)
	case errors.Is(err, ErrRefused):
		w.resolve(t, err)
	case errors.Is(err, errNobody):
		w.postpone(t, w.nobody(t))
	default:
		w.postpone(t, err)
	}
}

// nobody returns an error that names the subject that no stream matches.
func (w *Window) nobody(t uint64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.find(t)
	if s == nil {
		return errNobody
	}
	m := client.Msg{Header: client.Header{}}
	s.load.Message(s.i, &m) // the message cannot be resolved in the meantime
	return fmt.Errorf("%w %q (create a stream, or wait until its server is back)", errNobody, m.Subject)
}

var (
	// ErrRefused is the error of a message that a stream will never store.
	ErrRefused = errors.New("stream refuses the message")
	errNobody  = errors.New("no stream matches the subject")
	errAnswer  = errors.New("response to a publish is not from JetStream")
	errTimeout = errors.New("publish not acknowledged in time")
)

// JetStream error codes that no retry changes.
const (
	codeMessageTooLong = 10054
	codeHeaderTooLong  = 10097
)

// A store failure has one code whatever its cause; the text distinguishes a subject that
// has as many messages as the stream keeps of each (nats-server, server/store.go).
const (
	codeStoreFailed = 10077
	subjectTaken    = "maximum messages per subject exceeded"
)

// readAck parses the response to a publish.
func readAck(m *client.Msg) (stored, error) {
	if len(m.Data) == 0 && m.Header.Get("Status") == "503" {
		return stored{}, errNobody
	}
	s, err := readStored(m.Data)
	var refused *jetstream.APIError
	if !errors.As(err, &refused) {
		return s, err
	}
	cause := errStream
	if refused.ErrorCode == codeStoreFailed && refused.Description == subjectTaken {
		cause = errTaken
	}
	if refused.ErrorCode == codeMessageTooLong || refused.ErrorCode == codeHeaderTooLong {
		cause = refusal(refused.ErrorCode)
	}
	return s, fmt.Errorf("%w: %s (%d)", cause, refused.Description, refused.ErrorCode)
}

var (
	errStream = errors.New("stream cannot store the message now")
	errTaken  = fmt.Errorf("%w: another message has its subject", errStream)
)

// cut schedules all messages in progress to be published again, because the
// connection for their acknowledgments is gone.
func (w *Window) cut() {
	w.mu.Lock()
	for i := range w.slots {
		switch s := &w.slots[i]; s.state {
		case flying:
			s.state = waiting
			w.redo = append(w.redo, token(s.use, uint32(i)))
			w.stats.Cuts++
		case sending:
			s.cut = true
		}
	}
	w.mu.Unlock()
	w.nudge()
}

// keep is the keeper: it publishes waiting messages again, in the order of
// their first publication.
func (w *Window) keep(ctx context.Context) {
	t := time.NewTicker(min(max(w.timeout/10, 10*time.Millisecond), time.Second))
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-t.C:
			w.expire(now)
		case <-w.notify:
			for !w.conn.Up() {
				if pause.For(ctx, 10*time.Millisecond) != nil {
					return
				}
			}
			if n := w.failures.Add(1); n > 1 && pause.For(ctx, min(50*time.Millisecond<<min(n, 10), 5*time.Second)) != nil {
				return
			}
			// Publish all waiting messages again.
			w.mu.Lock()
			jobs := w.redo
			w.redo = nil
			slices.SortFunc(jobs, func(a, b uint64) int { // the order of vacant slots does not matter
				return cmp.Compare(w.slots[uint32(a)].order, w.slots[uint32(b)].order)
			})
			w.mu.Unlock()
			m := client.Msg{Header: client.Header{}}
			for _, t := range jobs {
				w.resend(t, &m)
			}
		}
	}
}

// expire schedules messages that were not acknowledged in time to be published
// again.
func (w *Window) expire(now time.Time) {
	w.mu.Lock()
	var late []uint64
	for i := range w.slots {
		if s := &w.slots[i]; s.state == flying && now.Sub(s.at) > w.timeout<<s.late {
			s.late = min(s.late+1, 3)
			late = append(late, token(s.use, uint32(i)))
		}
	}
	w.mu.Unlock()
	for _, t := range late {
		w.postpone(t, w.lateError())
	}
}

// lateError returns the timeout error, with the current complaint of the server
// if there is one: a server sends no other response for a subject without
// permission.
func (w *Window) lateError() error {
	if err := w.conn.Complaint(); err != nil {
		return fmt.Errorf("%w (%w)", errTimeout, err)
	}
	return errTimeout
}

// resend publishes the message with the token t again, if it still waits.
func (w *Window) resend(t uint64, m *client.Msg) {
	w.again.Lock()
	defer w.again.Unlock()
	w.mu.Lock()
	s := w.find(t)
	if s == nil || s.state != waiting {
		w.mu.Unlock()
		return
	}
	l, i := s.load, s.i
	s.begin()
	w.stats.Again++
	w.mu.Unlock()
	w.send(t, l, i, m)
}
