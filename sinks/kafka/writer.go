package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A writer writes to one partition, one record batch at a time.
type writer struct {
	s  *sink
	id int

	mu    sync.Mutex
	queue []piece
	over  bool // the sink was closed; nothing is queued any more
	wake  chan struct{}

	// The fields below are owned by the goroutine of run.
	refs     []ref // records of the current record batch
	enc      kafka.Encoder
	rec      kafka.Record
	memory   memory // for rec
	producer kafka.Producer
	known    bool  // producer is valid or not needed
	sequence int32 // sequence number of the next record
	next     int64 // offset after the last record that the topic is known to have
	unsure   bool  // a killed process may still write with the next sequence number, see confirm
}

// maxRecords is the maximum number of records in a record batch.
const maxRecords = 10_000

// put queues p. After Close it answers p immediately.
func (w *writer) put(p piece) {
	w.mu.Lock()
	over := w.over
	if !over {
		w.queue = append(w.queue, p)
	}
	w.mu.Unlock()
	if over {
		w.drop(p)
		return
	}
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// run writes the queued records until the sink is stopped.
func (w *writer) run() {
	for {
		if w.take() {
			w.write(w.refs)
			clear(w.refs)
			w.refs = w.refs[:0]
			if w.s.ctx.Err() != nil {
				return
			}
			continue
		}
		select {
		case <-w.wake:
		case <-w.s.ctx.Done():
			return
		}
	}
}

// take moves the records of the next record batch from the queue to refs. It
// reports whether there are any.
func (w *writer) take() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	size, limit := 0, int(w.s.cfg.BatchBytes)
	done := 0
	for done < len(w.queue) && size < limit {
		p := &w.queue[done]
		recs := p.j.t.Stream().Recs
		n := 0
		for n < len(p.records) && len(w.refs) < maxRecords {
			r := p.records[n]
			if size += int(recs[r].Len) + perRecord; size > limit && len(w.refs) > 0 {
				break
			}
			w.refs = append(w.refs, ref{p.j, r})
			n++
		}
		p.records = p.records[n:]
		if len(p.records) > 0 {
			break
		}
		done++
	}
	rest := copy(w.queue, w.queue[done:])
	clear(w.queue[rest:])
	w.queue = w.queue[:rest]
	return len(w.refs) > 0
}

// perRecord is an estimate of the size of a record, in bytes, in addition to
// its value.
const perRecord = 50

// write writes refs and answers each of them.
func (w *writer) write(refs []ref) {
	for {
		refs = w.skip(w.leave(refs))
		if len(refs) == 0 {
			return
		}
		err := w.send(refs)
		if written := err == nil; w.unsure && (written || errors.Is(err, errUnsure)) {
			if err = w.confirm(written); err == nil {
				continue
			}
		}
		var refused *kafka.RecordsError
		switch {
		case err == nil:
			w.answer(refs)
			return
		case !errors.As(err, &refused):
			// After a hard stop or a panic, refs count as not written.
			class := engine.Retryable
			if errors.As(err, new(*kafka.PanicError)) {
				class = engine.Fatal
			}
			for _, r := range refs {
				w.s.fail(r.j, r.record, class, err)
			}
			return
		case len(refs) == 1:
			w.s.refuse(refs[0], refused)
			return
		case len(refused.Records) > 0 && refused.Records[len(refused.Records)-1] < len(refs):
			w.s.splits.Add(1)
			refs = w.refuse(refs, refused)
		default:
			w.s.splits.Add(1)
			half := len(refs) / 2
			w.write(refs[:half])
			refs = refs[half:]
		}
	}
}

// leave answers the records that must not be tried, and returns the others.
func (w *writer) leave(refs []ref) []ref {
	if !slices.ContainsFunc(refs, func(r ref) bool { return r.j.t.Held() }) {
		return refs
	}
	rest := refs[:0]
	for _, r := range refs {
		if r.j.t.Held() {
			w.s.leave(r)
			continue
		}
		rest = append(rest, r)
	}
	return rest
}

// refuse answers the refused records, and returns the others.
func (w *writer) refuse(refs []ref, e *kafka.RecordsError) []ref {
	rest := refs[:0]
	bad := e.Records
	for i, r := range refs {
		if len(bad) > 0 && bad[0] == i {
			bad = bad[1:]
			w.s.refuse(r, e)
			continue
		}
		rest = append(rest, r)
	}
	return rest
}

