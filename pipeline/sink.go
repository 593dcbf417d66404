package pipeline

import "context"

// A Sink makes batches durable. The pipeline calls Open once, then Submit from
// many workers at a time (but in lane order, one at a time for a lane, if
// ordering is asked for), then Barrier, then Close once; Close is called even if
// Open failed.
type Sink interface {
	Open(ctx context.Context) error
	// Submit hands over t.Stream() of b, read-only, until t.Done is called. It
	// blocks only for backpressure. If it returns nil, the sink calls t.Done
	// exactly once, perhaps before Submit returns; if it returns an error, never.
	Submit(ctx context.Context, b *Batch, t Ticket) error
	// Barrier makes all that was submitted before it durable, and answers it.
	Barrier(ctx context.Context) error
	Close(ctx context.Context) error
	Caps() SinkCaps
}

// SinkCaps says what a sink can do.
type SinkCaps struct {
	Durable        bool // Done(nil) means that the records survive a crash of this machine
	Ordered        bool // keeps the order in which batches are submitted
	Dedups         bool // drops a batch that it has seen before
	MaxRecordBytes int  // longest record it takes; 0: any
}

// A Packer is a Sink whose batches are compressed by the workers, each batch to
// complete members or frames, so that compression uses all cores.
type Packer interface {
	// NewPack returns a function for one worker. It appends the compressed form
	// of src to dst. The function is not shared between goroutines.
	NewPack() (func(dst, src []byte) []byte, error)
}

// A Class says what an error of a sink means for the records.
type Class uint8

// The classes of sink errors. The zero value goes with no error.
const (
	OK        Class = iota
	Retryable       // nothing is lost: the pipeline submits again, with backoff, for ever
	Permanent       // these records will never be taken: they go to the dead letter
	Fatal           // the sink is gone for good (a closed pipe, a bad configuration): the run ends
)

// A Result is a sink's answer for one batch.
type Result struct {
	Err    error
	Class  Class
	Failed []uint32 // indexes into Stream.Recs that failed; nil with Err set: all of them
}
