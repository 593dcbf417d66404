package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/urlfold/urlfold/internal/ground/pause"
)

// A committer stores the positions of the sources, in intervals, and finishes
// lanes. It is the only goroutine that does either.
type committer struct {
	*run
	*roster
	delivery          *delivery
	filtering         *filtering
	interval, timeout time.Duration
	exact             bool          // exactly once
	hurry             chan struct{} // holds one signal: a commit is due before the next interval
	ended             chan struct{} // closed after the last commit
	extents           []Extent      // scratch space
	complaints        throttle

	mu        sync.Mutex
	committed time.Time // time of the last successful commit
	commitErr string    // error of the last commit; empty if it succeeded
}

// loop commits in intervals until quit is closed.
func (c *committer) loop(quit <-chan struct{}) {
	t := time.NewTicker(c.interval)
	defer t.Stop()
	for c.commits() {
		interval := false
		select {
		case <-t.C:
			interval = true
		case <-c.hurry:
		case <-quit:
			return
		}
		if err := c.commit(c.base); err != nil {
			c.complain(&c.complaints, "commit failed, retrying", "error", err)
		}
		if interval {
			// An attempt to take a cut closes the gate, and may last a whole
			// interval. If the next attempt followed immediately, no batch
			// could pass the gate and nothing would ever be resolved.
			t.Reset(c.interval)
		}
	}
}

// soon asks for a commit before the interval has passed.
func (c *committer) soon() {
	select {
	case c.hurry <- struct{}{}:
	default:
	}
}

// commit stores the watermarks that have moved and finishes lanes. Whatever
// fails is repeated by the next commit.
func (c *committer) commit(ctx context.Context) error {
	defer func() { c.filtering.decisions.closed(c.sweep()) }()
	var errs []error
	for i, f := range c.feeds {
		var err error
		if k, ok := As[Keeper](f.Source); ok {
			err = k.Keep()
		}
		if err == nil {
			err = c.commitFeed(ctx, i)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", f.name, err)
		}
		errs = append(errs, err)
	}
	err := errors.Join(errs...)
	if lost, ok := errors.AsType[*LostError](err); ok {
		c.fail(lost) // from now on, nothing may be published
	} else {
		err = errors.Join(err, c.finish(ctx))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.commitErr = ""; err != nil {
		c.commitErr = err.Error()
	} else {
		c.committed = time.Now()
	}
	return err
}

// status returns when the last commit succeeded, and the error of the last
// commit; empty if it succeeded.
func (c *committer) status() (committed time.Time, failure string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.committed, c.commitErr
}

// commitFeed stores the positions of source i.
func (c *committer) commitFeed(ctx context.Context, i int) error {
	f := c.feeds[i]
	if f.committer == nil {
		return nil
	}
	f.ups = f.ups[:0]
	var err error
	if d := c.filtering.decisions; d != nil && d.lanes != nil {
		err = c.storeLanes(ctx, f)
	} else if d != nil || c.exact {
		err = c.storeCut(ctx, f)
	} else if c.due(i); len(f.ups) > 0 {
		err = f.committer.Commit(ctx, f.ups)
	}
	for _, up := range f.ups {
		up.Lane.stored(err)
	}
	clear(f.ups)
	return err
}

// undirty returns the watermark, and whether it has moved since the last call.
func (l *Lane) undirty() (up LanePos, moved bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	up = LanePos{Lane: l}
	up.Pos, up.Withdrawn = l.segments.cut(l.wm, l.base == l.next)
	moved, l.dirty, l.storing = l.dirty, false, l.dirty
	return up, moved
}

// stored registers whether the result of undirty was stored.
func (l *Lane) stored(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.storing = false
	l.dirty = l.dirty || err != nil
}

// finish calls Finish for the finished lanes, first on the sinks and then on
// the sources.
func (c *committer) finish(ctx context.Context) error {
	if !c.finishes || c.stopped() {
		return nil
	}
	var errs []error
	var left []*Lane // finished lanes for which Finish has not succeeded yet
	for _, l := range c.openLanes() {
		if l.finishable(c.feedOf(l).committer != nil) {
			left = append(left, l)
		}
	}
	for _, s := range c.delivery.sinks {
		if f, ok := As[Finisher](s.Sink); ok {
			left = finishAll(ctx, f, s.name, left, &errs)
		}
	}
	for i, f := range c.feeds {
		var own []*Lane
		for _, l := range left {
			if l.src == i {
				own = append(own, l)
			}
		}
		if f.finisher != nil {
			own = finishAll(ctx, f.finisher, f.name, own, &errs)
		}
		for _, l := range own {
			l.mu.Lock()
			l.finished = true
			l.mu.Unlock()
		}
	}
	return errors.Join(errs...)
}

// finishAll calls f.Finish. It returns the lanes that succeeded, and appends
// each distinct error to errs once.
func finishAll(ctx context.Context, f Finisher, name string, lanes []*Lane, errs *[]error) (left []*Lane) {
	if len(lanes) == 0 {
		return nil
	}
	failed := f.Finish(ctx, lanes)
	if failed == nil {
		return lanes
	}
	seen := map[string]bool{}
	for i, l := range lanes {
		switch err := failed[i]; {
		case err == nil:
			left = append(left, l)
		case !seen[err.Error()]:
			seen[err.Error()] = true
			*errs = append(*errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	return left
}

// finishable reports whether l is complete, durable and stored, and not
// finished yet.
func (l *Lane) finishable(commits bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.whole() && !l.finished && l.over() && l.base == l.next && !(commits && l.dirty)
}

// errLateCommit is the error if the final positions are not stored because the
// deadline expired during another commit.
var errLateCommit = errors.New("final commit skipped: shutdown deadline exceeded during another commit")

// lastCommit stores the final watermarks. It retries until the shutdown
// timeout, because the records after the last stored position will be written
// again.
func (c *committer) lastCommit() error {
	if !c.commits() {
		return nil
	}
	ctx, cancel := context.WithTimeout(c.base, c.timeout)
	defer cancel()
	for try := 1; ; try++ {
		err := c.commit(ctx)
		if _, lost := errors.AsType[*LostError](err); err == nil || lost {
			return nil // a LostError is already the error of the run
		}
		c.complain(&c.complaints, "final commit failed, retrying", "error", err)
		if pause.For(ctx, backoff(try)) != nil {
			return err
		}
	}
}
