package pipeline

import (
	"errors"
	"time"
)

// Exactly-once delivery needs a consistent cut: watermarks and output lengths
// that belong together. A restart that resumes at the watermarks and truncates
// the outputs to these lengths then neither loses nor duplicates a record. The
// committer takes the cut while the gate is closed:
//
//	worker   ──▶ gate ──▶ all sinks of a batch
//	                ▲
//	committer: close · Barrier · is everything that was submitted resolved?
//	           · watermarks and extents · open ──▶ CommitCut
//
// A batch passes the gate for all of its sinks at once, and the batches of a
// lane pass in order. So when everything that has passed is resolved, the
// outputs hold exactly the batches before the watermarks. If a sink has
// requested a retry, or refused records are on their way to the dead letter, no
// cut is possible now, and the committer tries again in the next interval.

// errBusy reports that no cut could be taken.
var errBusy = errors.New("a batch is waiting for a retry")

// takeCut collects the watermarks of the only source and the extents of all
// sinks.
func (p *Pipeline) takeCut() error {
	p.gate.close()
	defer p.gate.open()
	if err := p.quiesce(); err != nil {
		return err
	}
	p.due(0)
	p.collectExtents()
	return nil
}

// collectExtents collects the extents of all sinks.
func (p *Pipeline) collectExtents() {
	p.extents = p.extents[:0]
	for i, s := range p.sinks {
		at := len(p.extents)
		p.extents = s.(ExtentReporter).Extents(p.extents)
		for j := range p.extents[at:] {
			p.extents[at+j].Sink = p.sinkName(i)
		}
	}
}

// quiesce calls Barrier on all sinks until everything that was submitted is
// resolved. Refused records need a moment for their second round, so quiesce
// makes several attempts; a batch that waits for a retry waits longer than a
// cut may take. The caller has closed the gate.
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

// allResolved reports whether everything that was submitted is resolved. The
// caller has closed the gate.
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

// storeCut takes and stores a cut, if possible.
func (p *Pipeline) storeCut(f *feed) error {
	err := p.takeCut()
	switch {
	case errors.Is(err, errBusy) || p.stopped():
		return nil // after a hard stop, the last stored cut remains valid
	case err != nil:
		return err
	case len(f.ups) == 0:
		return nil
	}
	if err := f.committer.(CutCommitter).CommitCut(p.base, f.ups, p.extents); err != nil {
		return err
	}
	p.cutStored()
	return nil
}

// cutStored tells the sinks that their extents are stored.
func (p *Pipeline) cutStored() {
	for _, s := range p.sinks {
		if o, ok := s.(CutObserver); ok {
			o.CutStored()
		}
	}
}
