package engine

import (
	"context"
	"slices"
	"sync"

	"github.com/urlfold/urlfold/codec"
)

// A source of single messages stores no positions, so no set of keys can be
// stored with positions. Instead, the pipeline claims each key in a store
// outside the process, which all members share:
//
//	worker   read · render ──▶ claim the keys ──▶ remove duplicates ──▶ sinks
//	last answer ──▶ settle the claims: done, or deleted if a sink refused the record ──▶ acknowledge
//
// A record is dropped for good only if the claim on its key is done, which
// means that a record of the key is durable in every sink. While another
// process holds the claim, the record is dropped for now, and the source gets
// its message again later: see Batch.Delayed. No batch waits for another
// process, so two processes cannot wait for each other.
//
// Inside the process, a record whose key is claimed by an earlier record leans on that
// record. Before the sinks, its batch waits for the answer to the claim. If another
// record holds the claim, both records are delayed. The exception is a leaning record
// that holds the claim itself, because it claimed its key before a crash. Without the
// exception, the two records could be delivered together and delayed again and again.
//
// After the sinks, the batch waits until the claim is settled. Settling a claim
// depends on no other batch. The leaning record is delayed if the claim was
// deleted. If the two are in the same message, it becomes a dead letter like
// the refused record instead, because the message would be delivered again
// forever.
//
// With Dedupe.NewMark, a duplicate is marked instead of being dropped, and is still
// not acknowledged before the first record is durable.
//
//   - ask, asked, proceed: before the sinks.
//   - refuse, settle, settled: after they have answered.

// A Claims holds claims on keys outside the process. Its methods are called
// by many goroutines, and retry until ctx is done. An error before that ends
// the run.
type Claims interface {
	// Claim claims the key of each element for its record, and sets Answer and
	// Revision.
	Claim(ctx context.Context, list []*Claim) error
	// Settle ends claims with the answer ClaimHeld. A claim with Refused is
	// deleted, if it still has its revision. The records of all other claims
	// are durable in every sink, and their keys are done.
	Settle(ctx context.Context, list []*Claim) error
}

// An Origin identifies a record of a message: it is the same each time the record
// is read.
type Origin struct {
	Lane     string // Lane.ID
	Position int64  // position of the message
	Ordinal  int    // index among the output records of the message
}

// A Claim is the claim of a record on its key.
type Claim struct {
	Key codec.Key
	Origin
	Time int64 // time of the message, Unix nanoseconds; 0: unknown

	Answer   ClaimAnswer // set by Claims.Claim
	First    Origin      // with ClaimDone: the record that is durable; with ClaimDelayed: the record that holds the claim; set by Claims.Claim
	Revision uint64      // set and used by Claims
	Refused  bool        // a sink has permanently refused the record

	b     *Batch
	rec   int // index in Batch.Out before duplicates are removed
	msg   uint32
	state claimState
}

// A ClaimAnswer is the answer to a claim.
type ClaimAnswer uint8

// The answers.
const (
	ClaimDelayed ClaimAnswer = iota // another record holds the claim; ask again later
	ClaimHeld                       // the record is the first of its key
	ClaimDone                       // a record of the key is durable in every sink
)

type claimState uint8

const (
	claimAsked claimState = iota
	claimHeld             // the claim is held and not settled
	claimDone
	claimGone // deleted, delayed, or given up
)

// A lean is a record that was dropped, or is to be marked, because of a claim of
// this process.
type lean struct {
	on       *Claim
	origin   Origin
	rec      int // as in Claim
	msg      uint32
	position uint64 // as OutRec.position
	dropped  bool   // the record was dropped rather than marked
}

// claims is the deduplication of a pipeline with Dedupe.Claims.
type claims struct {
	*run
	work    *queue
	leave   func(batches []*Batch) // continues with batches that have waited
	outside Claims
	marks   bool // duplicates are marked and kept
	window  *Window

	mu     sync.Mutex
	held   map[codec.Key]*Claim // claims of this process that are not settled
	asking []*Batch             // batches with leans on claims without an answer
	parked []*Batch             // batches with leans on claims that are not settled

	firsts, duplicates, delayed, noKey, noTime int64
}

// ask claims the keys of b, then returns b to a worker.
func (c *claims) ask(b *Batch) {
	b.round, b.keep = decidedRound, b.keep.all(len(b.Out.Recs))
	if b.lost.Load() || b.Lane.halted(b.Seq) {
		c.work.put(b)
		return
	}
	if n := len(b.Out.Recs); len(b.Out.IDs) != n || n > 0 && len(b.Msgs) == 0 {
		b.lost.Store(true)
		c.fail(bugf("cannot deduplicate: the codec collected %d identities and %d messages for %d records", len(b.Out.IDs), len(b.Msgs), n))
		c.work.put(b)
		return
	}
	c.mu.Lock()
	var next nextBatches
	if list := c.begin(b); len(list) > 0 {
		next.ask(b, list)
	} else {
		next = c.proceed(b)
	}
	c.mu.Unlock()
	c.dispatch(next)
}