var errRefused = errors.New("kafka sink: record refused by the broker")

// answer counts refs as written.
func (w *writer) answer(refs []ref) {
	for i := 0; i < len(refs); {
		n := i
		for n < len(refs) && refs[n].j == refs[i].j {
			n++
		}
		w.s.done(refs[i].j, n-i)
		i = n
	}
}

// drop answers p as not written, because the sink was stopped.
func (w *writer) drop(p piece) {
	for _, r := range p.records {
		w.s.fail(p.j, r, engine.Retryable, errStopped)
	}
}

// send appends one record batch to the partition. It retries until the batch is
// written, the broker refuses its records, or the sink is stopped.
func (w *writer) send(refs []ref) error {
	if err := w.encode(refs); err != nil {
		return err
	}
	for try := 0; ; try++ {
		err := w.try(len(refs))
		var refused *kafka.RecordsError
		if err == nil || errors.As(err, &refused) {
			w.s.fault(w.id, nil)
			return err
		}
		if errors.As(err, new(*kafka.PanicError)) || errors.Is(err, errUnsure) {
			return err
		}
		if w.s.ctx.Err() != nil {
			return errStopped
		}
		w.s.fault(w.id, err)
		if kafka.CodeOf(err) != kafka.RequestTimedOut {
			w.s.client.Refresh()
		}
		if !kafka.Pause(w.s.ctx, try) {
			return errStopped
		}
	}
}

// encode encodes refs as one record batch.
func (w *writer) encode(refs []ref) (err error) {
	defer caught(&err)
	w.enc.Reset()
	for _, r := range refs {
		w.s.format.message(&w.rec, &w.memory, r.j.b, r.j.t.Stream(), int(r.record))
		w.enc.Append(&w.rec)
	}
	return nil
}

// caught turns a panic of the function that has deferred it into *err.
func caught(err *error) {
	if e := kafka.Caught(recover()); e != nil {
		*err = fmt.Errorf("kafka sink: %w", e)
	}
}

// try makes one attempt to send the encoded batch of n records.
func (w *writer) try(n int) (err error) {
	defer caught(&err)
	if err := w.identify(w.s.ctx); err != nil {
		return err
	}
	batch, err := w.enc.Finish(w.producer, w.sequence, w.s.codec)
	if err != nil {
		return err
	}
	offset, err := w.s.client.Produce(w.s.ctx, w.s.cfg.Topic, w.id, batch)
	switch kafka.CodeOf(err) {
	case 0:
		if err != nil {
			w.enc.Release() // the client may still read the batch
			return err
		}
	case kafka.DuplicateSequence: // already written
	case kafka.OutOfOrderSequence, kafka.UnknownProducer, kafka.InvalidProducerID, kafka.InvalidProducerEpoch, kafka.FencedProducer:
		if w.unsure {
			return errUnsure
		}
		w.known = !w.s.cfg.Idempotent // the broker no longer knows this producer; request a new id
		return err
	default:
		return err
	}
	if !w.unsure { // otherwise confirm finds out
		w.sequence = kafka.NextSequence(w.sequence, n)
		w.next = max(w.next, offset+int64(n))
	}
	return nil
}

// identify requests a producer id if necessary.
func (w *writer) identify(ctx context.Context) error {
	if w.known {
		return nil
	}
	p, err := w.s.client.NewProducer(ctx)
	switch code := kafka.CodeOf(err); {
	case code != kafka.ClusterUnauthorized && code != kafka.UnsupportedVersion:
	case w.s.cfg.ExactlyOnce:
		err = fmt.Errorf("exactly_once requires idempotent writes, which the brokers do not allow: %w", err)
	default:
		w.s.mu.Lock()
		said := w.s.plain
		w.s.plain = true
		w.s.mu.Unlock()
		if !said {
			w.s.log.Warn("idempotent writes not allowed, retries may duplicate records", "error", err)
		}
		p, err = kafka.NoProducer, nil
	}
	if err != nil {
		return err
	}
	w.producer, w.sequence, w.known = p, 0, true
	return nil
}
