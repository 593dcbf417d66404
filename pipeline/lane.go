package pipeline

import (
	"bytes"
	"context"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urlfold/urlfold/codec/record"
)

// This file is structured in the following way:
//
//   - Lane: what a source and a sink may ask of it.
//   - The window: issue, resolve, revoke. Every batch passes here twice.
//   - Admission: when a source may take another batch for the lane.

// A Lane is one ordered sub-stream of records with its own commit point: one
// file, one topic partition in one generation of a consumer group, one
// JetStream consumer, stdin. [Runtime.NewLane] makes lanes; the zero Lane is
// good for nothing but its header.
//
// The lane numbers its batches from 0 and remembers those that are not resolved:
//
//	           base                 next
//	r r r r r │ . r . . r . . r . . │          r = resolved
//	          ▲
//	          watermark: the end of the longest resolved prefix
//
//	low ≤ next, base ≤ next, next - low ≤ min(limit, len(ring))
//
// where low is the oldest batch that has not come back. It is base, but for two
// cases. After Revoke, batches from before it are still on their way: low < base.
// And when a batch comes back without being durable, or the lane is halted before it,
// base stays where it is for good, or until Revoke: base < low from then on.
type Lane struct {
	name      string
	id        string
	rel       string
	src       int         // index of its source
	perm      fs.FileMode // of its input
	permKnown bool
	head      []byte // header record
	stop      <-chan struct{}
	wake      chan struct{} // holds one signal for the goroutine that waits to be admitted

	mu       sync.Mutex
	epoch    uint32
	low      uint64
	base     uint64
	next     uint64
	ring     []slot // a power of two, or nothing; it grows up to the limit
	wm       Position
	moved    bool // wm is a position
	dirty    bool // wm has moved since it was committed
	ended    bool
	told     bool          // the end was told to who finishes lanes
	revoked  bool          // at least once
	complete bool          // the input of the lane is at its end
	skipped  bool          // it is left out
	idle     chan struct{} // closed when nothing is under way; nil while nobody waits
	end      atomic.Uint64 // number of the first batch that no sink may get, plus 1; 0: there is none
	stats    record.Stats  // of resolved batches
	bytes    int64         // emitted
	segs     segments      // see verified.go

	// Admission.
	out     int  // batches between Get and Emit
	limit   int  // of out + next - low
	ahead   int  // of the same, while the lane is not in front; 0: no such bound
	credits int  // of the shared bound on batches of lanes that are not in front
	front   bool // its batches go to the sinks as soon as they are ready
	blocks  int  // batches under way that a sink refuses: it gets no more before

	outlets []outlet      // one per sink if ordering is asked for
	filter  *filterOutlet // if there is a filter
}

// A slot of the ring is what a lane knows of a batch that was emitted.
type slot struct {
	end   Position
	at    time.Time // when it was emitted
	state slotState

	verified bool   // the text up to its end is
	segment  uint64 // that it belongs to
}

type slotState uint8

const (
	flying   slotState = iota
	resolved           // durable in every sink
	lost               // came back without: the watermark stops before it
)

// newLane returns a lane of which at most limit batches are under way.
func newLane(name string, limit int) *Lane {
	return &Lane{
		name:  name,
		limit: limit,
		wake:  make(chan struct{}, 1),
		front: true,
	}
}

// Name returns the name that the source gave to the lane: a path, or a topic and
// a partition.
func (l *Lane) Name() string { return l.name }

// SetID gives the lane an identity that is the same whenever its records are read
// again, in this process or a later one, and different from that of every other
// lane: an id that sinks make from it and from a position is safe against
// replays. The source calls it before it emits the first batch, or never.
func (l *Lane) SetID(id string) { l.id = id }

// ID returns the identity of the lane: its name, if it was given no other.
func (l *Lane) ID() string {
	if l.id == "" {
		return l.name
	}
	return l.id
}

// SetRel names the lane relative to where its source looks: of a file, the path
// below the fixed part of its pattern. Sinks make names of outputs of it. The
// source calls it before it emits the first batch, or never.
func (l *Lane) SetRel(rel string) { l.rel = rel }

// Rel returns the relative name of the lane: its name, if it was given no other.
func (l *Lane) Rel() string {
	if l.rel == "" {
		return l.name
	}
	return l.rel
}

// SetPerm says what permissions the input of the lane has: an output with its
// records gives no others. The source calls it before it emits the first batch, or
// never if the input has none.
func (l *Lane) SetPerm(perm fs.FileMode) { l.perm, l.permKnown = perm.Perm(), true }

// Perm returns the permissions of the input of the lane, and whether it has any.
func (l *Lane) Perm() (perm fs.FileMode, known bool) { return l.perm, l.permKnown }

// Source returns the index of the lane's source in Options.Sources.
func (l *Lane) Source() int { return l.src }

// SetHead keeps a copy of the header record of the lane (of CSV: the names of
// its columns). The source calls it before it emits the first batch, or never.
func (l *Lane) SetHead(rec []byte) { l.head = bytes.Clone(rec) }

// Head returns the header record, or nil. It must not be changed.
func (l *Lane) Head() []byte { return l.head }

// Stats returns the counts of the batches that are resolved.
func (l *Lane) Stats() record.Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stats
}

// Watermark returns the end of the longest resolved prefix of what was emitted.
// It reports false while there is none.
func (l *Lane) Watermark() (Position, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.wm, l.moved
}

// Complete says that the input of the lane is at its end: that what was emitted
// is all there is. The source calls it before it ends the lane. See [Finisher].
func (l *Lane) Complete() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.complete = !l.revoked
}

