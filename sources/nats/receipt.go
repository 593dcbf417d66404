package nats

import (
	"context"
	"sync"
	"time"

	client "github.com/urlfold/urlfold/internal/client/nats"
	"github.com/urlfold/urlfold/pipeline"
)

// A receipt is what is kept of the messages of a batch until they are acknowledged.
// It is the Ext of its batch and used again with it.
type receipt struct {
	owner *jetStream

	mu      sync.Mutex
	of      *epoch
	refs    []string   // reply subjects
	dels    []delivery // likewise
	since   time.Time  // no message of the batch arrived before
	touched time.Time  // when the server heard of them last
}

// receiptOf returns the receipt of b, empty, and puts it on the list of what is in
// progress.
func (s *jetStream) receiptOf(b *pipeline.Batch, of *epoch, since, touched time.Time) *receipt {
	x, ok := b.Ext.(*receipt)
	if !ok || x.owner != s {
		x = &receipt{owner: s}
		b.Ext = x
	}
	x.mu.Lock()
	clear(x.refs)
	x.of, x.refs, x.dels, x.since, x.touched = of, x.refs[:0], x.dels[:0], since, touched
	x.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flying[x] = struct{}{}
	return x
}

// forget takes x off the list of what is in progress. Nobody but the caller reads
// it when it returns.
func (s *jetStream) forget(x *receipt) {
	s.mu.Lock()
	delete(s.flying, x)
	s.mu.Unlock()
	x.mu.Lock() // a report of it may be under way
	defer x.mu.Unlock()
	x.touched = time.Time{}
}

func (x *receipt) add(ref string, d delivery) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.refs = append(x.refs, ref)
	x.dels = append(x.dels, d)
}

// cut takes all but the first n messages out of x, and returns them.
func (x *receipt) cut(n int) []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	rest := x.refs[n:]
	x.refs, x.dels = x.refs[:n], x.dels[:n]
	return rest
}

func (x *receipt) len() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.refs)
}

// keep tells the server of messages that are in progress, before it delivers them
// again. There are few batches, so looking at all of them is cheap.
func (s *jetStream) keep(ctx context.Context) {
	var all []*receipt
	for client.Pause(ctx, max(s.info.Load().AckWait/8, 5*time.Millisecond)) == nil {
		now := time.Now()
		s.mu.Lock()
		all = all[:0]
		for x := range s.flying {
			all = append(all, x)
		}
		s.mu.Unlock()
		for _, x := range all {
			s.report(x, now)
		}
		clear(all)
	}
}

// report tells the server that the messages of x are in progress, if it is time.
func (s *jetStream) report(x *receipt, now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.touched.IsZero() || !s.due(x.since, x.touched, now) {
		return
	}
	x.touched = now
	s.answer(x.refs, client.InProgress, &s.stats.progress)
}

// due reports whether the server is to hear of a message that arrived at since and
// that it heard of at touched.
func (s *jetStream) due(since, touched, now time.Time) bool {
	return now.Sub(touched) >= s.info.Load().AckWait/2 && now.Sub(since) < s.cfg.MaxProcessingTime
}
