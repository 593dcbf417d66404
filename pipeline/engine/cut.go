package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Exactly-once delivery needs a consistent cut: watermarks, and the output lengths at
// the same moment. A restart that resumes at the watermarks and truncates the outputs
// to these lengths then neither loses nor duplicates a record. The committer takes the
// cut while the gate is closed:
//
//	worker   ──▶ gate ──▶ all sinks of a batch
//	                ▲
//	committer: close · Barrier · is every submitted batch resolved?
//	           · watermarks and extents · open ──▶ CommitCut
//
// A batch passes the gate for all of its sinks together, and the batches of a
// lane pass in order. So when everything that has passed is resolved, the
// outputs hold exactly the batches before the watermarks. If a sink has
// requested a retry, or refused records are about to become dead letters, no
// cut is possible now, and the committer tries again in the next interval.

// With deduplication, the decisions have a cut, see decisions.go. A commit
// stores the positions of all lanes at that cut, and the keys within the cut.
// For exactly-once delivery, the cut must also agree with the outputs:
//
//	committer: pause the decisions · Barrier · is every decided batch settled?
//	           · watermarks, keys and extents · resume · Seal · CommitKeys · Stored
//
// Batches that were decided still pass while the decisions are paused. The gate
// before the sinks is not enough: a batch that waits there could have a lower
// number than one that has passed, and the cut would end between them.

// errBusy reports that no cut could be taken.
var errBusy = errors.New("a batch is waiting for a retry")

// storeCut takes and stores a cut of the only source, if possible.
func (c *committer) storeCut(ctx context.Context, f *feed) error {
	keys, err := c.takeCut()
	switch {
	case errors.Is(err, errBusy) || c.exact && c.stopped():
		return nil // after a hard stop, the last stored cut remains valid
	case err != nil:
		return err
	}
	d := c.filtering.decisions
	if d == nil {
		if len(f.ups) == 0 {
			return nil
		}
		committer, _ := As[CutCommitter](f.Source) // validate has checked that this succeeds
		if err := committer.CommitCut(c.base, f.ups, c.extents); err != nil {
			return err
		}
	} else {
		cut := KeyCut{Ups: f.ups, Exact: c.exact, Extents: c.extents}
		if cut.Keys, err = d.sealCut(keys); err != nil {
			return err
		}
		if len(cut.Ups) == 0 && cut.Keys == nil {
			return nil
		}
		committer, _ := As[KeyCommitter](f.Source)
		if err := committer.CommitKeys(ctx, cut); err != nil {
			return err
		}
	}
	if c.exact {
		for _, s := range c.delivery.sinks {
			if o, ok := As[CutObserver](s.Sink); ok {
				o.CutStored()
			}
		}
	}
	if d == nil {
		return nil
	}
	if err := d.set.Stored(); err != nil {
		return err
	}
	d.stored(len(keys.keys))
	c.filtering.resume()
	return nil
}

// takeCut collects the watermarks of the only source. With deduplication it also
// collects the keys, and for exactly-once delivery the extents of all sinks.
func (c *committer) takeCut() (keys keyCut, err error) {
	d := c.filtering.decisions
	if !c.exact {
		return d.collect(func() { c.due(0) })
	}
	if d == nil {
		c.delivery.gate.close()
		defer c.delivery.gate.open()
	} else {
		d.pause()
		defer c.filtering.resume()
	}
	if err := c.settle(); err != nil {
		return keys, err
	}
	if d == nil {
		c.due(0)
	} else {
		keys, err = d.collect(func() { c.due(0) })
	}
	c.report() // the extents depend on the watermarks: see Lane.Covered
	return keys, err
}

// report sets c.extents to the extents of all sinks.
func (c *committer) report() {
	c.extents = c.extents[:0]
	for _, s := range c.delivery.sinks {
		at := len(c.extents)
		reporter, _ := As[ExtentReporter](s.Sink)
		c.extents = reporter.Extents(c.extents)
		for j := range c.extents[at:] {
			c.extents[at+j].Sink = s.name
		}
	}
}

// begin stores the extents of the outputs before the first batch. A crash before the
// first cut then leaves known lengths of outputs that exist already, such as topics.
func (c *committer) begin(ctx context.Context) error {
	if !c.exact {
		return nil
	}
	if c.report(); len(c.extents) == 0 {
		return nil
	}
	f := c.feeds[0]
	var err error
	if c.filtering.decisions != nil {
		committer, _ := As[KeyCommitter](f.Source) // validate has checked that this succeeds
		err = committer.CommitKeys(ctx, KeyCut{Exact: true, Extents: c.extents})
	} else {
		committer, _ := As[CutCommitter](f.Source)
		err = committer.CommitCut(ctx, nil, c.extents)
	}
	if err != nil {
		return &OpenError{fmt.Errorf("%s: %w", f.name, err)}
	}
	return nil
}

// settle calls Barrier on all sinks until every submitted batch is resolved or, if
// duplicates are dropped, until every decided batch is settled. Refused records
// need a moment for their second round, so settle makes several attempts. After 10
// attempts it gives up, because a wait for a retry can take longer than a cut may
// take. With decisions, it gives up only if a batch then waits for a retry.
func (c *committer) settle() error {
	const tries, pause = 10, 5 * time.Millisecond
	d := c.filtering.decisions
	for try := 0; ; try++ {
		if err := c.delivery.bringDown(); err != nil {
			return err
		}
		switch {
		case d == nil && !slices.ContainsFunc(c.openLanes(), func(l *Lane) bool { return !l.allResolved() }), d != nil && d.idle():
			return nil
		case try >= tries && (d == nil || c.waiting.Load() > 0):
			return errBusy
		}
		c.sleep(pause)
	}
}

// bringDown calls Barrier on all sinks, to make everything they hold durable.
func (d *delivery) bringDown() error {
	d.barrier <- struct{}{}
	defer func() { <-d.barrier }()
	for _, s := range d.sinks {
		if d.stopped() {
			return ErrStopped
		}
		if err := s.Barrier(d.hard); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// allResolved reports whether each outlet has submitted exactly the batches
// before the watermark. A batch at which the lane was halted was given up in
// its outlet and does not count.
func (l *Lane) allResolved() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.outlets {
		o := &l.outlets[i]
		halted := l.base+1 == l.end.Load() && o.next > l.base
		if o.busy || o.stalled || o.redo < o.next || o.next != l.base && !halted {
			return false
		}
	}
	return true
}
