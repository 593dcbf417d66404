package pipeline

import (
	"slices"
	"time"

	"github.com/urlfold/urlfold/codec/record"
)

// A State is where a run stands.
type State uint32

// The states of a run, in their order.
const (
	Idle       State = iota // not started
	Opening                 // sinks and sources are being opened
	Running                 // the sources read
	Stopping                // the source was told to stop
	Draining                // the source has ended
	Committing              // everything is resolved, or was given up
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

// A Ledger says where the records are that were read by the workers. It holds at
// all times:
//
//	Read = Emitted + Dropped + Filtered + Dead + InFlight + Abandoned
type Ledger struct {
	Read      int64
	Emitted   int64 // durable in every sink
	Dropped   int64
	Filtered  int64 // dropped by the filter
	Dead      int64 // durable in the dead letter
	InFlight  int64 // not resolved yet
	Abandoned int64 // given up by a hard stop: they are read again, and may come out twice
}

// Balanced reports whether every record is accounted for.
func (l Ledger) Balanced() bool {
	return l.Read == l.Emitted+l.Dropped+l.Filtered+l.Dead+l.InFlight+l.Abandoned
}

// Add adds o to l.
func (l *Ledger) Add(o Ledger) {
	l.Read += o.Read
	l.Emitted += o.Emitted
	l.Dropped += o.Dropped
	l.Filtered += o.Filtered
	l.Dead += o.Dead
	l.InFlight += o.InFlight
	l.Abandoned += o.Abandoned
}

// A Snapshot is what a run has done so far. All of it is taken at one moment,
// except Lanes, Sinks and the counts of tries.
type Snapshot struct {
	State      State
	Generation uint64       // of the codec in force
	Ledger     Ledger       // of all sources
	Stats      record.Stats // of all records that workers have handled, resolved or not
	Bytes      int64        // emitted by the sources
	InFlight   int          // batches that were emitted and are not resolved
	Waiting    int          // submissions that wait for their next try
	Retries    int64        // submissions that were tried again
	Opened     int          // lanes opened so far
	Batches    int          // that there are
	Free       int          // of them on the free list
	Sources    []SourceSnapshot
	Sinks      []SinkSnapshot
	Lanes      []LaneSnapshot

	Commits   bool      // there are positions to store
	Committed time.Time // when it was stored last; zero: never
	CommitErr string    // why it could not be stored since
}

// A SourceSnapshot is what one source has done so far.
type SourceSnapshot struct {
	Name    string
	Ledger  Ledger
	Stats   record.Stats
	Bytes   int64         // emitted
	Opened  int           // lanes
	Blocked time.Duration // that it has waited for a free batch
}

// A LaneSnapshot is the state of a lane that is open or has batches under way.
type LaneSnapshot struct {
	Name      string
	Source    int   // index
	Bytes     int64 // emitted
	InFlight  int   // batches between Get and resolve
	Watermark Position
	Moved     bool // there is a watermark
	Ended     bool
	Oldest    time.Time // when the oldest unresolved batch was emitted; zero: there is none
	Records   int64     // of resolved batches
}

// Snapshot returns what the run has done so far. It may be called at any time,
// and costs a copy of the counts and of those of the open lanes.
func (p *Pipeline) Snapshot() Snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := Snapshot{
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

// snapshot returns what is counted for f. The caller holds Pipeline.mu.
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
	if l.base < l.next {
		s.Oldest = l.at(l.base).at
	}
	return s
}

// note counts what a worker has made of b.
func (p *Pipeline) note(b *Batch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.feedOf(b.Lane)
	f.handled.Add(&b.Stats)
	f.flying += b.Stats.Records
}

// count counts b as resolved, or as given up.
func (p *Pipeline) count(b *Batch, durable bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.feedOf(b.Lane)
	f.flying -= b.Stats.Records
	if durable {
		f.resolved.Add(&b.Stats)
		return
	}
	f.abandoned += b.Stats.Records
	f.given++
}

// sweep forgets the lanes that have nothing left to do. If watermarks are
// committed only the committer calls it, between two commits: a commit that fails
// must find its lanes again.
func (p *Pipeline) sweep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lanes = slices.DeleteFunc(p.lanes, func(l *Lane) bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !l.over() || l.dirty && p.feedOf(l).committer != nil || p.finishes && l.whole() && !l.told {
			return false
		}
		l.ring, l.outlets, l.filter = nil, nil, nil
		return true
	})
}
