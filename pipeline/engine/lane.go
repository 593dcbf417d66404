package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urlfold/urlfold/internal/record"
)

// This file has three parts:
//
//   - Lane, and its methods for sources and sinks.
//   - The window: issue, resolve and revoke. Each batch passes through issue
//     and resolve once.
//   - Admission: whether a source may take another batch for the lane.

// A Lane is one ordered stream of records with its own commit point: one file,
// one topic partition in one generation of a consumer group, one JetStream
// consumer, or stdin. [Runtime.NewLane] creates lanes. A zero Lane holds only
// the properties that the Set methods store.
//
// The lane numbers its batches from 0 and holds the state of the unresolved
// batches:
//
//	           base                 next
//	r r r r r │ . r . . r . . r . . │          r = resolved
//	          ▲
//	          watermark: the end of the longest resolved prefix
//
//	low ≤ next, base ≤ next, next - low ≤ min(limit, len(ring))
//
// Here low is the oldest batch that has not been released. It equals base
// except in two cases. After Revoke, earlier batches may still be in flight:
// low < base. And after a batch is released without being durable, or the lane
// is halted before that batch, base does not move until Revoke: base < low from
// then on.
type Lane struct {
	label
	segments // see verified.go
	quota
	stop  <-chan struct{}
	spare func() bool // see SetSpare

	mu       sync.Mutex
	epoch    uint32
	low      uint64
	base     uint64
	next     uint64
	ring     []slot // length is 0 or a power of two; grows up to the limit
	wm       Position
	moved    bool // wm holds a position
	dirty    bool // wm has moved since the last commit
	storing  bool // a commit is storing wm
	ended    bool
	finished bool          // the finishers have handled the end
	complete bool          // all of the input was read
	skipped  bool          // the input is excluded
	idle     chan struct{} // closed when no batch is in flight; nil if nobody waits
	end      atomic.Uint64 // number of the first batch that no sink may get, plus 1; 0: no such batch
	stats    record.Stats  // counts of resolved batches
	bytes    int64         // bytes emitted
	begun    int64         // offset of the record whose pieces are emitted; -1 if none or unknown

	outlets []outlet      // one per sink, with an ordering
	filter  *filterOutlet // nil without a filter and without deduplication

	decisions *decisions // nil without deduplication
	series    *series    // with ScopeLane, guarded by decisions.mu
	windows   *windows   // with a LaneKeySet and windows, guarded by decisions.mu
	uncovered int        // resolved batches beyond the cut of the decisions
}

// A slot is the state of an emitted batch in the ring.
type slot struct {
	end   Position
	at    time.Time // time of emission
	state slotState

	verified bool   // the text up to the end of the batch is verified
	segment  uint64 // number of the batch's segment
}

type slotState uint8

const (
	flying   slotState = iota
	resolved           // durable in every sink
	lost               // released without being durable; the watermark stops here
)

// newLane returns a lane that has at most limit batches in flight.
func newLane(name string, limit int) *Lane {
	return &Lane{
		label: label{name: name},
		quota: quota{limit: limit, front: true, wake: make(chan struct{}, 1)},
		begun: -1,
	}
}

// Stats returns the counts of the resolved batches.
func (l *Lane) Stats() record.Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stats
}

// Watermark returns the end of the longest resolved prefix of the emitted
// batches, and whether there is one.
func (l *Lane) Watermark() (Position, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.wm, l.moved
}

// Complete declares that the input of the lane was read to the end and
// everything was emitted. The source calls it, then ends the lane. See
// [Finisher].
func (l *Lane) Complete() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.complete = l.epoch == 0
}

// Whole reports whether the source has called Complete and no part of the lane
// was given up.
func (l *Lane) Whole() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.whole()
}

// Skip declares that the whole input of the lane is excluded: the user's
// configuration excludes it, or it cannot be read. Nothing of it was emitted,
// and sinks create no output for it, not even an empty one. The source calls
// Skip before Complete.
func (l *Lane) Skip() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.skipped = true
}

// Skipped reports whether the input of the lane is excluded. See [Lane.Skip].
func (l *Lane) Skipped() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.skipped
}

