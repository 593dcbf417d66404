package engine

import (
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/urlfold/urlfold/codec"
)

// A record is dropped as a duplicate only if the first record of its key
// becomes durable, and no position that covers the dropped record is stored
// before that. The difficulty is the time between the decision and that moment,
// in which sinks refuse records and processes die:
//
//	worker   read · render ──▶ decision, in lane order: number, firsts, duplicates
//	worker   remove the duplicates ──▶ sinks
//	last answer ──▶ settled: its records, and everything that it relied on, are durable or dead letters
//	                      ▲
//	numbers  1  2  3  4   │ 5  6  7  8
//	                     cut: the longest prefix of settled batches
//
// Everything that can fail or halt comes before the decision. The decision numbers the
// batches of all lanes consecutively and writes each new key into a slot, with the
// number of its batch. The batch holds the result of the decision until it is released.
// A batch with duplicates is not settled before the batches that it relied on are. Only
// the cut moves watermarks, so a commit stores the positions of all lanes at the cut
// together with exactly the keys within it.
//
//   - decisions, series: the slots, and the numbers of one scope.
//   - decide: the decision about one batch.
//   - settle, mayLeave, refuse: what becomes of the batch.
//   - collect, seal, stored: commits.
//   - windows: see window.go.

// decisions is the deduplication of a pipeline.
type decisions struct {
	*run
	commits *committer
	leave   func(batches []*Batch) // continues with batches that have waited
	set     KeySet                 // one set for all lanes; nil if lanes is used
	lanes   LaneKeySet             // one set for each lane, which moves with the lane; nil if set is used
	scope   Scope
	room    int
	marks   bool // duplicates are marked and kept

	mu        sync.Mutex // locked before roster.mu and Lane.mu
	slots     map[codec.Key]uint64
	ready     []codec.Key // keys up to the cut, for the next commit to store; with lanes, see series.ready
	window    *Window     // nil without windows
	windows   *windows    // windows shared by all lanes; nil without windows, or if each lane has separate ones
	passed    passed      // records that passed because of their times
	readyIn   []uint32    // windows of the keys in ready
	all       *series     // the series of ScopeAll
	parked    []*Batch    // batches with duplicates whose first records are not settled
	paused    bool        // nothing is decided while a cut is taken
	waiting   bool        // a batch waits for room or for the end of the pause
	fullSince time.Time   // since when a batch waits for room; zero: none does
	open      int64       // decided batches beyond the cut of their series; void series do not count
	high      uint64      // greatest number of all series; a new series begins with a greater number

	firsts, duplicates, noKey int64
}

// A series is a sequence of decisions with a separate cut: one for the whole
// pipeline, or one for each lane and epoch.
type series struct {
	ring    []decided        // entries cut+1 … last; length is a power of two
	cut     uint64           // all decisions up to this number are settled
	last    uint64           // number of the last decision; the first is 1
	salt    codec.Key        // distinguishes the keys of lanes; zero with ScopeAll
	void    bool             // the lane was revoked
	refused map[first]uint64 // first records that a sink refused, with the last batch that may rely on it
	ready   []FirstKey       // with decisions.lanes: keys up to the cut, for the next commit to store
}

// A decided is the part of a batch that outlives it, until the cut passes it.
type decided struct {
	lane     *Lane
	seq      uint64
	epoch    uint32
	end      Position
	verified bool
	segment  uint64
	at       time.Time
	settled  bool
	firsts   []FirstKey // keys whose first records are in the batch; zero: the first record was refused
	reached  reached    // with windows
}

// A first is the first record of a key, in the batch with the number no.
type first struct {
	key codec.Key
	no  uint64
}

// A relied is a duplicate whose first record is not settled.
type relied struct {
	position uint64 // as OutRec.position
	on       first
}

func newDecisions(o *Dedupe) (_ *decisions, err error) {
	d := &decisions{set: o.Set, lanes: o.Lanes, scope: o.Scope, room: o.Room, marks: o.NewMark != nil, slots: map[codec.Key]uint64{}}
	if d.room == 0 {
		d.room = defaultRoom
	}
	if d.scope == ScopeAll {
		d.all = d.newSeries(codec.Key{})
	}
	if d.window = o.Window; d.window != nil && d.lanes == nil {
		d.windows, err = newWindows(o.Window, o.Set.(WindowKeySet).WindowState(), &d.passed)
	}
	return d, err
}