// nextBatches holds the batches for which an answer has arrived.
type nextBatches struct {
	ready []*Batch // batches for the workers
	again []asking // claims to ask the bucket for again
}

// An asking is a batch with claims that are to be asked.
type asking struct {
	b    *Batch
	list []*Claim
}

func (n *nextBatches) ask(b *Batch, list []*Claim) { n.again = append(n.again, asking{b, list}) }

// dispatch sends each batch to the workers or to the bucket.
func (c *claims) dispatch(n nextBatches) {
	for _, b := range n.ready {
		c.work.put(b)
	}
	for _, a := range n.again {
		c.helpers.Go(func() { c.asked(a.b, a.list, c.outside.Claim(c.hard, a.list)) })
	}
}

// begin sets the leans of b, and returns its claims. The caller holds mu.
func (c *claims) begin(b *Batch) (asks []*Claim) {
	b.delays = b.delays[:0]
	list := make([]Claim, 0, len(b.Out.Recs)) // the claims outlive b, because other batches refer to them
	ordinal := 0
	for i, r := range b.Out.Recs {
		if ordinal++; i == 0 || r.Msg != b.Out.Recs[i-1].Msg {
			ordinal = 0
		}
		k := c.keyOf(b, i)
		if k == (codec.Key{}) {
			continue
		}
		m := &b.Msgs[r.Msg]
		origin := Origin{b.Lane.ID(), m.Pos, ordinal}
		if on := c.held[k]; on != nil {
			b.leans = append(b.leans, lean{on: on, origin: origin, rec: i, msg: r.Msg, position: r.position()})
			continue
		}
		list = append(list, Claim{Key: k, Origin: origin, Time: m.Time, b: b, rec: i, msg: r.Msg})
		cl := &list[len(list)-1]
		c.held[k] = cl
		asks = append(asks, cl)
	}
	return asks
}

// keyOf returns the key of record i of b in its window, or the zero key if the
// record passes. The caller holds mu.
func (c *claims) keyOf(b *Batch, i int) codec.Key {
	k := &b.Out.IDs[i]
	if *k == (codec.Key{}) {
		c.noKey++
		return *k
	}
	if c.window == nil {
		return *k
	}
	t, ok := c.window.timeOf(b, i)
	window, exists := c.window.of(t)
	if ok && exists {
		*k = inWindow(*k, window)
	} else {
		c.noTime++
		*k = codec.Key{} // without a key, the record cannot be the first record of a key
	}
	return *k
}

// asked handles the answers to claims of b.
func (c *claims) asked(b *Batch, list []*Claim, err error) {
	if err != nil {
		b.lost.Store(true)
		if !c.stopped() {
			c.fail(err)
		}
	}
	c.mu.Lock()
	for _, cl := range list {
		switch {
		case err != nil:
			c.end(cl, claimGone)
		case cl.Answer == ClaimHeld:
			c.firsts++
			cl.state = claimHeld
			b.claims = append(b.claims, cl)
		case cl.Answer == ClaimDone && c.marks && cl.First != cl.Origin:
			c.duplicates++
			b.mark(cl.rec)
			c.end(cl, claimDone)
		case cl.Answer == ClaimDone: // only with marks: the record was written at an earlier delivery of its message
			c.duplicates++
			b.keep.Drop(cl.rec)
			c.end(cl, claimDone)
		default:
			b.keep.Drop(cl.rec)
			c.delay(b, cl.msg)
			c.end(cl, claimGone)
		}
	}
	leave, next := unpark(&c.parked, c.decided), c.proceed(b)
	c.mu.Unlock()
	c.leave(leave)
	c.dispatch(next)
}

// proceed returns the batches that need not wait for answers any more: b, whose claims
// have answers, or any of the batches that wait. The caller holds mu.
func (c *claims) proceed(b *Batch) (next nextBatches) {
	c.asking = slices.DeleteFunc(append(c.asking, b), func(b *Batch) bool {
		list := c.reclaim(b)
		switch {
		case len(list) > 0:
			next.ask(b, list)
		case c.answered(b):
			next.ready = append(next.ready, b)
		default:
			return false
		}
		return true
	})
	return next
}

// reclaim returns claims for records of b that lean on a record which did not get its
// claim, because the leaning record holds the claim. The caller holds mu.
func (c *claims) reclaim(b *Batch) (list []*Claim) {
	b.leans = slices.DeleteFunc(b.leans, func(l lean) bool {
		k := l.on.Key
		if l.on.state != claimGone || l.on.Answer != ClaimDelayed || l.on.First != l.origin || c.held[k] != nil {
			return false
		}
		cl := &Claim{Key: k, Origin: l.origin, Time: b.Msgs[l.msg].Time, b: b, rec: l.rec, msg: l.msg}
		c.held[k] = cl
		list = append(list, cl)
		return true
	})
	return list
}

