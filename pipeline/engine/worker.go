package engine

import (
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/urlfold/urlfold/internal/ground/redact"
)

// A worker takes one batch after the other, runs its codec to fill the output
// arenas, and submits the batch.
type worker struct {
	p     *Pipeline
	codec Codec
	gen   uint64      // generation of codec
	mark  markFunc    // marks duplicates; nil: they are dropped
	turns <-chan turn // requests of sources to run while the worker is idle; nil: it accepts none
}

// A markFunc is what Dedupe.NewMark returns.
type markFunc func(s *Stream, duplicates []uint32) error

func (w *worker) run() {
	q := &w.p.work
	for {
		if b := q.take(); b != nil { // batches first
			w.handle(b)
			continue
		}
		select {
		case <-q.signal:
		case t := <-w.turns:
			<-t
		case <-w.p.notify:
			w.p.delivery.nextLane()
		case <-w.p.over:
			return
		}
	}
}

// handle performs the next step of b and delivers it. After a hard stop it
// delivers b as lost, so that no other batch waits for it.
func (w *worker) handle(b *Batch) {
	p := w.p
	defer func(start time.Time) { p.busy.Add(int64(time.Since(start))) }(time.Now())
	if p.stopped() {
		b.lost.Store(true)
	}
	if b.lost.Load() {
		p.delivery.deliver(b)
		return
	}
	if b.round == decidedRound {
		w.finish(b)
		p.delivery.deliver(b)
		return
	}
	var err error
	w.renew()
	if b.round == lateRound {
		err = w.deadLetters(b)
	} else {
		err = w.process(b)
	}
	if err != nil {
		w.endAt(b, err)
	}
	switch {
	case b.round == lateRound:
		p.delivery.deliver(b)
	case p.filtering.claims != nil:
		p.note(b)
		p.filtering.claims.ask(b)
	case p.filtering.on():
		p.note(b)
		p.filtering.filterBatch(b.Lane, b)
	default:
		p.note(b)
		p.delivery.deliver(b)
	}
}

// finish prepares b for the sinks, after the decision about its records.
func (w *worker) finish(b *Batch) {
	if len(b.marked) > 0 {
		if err := w.mark(&b.Out, b.marked); err != nil {
			b.lost.Store(true)
			w.p.fail(fmt.Errorf("mark duplicates, lane %s, batch from line %d: %w", b.Lane.Name(), b.Line, err))
			return
		}
	}
	w.p.filtering.cutFiltered(b)
	w.share(b)
}

// endAt ends the run because of an error in b. If the codec ended the run at a
// record, the records before it are still delivered to the sinks.
func (w *worker) endAt(b *Batch, err error) {
	var end *haltError
	switch {
	case !errors.As(err, &end):
		b.lost.Store(true)
		w.p.fail(err)
		return
	case w.shorten(b):
		lower(&b.Lane.end, b.Seq+1) // before b is resolved, so that the watermark does not pass it
	default:
		b.lost.Store(true)
		lower(&b.Lane.end, b.Seq)
	}
	w.p.halt(err)
}

// process runs the codec on all records of b, and rejects the records on which
// the codec panics.
func (w *worker) process(b *Batch) error {
	for !b.done() {
		v := w.try(b)
		if v == nil {
			if s, ok := w.codec.(Stopper); ok && s.Err() != nil {
				return &haltError{fmt.Errorf("%s, offset %d: %w", b.Lane.Name(), b.at(), s.Err())}
			}
			break
		}
		w.p.complain(&w.p.panicLog, "codec panic, record rejected",
			"lane", b.Lane.Name(), "offset", b.Off+int64(b.Next), "panic", redact.Panic(v.value), "stack", string(v.stack))
		at := b.Next
		if err := w.guard(w.codec.Reject, b, "Reject"); err != nil {
			return err
		}
		if b.Next <= at {
			return bugf("Codec.Reject does not advance, lane %s, offset %d", b.Lane.Name(), b.Off+int64(at))
		}
	}
	if !b.done() {
		return bugf("Codec.Process left %d bytes and %d messages unprocessed, lane %s", len(b.In)-b.Next, len(b.Msgs)-b.NextMsg, b.Lane.Name())
	}
	if !w.p.filtering.on() {
		w.share(b)
	}
	return nil
}

// A haltError is the error of a codec that ends the run.
type haltError struct{ err error }

func (e *haltError) Error() string { return e.err.Error() }
func (e *haltError) Unwrap() error { return e.err }

// A panicked is a recovered panic.
type panicked struct {
	value any
	stack []byte
}

// try runs Codec.Process on b. It returns nil if Process returned normally.
func (w *worker) try(b *Batch) (caught *panicked) {
	defer func() {
		if v := recover(); v != nil {
			caught = &panicked{value: v, stack: debug.Stack()}
		}
	}()
	w.codec.Process(b)
	return nil
}

// guard calls a codec method that must not panic.
func (w *worker) guard(f func(*Batch), b *Batch, name string) (err error) {
	at := b.Next
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("pipeline: panic in Codec.%s, lane %s, batch from line %d, offset %d: %s",
				name, b.Lane.Name(), b.Line, b.Off+int64(at), redact.Panic(v))
		}
	}()
	f(b)
	return nil
}

// share divides the output of b among the sinks.
func (w *worker) share(b *Batch) {
	for slot := range w.p.o.Sinks {
		g := &b.legs[slot]
		if g.owns = len(b.Out.To) > 0; g.owns {
			g.out.pick(&b.Out, 1<<slot)
		}
	}
}
