package pipeline

import (
	"slices"
	"time"

	"github.com/urlfold/urlfold/codec/record"
)

// A State is the state of a run.
type State uint32

// The states of a run, in order.
const (
	Idle       State = iota // not started
	Opening                 // sinks and sources are being opened
	Running                 // the sources read
	Stopping                // the sources have been asked to stop
	Draining                // the sources have ended
	Committing              // everything is resolved or was given up
	Closed                  // Run has returned, or is about to
)

// String returns the name of the state.
func (s State) String() string {
	names := [...]string{"idle", "opening", "running", "stopping", "draining", "committing", "closed"}
	if int(s) < len(names) {
		return names[s]
	}
	return "invalid"
}

// A Ledger accounts for all records that the workers have read. At all times:
//
//	Read = Emitted + Dropped + Filtered + Duplicates + Dead + InFlight + Abandoned
type Ledger struct {
	Read       int64
	Emitted    int64 // durable in every sink
	Dropped    int64
	Filtered   int64 // dropped by a condition
	Duplicates int64 // dropped by the Filter of the pipeline
	Dead       int64 // durable in the dead letter
	InFlight   int64 // not yet resolved
	Abandoned  int64 // given up by a hard stop, or delayed (see Batch.Delayed); they are read again
}

// Balanced reports whether every record is accounted for.
func (l Ledger) Balanced() bool {
	return l.Read == l.Emitted+l.Dropped+l.Filtered+l.Duplicates+l.Dead+l.InFlight+l.Abandoned
}

// Add adds the counts of o to l.
func (l *Ledger) Add(o Ledger) {
	l.Read += o.Read
	l.Emitted += o.Emitted
	l.Dropped += o.Dropped
	l.Filtered += o.Filtered
	l.Duplicates += o.Duplicates
	l.Dead += o.Dead
	l.InFlight += o.InFlight
	l.Abandoned += o.Abandoned
}

// A Snapshot is the progress of a run. All of it is taken at the same moment,
// except Lanes, Sinks, Dedupe, Waiting and Retries.
type Snapshot struct {
	State      State
	Opening    string       // name of the sink or source that is being opened, in the state Opening
	Generation uint64       // of the current codec
	Ledger     Ledger       // total of all sources
	Stats      record.Stats // of all records that workers have processed, resolved or not
	Bytes      int64        // bytes emitted by the sources
	InFlight   int          // batches that were emitted and are not resolved
	Waiting    int          // submissions that wait for a retry
	Retries    int64        // submissions that were retried
	Opened     int          // lanes opened
	Batches    int          // batches in the pipeline
	Free       int          // batches on the free list
	Sources    []SourceSnapshot
	Sinks      []SinkSnapshot
	Lanes      []LaneSnapshot

	Dedupe *DedupeSnapshot // nil without deduplication

	Commits   bool      // positions are stored
	Committed time.Time // time of the last successful commit; zero: none
	CommitErr string    // error of the last commit; empty if it succeeded
}

// A SourceSnapshot is the progress of one source.
type SourceSnapshot struct {
	Name    string
	Ledger  Ledger
	Stats   record.Stats
	Bytes   int64         // bytes emitted
	Opened  int           // lanes opened
	Blocked time.Duration // time spent waiting for a batch or for a place in a lane
}

// A LaneSnapshot is the state of a lane that is open or has batches in flight.
type LaneSnapshot struct {
	Name      string
	Source    int   // index of the source
	Bytes     int64 // bytes emitted
	InFlight  int   // batches between Get and resolve
	Watermark Position
	Moved     bool // there is a watermark
	Ended     bool
	Oldest    time.Time // when the oldest unresolved batch was emitted; zero: no such batch
	Records   int64     // records of resolved batches
}

// Snapshot returns the progress of the run. It may be called at any time. It
// copies the counts and the states of the open lanes.
func (p *Pipeline) Snapshot() Snapshot {
	var dedupe *DedupeSnapshot
	switch { // before p.mu, as in a commit
	case p.decisions != nil:
		dedupe = p.decisions.snapshot()
	case p.claims != nil:
		dedupe = p.claims.snapshot()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s := Snapshot{
		Dedupe:     dedupe,
		State:      State(p.state.Load()),
		Generation: p.codec.Load().n,
		InFlight:   int(p.outstanding.Load()),
		Waiting:    int(p.waiting.Load()),
		Retries:    p.retries.Load(),
		Batches:    p.o.Batches,
		Free:       len(p.pool.free),
		Lanes:      make([]LaneSnapshot, len(p.lanes)),
		Commits:    p.commits(),
		Committed:  p.committed,
		CommitErr:  p.commitErr,
	}
	if name := p.opening.Load(); name != nil && s.State == Opening {
		s.Opening = *name
	}
	for _, f := range p.feeds {
		one := f.snapshot()
		s.Sources = append(s.Sources, one)
		s.Ledger.Add(one.Ledger)
		s.Stats.Add(&one.Stats)
		s.Bytes += one.Bytes
		s.Opened += one.Opened
	}
	for i := range p.meters {
		one := p.meters[i].snapshot()
		one.Name, one.Dead = p.sinkName(i), i == p.dead
		s.Sinks = append(s.Sinks, one)
	}
	for i, l := range p.lanes {
		s.Lanes[i] = l.snapshot()
	}
	return s
}

// snapshot returns the counts of f. The caller holds Pipeline.mu.
func (f *feed) snapshot() SourceSnapshot {
	return SourceSnapshot{
		Name: f.name, Ledger: f.ledger(), Stats: f.handled, Bytes: f.bytes, Opened: f.opened,
		Blocked: time.Duration(f.blocked.Load()),
	}
}

func (l *Lane) snapshot() LaneSnapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := LaneSnapshot{
		Name: l.name, Source: l.src, Bytes: l.bytes, InFlight: l.flight(),
		Watermark: l.wm, Moved: l.moved, Ended: l.ended, Records: l.stats.Records,
	}
	oldest := l.base
	if l.decisions != nil {
		oldest = max(l.base, l.low) // the ring does not hold the slots of released batches
	}
	if oldest < l.next {
		s.Oldest = l.at(oldest).at
	}
	return s
}

// note counts b after a worker has processed it.
func (p *Pipeline) note(b *Batch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.feedOf(b.Lane)
	f.handled.Add(&b.Stats)
	f.flying += b.Stats.Records
}

// count counts b as resolved or as given up.
func (p *Pipeline) count(b *Batch, durable bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.feedOf(b.Lane)
	f.flying -= b.Stats.Records
	if durable {
		b.Stats.Duplicates -= b.again // they are read again
		f.handled.Duplicates -= b.again
		f.abandoned += b.again
		f.resolved.Add(&b.Stats)
		return
	}
	f.abandoned += b.Stats.Records
	f.given++
}

// sweep removes the lanes that have nothing left to do. If watermarks are
// committed, only the committer calls it, between two commits, so that a commit
// that fails does not lose its lanes.
func (p *Pipeline) sweep() { p.decisions.closed(p.sweepLanes()) }

// sweepLanes implements sweep. It returns the lanes.
func (p *Pipeline) sweepLanes() (gone []*Lane) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lanes = slices.DeleteFunc(p.lanes, func(l *Lane) bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !l.over() || l.dirty && p.feedOf(l).committer != nil || p.finishes && l.whole() && !l.finished {
			return false
		}
		l.ring, l.outlets, l.filter = nil, nil, nil
		gone = append(gone, l)
		return true
	})
	return gone
}