// answered reports whether all claims that b leans on have answers. If so,
// it drops or marks the duplicates of b, and delays the records that may not
// be duplicates. The caller holds mu.
func (c *claims) answered(b *Batch) bool {
	if slices.ContainsFunc(b.leans, func(l lean) bool { return l.on.state == claimAsked }) {
		return false
	}
	for i := range b.leans {
		l := &b.leans[i]
		l.dropped = !c.marks || l.on.isOf(l.origin)
	}
	b.leans = slices.DeleteFunc(b.leans, func(l lean) bool {
		switch {
		case l.on.state == claimGone:
			b.keep.Drop(l.rec)
			c.delay(b, l.msg)
			return true
		case l.dropped:
			b.keep.Drop(l.rec)
		default:
			b.mark(l.rec)
		}
		return false
	})
	return true
}

// isOf reports whether the answer to cl says that o is the origin of the first record
// of the key. The message of that record was then delivered again.
func (cl *Claim) isOf(o Origin) bool {
	if cl.Answer == ClaimDone {
		return cl.First == o
	}
	return cl.Origin == o
}

// end ends a claim. The caller holds mu.
func (c *claims) end(cl *Claim, state claimState) {
	cl.state = state
	if c.held[cl.Key] == cl {
		delete(c.held, cl.Key)
	}
}

// delay registers that a record of message msg of b must be read again. The
// caller holds mu.
func (c *claims) delay(b *Batch, msg uint32) {
	c.delayed++
	b.again++
	b.delay(msg)
}

// delay lets message msg of b be delivered again.
func (b *Batch) delay(msg uint32) {
	if len(b.delays) == 0 {
		b.delays = b.delays.all(len(b.Msgs))
	}
	b.delays.Drop(int(msg))
}

// Delayed reports whether message msg of b must be delivered again, instead of
// being acknowledged: with [Dedupe.Claims], another process may still write a
// record of the same key. An [Acker] asks for each message of a batch that is
// resolved.
func (b *Batch) Delayed(msg int) bool { return len(b.delays) > 0 && !b.delays.has(msg) }

// refuse registers that a sink has permanently refused records of b.
func (c *claims) refuse(b *Batch, s *Stream, failed []uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, i := range failed {
		if len(s.IDs) == 0 {
			return
		}
		if cl := c.held[s.IDs[i]]; cl != nil && cl.b == b {
			cl.Refused = true
		}
	}
}

// settle settles the claims of b, which all sinks have answered.
func (c *claims) settle(b *Batch) {
	if b.lost.Load() || c.stopped() || len(b.claims) == 0 {
		c.settled(b, nil)
		return
	}
	c.step(func() {
		c.settled(b, c.outside.Settle(c.hard, b.claims))
	})
}

// settled continues with b when its claims are settled.
func (c *claims) settled(b *Batch, err error) {
	if err != nil {
		b.lost.Store(true)
		if !c.stopped() {
			c.fail(err)
		}
	}
	lost := b.lost.Load() || c.stopped()
	c.mu.Lock()
	for _, cl := range b.claims {
		if lost || cl.Refused {
			c.end(cl, claimGone)
		} else {
			c.end(cl, claimDone)
		}
	}
	c.parked = append(c.parked, b)
	leave := unpark(&c.parked, c.decided)
	c.mu.Unlock()
	c.leave(leave)
}

// decided reports whether no lean of b waits for a claim. The caller holds mu.
func (c *claims) decided(b *Batch) bool {
	if b.lost.Load() || c.stopped() {
		return true
	}
	for _, l := range b.leans {
		if l.on.state < claimDone {
			return false
		}
	}
	for _, l := range b.leans {
		switch {
		case l.on.state == claimDone, !l.dropped && l.on.Refused: // a marked duplicate remains a duplicate
			c.duplicates++
		case !l.dropped: // the record is written, but the first record of its key may not be written
			b.delay(l.msg)
		case l.on.Refused && l.on.b == b && l.on.msg == l.msg:
			b.orphans = append(b.orphans, l.position) // the record would be refused each time the message is delivered
		default:
			c.delay(b, l.msg)
		}
	}
	b.leans = b.leans[:0]
	return true
}

// flush returns all parked batches after a hard stop.
func (c *claims) flush() []*Batch {
	c.mu.Lock()
	defer c.mu.Unlock()
	return unpark(&c.parked, c.decided)
}

// snapshot returns the counts.
func (c *claims) snapshot() *DedupeSnapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	return &DedupeSnapshot{
		Duplicates: c.duplicates, Firsts: c.firsts, NoKey: c.noKey, Delayed: c.delayed, Waiting: len(c.held),
		Windows: c.window != nil, NoTime: c.noTime,
	}
}