// seriesOf returns the series of l. The caller holds mu.
func (d *decisions) seriesOf(l *Lane) *series {
	if d.all != nil {
		return d.all
	}
	if l.series == nil {
		h := xxh3.HashString128(l.ID())
		l.series = d.newSeries(codec.KeyFromUint64s(h.Hi, h.Lo|1))
	}
	return l.series
}

// newSeries returns a series whose numbers are greater than all numbers in slots. So
// keys in the slots from an earlier lane with the same id count as settled. They are
// settled, because the source stores a position before it opens the lane again.
func (d *decisions) newSeries(salt codec.Key) *series {
	return &series{salt: salt, cut: d.high, last: d.high, refused: map[first]uint64{}}
}

// keyIn returns k as a key of the scope.
func (s *series) keyIn(k codec.Key) codec.Key {
	if s.salt == (codec.Key{}) {
		return k
	}
	var b [32]byte
	putKey(b[0:], s.salt)
	putKey(b[16:], k)
	h := xxh3.Hash128(b[:])
	return codec.KeyFromUint64s(h.Hi, h.Lo)
}

// putKey writes k to b, in the form in which it is hashed into other keys.
func putKey(b []byte, k codec.Key) {
	hi, lo := k.Uint64s()
	binary.LittleEndian.PutUint64(b, hi)
	binary.LittleEndian.PutUint64(b[8:], lo)
}

func (s *series) at(no uint64) *decided { return &s.ring[no&uint64(len(s.ring)-1)] }

// push adds the entry of b and returns it.
func (s *series) push(b *Batch) *decided {
	if s.last-s.cut == uint64(len(s.ring)) {
		ring := make([]decided, max(leastRing, 2*len(s.ring)))
		for no := s.cut + 1; no <= s.last; no++ {
			ring[no&uint64(len(ring)-1)] = *s.at(no)
		}
		s.ring = ring
	}
	s.last++
	e := s.at(s.last)
	*e = decided{lane: b.Lane, seq: b.Seq, epoch: b.epoch, end: b.End, verified: b.Verified, segment: b.Segment, at: time.Now(), firsts: e.firsts[:0]}
	return e
}