// Drain waits until everything that was emitted is resolved. It returns
// ctx.Err(), ErrRevoked, or ErrStopped after a hard stop or if the lane was
// halted (see [Stopper]).
func (l *Lane) Drain(ctx context.Context) error {
	l.mu.Lock()
	if l.quiet() {
		defer l.mu.Unlock()
		return l.leftover()
	}
	if l.idle == nil {
		l.idle = make(chan struct{})
	}
	idle, epoch := l.idle, l.epoch
	l.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
		return ctx.Err()
	case <-l.stop:
		return ErrStopped
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.epoch != epoch {
		return ErrRevoked
	}
	return l.leftover()
}

// quiet reports whether no batch is in flight that could move the watermark.
func (l *Lane) quiet() bool { return l.base == l.next || l.low == l.next && l.uncovered == 0 }

// leftover returns ErrStopped if batches were given up. It is called when no
// batch is in flight.
func (l *Lane) leftover() error {
	if l.base < l.next || l.end.Load() != 0 {
		return ErrStopped
	}
	return nil
}

// lower sets first to batch seq, stored as seq plus 1, unless first already
// holds an earlier batch. 0 means no batch.
func lower(first *atomic.Uint64, seq uint64) {
	for {
		now := first.Load()
		if now != 0 && now <= seq+1 || first.CompareAndSwap(now, seq+1) {
			return
		}
	}
}

// halted reports whether the lane was halted at or before batch seq, which
// must not reach the sinks. Without an ordering, the batch may have reached
// them nevertheless.
func (l *Lane) halted(seq uint64) bool {
	end := l.end.Load()
	return end != 0 && seq >= end-1
}

// whole reports whether the input of the lane was read to the end without being
// halted before. The caller holds mu.
func (l *Lane) whole() bool { return l.complete && l.end.Load() == 0 }

// Revoke abandons the batches in flight. They no longer move the watermark,
// batches already taken with Get cannot be emitted, and a watermark that is not
// committed yet is never committed. A source calls Revoke when it loses the
// lane. If it emits on the lane again, it starts at the watermark.
func (l *Lane) Revoke() {
	if l.decisions == nil {
		l.revoke()
		return
	}
	l.decisions.leave(l.decisions.revoke(l))
	if l.KeepsKeys() {
		l.decisions.lanes.Drop(l)
	}
}

func (l *Lane) revoke() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.epoch++
	l.complete = false
	l.base = l.next
	l.dirty = false
	l.uncovered = 0
	l.begun = -1
	l.rest()
	l.signal()
}

// issue assigns the next number to b. It fails if the lane has ended, or was
// revoked after b was taken.
func (l *Lane) issue(b *Batch, end Position) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b.epoch != l.epoch {
		return ErrRevoked
	}
	if l.ended {
		return ErrEnded
	}
	if l.next-l.low == uint64(len(l.ring)) {
		l.grow()
	}
	b.Seq, b.End = l.next, end
	// Any worker may get b, so store in b the offset of the record that b is
	// a piece of. The offset is -1 if the lane emitted no earlier piece, as
	// after a restart.
	switch b.Piece {
	case First:
		l.begun = b.Off
	case Whole:
		l.begun = -1
	}
	b.start = l.begun
	l.segments.issue(b)
	b.read = time.Now()
	*l.at(l.next) = slot{end: end, at: b.read, verified: b.Verified, segment: b.Segment}
	l.next++
	l.out--
	l.bytes += int64(len(b.In))
	l.mustHold()
	return nil
}

// leastRing is the minimum length of a ring that is not empty. It suffices for
// most lanes, and a daemon may have as many lanes as there are files.
const leastRing = 4

// grow doubles the rings of the lane and its outlets. The caller holds mu.
func (l *Lane) grow() {
	size := max(leastRing, 2*len(l.ring))
	ring := make([]slot, size)
	from := l.low
	if l.base < from && l.next-l.base <= uint64(len(l.ring)) {
		from = l.base // a batch is lost: snapshot reports its age
	}
	for seq := from; seq < l.next; seq++ {
		ring[seq&uint64(size-1)] = *l.at(seq)
	}
	l.ring = ring
	for i := range l.outlets {
		l.outlets[i].grow(size)
	}
	if l.filter != nil {
		l.filter.grow(size)
	}
}

// owns reports whether b may still move the watermark.
func (l *Lane) owns(b *Batch) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return b.epoch == l.epoch
}

