package pipeline

import "context"

// A Source fills batches with the records of its lanes. The pipeline calls Open
// once, then Run once, then Close once; Close is called even if Open failed.
// A source implements at most one of [Committer] and [Acker], or neither (stdin,
// core NATS).
type Source interface {
	// Open connects and loads positions. It fails early on what can be known to
	// be wrong before the first record.
	Open(ctx context.Context, rt Runtime) error
	// Run emits batches until the input ends (nil), ctx is done (a soft stop:
	// emit the partial batch, end the lanes, return nil) or nothing more can be
	// read at all (an error). It may use many goroutines, all of which have
	// ended when it returns.
	Run(ctx context.Context) error
	// Close is called after the last commit.
	Close(ctx context.Context) error
}

// A Runtime is what the pipeline gives to a source. It may be used from many
// goroutines; a single lane by one goroutine at a time.
type Runtime interface {
	// NewLane opens a lane. With OrderInput, lanes are delivered in the order in
	// which they were opened.
	NewLane(name string, lim LaneLimits) *Lane
	// Get returns an empty batch for l. It blocks until one is free and l is
	// within its limits: this is the backpressure. The error is that of ctx,
	// ErrStopped after a hard stop, or ErrEnded. A goroutine that holds a batch
	// emits it, or puts it back, before it gets another one: many of them that
	// hold one and wait for one would wait for ever.
	Get(ctx context.Context, l *Lane) (*Batch, error)
	// Emit hands b over, with the position after its last record. It does not
	// block longer than one channel send. It fails with ErrStopped after a hard
	// stop, with ErrRevoked if the lane was revoked since Get, and with ErrEnded;
	// b has been put back then.
	Emit(ctx context.Context, b *Batch, end Position) error
	// Put gives back a batch that was not used.
	Put(b *Batch)
	// End says that l will emit nothing more. What Run leaves open is ended when
	// it returns. If the input of the lane is at its end, and not only the run, the
	// source calls [Lane.Complete] before.
	End(l *Lane)
}

// LaneLimits bound what is between Get and the watermark for one lane, and with
// that the duplicates after a crash. A zero field means the default.
type LaneLimits struct {
	// Batches is at most, and by default, twice the number of batches there are: a
	// batch that is stuck lets no more than these pass. With OrderInput it bounds
	// a lane only while lanes before it are not delivered, and its default is 4.
	Batches int
}

// A LanePos is a lane's watermark: everything before it is durable. Of a lane that is
// held (see [Lane.Hold]) it is the end of the last verified segment before that, and
// the zero Position if there is none.
type LanePos struct {
	Lane *Lane
	Pos  Position
	// Withdrawn says that all that was emitted is resolved, and that what lies behind
	// Pos was withdrawn: nothing more of the lane is to be read.
	Withdrawn bool
}

// A Committer is a Source that stores a position per lane: files, Kafka.
type Committer interface {
	// Commit stores watermarks. One goroutine calls it, with positions that only
	// grow for each lane. It is idempotent. An error is retried.
	Commit(ctx context.Context, ups []LanePos) error
}

// A CutCommitter is a Committer that stores, in one step, watermarks and how far
// the outputs of the sinks have come: with [Options.ExactlyOnce] it is called
// instead of Commit. What is in the outputs up to the extents is exactly what lies
// before the watermarks of all lanes, those that are not in ups included.
type CutCommitter interface {
	Committer
	CommitCut(ctx context.Context, ups []LanePos, extents []Extent) error
}

// A Keeper is a Committer that looks after the directory of its checkpoint:
// Keep is called in every commit interval, before Commit, and also if there is
// nothing to commit. An error is like that of Commit; a [LostError] of either ends
// the run at once.
type Keeper interface {
	Committer
	Keep() error
}

// An Acker is a Source that acknowledges single messages: JetStream. Its methods
// are called from many goroutines at a time, once for every batch in all, and
// should not block.
type Acker interface {
	// Resolved says that all of b is durable in every sink. b must not be kept.
	Resolved(b *Batch)
	// Abandoned says that b will never be resolved in this process. b must not be
	// kept.
	Abandoned(b *Batch, cause error)
}

// A Finisher is a Source or a Sink that is told when lanes are finished: their input
// is complete, all of it is durable, and their last positions are committed. The sinks
// are told first, then the source of the lanes, with all lanes at once that have come
// to that since the last commit. One goroutine calls it, after a commit.
//
// Finish returns nil, or an error or nil for each of the lanes. Those that have failed
// are finished again after the next commit, by all of them, so it is idempotent. A run
// that ends before does not call it.
type Finisher interface {
	Finish(ctx context.Context, lanes []*Lane) []error
}

// A Healther is a Source or a Sink that knows whether it can work. Health returns
// nil, or why not: the disk is full, no broker answers. It does not block.
type Healther interface {
	Health() error
}
