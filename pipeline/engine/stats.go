package engine

import (
	"time"

	"github.com/urlfold/urlfold/internal/record"
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
	return named(s, "idle", "opening", "running", "stopping", "draining", "committing", "closed")
}

// named returns the name of the value v of an enumeration.
func named[T ~uint8 | ~uint32](v T, names ...string) string {
	if int(v) < len(names) {
		return names[v]
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
	Dead       int64 // durable as dead letters
	InFlight   int64 // not yet resolved
	Abandoned  int64 // given up by a hard stop, or delayed (see Batch.Delayed), and read again
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
// except Lanes, Sinks, Dedupe, Waiting, Retries, Committed and CommitErr.
type Snapshot struct {
	State      State
	Opening    string        // name of the sink or source that is being opened, in the state Opening
	Generation uint64        // generation of the current codec
	Ledger     Ledger        // total of all sources
	Stats      record.Stats  // counts of all records that workers have processed, resolved or not
	Bytes      int64         // bytes emitted by the sources
	InFlight   int           // batches that were emitted and are not resolved
	Waiting    int           // submissions that wait for a retry
	Retries    int64         // submissions that were retried
	Opened     int           // lanes opened
	Batches    int           // batches in the pipeline
	Free       int           // batches on the free list
	Busy       time.Duration // time that workers have spent on batches
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
	Last    time.Time     // when the last record was read; zero: none

	Delivery        Latency // from reading a batch until it is durable
	MessageDelivery Latency // from the time of the first message of a batch until the batch is durable
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
	switch { // lock the set before roster.mu, as a commit does
	case p.filtering.decisions != nil:
		dedupe = p.filtering.decisions.snapshot()
	case p.filtering.claims != nil:
		dedupe = p.filtering.claims.snapshot()
	}
	committed, commitErr := p.committer.status()
	p.roster.mu.Lock()
	defer p.roster.mu.Unlock()
	s := Snapshot{
		Dedupe:     dedupe,
		State:      State(p.state.Load()),
		Generation: p.codec.Load().n,
		InFlight:   int(p.outstanding.Load()),
		Waiting:    int(p.waiting.Load()),
		Retries:    p.delivery.retries.Load(),
		Batches:    p.o.Batches,
		Free:       len(p.pool.free),
		Busy:       time.Duration(p.busy.Load()),
		Lanes:      make([]LaneSnapshot, len(p.lanes)),
		Commits:    p.commits(),
		Committed:  committed,
		CommitErr:  commitErr,
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
	for i, t := range p.delivery.sinks {
		one := t.snapshot()
		one.Name, one.Dead = t.name, i == p.delivery.dead
		s.Sinks = append(s.Sinks, one)
	}
	for i, l := range p.lanes {
		s.Lanes[i] = l.snapshot()
	}
	return s
}

// snapshot returns the counts of f. The caller holds roster.mu.
func (f *feed) snapshot() SourceSnapshot {
	return SourceSnapshot{
		Name: f.name, Ledger: f.ledger(), Stats: f.handled, Bytes: f.bytes, Opened: f.opened,
		Blocked: time.Duration(f.blocked.Load()), Last: f.last, Delivery: f.delivery, MessageDelivery: f.messages,
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
