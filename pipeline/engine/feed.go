package engine

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urlfold/urlfold/internal/record"
)

// A feed is one source of a pipeline with its counts.
type feed struct {
	Source
	name      string
	committer Committer // the source, or nil if it is not a Committer
	acker     Acker     // the source, or nil if it is not an Acker
	finisher  Finisher  // the source, or nil if it is not a Finisher

	account              // guarded by roster.mu
	blocked atomic.Int64 // nanoseconds, see SourceSnapshot.Blocked
	ups     []LanePos    // scratch space of the committer
}

// An account holds the counts of one source.
type account struct {
	opened    int          // lanes opened
	bytes     int64        // bytes emitted
	handled   record.Stats // counts of all batches that workers have processed
	resolved  record.Stats // counts of the durable batches
	flying    int64        // records processed but not yet resolved
	abandoned int64        // records that were given up
	given     int64        // batches that were given up
	last      time.Time    // when the last batch with records was emitted

	delivery, messages Latency // see SourceSnapshot
}

// ledger returns the ledger of the account.
func (a *account) ledger() Ledger {
	return Ledger{
		Read:       a.handled.Records,
		Emitted:    a.resolved.Emitted,
		Dropped:    a.resolved.Dropped,
		Filtered:   a.resolved.Filtered,
		Duplicates: a.resolved.Duplicates,
		Dead:       a.resolved.Dead,
		InFlight:   a.flying,
		Abandoned:  a.abandoned,
	}
}

// waited adds the time since start to the waiting time of the source.
func (f *feed) waited(start time.Time) { f.blocked.Add(int64(time.Since(start))) }

// A roster holds the sources of a pipeline and their lanes, and counts their
// records.
type roster struct {
	feeds    []*feed
	finishes bool // any source or sink is a Finisher

	mu    sync.Mutex // guards lanes and the accounts of the feeds; locked before Lane.mu
	lanes []*Lane    // lanes with batches to come, unresolved batches or uncommitted positions
}

// feedOf returns the feed of l.
func (r *roster) feedOf(l *Lane) *feed { return r.feeds[l.src] }

// openLanes returns the lanes that sweep has not removed: those with batches to
// come, unresolved batches or uncommitted positions.
func (r *roster) openLanes() []*Lane {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lanes)
}

// commits reports whether a committer is needed: for a source that stores
// positions, or for a Finisher.
func (r *roster) commits() bool {
	return r.finishes || slices.ContainsFunc(r.feeds, func(f *feed) bool { return f.committer != nil })
}

// note counts b after a worker has processed it.
func (r *roster) note(b *Batch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.feedOf(b.Lane)
	f.handled.Add(&b.Stats)
	f.flying += b.Stats.Records
	if b.Stats.Records > 0 && b.read.After(f.last) {
		f.last = b.read
	}
}

// count counts b as resolved or as given up.
func (r *roster) count(b *Batch, durable bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.feedOf(b.Lane)
	f.flying -= b.Stats.Records
	if durable {
		b.Stats.Duplicates -= b.again // the source will deliver these records again
		f.handled.Duplicates -= b.again
		f.abandoned += b.again
		f.resolved.Add(&b.Stats)
		f.observe(b)
		return
	}
	f.abandoned += b.Stats.Records
	f.given++
}

// observe measures how long b took, now that it is durable.
func (a *account) observe(b *Batch) {
	now := time.Now()
	a.delivery.observe(now.Sub(b.read))
	if len(b.Msgs) > 0 && b.Msgs[0].Time > 0 {
		a.messages.observe(max(0, now.Sub(time.Unix(0, b.Msgs[0].Time)))) // a clock may be ahead
	}
}

// writeOff moves the refused records of b in the ledger from Emitted to Dead or
// Dropped, the duplicates of refused records from Duplicates to Dead, and
// dropped dead letters from Dead to Dropped. A piece of an oversize record may
// hold output that is counted with another piece.
func (r *roster) writeOff(b *Batch) {
	slices.Sort(b.refused)
	b.refused = slices.Compact(b.refused)
	n := min(int64(len(b.refused)), b.Stats.Emitted)
	orphans := min(int64(len(b.orphans)), b.Stats.Duplicates)
	dead := b.Stats.Dead
	if b.round == lateRound {
		dead += n
	}
	dead = min(dead, b.lostDeadLetters)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range []*record.Stats{&b.Stats, &r.feedOf(b.Lane).handled} {
		s.Emitted -= n
		s.Rejected += n
		s.Rejects[record.Refused] += n
		s.Duplicates -= orphans
		s.Dead += orphans
		s.Rejected += orphans
		s.Rejects[record.FirstRefused] += orphans
		if b.round == lateRound {
			s.Dead += n
		} else {
			s.Dropped += n
			s.Discards[record.Refused] += n
		}
		s.Dead -= dead
		s.Dropped += dead
		s.Discards[record.Refused] += dead
	}
}

// move moves n records of b in the ledger from Emitted to Duplicates.
func (r *roster) move(b *Batch, n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range []*record.Stats{&b.Stats, &r.feedOf(b.Lane).handled} {
		s.Emitted -= n
		s.Duplicates += n
	}
}

// due collects the watermarks of source i that have moved.
func (r *roster) due(i int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.feeds[i]
	for _, l := range r.lanes {
		if l.src != i {
			continue
		}
		if up, ok := l.undirty(); ok {
			f.ups = append(f.ups, up)
		}
	}
}

// sweep removes the lanes that have nothing left to do, and returns them. If
// watermarks are committed, only the committer calls it, between two commits, so
// that a commit that fails does not lose its lanes.
func (r *roster) sweep() (gone []*Lane) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lanes = slices.DeleteFunc(r.lanes, func(l *Lane) bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !l.over() || l.dirty && r.feedOf(l).committer != nil || r.finishes && l.whole() && !l.finished {
			return false
		}
		l.ring, l.outlets, l.filter = nil, nil, nil
		gone = append(gone, l)
		return true
	})
	return gone
}
