package pipeline

import (
	"errors"
	"time"
)

// Exactly once needs a consistent cut: watermarks and lengths of outputs that
// belong together, so that a restart which goes back to the one and cuts off the
// other neither loses nor doubles a record. It is taken with the gate closed:
//
//	worker   ──▶ gate ──▶ all sinks of a batch
//	                ▲
//	committer: close · Barrier · is everything that was submitted resolved?
//	           · watermarks and extents · open ──▶ CommitCut
//
// A batch passes the gate for all of its sinks at once, and each lane in order. So
// when nothing that has passed is unresolved, the outputs hold the batches before
// the watermarks, and nothing else. If a sink wants a batch again, or refused
// records that are on their way to the dead letter, there is no cut now; the next
// interval has another chance.

// errBusy says that no cut could be taken.
var errBusy = errors.New("a batch waits to be submitted again")

// takeCut collects the watermarks of the only source and the extents of all sinks.
func (p *Pipeline) takeCut() error {
	p.gate.close()
	defer p.gate.open()
	if err := p.quiesce(); err != nil {
		return err
	}
	p.due(0)
	p.extents = p.extents[:0]
	for i, s := range p.sinks {
		at := len(p.extents)
		p.extents = s.(ExtentReporter).Extents(p.extents)
		for j := range p.extents[at:] {
			p.extents[at+j].Sink = p.sinkName(i)
		}
	}
	return nil
}

// quiesce brings all sinks down until nothing that was submitted is unresolved. What
// a sink refuses goes round once more, and that takes a moment; who waits for a
// retry waits longer than a cut may take. The caller holds the gate.
func (p *Pipeline) quiesce() error {
	const tries, pause = 10, 5 * time.Millisecond
	for range tries {
		for i := range p.sinks {
			if err := p.bringDown(i); err != nil {
				return err
			}
		}
		if p.allResolved() {
			return nil
		}
		p.sleep(pause)
	}
	return errBusy
}

// allResolved reports whether all that was submitted is resolved. The caller holds
// the gate.
func (p *Pipeline) allResolved() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.lanes {
		if !l.allResolved() {
			return false
		}
	}
	return true
}

// allResolved reports whether each outlet has submitted what lies before the
// watermark, and nothing more: what was halted was given up in its place.
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

// storeCut stores a cut, if one can be taken.
func (p *Pipeline) storeCut(f *feed) error {
	err := p.takeCut()
	switch {
	case errors.Is(err, errBusy) || p.stopped():
		return nil // after a hard stop, the last one that was stored holds
	case err != nil:
		return err
	case len(f.ups) == 0:
		return nil
	}
	if err := f.committer.(CutCommitter).CommitCut(p.base, f.ups, p.extents); err != nil {
		return err
	}
	for _, s := range p.sinks {
		if o, ok := s.(CutObserver); ok {
			o.CutStored()
		}
	}
	return nil
}