// resolve releases b, which is durable in every sink or was given up. It
// reports whether the lane is over.
func (l *Lane) resolve(b *Batch, durable bool) (over bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.at(b.Seq)
	s.state = lost
	if durable && b.epoch == l.epoch {
		s.state = resolved
		l.stats.Add(&b.Stats)
		l.segments.add(b)
	}
	if l.decisions != nil && s.state == resolved {
		l.uncovered++
	}
	for l.decisions == nil && l.low <= l.base && l.base < l.next && l.at(l.base).state == resolved && !l.halted(l.base) {
		at := l.at(l.base)
		l.wm, l.moved, l.dirty = at.end, true, true
		if at.verified {
			l.segments.verify(at.segment, at.end)
		}
		l.base++
	}
	for l.low < l.next && l.at(l.low).state != flying {
		l.low++
	}
	l.mustHold()
	if l.quiet() {
		l.rest()
	}
	l.signal()
	return l.over()
}

// cover moves the watermark over the batch of e, which the cut of the decisions
// has passed. It returns false if that batch is not the next one, or if the
// lane is held, so that its records may be withdrawn.
func (l *Lane) cover(e *decided) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.epoch != l.epoch {
		return true
	}
	if e.seq != l.base || l.Held() {
		return false
	}
	verified, segment := e.verified, e.segment
	if l.next-e.seq <= uint64(len(l.ring)) {
		verified = l.at(e.seq).verified // MarkVerified may have changed it
	}
	l.wm, l.moved, l.dirty = e.end, true, true
	if verified {
		l.segments.verify(segment, e.end)
	}
	l.base++
	l.uncovered--
	l.mustHold()
	if l.quiet() {
		l.rest()
	}
	return true
}

// rest wakes the goroutines that wait in Drain.
func (l *Lane) rest() {
	if l.idle != nil {
		close(l.idle)
		l.idle = nil
	}
}

// at returns the slot of batch seq.
func (l *Lane) at(seq uint64) *slot { return &l.ring[seq&uint64(len(l.ring)-1)] }

// flight returns the number of batches between Get and release.
func (l *Lane) flight() int { return l.out + int(l.next-l.low) }

// over reports whether the lane has ended and no batch is in flight.
func (l *Lane) over() bool { return l.ended && l.out == 0 && l.low == l.next && l.uncovered == 0 }

// A quota limits the batches of a lane. It is guarded by the mutex of the lane.
type quota struct {
	out     int           // batches between Get and Emit
	limit   int           // maximum of out + next - low
	ahead   int           // the maximum while the lane is not in front; 0: no separate limit
	credits int           // credits held, from the limit shared by the lanes that are not in front
	front   bool          // batches go to the sinks as soon as they are ready
	blocks  int           // batches in flight that a sink refuses; while there are any, Get waits
	wake    chan struct{} // holds one signal for the goroutine that waits for admission
}

// signal wakes the goroutine that waits for admission, or the next one to wait.
func (q *quota) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// An admission is the answer to a source's request for a batch.
type admission uint8

const (
	admitted    admission = iota
	full                  // wait until a batch is released or the lane moves to the front
	needsCredit           // wait for a credit of the limit shared by the lanes that are not in front
)

// admit requests one more batch, which counts against the limits once it is
// granted. credit reports whether the caller holds a credit. The lane uses the
// credit if it needs one; otherwise the caller must give it back.
func (l *Lane) admit(credit bool) (a admission, kept bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	behind := !l.front
	switch {
	case l.ended:
		return full, false, ErrEnded
	case l.blocks > 0, l.flight() >= l.limit, behind && l.flight() >= l.ahead:
		return full, false, nil
	case behind && !credit:
		return needsCredit, false, nil
	case behind:
		l.credits++
		kept = true
	}
	l.out++
	return admitted, kept, nil
}

// taken assigns b, which was admitted, to the lane.
func (l *Lane) taken(b *Batch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b.Lane, b.epoch = l, l.epoch
}

// block adds n to the number of batches that a sink refuses.
func (l *Lane) block(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.blocks += n
	l.signal()
}

// advance moves the lane to the front. It returns the number of credits that
// the caller must give back.
func (l *Lane) advance() (credits int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.front = true
	credits, l.credits = l.credits, 0
	l.signal()
	return credits
}