// decide decides about the records of b, whose duplicates it removes from
// b.keep. It returns false if b must wait; the pipeline then calls it again.
// The batches of a lane are decided in order, so the later batches wait as
// well.
func (d *decisions) decide(b *Batch) (ok bool, err error) {
	if n := len(b.Out.Recs); len(b.Out.IDs) != n {
		return true, bugf("cannot deduplicate: the codec collected %d identities for %d records", len(b.Out.IDs), n)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	full := len(d.slots) > 0 && len(d.slots)+len(b.Out.Recs) > d.room
	if d.paused || full {
		d.waiting = true
		if full && d.fullSince.IsZero() {
			d.fullSince = time.Now()
			d.commits.soon()
		}
		return false, nil
	}
	if !b.Lane.owns(b) {
		b.void = true
		return true, nil
	}
	w, err := d.windowsOf(b.Lane)
	if err != nil {
		return true, err
	}
	s := d.seriesOf(b.Lane)
	e := s.push(b)
	d.open++
	d.high = max(d.high, s.last)
	b.series, b.number = s, s.last
	var lane *laneClock
	if w != nil {
		lane = w.begin(b.Lane)
	}
	for i := range b.Out.IDs {
		if err := d.decideRecord(b, s, e, i, w, lane); err != nil {
			return true, err
		}
	}
	if w != nil {
		e.reached = reached{w.now.low, lane.clone()}
	}
	return true, nil
}

// windowsOf returns the windows that the records of l belong to, or nil. The caller
// holds mu.
func (d *decisions) windowsOf(l *Lane) (*windows, error) {
	if d.window == nil || d.windows != nil {
		return d.windows, nil
	}
	if l.windows == nil {
		return nil, bugf("lane %s has emitted a batch before its keys were loaded", l.name)
	}
	return l.windows, nil
}

// decideRecord decides about record i of b, whose lane has the given clock in w. The
// caller holds mu.
func (d *decisions) decideRecord(b *Batch, s *series, e *decided, i int, w *windows, lane *laneClock) error {
	id := &b.Out.IDs[i]
	if *id == (codec.Key{}) {
		d.noKey++
		return nil
	}
	var window uint32
	if w != nil {
		var ok bool
		if window, ok = w.place(lane, b, i); !ok {
			*id = codec.Key{} // without a key, the record cannot be the first record of a key
			return nil
		}
		*id = inWindow(*id, window)
	}
	k := s.keyIn(*id)
	no, found := d.slots[k]
	if !found {
		known, err := d.has(b.Lane, k, window)
		if err != nil {
			return fmt.Errorf("deduplicate: %w", err)
		}
		if !known {
			d.firsts++
			d.slots[k] = b.number
			e.firsts = append(e.firsts, FirstKey{k, b.firstAt(i), window})
			return nil
		}
	}
	d.duplicates++
	if d.marks {
		// The marked record is written even if a sink refuses the first record. No
		// position that covers it is stored before the first record is durable or a
		// dead letter.
		b.mark(i)
		return nil
	}
	b.keep.Drop(i)
	if no > s.cut {
		b.needs = max(b.needs, no)
		b.relied = append(b.relied, relied{b.Out.Recs[i].position(), first{k, no}})
	}
	return nil
}

// mark registers record i of b as a duplicate to be marked. Such a record is
// not the first record of a key, so no key is forgotten if a sink refuses
// the record.
func (b *Batch) mark(i int) {
	b.marked = append(b.marked, uint32(i))
	b.Out.IDs[i] = codec.Key{}
}

// keyAt returns the key of record i of s in its scope, or the zero key.
func (b *Batch) keyAt(s *Stream, i uint32) (k codec.Key) {
	if b.series == nil || len(s.IDs) == 0 {
		return k
	}
	if k = s.IDs[i]; k != (codec.Key{}) {
		k = b.series.keyIn(k)
	}
	return k
}

// refuse registers that a sink has permanently refused records of b: the next
// record of each of their keys is a first record.
func (d *decisions) refuse(b *Batch, s *Stream, failed []uint32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if b.series == nil || b.series.void {
		return
	}
	for _, i := range failed {
		k := b.keyAt(s, i)
		if k == (codec.Key{}) || d.slots[k] != b.number {
			continue // without a key, or another sink has refused the record before
		}
		delete(d.slots, k)
		b.series.refuse(k, b.number)
	}
}

// refuse removes the first record of k from the entry with the given number.
func (s *series) refuse(k codec.Key, no uint64) {
	e := s.at(no)
	for i := range e.firsts {
		if e.firsts[i].Key == k {
			e.firsts[i] = FirstKey{}
		}
	}
	s.refused[first{k, no}] = s.last
}

// mayLeave reports whether b, which all sinks have answered, can be settled. If a batch
// that b relied on is not settled yet, the pipeline continues with b when settle
// returns it. mayLeave sets the duplicates of b that need a dead letter.
func (d *decisions) mayLeave(b *Batch) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.leaves(b) {
		return true
	}
	d.parked = append(d.parked, b)
	return false
}

// leaves implements mayLeave. The caller holds mu.
func (d *decisions) leaves(b *Batch) bool {
	s := b.series
	if s == nil || s.void || b.lost.Load() || d.stopped() {
		return true
	}
	if min(b.needs, b.number-1) > s.cut {
		return false
	}
	for i := range b.relied {
		if _, refused := s.refused[b.relied[i].on]; refused {
			b.orphans = append(b.orphans, b.relied[i].position)
		}
	}
	b.relied = b.relied[:0]
	return true
}

// settle registers that b is durable, or that it was given up. It returns the
// batches that may leave now.
func (d *decisions) settle(b *Batch, durable bool) (leave []*Batch) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := b.series
	if s == nil || s.void {
		return nil
	}
	if durable {
		s.at(b.number).settled = true
		d.advance(s)
	}
	return unpark(&d.parked, d.leaves)
}

// advance moves the cut over the settled batches, and the watermarks of their
// lanes with it.
func (d *decisions) advance(s *series) {
	before := s.cut
	for s.cut < s.last && s.at(s.cut+1).settled {
		s.cut++
		d.open--
		e := s.at(s.cut)
		d.makeReady(s, e.firsts)
		if w, err := d.windowsOf(e.lane); err == nil && w != nil {
			w.cover(e)
		}
		if !e.lane.cover(e) {
			d.fail(bugf("lane %s is held or out of order, and its duplicates were dropped", e.lane.name))
		}
		e.lane, e.firsts, e.reached.lane = nil, e.firsts[:0], nil
	}
	if s.cut == before {
		return
	}
	for f, until := range s.refused {
		if until <= s.cut {
			delete(s.refused, f)
		}
	}
	if !d.fullSince.IsZero() {
		d.commits.soon()
	}
}

