package file

import (
	"context"
	"sync"
)

// A job is a task for a reader or verifier, such as reading a track or
// comparing a candidate.
type job interface {
	do(ctx context.Context, w *watcher)
}

// A crew holds the state shared by the goroutines of a run: the queued jobs,
// and whether the run is over.
type crew struct {
	notify chan struct{} // wakes the poller

	mu       *sync.Mutex // lock of the watcher; guards the fields below
	reading  queue       // jobs of the readers
	checking queue       // jobs of the verifiers
	stop     bool
	fatal    error
}

// halt ends the run. The first err that is not nil becomes the error of the
// run.
func (c *crew) halt(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop = true
	if c.fatal == nil {
		c.fatal = err
	}
	c.wakeAll()
	c.nudge()
}

// nudge makes the next poll start soon.
func (c *crew) nudge() {
	select {
	case c.notify <- struct{}{}:
	default:
	}
}

func (c *crew) running() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.stop
}

// A queue holds the jobs for a group of goroutines. crew.mu guards it.
type queue struct {
	wake   *sync.Cond // ready has grown, or the run stops
	ready  []job
	active int // jobs that are queued or running
}

// enqueue adds a job to q. The caller holds mu.
func (c *crew) enqueue(q *queue, j job) {
	q.active++
	q.ready = append(q.ready, j)
	q.wake.Signal()
}

// wakeAll wakes all goroutines that wait for jobs. The caller holds mu.
func (c *crew) wakeAll() {
	c.reading.wake.Broadcast()
	c.checking.wake.Broadcast()
}

// workOff runs the jobs of q until the run stops.
func (c *crew) workOff(ctx context.Context, q *queue, w *watcher) {
	for {
		c.mu.Lock()
		for len(q.ready) == 0 && !c.stop {
			q.wake.Wait()
		}
		if c.stop {
			c.mu.Unlock()
			return
		}
		j := q.ready[0]
		q.ready = q.ready[1:]
		c.mu.Unlock()
		j.do(ctx, w)
		c.mu.Lock()
		if q.active--; q.active == 0 {
			c.nudge()
		}
		c.mu.Unlock()
	}
}
