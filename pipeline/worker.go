package pipeline

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
)

// A worker takes batches one after the other, has its codec fill their output
// arenas, and submits them.
type worker struct {
	p        *Pipeline
	codec    Codec
	gen      uint64   // of codec
	pack     packFunc // for the sinks; nil: none of them packs
	packDead packFunc // for the dead letter
	piece    pieceFunc
}

type packFunc func(dst, src []byte, l *Lane) []byte

// A pieceFunc packs pieces of records that are compressed apart; see PiecePacker. Nil:
// they get members of their own.
type pieceFunc func(dst []byte, b *Batch) []byte

func (w *worker) run() {
	for {
		select {
		case b := <-w.p.work:
			w.handle(b)
		case <-w.p.notify:
			w.p.step()
		case <-w.p.over:
			return
		}
	}
}

// handle does what b came for and delivers it. After a hard stop it is given up
// on the way out, so that no other batch waits for it.
func (w *worker) handle(b *Batch) {
	p := w.p
	if p.stopped() {
		b.lost.Store(true)
	}
	if b.lost.Load() {
		p.deliver(b)
		return
	}
	if b.filtered && !b.late {
		p.cutFiltered(b)
		w.packStreams(b)
		p.deliver(b)
		return
	}
	var err error
	w.renew()
	if b.late {
		err = w.deadLetters(b)
	} else {
		err = w.process(b)
	}
	if err != nil {
		w.endAt(b, err)
	}
	switch {
	case b.late:
		p.deliver(b)
	case p.o.Filter != nil:
		p.note(b)
		p.filterBatch(b.Lane, b)
	default:
		p.note(b)
		p.deliver(b)
	}
}

// endAt ends the run because of an error at b. If that is a record at which the codec
// ends it, what lies before the record is still for the sinks.
func (w *worker) endAt(b *Batch, err error) {
	var end *haltError
	switch {
	case !errors.As(err, &end):
		b.lost.Store(true)
		w.p.fail(err)
		return
	case w.shorten(b):
		b.Lane.halt(b.Seq + 1) // before b is resolved: the watermark does not pass it
	default:
		b.lost.Store(true)
		b.Lane.halt(b.Seq)
	}
	w.p.halt(err)
}

// process has the codec read all records of b, and rejects those on which it
// panics.
func (w *worker) process(b *Batch) error {
	for !b.done() {
		v := w.try(b)
		if v == nil {
			if s, ok := w.codec.(Stopper); ok && s.Err() != nil {
				return &haltError{fmt.Errorf("%s, offset %d: %w", b.Lane.Name(), b.at(), s.Err())}
			}
			break
		}
		w.p.complain(&w.p.panicLog, "the codec panicked on a record, which is rejected",
			"lane", b.Lane.Name(), "offset", b.Off+int64(b.Next), "panic", panicText(v.value), "stack", string(v.stack))
		at := b.Next
		if err := w.guard(w.codec.Reject, b, "Reject"); err != nil {
			return err
		}
		if b.Next <= at {
			return bugf("Codec.Reject does not move on, lane %s, offset %d", b.Lane.Name(), b.Off+int64(at))
		}
	}
	if !b.done() {
		return bugf("Codec.Process left %d bytes and %d messages, lane %s", len(b.In)-b.Next, len(b.Msgs)-b.NextMsg, b.Lane.Name())
	}
	if w.p.o.Filter == nil {
		w.packStreams(b)
	}
	return nil
}

// A haltError is the error of a codec that ends the run.
type haltError struct{ err error }

func (e *haltError) Error() string { return e.err.Error() }
func (e *haltError) Unwrap() error { return e.err }

// A panicked is a panic that was caught.
type panicked struct {
	value any
	stack []byte
}

// try has the codec go on with b. It returns nil if the codec came to the end.
func (w *worker) try(b *Batch) (caught *panicked) {
	defer func() {
		if v := recover(); v != nil {
			caught = &panicked{value: v, stack: debug.Stack()}
		}
	}()
	w.codec.Process(b)
	return nil
}

// guard calls a function of the codec that must not panic.
func (w *worker) guard(f func(*Batch), b *Batch, name string) (err error) {
	at := b.Next
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("pipeline: panic in Codec.%s, lane %s, block from line %d, offset %d: %s",
				name, b.Lane.Name(), b.Line, b.Off+int64(at), panicText(v))
		}
	}()
	f(b)
	return nil
}

// panicText describes a panic without any byte of the record, which may hold a
// password: only errors of the runtime are known not to.
func panicText(v any) string {
	if err, ok := v.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("value of type %T", v)
}

// packStreams compresses what was made of b, if a sink wants that.
func (w *worker) packStreams(b *Batch) {
	if w.pack != nil && len(b.Out.Bytes) > 0 && !b.late {
		b.Out.Packed = b.Out.Packed[:0]
		if w.piece != nil && b.Out.Apart && b.Piece != Whole && b.Size > 0 && len(b.Out.Bytes) == len(b.In) {
			b.Out.Packed = w.piece(b.Out.Packed, b)
		}
		if len(b.Out.Packed) == 0 {
			b.Out.pack(w.pack, b.Lane)
		}
	}
	if w.packDead != nil && len(b.Dead.Bytes) > 0 {
		b.Dead.pack(w.packDead, b.Lane)
	}
}

// pack compresses what is in s.
func (s *Stream) pack(pack packFunc, l *Lane) {
	s.Packed = s.Packed[:0]
	if !s.Apart {
		s.Packed = pack(s.Packed, s.Bytes, l)
		return
	}
	for _, r := range s.Recs {
		if r.Len > 0 {
			s.Packed = pack(s.Packed, s.Bytes[r.Off:r.Off+r.Len], l)
		}
	}
}

// step moves on to the next lane, once no cut is being taken.
func (p *Pipeline) step() {
	p.gate.enter()
	defer p.gate.leave()
	p.moveOn()
}

// deliver submits b to the sinks, in the order that is asked for.
func (p *Pipeline) deliver(b *Batch) {
	defer p.stepDone()
	if b.late {
		b.pend.Store(1)
		b.legs[p.dead].begin()
		p.active.Add(1)
		p.submit(b, p.dead)
		return
	}
	p.gate.enter()
	defer p.gate.leave()
	n := len(p.sinks)
	b.pend.Store(int32(n) + 1) // one for this function: b stays while the loop runs
	p.active.Add(int64(n))
	for slot := range n {
		b.legs[slot].begin()
		if p.o.Ordering == OrderNone {
			p.submit(b, slot)
		} else {
			p.drain(b.Lane, slot, b)
		}
	}
	p.legDone(b)
	p.moveOn()
}
