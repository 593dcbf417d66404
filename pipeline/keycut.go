package pipeline

import (
	"context"
	"errors"
	"time"
)

// With deduplication, a commit stores the positions of all lanes at the cut of
// the decisions and the keys within it. For exactly-once delivery, the cut must
// also agree with the outputs:
//
//	committer: pause the decisions · Barrier · is everything that was decided settled?
//	           · watermarks, keys and extents · resume · Seal · CommitKeys · Stored
//
// Batches that were decided still pass while the decisions are paused. The gate
// before the sinks is not enough: a batch that waits there could have a lower
// number than one that has passed, and the cut would end between them.

// storeDecided stores the cut of the decisions, if it has moved.
func (p *Pipeline) storeDecided(ctx context.Context, f *feed) error {
	d := p.decisions
	c, err := p.takeDecided()
	switch {
	case errors.Is(err, errBusy) || p.o.ExactlyOnce && p.stopped():
		return nil // after a hard stop, the last stored cut remains valid
	case err != nil:
		return err
	}
	cut := KeyCut{Ups: f.ups, Exact: p.o.ExactlyOnce, Extents: p.extents}
	if cut.Keys, err = d.sealCut(c); err != nil {
		return err
	}
	if len(cut.Ups) == 0 && cut.Keys == nil {
		return nil
	}
	if err := f.committer.(KeyCommitter).CommitKeys(ctx, cut); err != nil {
		return err
	}
	if cut.Exact {
		p.cutStored()
	}
	if err := d.set.Stored(); err != nil {
		return err
	}
	d.stored(len(c.keys))
	if d.resume() {
		p.letDecide()
	}
	return nil
}

// takeDecided collects the watermarks and keys at the cut, and the extents if
// they are needed.
func (p *Pipeline) takeDecided() (c keyCut, err error) {
	d := p.decisions
	if !p.o.ExactlyOnce {
		return d.collect(func() { p.due(0) })
	}
	d.pause()
	defer func() {
		if d.resume() {
			p.letDecide()
		}
	}()
	if err := p.settleDecided(); err != nil {
		return c, err
	}
	p.collectExtents()
	return d.collect(func() { p.due(0) })
}

// settleDecided calls Barrier on all sinks until everything that was decided is
// settled. It gives up if a batch waits for a retry, which can take longer than
// a cut may take.
func (p *Pipeline) settleDecided() error {
	const tries, pause = 10, 5 * time.Millisecond
	for try := 0; ; try++ {
		for i := range p.sinks {
			if err := p.bringDown(i); err != nil {
				return err
			}
		}
		switch {
		case p.decisions.idle():
			return nil
		case p.stopped(), try >= tries && p.waiting.Load() > 0:
			return errBusy
		}
		p.sleep(pause)
	}
}
