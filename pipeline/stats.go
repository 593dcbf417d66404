package pipeline

import (
	"slices"

	"github.com/urlfold/urlfold/codec/record"
)

// A State is where a run stands.
type State uint32

// The states of a run, in their order.
const (
	Idle       State = iota // not started
	Running                 // the source reads
	Stopping                // the source was told to stop
	Draining                // the source has ended
	Committing              // everything is resolved, or was given up
	Closed                  // Run has returned, or is about to
)

// String returns the name of the state.
func (s State) String() string {
	names := [...]string{"idle", "running", "stopping", "draining", "committing", "closed"}
	if int(s) < len(names) {
		return names[s]
	}
	return "invalid"
}

// A Ledger says where the records are that were read by the workers. It holds at
// all times:
//
//	Read = Emitted + Dropped + Dead + InFlight + Abandoned
type Ledger struct {
	Read      int64
	Emitted   int64 // durable in every sink
	Dropped   int64
	Dead      int64 // durable in the dead letter
	InFlight  int64 // not resolved yet
	Abandoned int64 // given up by a hard stop: they are read again, and may come out twice
}

// Balanced reports whether every record is accounted for.
func (l Ledger) Balanced() bool {
	return l.Read == l.Emitted+l.Dropped+l.Dead+l.InFlight+l.Abandoned
}

// A Snapshot is what a run has done so far. All of it is taken at one moment,
// except Lanes and the counts of tries.
type Snapshot struct {
	State    State
	Ledger   Ledger
	Stats    record.Stats // of all records that workers have handled, resolved or not
	Bytes    int64        // emitted by the source
	InFlight int          // batches that were emitted and are not resolved
	Waiting  int          // submissions that wait for their next try
	Retries  int64        // submissions that were tried again
	Opened   int          // lanes opened so far
	Lanes    []LaneSnapshot
}

// A LaneSnapshot is the state of a lane that is open or has batches under way.
type LaneSnapshot struct {
	Name      string
	Bytes     int64 // emitted
	InFlight  int   // batches between Get and resolve
	Watermark Position
	Moved     bool // there is a watermark
	Ended     bool
	Stats     record.Stats // of resolved batches
}

// Snapshot returns what the run has done so far. It may be called at any time,
// and costs a copy of the counts and of those of the open lanes.
func (p *Pipeline) Snapshot() Snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := Snapshot{
		State:    State(p.state.Load()),
		Ledger:   p.ledger(),
		Stats:    p.handled,
		Bytes:    p.bytes,
		InFlight: int(p.outstanding.Load()),
		Waiting:  int(p.waiting.Load()),
		Retries:  p.retries.Load(),
		Opened:   p.opened,
		Lanes:    make([]LaneSnapshot, len(p.lanes)),
	}
	for i, l := range p.lanes {
		s.Lanes[i] = l.snapshot()
	}
	return s
}

func (l *Lane) snapshot() LaneSnapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	return LaneSnapshot{
		Name: l.name, Bytes: l.bytes, InFlight: l.flight(),
		Watermark: l.wm, Moved: l.moved, Ended: l.ended, Stats: l.stats,
	}
}

// ledger returns the ledger. The caller holds p.mu.
func (p *Pipeline) ledger() Ledger {
	return Ledger{
		Read:      p.handled.Records,
		Emitted:   p.settled.Emitted,
		Dropped:   p.settled.Dropped,
		Dead:      p.settled.Dead,
		InFlight:  p.flying,
		Abandoned: p.abandoned,
	}
}

// note counts what a worker has made of b.
func (p *Pipeline) note(b *Batch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.handled.Add(&b.Stats)
	p.flying += b.Stats.Records
}

// count counts b as resolved, or as given up.
func (p *Pipeline) count(b *Batch, durable bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flying -= b.Stats.Records
	if durable {
		p.settled.Add(&b.Stats)
		return
	}
	p.abandoned += b.Stats.Records
	p.given++
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
		if !l.over() || l.dirty && p.committer != nil {
			return false
		}
		l.ring, l.outlets = nil, nil
		return true
	})
}
