package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// commits reports whether a committer is needed: for a source that stores
// positions, or for a Finisher.
func (p *Pipeline) commits() bool {
	return p.finishes || slices.ContainsFunc(p.feeds, func(f *feed) bool { return f.committer != nil })
}

// commitSoon asks for a commit before the interval has passed.
func (p *Pipeline) commitSoon() {
	select {
	case p.hurry <- struct{}{}:
	default:
	}
}

// commit stores the watermarks that have moved and finishes lanes. Whatever
// fails is repeated by the next commit.
func (p *Pipeline) commit(ctx context.Context) error {
	defer p.sweep()
	var errs []error
	for i, f := range p.feeds {
		err := p.keep(f)
		if err == nil {
			err = p.commitFeed(ctx, i)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", f.name, err)
		}
		errs = append(errs, err)
	}
	err := errors.Join(errs...)
	if lost, ok := errors.AsType[*LostError](err); ok {
		p.fail(lost) // nothing may be published any more
	} else {
		err = errors.Join(err, p.finish(ctx))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.commitErr = ""; err != nil {
		p.commitErr = err.Error()
	} else {
		p.committed = time.Now()
	}
	return err
}

// keep calls Keep if the source is a Keeper.
func (p *Pipeline) keep(f *feed) error {
	if k, ok := f.Source.(Keeper); ok {
		return k.Keep()
	}
	return nil
}

// commitFeed stores the positions of source i.
func (p *Pipeline) commitFeed(ctx context.Context, i int) error {
	f := p.feeds[i]
	if f.committer == nil {
		return nil
	}
	f.ups = f.ups[:0]
	var err error
	if p.decisions != nil && p.decisions.lanes != nil {
		err = p.decisions.storeLanes(ctx, f)
	} else if p.decisions != nil {
		err = p.storeDecided(ctx, f)
	} else if p.o.ExactlyOnce {
		err = p.storeCut(f)
	} else if p.due(i); len(f.ups) > 0 {
		err = f.committer.Commit(ctx, f.ups)
	}
	for _, up := range f.ups {
		up.Lane.stored(err)
	}
	clear(f.ups)
	return err
}

// due collects the watermarks of source i that have moved.
func (p *Pipeline) due(i int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.feeds[i]
	for _, l := range p.lanes {
		if l.src != i {
			continue
		}
		if up, ok := l.undirty(); ok {
			f.ups = append(f.ups, up)
		}
	}
}

// undirty returns the watermark, and whether it has moved since the last call.
func (l *Lane) undirty() (up LanePos, moved bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &l.segs
	if s.released && l.base == l.next {
		s.held = false
	}
	s.cutDone, s.cutHeld = s.done, s.held
	up = LanePos{Lane: l, Pos: l.wm, Withdrawn: s.withdrawn != nil && l.base == l.next}
	if s.held {
		up.Pos = s.end
	}
	dirty := l.dirty
	l.dirty, l.storing = false, l.dirty
	return up, dirty
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
func (p *Pipeline) finish(ctx context.Context) error {
	if !p.finishes || p.stopped() {
		return nil
	}
	var errs []error
	var left []*Lane // finished, and Finish has not succeeded yet
	p.mu.Lock()
	for _, l := range p.lanes {
		if l.finishable(p.feedOf(l).committer != nil) {
			left = append(left, l)
		}
	}
	p.mu.Unlock()
	for i, s := range p.sinks {
		if f, ok := s.(Finisher); ok {
			left = finishAll(ctx, f, p.sinkName(i), left, &errs)
		}
	}
	for i, f := range p.feeds {
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
			l.tell()
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

// tell registers that the lane was finished.
func (l *Lane) tell() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.finished = true
}

// errLateCommit is the error if the final positions are not stored because the
// deadline expired during another commit.
var errLateCommit = errors.New("final commit skipped: shutdown deadline exceeded during another commit")

// lastCommit stores the final watermarks. It retries until the shutdown
// timeout, because the records after the last stored position will be written
// again.
func (p *Pipeline) lastCommit() error {
	if !p.commits() {
		return nil
	}
	ctx, cancel := context.WithTimeout(p.base, p.o.ShutdownTimeout)
	defer cancel()
	for try := 1; ; try++ {
		err := p.commit(ctx)
		if _, lost := errors.AsType[*LostError](err); err == nil || lost {
			return nil // a LostError is already the error of the run
		}
		p.complain(&p.commitLog, "final commit failed, retrying", "error", err)
		t := time.NewTimer(backoff(try))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return err
		}
	}
}