// Whole reports whether the input of the lane came to its end: whether the source
// has called Complete, and nothing of the lane was given up.
func (l *Lane) Whole() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.whole()
}

// Skip says that the input of the lane is left out as a whole, by a choice of its
// user: nothing of it was emitted, and sinks make nothing of it, not even an empty
// output. The source calls it before it calls Complete.
func (l *Lane) Skip() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.skipped = true
}

// Skipped reports whether the input of the lane is left out: see [Lane.Skip].
func (l *Lane) Skipped() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.skipped
}

// Drain waits until everything that was emitted is resolved. The error is that
// of ctx, ErrRevoked, or ErrStopped after a hard stop or if the lane was halted (see
// [Stopper]).
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

// quiet reports whether nothing is under way that the watermark could wait for.
func (l *Lane) quiet() bool { return l.base == l.next || l.low == l.next }

// leftover says what became of the batches, when none is under way.
func (l *Lane) leftover() error {
	if l.base < l.next || l.end.Load() != 0 {
		return ErrStopped
	}
	return nil
}

// halt keeps the batches from the number seq on from the sinks.
func (l *Lane) halt(seq uint64) {
	for {
		now := l.end.Load()
		if now != 0 && now <= seq+1 || l.end.CompareAndSwap(now, seq+1) {
			return
		}
	}
}

// halted reports whether b is not for the sinks.
func (l *Lane) halted(b *Batch) bool { return l.beyond(b.Seq) }

// beyond reports whether the lane was halted at the number seq or before. Without an
// order such a batch may have come into the sinks all the same.
func (l *Lane) beyond(seq uint64) bool {
	end := l.end.Load()
	return end != 0 && seq >= end-1
}

// whole reports whether the input of the lane is at its end, and was not halted before
// that. The caller holds mu.
func (l *Lane) whole() bool { return l.complete && l.end.Load() == 0 }

// Revoke makes the lane forget what is under way: it moves the watermark no
// more, what was taken by Get before cannot be emitted, and a watermark that is
// not committed yet stays so. A source calls it when the lane is no longer its
// own. If it emits on the lane again it begins at the watermark.
func (l *Lane) Revoke() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.epoch++
	l.revoked, l.complete = true, false
	l.base = l.next
	l.dirty = false
	l.rest()
	l.signal()
}

// issue gives b the next number. It fails if the lane has ended or was revoked
// since b was taken.
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
	l.segs.issue(b)
	l.ring[l.next&l.mask()] = slot{end: end, at: time.Now(), verified: b.Verified, segment: b.Segment}
	l.next++
	l.out--
	l.bytes += int64(len(b.In))
	l.mustHold()
	return nil
}

// leastRing is the least length of a ring that is not empty. Most lanes never have
// more batches under way, and a daemon may have as many lanes as there are files.
const leastRing = 4

// grow doubles the rings of the lane and of its outlets. The caller holds mu.
func (l *Lane) grow() {
	size := max(leastRing, 2*len(l.ring))
	ring := make([]slot, size)
	from := l.low
	if l.base < from && l.next-l.base <= uint64(len(l.ring)) {
		from = l.base // a lost batch, whose age a snapshot tells
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

// resolve takes b back: durable in every sink, or not. It reports whether the
// lane is over.
func (l *Lane) resolve(b *Batch, durable bool) (over bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &l.ring[b.Seq&l.mask()]
	s.state = lost
	if durable && b.epoch == l.epoch {
		s.state = resolved
		l.stats.Add(&b.Stats)
		l.segs.add(b)
	}
	for l.low <= l.base && l.base < l.next && l.at(l.base).state == resolved && !l.beyond(l.base) {
		at := l.at(l.base)
		l.wm, l.moved, l.dirty = at.end, true, true
		if at.verified {
			l.segs.verify(at.segment, at.end)
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

// rest wakes those who wait in Drain.
func (l *Lane) rest() {
	if l.idle != nil {
		close(l.idle)
		l.idle = nil
	}
}

func (l *Lane) mask() uint64        { return uint64(len(l.ring) - 1) }
func (l *Lane) at(seq uint64) *slot { return &l.ring[seq&l.mask()] }

// flight returns how many batches are between Get and release.
func (l *Lane) flight() int { return l.out + int(l.next-l.low) }

// finish marks the lane as ended.
func (l *Lane) finish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
}

// over reports whether the lane has ended and has nothing under way.
func (l *Lane) over() bool { return l.ended && l.out == 0 && l.low == l.next }

// signal wakes the goroutine that waits to be admitted, or the next one to come.
func (l *Lane) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// An admission is the answer to a source that asks for a batch.
type admission uint8

const (
	admitted    admission = iota
	full                  // wait until a batch comes back or the lane gets in front
	needsCredit           // of the bound that is shared by lanes that are not in front
)

// admit asks for one more batch, which counts from now on if it is granted.
// credit says that the caller holds a credit; the lane keeps it if it needs one,
// else the caller gives it back.
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

// taken marks b, which was admitted, as the lane's.
func (l *Lane) taken(b *Batch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b.Lane, b.epoch = l, l.epoch
}

// block counts batches that a sink refuses.
func (l *Lane) block(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.blocks += n
	l.signal()
}

// untake takes an admission back that did not lead to an emitted batch. It
// reports whether the caller must give a credit back.
func (l *Lane) untake() (credit bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out--
	if l.credits > 0 {
		l.credits--
		return true
	}
	return false
}

// advance puts the lane in front. It returns the number of credits that the
// caller must give back.
func (l *Lane) advance() (credits int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.front = true
	credits, l.credits = l.credits, 0
	l.signal()
	return credits
}
