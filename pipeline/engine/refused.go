package engine

import (
	"slices"
	"sync"
	"time"
)

// This file has three parts:
//
//   - RefusedPolicy: what to do with a record that a sink permanently refuses.
//   - refuse: how to handle one answer.
//   - refusals: when to treat refusals as a misconfigured sink.

// A RefusedPolicy selects what to do with a record that a sink permanently
// refuses.
type RefusedPolicy uint8

// The policies. A refused dead letter blocks its lane under every policy except
// RefusedDrop, because it cannot go anywhere else.
const (
	RefusedDefault    RefusedPolicy = iota // RefusedDeadLetter with a dead letter, else RefusedBlock
	RefusedDeadLetter                      // write the record as a dead letter
	RefusedBlock                           // retry the record until the sink accepts it; its lane waits
	RefusedDrop                            // drop the record and count it
)

// String returns the policy as it is spelled in a configuration.
func (r RefusedPolicy) String() string { return named(r, "default", "dead-letter", "block", "drop") }

// refuse handles an answer that permanently refuses records of s.
func (d *delivery) refuse(b *Batch, s *Stream, slot int, r *Result) {
	failed, ok := r.failed(len(s.Recs))
	if !ok {
		d.fail(d.sinks[slot].bug("refused a nonexistent record"))
		d.endLeg(b, slot, true)
		return
	}
	if slot == d.dead && r.Fault == FaultSize && d.cutDeadLetters(b, s, failed, r) {
		return
	}
	systematic := d.sinks[slot].note(len(s.Recs), len(failed), b.legs[slot].blocked, r)
	drops := d.sinks[slot].policy == RefusedDrop
	if d.sinks[slot].policy == RefusedBlock || systematic && !drops {
		d.block(b, s, slot, failed, r)
		return
	}
	d.sinks[slot].refused(len(failed), drops)
	name, lane, position := d.sinks[slot].name, b.Lane.Name(), b.position(s.Recs, failed)
	if drops {
		d.log.Error("records refused, dropped", "component", name, "lane", lane, "position", position,
			"lost_records", len(failed), "code", r.Code, "error", r.cause())
	} else {
		d.complain(&d.refuseLog, "records refused, written to the dead letter", "component", name, "lane", lane, "position", position,
			"records", len(failed), "code", r.Code, "error", r.cause())
	}
	d.noteRefused(b, s, slot, failed)
	if len(r.Untried) == 0 {
		d.endLeg(b, slot, false)
		return
	}
	d.unblock(b, slot)
	b.legs[slot].keep(s, r.Untried)
	d.sinks[slot].adjust(0, 1)
	d.again(b, slot, untried)
}

// failed returns the indexes of the refused records in a stream of n records.
// It reports false if r.Failed or r.Untried contains an index out of range.
func (r *Result) failed(n int) (list []uint32, ok bool) {
	list = r.Failed
	if list == nil {
		list = make([]uint32, n)
		for i := range list {
			list[i] = uint32(i)
		}
	}
	beyond := func(i uint32) bool { return int64(i) >= int64(n) }
	return list, !slices.ContainsFunc(list, beyond) && !slices.ContainsFunc(r.Untried, beyond)
}

