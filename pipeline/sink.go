package pipeline

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A Sink makes records durable. The pipeline calls Open once, then Submit from many
// goroutines, Barrier one or more times with further submissions in between, and Close
// once, even if Open failed.
//
// A sink can have further methods:
//
//   - Health() error: the status page and /readyz report the error. Health must not block.
//   - CheckConnect(context.Context) error: "urlfold check -c --connect" calls it.
//   - NeedsFacts() bool: if it returns true, OutputRecord.Key returns the key of the first URL of
//     the record; otherwise it returns the zero Key.
//   - Unwrap() Sink: a sink that passes its work on to another sink, for example to count
//     the records, returns the other sink. Without this method, a wrapper around a sink of
//     this module is refused, because the outputs of the inner sink would never get their
//     names.
type Sink interface {
	// Open connects the sink or prepares its outputs.
	Open(ctx context.Context) error
	// Submit hands over the records of t, at least one. If it returns nil, the sink answers
	// t exactly once, from any goroutine, possibly before Submit returns, without waiting
	// for more records. If it returns an error, it has not answered t, and the run ends.
	// Submit blocks only for backpressure.
	Submit(ctx context.Context, t Ticket) error
	// Barrier makes all records durable that were submitted before, and answers
	// their tickets. An error ends the run.
	Barrier(ctx context.Context) error
	// Close releases all resources and answers tickets that are still open, which exist
	// only if the run was ended early. If ctx is done, the run has failed.
	Close(ctx context.Context) error
	// Caps returns what the sink can do. It may be called before Open.
	Caps() SinkCaps
}

// SinkCaps describes what a sink can do.
type SinkCaps struct {
	// Ordered reports that the sink takes tickets in the order of submission:
	// if it answers a ticket with Retry or Refuse, it does so before it takes
	// the next ticket of the lane.
	Ordered bool
	// MaxRecordBytes is the length in bytes of the longest record that the sink accepts; 0:
	// no limit.
	MaxRecordBytes int
}

// A ContractError reports that a source, a sink or the pipeline broke its
// contract, such as a sink that answered a ticket twice. A ContractError ends
// the run.
type ContractError = engine.ContractError

// A Ticket is a batch of output that a sink must answer, by one call of Ack,
// Retry, Refuse, RefuseAll, RefuseAt, Untried or Fail. It is a value; copy it
// to keep it. Its records may be read until the ticket is answered, but never
// modified. The zero Ticket is empty, and answers to it do nothing.
//
// The text of an error must not contain bytes of a record, which may hold a password.
type Ticket struct {
	b      *engine.Batch
	t      engine.Ticket
	strict bool // a refusal ends the run
}

// Len returns the number of records, or 0 if the ticket was answered.
func (t Ticket) Len() int {
	if !t.t.Live() {
		return 0
	}
	return len(t.t.Stream().Recs)
}

// Bytes returns all records one after the other, or nil if the ticket was answered.
func (t Ticket) Bytes() []byte {
	if !t.t.Live() {
		return nil
	}
	return t.t.Stream().Bytes
}

// Records returns the records with their indexes, in order. A ticket that was
// answered is empty. Neither an OutputRecord nor its bytes may be kept after the
// answer.
func (t Ticket) Records() iter.Seq2[int, OutputRecord] {
	return func(yield func(int, OutputRecord) bool) {
		if !t.t.Live() {
			return
		}
		s := t.t.Stream()
		for i, r := range s.Recs {
			if !yield(i, OutputRecord{Bytes: s.Bytes[r.Off : r.Off+r.Len : r.Off+r.Len], b: t.b, s: s, i: i}) {
				return
			}
		}
	}
}

// LaneName returns the name of the lane that the records are from.
func (t Ticket) LaneName() string {
	if t.b == nil {
		return ""
	}
	return t.b.Lane.Name()
}

// LaneID returns the identity of the lane. No other lane has the same
// identity, not even in a later process, unless that lane continues from a
// stored position. See [OutputRecord.Origin].
func (t Ticket) LaneID() string {
	if t.b == nil {
		return ""
	}
	return t.b.Lane.ID()
}

// Dead reports whether the records are dead letters.
func (t Ticket) Dead() bool { return t.b != nil && t.t.Live() && t.b.IsDead(t.t.Stream()) }

// Held reports whether the sink must not write the records that it has not written yet,
// because an earlier record of their lane was refused and the lane waits for it: answer with
// Untried. A sink that answers each ticket before Submit returns need not ask.
func (t Ticket) Held() bool { return t.t.Held() }

// Ack answers that all records are durable.
func (t Ticket) Ack() { t.answer(engine.Result{}) }

// Retry answers that none of the records could be written now. The pipeline submits them
// again without limit, at first after 100 ms, then after pauses that double up to 30 s.
func (t Ticket) Retry(err error) { t.answer(engine.Result{Class: engine.Retryable, Err: err}) }

