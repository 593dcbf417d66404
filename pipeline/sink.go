package pipeline

import "context"

// A Sink makes batches durable. The pipeline calls Open once, then Submit from
// many workers at a time (but in lane order, one at a time for a lane, if
// ordering is asked for), then Barrier, perhaps several times, with more
// submissions in between, then Close once; Close is called even if Open failed.
//
// The context of Open, Submit and Barrier is done at a hard stop. It does not
// matter then what becomes of the records: they are read again.
type Sink interface {
	Open(ctx context.Context) error
	// Submit hands over t.Stream() of b, which is not empty and read-only, until
	// t.Done is called. It blocks only for backpressure. If it returns nil, the
	// sink calls t.Done exactly once, perhaps before Submit returns, and in bounded
	// time without waiting for more batches, for there may be none left; if it
	// returns an error, never. An error ends the run, as Fatal does.
	Submit(ctx context.Context, b *Batch, t Ticket) error
	// Barrier makes all that was submitted before it durable, and answers it: all
	// calls of t.Done have returned when it returns nil. An error ends the run.
	Barrier(ctx context.Context) error
	// Close releases everything. A ticket that is not answered, which there is only
	// after a hard stop, is answered before Close returns. If ctx is done already
	// the run was cut short or has failed: nothing is published under a final name.
	// After a hard stop a Submit that does not come back may still be under way: once
	// it sees the sink closed it returns an error, or answers its ticket itself.
	Close(ctx context.Context) error
	// Caps says what the sink can do. It may be called before Open.
	Caps() SinkCaps
}

// SinkCaps says what a sink can do.
type SinkCaps struct {
	Durable        bool // Done(nil) means that the records survive a crash of this machine
	Ordered        bool // keeps the order in which batches are submitted; answers Retryable before it takes the next of the lane
	Dedups         bool // drops a batch that it has seen before
	MaxRecordBytes int  // longest record it takes; 0: any
}

// A Packer is a Sink whose batches are compressed by the workers, each batch to
// complete members or frames, so that compression uses all cores. With Stream.Apart
// each record is. What is packed
// is in Stream.Packed. Stream.Packed of Batch.Out belongs to the one sink that is a
// Packer, that of Batch.Dead to the dead-letter sink.
type Packer interface {
	// NewPack returns a function for one worker, or nil if nothing is to be
	// compressed. It appends the compressed form of src to dst. The function is not
	// shared between goroutines. NewPack is called after Open.
	NewPack() (func(dst, src []byte) []byte, error)
}

// A LanePacker is a Packer whose lanes differ in compression.
type LanePacker interface {
	// NewLanePack is Packer.NewPack, but the function is also given the lane of
	// src. It appends nothing for a lane that is not compressed.
	NewLanePack() (func(dst, src []byte, l *Lane) []byte, error)
}

// A PiecePacker is a Packer whose output takes the batches of one lane after the other.
// It can compress the pieces of an oversize record to one member.
type PiecePacker interface {
	// NewPiecePack returns a function for one worker. It appends the compressed form of
	// b.Out.Bytes, a piece that was passed through, to dst, and nothing if it cannot do
	// that: then the piece gets members of its own.
	NewPiecePack() (func(dst []byte, b *Batch) []byte, error)
}

// newPack returns the function that packs for s, nil if s does not pack.
func newPack(s Sink) (packFunc, error) {
	switch s := s.(type) {
	case LanePacker:
		return s.NewLanePack()
	case Packer:
		pack, err := s.NewPack()
		if pack == nil || err != nil {
			return nil, err
		}
		return func(dst, src []byte, _ *Lane) []byte { return pack(dst, src) }, nil
	}
	return nil, nil
}

// An Extent says how long an output is: what lies behind it is not covered by the
// checkpoint that was stored with it, and is cut off by the next run.
type Extent struct {
	Sink   string // name of the sink; filled in by the pipeline
	Lane   string // Lane.ID of the lane that the output belongs to; empty if it is of all
	Path   string
	Length int64 // bytes that are durable
}

// An ExtentReporter is a Sink whose outputs have a length that can be cut back to. Extents
// appends the extents of all its unfinished outputs. It is called between a Barrier
// and the next Submit.
type ExtentReporter interface {
	Extents(dst []Extent) []Extent
}

// A CutObserver is an ExtentReporter that is told when the extents that it gave last are
// stored: from then on no run cuts its outputs back below them. The committer calls
// it after CutCommitter.CommitCut. It does not block.
type CutObserver interface {
	CutStored()
}

// A Class says what an error of a sink means for the records.
type Class uint8

// The classes of sink errors. The zero value goes with no error.
const (
	OK        Class = iota
	Retryable       // nothing is lost: the pipeline submits the batch again, with backoff, for ever
	Permanent       // these records will never be taken: Options.OnRefused says what becomes of them
	Fatal           // the sink is gone for good (a closed pipe, a bad configuration): the run ends
)

// A Result is a sink's answer for one batch. The zero Result is success. An error
// without a class is Fatal. The text of an error holds no byte of a record.
type Result struct {
	Err    error
	Class  Class
	Failed []uint32 // with Permanent, indexes into Stream.Recs of the records that failed; nil: all of them

	// With Permanent, the error code of a broker, if all failed records have the same
	// one; else empty. Operators see it.
	Code string

	// With Permanent or Retryable, ascending indexes of the records that the sink has
	// left alone because [Ticket.Held] said so: only these are submitted again, in a
	// Stream of their own. None of them is in Failed.
	Untried []uint32
}