// noteRefused registers the failed records of s in b, to become dead letters or
// to be dropped. Dropped dead letters are only counted.
func (d *delivery) noteRefused(b *Batch, s *Stream, slot int, failed []uint32) {
	if d.filtering.decisions != nil && slot != d.dead {
		d.filtering.decisions.refuse(b, s, failed)
	}
	if d.filtering.claims != nil && slot != d.dead {
		d.filtering.claims.refuse(b, s, failed)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if slot == d.dead {
		b.lostDeadLetters += int64(len(failed))
		return
	}
	for _, i := range failed {
		b.refused = append(b.refused, s.Recs[i].position())
	}
}

// block schedules another submission of the refused records of s and of the
// records after them. The lane gets no more batches until the sink has accepted
// them.
func (d *delivery) block(b *Batch, s *Stream, slot int, failed []uint32, r *Result) {
	g := &b.legs[slot]
	if len(failed)+len(r.Untried) < len(s.Recs) {
		g.try = 0 // the sink has accepted some records
	}
	at := Blockage{
		Lane: b.Lane.Name(), Code: r.Code, Reason: r.cause().Error(), Position: b.position(s.Recs, failed),
		Records: len(failed), Since: time.Now(),
	}
	rest := slices.Concat(failed, r.Untried)
	slices.Sort(rest)
	g.keep(s, rest)
	if !g.blocked {
		g.blocked = true
		b.Lane.block(1)
	}
	d.complain(&d.blockLog, "records refused, lane blocked", "component", d.sinks[slot].name, "lane", at.Lane, "position", at.Position,
		"records", at.Records, "code", at.Code, "error", at.Reason)
	d.sinks[slot].block(b, at)
	d.again(b, slot, blocked)
}

// unblock ends the blocked state of a leg, if it is blocked.
func (d *delivery) unblock(b *Batch, slot int) {
	g := &b.legs[slot]
	if !g.blocked {
		return
	}
	g.blocked = false
	b.Lane.block(-1)
	if d.sinks[slot].unblock(b) && !d.stopped() && !d.sinks[slot].systematic() {
		d.log.Info("refused records accepted, lanes resumed", "component", d.sinks[slot].name, "lane", b.Lane.Name())
	}
}

// endLeg ends the delivery of b to a sink. lost means that the delivery was
// given up.
func (d *delivery) endLeg(b *Batch, slot int, lost bool) {
	d.unblock(b, slot)
	if lost {
		d.sinks[slot].abandon(len(b.stream(slot).Recs))
	}
	if b.outlet(slot) != nil {
		b.Lane.mu.Lock()
		d.land(b.Lane, slot)
		b.Lane.mu.Unlock()
	}
	if lost {
		b.lost.Store(true)
	}
	d.legDone(b)
}

// position returns the position of the first of the given records in the lane
// of b: the position of its message, or its offset in the stream.
func (b *Batch) position(recs []OutRec, which []uint32) int64 {
	if len(which) == 0 {
		return b.Off
	}
	r := recs[which[0]]
	if len(b.Msgs) > 0 {
		return b.Msgs[r.Msg].Pos
	}
	return b.Off + int64(r.Src)
}

// systematicBatches is the number of consecutive batches that a sink must refuse
// completely, with the same code, to count as misconfigured. Batches of one record do
// not count, because that record itself may be at fault. Refusals that are known to be
// the fault of the records do not count either.
//
// The batches then wait, and are tried one at a time, with backoff. After
// slowTries tries, which is when the backoff is at its maximum, each further
// try may turn one batch into dead letters, so that a long run of faulty
// records cannot stop a lane forever.
const (
	systematicBatches = 3
	slowTries         = 10
)

// refusals tracks the refusals of one sink.
type refusals struct {
	mu     sync.Mutex
	code   string
	streak int           // consecutive batches that were refused completely, with code
	tries  int           // tries since the streak reached systematicBatches
	spent  int           // the last try that turned a batch into dead letters
	next   time.Time     // time of the next try
	healed chan struct{} // closed when the sink accepts a record; nil if nobody waits
}

// note registers the answer a to a batch of n records, which has been blocked
// before or not. It reports whether the batch must wait, because the sink seems
// to be misconfigured.
func (r *refusals) note(n, failed int, blocked bool, a *Result) (waits bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case failed+len(a.Untried) < n:
		r.heal()
		return false
	case a.Fault != FaultUnknown || len(a.Untried) > 0 || n < 2:
		return false
	case r.streak == 0 || r.code != a.Code:
		r.heal()
		r.code, r.streak = a.Code, 1
		return false
	}
	r.streak++
	if r.streak == systematicBatches {
		r.tries, r.spent, r.next = 1, 0, time.Now().Add(backoff(1))
	}
	if blocked && r.tries >= slowTries && r.tries > r.spent {
		r.spent = r.tries
		return false
	}
	return r.streak >= systematicBatches
}

// systematic reports whether the sink seems to be misconfigured.
func (r *refusals) systematic() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.streak >= systematicBatches
}

// taken registers that the sink accepts records.
func (r *refusals) taken() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heal()
}

// heal ends a streak. The caller holds mu.
func (r *refusals) heal() {
	r.streak = 0
	if r.healed != nil {
		close(r.healed)
		r.healed = nil
	}
}

// await waits for permission to try one batch. All batches that the sink has
// refused completely share one schedule, because each try may cost the sink as
// many requests as the batch has records.
func (r *refusals) await(stop <-chan struct{}) {
	for {
		wait, healed := r.turn()
		if wait <= 0 {
			return
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-healed:
		case <-stop:
			t.Stop()
			return
		}
		t.Stop()
	}
}

// turn returns the time to wait before a try. If it is 0, the caller may try
// now.
func (r *refusals) turn() (wait time.Duration, healed <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.streak < systematicBatches {
		return 0, nil
	}
	now := time.Now()
	if wait = r.next.Sub(now); wait <= 0 {
		r.tries++
		r.next = now.Add(backoff(r.tries))
		return 0, nil
	}
	if r.healed == nil {
		r.healed = make(chan struct{})
	}
	return wait, r.healed
}
