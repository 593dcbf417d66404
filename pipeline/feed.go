package pipeline

import (
	"sync/atomic"
	"time"

	"github.com/urlfold/urlfold/codec/record"
)

// A feed is one source of a pipeline, and what is counted for it.
type feed struct {
	Source
	name      string
	committer Committer // the source, or nil
	acker     Acker     // the source, or nil
	finisher  Finisher  // the source, or nil

	account              // guarded by Pipeline.mu
	blocked atomic.Int64 // nanoseconds that it has waited for a free batch
	ups     []LanePos    // scratch of the committer
}

func newFeed(s Source, name string) *feed {
	f := &feed{Source: s, name: name}
	f.committer, _ = s.(Committer)
	f.acker, _ = s.(Acker)
	f.finisher, _ = s.(Finisher)
	return f
}

// An account is what has become of the records of one source.
type account struct {
	opened    int          // lanes
	bytes     int64        // emitted
	handled   record.Stats // of all batches that workers have handled
	resolved  record.Stats // of those that are durable
	flying    int64        // records between the two
	abandoned int64        // records that were given up
	given     int64        // batches that were given up
}

// ledger returns the ledger of the account.
func (a *account) ledger() Ledger {
	return Ledger{
		Read:      a.handled.Records,
		Emitted:   a.resolved.Emitted,
		Dropped:   a.resolved.Dropped,
		Filtered:  a.resolved.Filtered,
		Dead:      a.resolved.Dead,
		InFlight:  a.flying,
		Abandoned: a.abandoned,
	}
}

// feedOf returns the feed that l is a lane of.
func (p *Pipeline) feedOf(l *Lane) *feed { return p.feeds[l.src] }

// waited adds the time since start to what the source has waited.
func (f *feed) waited(start time.Time) { f.blocked.Add(int64(time.Since(start))) }
