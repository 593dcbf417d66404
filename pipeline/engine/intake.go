package engine

import (
	"context"
	"time"
)

// defaultAhead is the default number of batches that a lane may hold under
// OrderInput while it is not in front.
const defaultAhead = 4

// An intake is the Runtime of one source.
type intake struct {
	p   *Pipeline
	src int // index of the source
}

// othersBatches is the number of batches that a lane leaves to the other lanes
// if its batches are submitted in order. If a sink refuses a batch, the batches
// behind it wait, too, but the other lanes must be able to continue.
const othersBatches = 2

// NewLane implements [Runtime].
func (in intake) NewLane(name string, lim LaneLimits) *Lane {
	p := in.p
	// When a batch is stuck, later ones may run ahead until the window is full.
	// A window of twice the free list leaves room for batches released out of
	// order.
	limit := 2 * p.o.Batches
	if lim.Batches > 0 && p.o.Ordering != OrderInput {
		limit = min(limit, lim.Batches)
	}
	if p.o.Ordering == OrderPerLane {
		limit = min(limit, p.o.Batches-othersBatches)
	}
	l := newLane(name, limit)
	l.src = in.src
	l.stop = p.hard.Done()
	if p.o.Ordering != OrderNone {
		l.outlets = make([]outlet, len(p.delivery.sinks))
	}
	if p.filtering.claims == nil && p.filtering.on() {
		l.filter, l.decisions = new(filterOutlet), p.filtering.decisions
	}
	if p.o.Ordering == OrderInput {
		l.ahead = defaultAhead
		if lim.Batches > 0 {
			l.ahead = lim.Batches
		}
	}
	p.filtering.decisions.opened(l)
	p.roster.mu.Lock()
	defer p.roster.mu.Unlock()
	p.feeds[in.src].opened++
	p.lanes = append(p.lanes, l)
	if p.o.Ordering == OrderInput {
		q := &p.delivery.line
		q.mu.Lock()
		l.front = len(q.lanes) == 0
		q.lanes = append(q.lanes, l)
		q.mu.Unlock()
	}
	return l
}

// Get implements [Runtime].
func (in intake) Get(ctx context.Context, l *Lane) (*Batch, error) {
	if err := in.check(ctx); err != nil {
		return nil, err
	}
	if err := in.admit(ctx, l); err != nil {
		return nil, err
	}
	if b := in.take(ctx); b != nil {
		b.mustBePoisoned()
		b.held.Store(true)
		b.lost.Store(false)
		l.taken(b)
		return b, nil
	}
	in.leave(l)
	return nil, in.check(ctx)
}

// take takes a batch from the free list. It returns nil if ctx is done or after
// a hard stop.
func (in intake) take(ctx context.Context) *Batch {
	select {
	case b := <-in.p.pool.free:
		return b
	default:
	}
	defer in.p.feeds[in.src].waited(time.Now())
	select {
	case b := <-in.p.pool.free:
		return b
	case <-ctx.Done():
	case <-in.p.hard.Done():
	}
	return nil
}

// check returns the reason to stop, or nil.
func (in intake) check(ctx context.Context) error {
	if in.p.stopped() {
		return ErrStopped
	}
	return ctx.Err()
}

// admit waits until l may have one more batch.
func (in intake) admit(ctx context.Context, l *Lane) error {
	credit, spare := false, l.spare != nil
	for {
		a, kept, err := l.admit(credit)
		if credit && !kept {
			<-in.p.delivery.line.credit
		}
		if err != nil || a == admitted {
			return err
		}
		if credit, err = in.await(ctx, l, a, &spare); err != nil {
			return err
		}
	}
}

// await waits until l may try again, and reports whether it got a credit. a is
// why it was not admitted. spare says whether l may have work for the turn of a
// worker (Lane.SetSpare).
func (in intake) await(ctx context.Context, l *Lane, a admission, spare *bool) (credit bool, err error) {
	if a == full && in.p.o.Ordering != OrderInput { // with OrderInput, the lane waits for the lane in front
		defer in.p.feeds[in.src].waited(time.Now())
	}
	var ahead chan<- struct{}
	if a == needsCredit {
		ahead = in.p.delivery.line.credit
	}
	var turns chan<- turn
	var t turn
	if *spare {
		turns, t = in.p.turns, make(turn)
	}
	select {
	case ahead <- struct{}{}:
		return true, nil
	case turns <- t:
		*spare = l.spare()
		close(t)
	case <-l.wake:
	case <-ctx.Done():
		return false, ctx.Err()
	case <-in.p.hard.Done():
		return false, ErrStopped
	}
	return false, nil
}

// leave reverts an admission that did not lead to an emitted batch.
func (in intake) leave(l *Lane) {
	l.mu.Lock()
	l.out--
	credit := l.credits > 0
	if credit {
		l.credits--
	}
	l.mu.Unlock()
	if credit {
		<-in.p.delivery.line.credit
	}
}

// Emit implements [Runtime].
func (in intake) Emit(_ context.Context, b *Batch, end Position) error {
	p := in.p
	n := int64(len(b.In))
	err := error(ErrStopped)
	if !p.stopped() {
		err = b.Lane.issue(b, end)
	}
	if err != nil {
		in.Put(b)
		return err
	}
	p.roster.mu.Lock()
	p.feeds[in.src].bytes += n
	p.roster.mu.Unlock()
	p.outstanding.Add(1)
	p.active.Add(1)
	p.work.put(b)
	return nil
}

// Put implements [Runtime].
func (in intake) Put(b *Batch) {
	l := b.Lane
	if !in.p.pool.put(b) {
		in.p.fail(bugf("a batch was put back twice"))
		return
	}
	in.leave(l)
}

// End implements [Runtime].
func (in intake) End(l *Lane) {
	p := in.p
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	if !p.commits() {
		p.sweep()
	}
	select {
	case p.notify <- struct{}{}: // a worker moves on to the next lane
	default:
	}
}