// flush returns all parked batches after a hard stop.
func (d *decisions) flush() []*Batch {
	d.mu.Lock()
	defer d.mu.Unlock()
	return unpark(&d.parked, d.leaves)
}

// revoke revokes l and forgets the decisions about l beyond the cut of l.
// The cut cannot move between these two steps. revoke returns the batches of
// l that wait.
func (d *decisions) revoke(l *Lane) (leave []*Batch) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l.revoke()
	if d.all != nil {
		d.fail(bugf("lane %s was revoked, and its records may be duplicates of records in other lanes", l.name))
		return nil
	}
	s := l.series
	if s == nil {
		return nil
	}
	for no := s.cut + 1; no <= s.last; no++ {
		for _, f := range s.at(no).firsts {
			delete(d.slots, f.Key) // no other batch can have the slot of a first record that was not refused
		}
		d.open--
	}
	for _, f := range s.ready {
		delete(d.slots, f.Key)
	}
	s.void, l.series, s.ready = true, nil, nil
	l.windows = nil // LoadKeys sets it again
	if d.windows != nil {
		d.windows.revoke(l)
	}
	return unpark(&d.parked, d.leaves)
}

// pause stops decisions. With resume, the caller must let the batches that wait
// be decided.
func (d *decisions) pause() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.paused = true
}

// resume permits decisions again. It reports whether batches wait.
func (d *decisions) resume() (waiting bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	waiting = d.waiting
	d.paused, d.waiting = false, false
	return waiting
}

// idle reports whether every decided batch is settled.
func (d *decisions) idle() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open == 0
}

// collect calls due to collect the watermarks. It returns the keys up to the same
// cut as these watermarks, without the keys that are already stored.
func (d *decisions) collect(due func()) (c keyCut, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	due()
	c.keys = d.ready[:len(d.ready):len(d.ready)]
	if w := d.windows; w != nil {
		c.windows.Windows = d.readyIn[:len(d.readyIn):len(d.readyIn)]
		c.windows.Least = w.least(w.cut.low)
		c.windows.State, err = w.cut.store()
	}
	return c, err
}

// A keyCut holds the keys within a cut.
type keyCut struct {
	keys    []codec.Key
	windows WindowCut // with windows
}

// sealCut makes the keys of c durable.
func (d *decisions) sealCut(c keyCut) (state []byte, err error) {
	if d.windows != nil {
		return d.set.(WindowKeySet).SealWindows(c.keys, c.windows)
	}
	return d.set.Seal(c.keys)
}

// opened registers a new lane.
func (d *decisions) opened(l *Lane) {
	if d == nil || d.windows == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.windows.open(l)
}

// closed registers lanes that are over.
func (d *decisions) closed(lanes []*Lane) {
	if d == nil || d.windows == nil || len(lanes) == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, l := range lanes {
		d.windows.close(l)
	}
}

// stored registers that the first n keys of ready are in the set.
func (d *decisions) stored(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, k := range d.ready[:n] {
		delete(d.slots, k)
	}
	d.ready = append(d.ready[:0], d.ready[n:]...)
	if d.windows != nil {
		d.readyIn = append(d.readyIn[:0], d.readyIn[n:]...)
	}
	if n > 0 {
		d.fullSince = time.Time{}
	}
}

// snapshot returns the counts.
func (d *decisions) snapshot() *DedupeSnapshot {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := &DedupeSnapshot{Duplicates: d.duplicates, Firsts: d.firsts, NoKey: d.noKey, Waiting: len(d.slots), Room: d.room, FullSince: d.fullSince}
	if d.window != nil {
		s.Windows, s.Late, s.Ahead, s.NoTime = true, d.passed.late, d.passed.ahead, d.passed.noTime
	}
	if a := d.all; a != nil && a.cut < a.last {
		e := a.at(a.cut + 1)
		s.Oldest = Decided{e.lane.name, e.at}
	}
	return s
}