// Fail answers that the sink cannot go on. The run ends with err.
func (t Ticket) Fail(err error) { t.answer(engine.Result{Class: engine.Fatal, Err: err}) }

// RefuseAll answers that the sink will never accept any of the records. They go to the dead
// letter, or as the configuration says. In a pipeline without a configuration and without a
// dead letter, the run ends with err, because the records could go nowhere.
func (t Ticket) RefuseAll(err error) { t.refuse(engine.Result{Err: err}) }

// refuse answers with a refusal.
func (t Ticket) refuse(r engine.Result) {
	switch {
	case r.Err == nil:
		t.Fail(&ContractError{Text: "a sink refused records without an error"})
	case t.strict:
		t.Fail(fmt.Errorf("records are refused, and there is no dead letter: %w", r.Err))
	default:
		t.t.Hold()
		r.Class = engine.Permanent
		t.answer(r)
	}
}

// Refuse answers that the sink will never accept the records with these
// indexes, in ascending order, and that all others are durable; see
// RefuseAll. An empty list of indexes is a [ContractError].
func (t Ticket) Refuse(err error, records ...int) {
	if len(records) == 0 {
		t.Fail(&ContractError{Text: "a sink called Refuse without a record"})
		return
	}
	failed, ok := indexes(records)
	if !ok {
		t.Fail(&ContractError{Text: fmt.Sprintf("a sink refused the records %v, which are not in ascending order", records)})
		return
	}
	t.refuse(engine.Result{Err: err, Failed: failed})
}

// RefuseAt answers that the sink will never accept the record with this index,
// that the earlier records are durable, and that it has not tried the later
// records, which are submitted again. This is the answer of a sink that keeps
// an order. See RefuseAll.
func (t Ticket) RefuseAt(err error, record int) {
	n := t.Len()
	if record < 0 || record >= n {
		t.Fail(&ContractError{Text: fmt.Sprintf("a sink refused the record with index %d, but the ticket has %d records", record, n)})
		return
	}
	t.refuse(engine.Result{Err: err, Failed: []uint32{uint32(record)}, Untried: from(record+1, n)})
}

// Untried answers that the records before index first are durable, and that the others were
// not tried, because [Ticket.Held] returned true. They are submitted again.
func (t Ticket) Untried(first int) {
	n := t.Len()
	if first < 0 || first >= n {
		t.Fail(&ContractError{Text: fmt.Sprintf("a sink called Untried(%d), but the ticket has %d records", first, n)})
		return
	}
	t.answer(engine.Result{Class: engine.Retryable, Err: errHeld, Untried: from(first, n)})
}

var errHeld = errors.New("an earlier record of the lane was refused")

// answer answers t, unless it is the zero Ticket.
func (t Ticket) answer(r engine.Result) {
	if t.b != nil {
		t.t.Done(r)
	}
}

// indexes returns records as a Result needs them, and whether they ascend.
func indexes(records []int) (list []uint32, ok bool) {
	before := -1
	for _, i := range records {
		if i <= before || uint64(i) > math.MaxUint32 {
			return nil, false
		}
		list, before = append(list, uint32(i)), i
	}
	return list, true
}

// from returns the indexes from first to n - 1.
func from(first, n int) (list []uint32) {
	for i := first; i < n; i++ {
		list = append(list, uint32(i))
	}
	return list
}

// An OutputRecord is one record of a [Ticket].
type OutputRecord struct {
	Bytes []byte // the bytes to write, with the line end; read-only

	b *engine.Batch
	s *engine.Stream
	i int
}

// Origin returns where the record is from. pos is its offset in the lane in
// bytes, or the position of the message that contained it. index is its index
// among the output records with this position. The lane, pos and index are the
// same each time that a record is read.
func (r OutputRecord) Origin() (pos int64, index int) { return r.b.Origin(r.s, r.i) }

// Key returns the key of the first URL of the record. It returns the zero
// Key if there is no URL, or if the sink has no method NeedsFacts that
// returns true.
func (r OutputRecord) Key() codec.Key {
	if r.i >= len(r.s.Facts) {
		return codec.Key{}
	}
	return r.s.Facts[r.i].Key
}

// MessageKey returns the key of the message that contained the record, or nil.
func (r OutputRecord) MessageKey() []byte {
	if len(r.b.Msgs) == 0 {
		return nil
	}
	return r.b.Key(&r.b.Msgs[r.s.Recs[r.i].Msg])
}

// Headers returns the headers of the message that contained the record, in
// order.
func (r OutputRecord) Headers() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		if len(r.b.Msgs) == 0 {
			return
		}
		more := true
		r.b.Headers(&r.b.Msgs[r.s.Recs[r.i].Msg], func(name, value []byte) {
			more = more && yield(string(name), value)
		})
	}
}
