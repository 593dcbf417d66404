package pipeline

import (
	"context"
	"time"
)

// commitLoop hands watermarks to the source until quit is closed.
func (p *Pipeline) commitLoop(quit <-chan struct{}) {
	t := time.NewTicker(p.o.CommitInterval)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			if err := p.commit(p.base); err != nil {
				p.complain(&p.commitLog, "cannot store the progress: it is tried again", "error", err)
			}
		case <-quit:
			return
		}
	}
}

// commit hands the watermarks that have moved to the source. If it fails they
// are due again.
func (p *Pipeline) commit(ctx context.Context) error {
	defer p.sweep()
	p.due()
	if len(p.ups) == 0 {
		return nil
	}
	err := p.committer.Commit(ctx, p.ups)
	if err != nil {
		for _, up := range p.ups {
			up.Lane.redirty()
		}
	}
	clear(p.ups)
	return err
}

// due collects the watermarks that have moved.
func (p *Pipeline) due() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ups = p.ups[:0]
	for _, l := range p.lanes {
		if pos, ok := l.undirty(); ok {
			p.ups = append(p.ups, LanePos{Lane: l, Pos: pos})
		}
	}
}

// undirty returns the watermark if it has moved since the last call.
func (l *Lane) undirty() (Position, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	dirty := l.dirty
	l.dirty = false
	return l.wm, dirty
}

// redirty says that what undirty returned was not stored.
func (l *Lane) redirty() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dirty = true
}

// lastCommit stores the final watermarks. It tries as long as a shutdown may
// take: progress that is not stored is work done twice.
func (p *Pipeline) lastCommit() error {
	if p.committer == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(p.base, p.o.ShutdownTimeout)
	defer cancel()
	for try := 1; ; try++ {
		err := p.commit(ctx)
		if err == nil {
			return nil
		}
		p.complain(&p.commitLog, "cannot store the final progress: it is tried again", "error", err)
		t := time.NewTimer(backoff(try))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return err
		}
	}
}
