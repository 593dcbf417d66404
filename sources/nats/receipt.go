package nats

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	client "github.com/urlfold/urlfold/internal/client/nats"
	"github.com/urlfold/urlfold/internal/ground/pause"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A receipt holds what is needed to acknowledge the messages of a batch. It is
// stored in Batch.Ext and reused with the batch.
type receipt struct {
	owner *jetStream

	mu      sync.Mutex
	of      *epoch
	refs    []string   // reply subjects
	dels    []delivery // in the same order
	since   time.Time  // lower bound of the arrival times
	touched time.Time  // when the messages were last reported to the server

	count atomic.Int64 // len(refs), for readers that must not wait for a report
}

// receiptOf returns an empty receipt for b and adds it to the batches in
// progress.
func (s *jetStream) receiptOf(b *engine.Batch, of *epoch, since, touched time.Time) *receipt {
	x, ok := b.Ext.(*receipt)
	if !ok || x.owner != s {
		x = &receipt{owner: s}
		b.Ext = x
	}
	x.mu.Lock()
	clear(x.refs)
	x.of, x.refs, x.dels, x.since, x.touched = of, x.refs[:0], x.dels[:0], since, touched
	x.count.Store(0)
	x.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flying[x] = struct{}{}
	return x
}

// forget removes x from the batches in progress. When it returns, only the
// caller uses x.
func (s *jetStream) forget(x *receipt) {
	s.mu.Lock()
	delete(s.flying, x)
	s.mu.Unlock()
	x.mu.Lock() // wait for a concurrent report
	defer x.mu.Unlock()
	x.touched = time.Time{}
}

func (x *receipt) add(ref string, d delivery) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.refs = append(x.refs, ref)
	x.dels = append(x.dels, d)
	x.count.Add(1)
}

// cut removes all but the first n messages from x and returns them.
func (x *receipt) cut(n int) []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	rest := x.refs[n:]
	x.refs, x.dels = x.refs[:n], x.dels[:n]
	x.count.Store(int64(n))
	return rest
}

// split removes from x the messages that satisfy delayed, and returns them.
func (x *receipt) split(delayed func(i int) bool) (rest []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := 0
	for i, ref := range x.refs {
		if delayed(i) {
			rest = append(rest, ref)
			continue
		}
		x.refs[n], x.dels[n] = ref, x.dels[i]
		n++
	}
	x.refs, x.dels = x.refs[:n], x.dels[:n]
	x.count.Store(int64(n))
	return rest
}

// keep reports messages in progress to the server, so that it does not
// redeliver them. There are few batches, so checking all of them is cheap.
func (s *jetStream) keep(ctx context.Context) {
	var all []*receipt
	for pause.For(ctx, max(s.info.Load().AckWait/8, 5*time.Millisecond)) == nil {
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

// report reports the messages of x as in progress if that is due.
func (s *jetStream) report(x *receipt, now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.touched.IsZero() || !s.due(x.since, x.touched, now) {
		return
	}
	x.touched = now
	s.answer(x.refs, client.InProgress, &s.stats.progress)
}

// due reports whether a message that arrived at since, and was last reported at
// touched, must be reported to the server.
func (s *jetStream) due(since, touched, now time.Time) bool {
	return now.Sub(touched) >= s.info.Load().AckWait/2 && now.Sub(since) < s.cfg.MaxProcessingTime
}
