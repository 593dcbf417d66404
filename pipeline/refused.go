package pipeline

import (
	"slices"
	"sync"
	"time"
)

// This file is structured in the following way:
//
//   - RefusedPolicy: what becomes of a record that a sink refuses for good.
//   - refuse: what one answer means, and what follows from it.
//   - refusals: when the refusals of a sink are a misconfiguration.

// A RefusedPolicy says what becomes of a record that a sink refuses for good.
type RefusedPolicy uint8

// The policies. A dead letter that is refused blocks its lane under each of them,
// except RefusedDrop: there is no other place for it.
const (
	RefusedDefault    RefusedPolicy = iota // RefusedDeadLetter with a dead letter, else RefusedBlock
	RefusedDeadLetter                      // write the record to the dead letter
	RefusedBlock                           // submit the record until the sink takes it; its lane waits
	RefusedDrop                            // drop the record, and count it
)

// String returns the policy as a configuration spells it.
func (r RefusedPolicy) String() string {
	switch r {
	case RefusedDefault:
		return "default"
	case RefusedDeadLetter:
		return "dead_letter"
	case RefusedBlock:
		return "block"
	case RefusedDrop:
		return "drop"
	}
	return "invalid"
}

// blocks reports whether a lane blocks for any record that the sink of this slot
// refuses.
func (p *Pipeline) blocks(slot int) bool {
	return p.o.OnRefused == RefusedBlock || slot == p.dead && p.o.OnRefused != RefusedDrop
}

// refuse handles an answer that refuses records of s for good.
func (p *Pipeline) refuse(b *Batch, s *Stream, slot int, r *Result) {
	failed, ok := r.failed(len(s.Recs))
	if !ok {
		p.fail(bugf("%s refused a record that does not exist", p.sinkName(slot)))
		p.endLeg(b, slot, true)
		return
	}
	systematic := p.refusals[slot].note(len(s.Recs), len(failed), len(r.Untried), r.Code)
	drops := p.o.OnRefused == RefusedDrop
	if p.blocks(slot) || systematic && !drops {
		p.block(b, s, slot, failed, r)
		return
	}
	p.meters[slot].refused(len(failed), drops)
	event := "records refused, written to the dead letter"
	if drops {
		event = "records refused, dropped"
	}
	p.complain(&p.refuseLog, event, "sink", p.sinkName(slot), "lane", b.Lane.Name(), "position", b.position(s.Recs, failed),
		"records", len(failed), "code", r.Code, "error", r.cause())
	p.noteRefused(b, s, slot, failed)
	if len(r.Untried) == 0 {
		p.endLeg(b, slot, false)
		return
	}
	p.unblock(b, slot)
	b.legs[slot].keep(s, r.Untried)
	p.meters[slot].waits()
	p.again(b, slot, untried)
}

// failed returns the indexes of the records that r refuses, of n. It reports false
// if one of them, or of those that were not tried, does not exist.
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

// noteRefused adds the failed records of s to b: they become dead letters, or are
// dropped. A dead letter that is dropped is only counted.
func (p *Pipeline) noteRefused(b *Batch, s *Stream, slot int, failed []uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if slot == p.dead {
		b.lostDeadLetters += int64(len(failed))
		return
	}
	for _, i := range failed {
		b.refused = append(b.refused, s.Recs[i].position())
	}
}

// block submits the refused records of s, and those after them, again after a
// while. Its lane takes no more batches before the sink has taken them.
func (p *Pipeline) block(b *Batch, s *Stream, slot int, failed []uint32, r *Result) {
	g := &b.legs[slot]
	if len(failed)+len(r.Untried) < len(s.Recs) {
		g.try = 0 // the sink has taken something
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
	p.complain(&p.blockLog, "records refused, lane blocked", "sink", p.sinkName(slot), "lane", at.Lane, "position", at.Position,
		"records", at.Records, "code", at.Code, "error", at.Reason)
	p.meters[slot].block(b, at)
	p.again(b, slot, blocked)
}

// unblock ends the wait of a leg that was blocked, if it was.
func (p *Pipeline) unblock(b *Batch, slot int) {
	g := &b.legs[slot]
	if !g.blocked {
		return
	}
	g.blocked = false
	b.Lane.block(-1)
	if p.meters[slot].unblock(b) && !p.stopped() {
		p.log.Info("no record refused any more, lanes continue", "sink", p.sinkName(slot), "lane", b.Lane.Name())
	}
}

// endLeg ends the way of b into a sink that has answered for the last time, or has
// given it up.
func (p *Pipeline) endLeg(b *Batch, slot int, lost bool) {
	p.unblock(b, slot)
	p.landed(b, slot)
	if lost {
		b.lost.Store(true)
	}
	p.legDone(b)
}

// position returns where the first of these records of b stood in its lane: the
// position of its message, or its offset in the stream.
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

// systematicBatches is how many consecutive batches a sink has to refuse as a
// whole, with one code, to be taken for misconfigured. A batch of one record does
// not count: the fault may be its own.
const systematicBatches = 3

// refusals is what a pipeline knows of the refusals of one sink.
type refusals struct {
	mu     sync.Mutex
	code   string
	streak int           // consecutive batches that were refused as a whole with code
	tries  int           // since the streak was long enough
	next   time.Time     // when the next batch may be tried
	healed chan struct{} // closed when the sink takes a record; nil: nobody waits
}

// note notes the answer to a batch of n records. It reports whether the batch is
// one of a misconfiguration: its records are not at fault.
func (r *refusals) note(n, failed, untried int, code string) (systematic bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case failed+untried < n:
		r.heal()
		return false
	case untried > 0 || n < 2:
		return false
	case r.streak == 0 || r.code != code:
		r.heal()
		r.code, r.streak = code, 1
		return false
	}
	r.streak++
	if r.streak == systematicBatches {
		r.tries, r.next = 1, time.Now().Add(backoff(1))
	}
	return r.streak >= systematicBatches
}

// taken notes that the sink takes records.
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

// await waits until one more batch may be tried, of all that the sink has refused
// as a whole: each of them may cost the sink as many requests as it has records.
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

// turn returns how long to wait for a try. If that is 0 the caller has it.
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
