package engine

import "context"

// A Sink makes batches durable. The pipeline calls Open once, Submit from many
// workers concurrently (with an ordering: in lane order, one call at a time for
// each lane), Barrier one or more times with further submissions in between,
// and Close once. It calls Close even if Open failed.
//
// The context passed to Open, Submit and Barrier is canceled by a hard stop.
// The pipeline no longer depends on these records then, because they will be
// read again.
type Sink interface {
	// Open connects the sink or prepares its outputs. The pipeline opens all sinks
	// before the sources. While it does, a soft stop cancels ctx, too.
	Open(ctx context.Context) error
	// Submit hands over t.Stream() of b, which is not empty. The sink may read
	// it until it calls t.Done, and must not modify it. Submit blocks only for
	// backpressure. If it returns nil, the sink calls t.Done exactly once,
	// possibly before Submit returns, within bounded time and without waiting
	// for more batches, because there may be none left. If Submit returns an
	// error, the sink must not call t.Done, and the run ends as it does for
	// Fatal.
	Submit(ctx context.Context, b *Batch, t Ticket) error
	// Barrier makes everything that was submitted earlier durable, and answers
	// the tickets. When Barrier returns nil, all calls of t.Done for these
	// batches have returned. An error ends the run.
	Barrier(ctx context.Context) error
	// Close releases all resources. It first answers the tickets that are still
	// open, which exist only after a hard stop. If ctx is already done, the run
	// was cut short or has failed, and Close publishes nothing under a final
	// name. After a hard stop a blocked Submit may still be in progress; once
	// that Submit finds the sink closed, it returns an error or answers its
	// ticket itself.
	Close(ctx context.Context) error
	// Caps returns the capabilities of the sink. It may be called before Open.
	Caps() SinkCaps
}

// SinkCaps describes the capabilities of a sink.
type SinkCaps struct {
	Ordered        bool // takes batches in the order of submission, and answers Retryable before taking the next batch of the lane
	MaxRecordBytes int  // longest record that the sink accepts, in bytes; 0: no limit
}

// An Extent is the length of an output at a checkpoint. The checkpoint does not
// cover what follows: the next run truncates it or, in a topic, reads it back.
type Extent struct {
	Sink   string // name of the sink; filled in by the pipeline
	Lane   string // Lane.ID of the lane that the output belongs to; empty if it is shared by all lanes
	Path   string
	Length int64  // durable bytes; of a partition, an offset
	End    string // hexadecimal form of the bytes that must follow in a complete output, or of the state of a producer
	Begin  int64  // offset of the member that End completes
}

// An ExtentReporter is a Sink whose outputs can be truncated to an earlier
// length, or read back from there. Extents appends the extents of all unfinished
// outputs to dst. The pipeline calls it before the first Submit, and between a
// Barrier and the next Submit.
type ExtentReporter interface {
	Extents(dst []Extent) []Extent
}

// A CutObserver is an ExtentReporter that is notified when the extents that it
// last reported are stored. From then on no run truncates an output below its
// extent. The committer calls CutStored after CutCommitter.CommitCut. It must
// not block.
type CutObserver interface {
	CutStored()
}

// A Class describes what a sink's error means for the records.
type Class uint8

// The classes of sink errors. The zero value means that there is no error.
const (
	OK        Class = iota
	Retryable       // nothing is lost; the pipeline retries the batch with backoff, without limit
	Permanent       // the sink will never accept these records; Options.OnRefused decides what happens to them
	Fatal           // the sink cannot recover (a closed pipe, an invalid configuration); the run ends
)

// A Fault says what a sink objects to when it permanently refuses records.
type Fault uint8

// The faults.
const (
	FaultUnknown Fault = iota // either the records or the configuration of the sink is wrong: see refusals
	FaultRecord               // the records are wrong; the sink would accept others
	FaultSize                 // the records are too large
)

// A Result is a sink's answer for one batch. The zero Result means success. An
// error without a class is treated as Fatal. The error text must not contain
// any byte of a record.
type Result struct {
	Err    error
	Class  Class
	Failed []uint32 // with Permanent: indexes into Stream.Recs of the failed records; nil: all of them

	// Code is the broker's error code, with Permanent, if all failed records
	// have the same code; otherwise it is empty. It is shown to operators.
	Code string

	// Fault says, with Permanent, why the sink refuses all the failed records.
	Fault Fault

	// Untried holds, with Permanent or Retryable, the ascending indexes of the records
	// that the sink did not write because [Ticket.Held] returned true. Only these are
	// submitted again, in a separate Stream. No index is in both Untried and Failed.
	Untried []uint32
}
