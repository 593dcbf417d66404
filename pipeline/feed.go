package pipeline

import (
	"sync/atomic"
	"time"

	"github.com/urlfold/urlfold/codec/record"
)

// A feed is one source of a pipeline with its counts.
type feed struct {
	Source
	name      string
	committer Committer // the source, or nil if it is not a Committer
	acker     Acker     // the source, or nil if it is not an Acker
	finisher  Finisher  // the source, or nil if it is not a Finisher

	account              // guarded by Pipeline.mu
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

// feedOf returns the feed of l.
func (p *Pipeline) feedOf(l *Lane) *feed { return p.feeds[l.src] }

// waited adds the time since start to the waiting time of the source.
func (f *feed) waited(start time.Time) { f.blocked.Add(int64(time.Since(start))) }
