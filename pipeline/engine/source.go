package engine

import "context"

// A Source fills batches with the records of its lanes. The pipeline calls Open
// once, then Run once, then Close once; it calls Close even if Open failed. A
// source implements [Committer], [Acker] or neither of them (stdin, core NATS),
// but not both.
type Source interface {
	// Open connects and loads positions. It reports every problem that can be
	// detected before the first record is read. A hard stop cancels ctx, and so
	// does a soft stop while sinks and sources are being opened.
	Open(ctx context.Context, rt Runtime) error
	// Run emits batches until the input ends (it returns nil), until ctx is
	// done (a soft stop: it emits the partial batch, ends the lanes and returns
	// nil), or until it cannot read any more (it returns an error). It may use
	// many goroutines, all of which have ended when it returns.
	Run(ctx context.Context) error
	// Close releases the source. The pipeline calls it after the last commit.
	Close(ctx context.Context) error
}

// A Runtime is the interface through which a source uses the pipeline. It is
// safe for concurrent use, but only one goroutine at a time may use a given
// lane.
type Runtime interface {
	// NewLane opens a lane. With OrderInput, the pipeline delivers lanes in the
	// order in which they were opened.
	NewLane(name string, lim LaneLimits) *Lane
	// Get returns an empty batch for l. It blocks until a batch is free and l
	// is within its limits, which is how backpressure reaches the source. The
	// error is ctx.Err(), ErrStopped after a hard stop, or ErrEnded. A
	// goroutine that holds a batch must emit it or put it back before getting
	// another one; otherwise goroutines that each hold one batch and wait for a
	// second can deadlock.
	Get(ctx context.Context, l *Lane) (*Batch, error)
	// Emit hands b over, with the position after its last record. It does not
	// block. It returns ErrStopped after a hard stop, ErrRevoked if the lane
	// was revoked after Get, and ErrEnded if the lane has ended. In each of
	// these cases it has already put b back.
	Emit(ctx context.Context, b *Batch, end Position) error
	// Turn waits until a worker is without a batch, and takes its turn: until
	// the caller calls done, it may do work that the source would otherwise do
	// later. The caller must call done soon, and must not wait for anything
	// before that. Turn returns false when stop is closed, and after a hard
	// stop. With a single worker there are no turns.
	Turn(stop <-chan struct{}) (done func(), ok bool)
	// Put returns an unused batch to the free list.
	Put(b *Batch)
	// End declares that l will emit nothing more. The pipeline ends the lanes that are
	// still open when Run returns. If not only the run but also the input of the lane
	// has ended, the source calls [Lane.Complete] first.
	End(l *Lane)
}

// LaneLimits bounds the batches between Get and the watermark of one lane, and
// so the number of duplicates after a crash. A zero field selects its default.
type LaneLimits struct {
	// Batches is the maximum number of unresolved batches. The default and the
	// upper bound are twice the number of batches in the pipeline. So at most
	// this many batches of the lane can pass a batch that is stuck. With
	// OrderPerLane no batch can pass another one, and the upper bound leaves
	// two batches to other lanes. With OrderInput the limit applies only while
	// earlier lanes are not yet delivered, and the default is 4.
	Batches int
}

// A LanePos is a lane and its watermark: every record before Pos is durable.
// For a held lane (see [Lane.Hold]), Pos is the end of the last verified
// segment before the watermark, or the zero Position.
type LanePos struct {
	Lane *Lane
	Pos  Position
	// Withdrawn reports that everything the lane emitted is resolved and that
	// the text after Pos was withdrawn. The source must not read more of the
	// lane.
	Withdrawn bool
	// Note is stored in one step with Pos, and is what [Lane.LoadKeys] gets
	// later. Note is empty unless the lane keeps windows.
	Note string
	// Refused is set by Commit if the position was not stored and never will be,
	// because another process owns the lane. This is not an error.
	Refused bool
}

// A Committer is a Source that stores one position per lane, such as files and
// Kafka.
type Committer interface {
	// Commit stores watermarks. It is called from one goroutine, with positions
	// that never decrease within a lane. It must be idempotent, because the
	// pipeline retries it after an error.
	Commit(ctx context.Context, ups []LanePos) error
}

// A CutCommitter is a Committer that stores watermarks and the lengths of the
// sinks' outputs in one step. With [Options.ExactlyOnce] the pipeline calls
// CommitCut instead of Commit. Up to their extents, the outputs hold exactly
// the records before the watermarks of all lanes, including lanes that are not
// in ups.
type CutCommitter interface {
	Committer
	CommitCut(ctx context.Context, ups []LanePos, extents []Extent) error
}

// A Keeper is a Committer that maintains the directory of its checkpoint. The
// pipeline calls Keep before Commit in every commit interval, even if there is
// nothing to commit. An error is handled like an error of Commit; a [LostError]
// from either ends the run immediately.
type Keeper interface {
	Committer
	Keep() error
}

// An Acker is a Source that acknowledges single messages, such as JetStream.
// The pipeline calls exactly one of its methods for each emitted batch, from
// many goroutines concurrently. The methods should not block.
type Acker interface {
	// Resolved reports that all of b is durable in every sink. Resolved must
	// not retain b.
	Resolved(b *Batch)
	// Abandoned reports that this process will never resolve b. Abandoned must
	// not retain b.
	Abandoned(b *Batch, cause error)
}

// A Finisher is a Source or a Sink that does work when lanes finish. A lane is
// finished when its input is complete, all of it is durable, and its last
// position is committed. After a commit, one goroutine calls Finish with all
// lanes that have finished since the previous commit: first on the sinks, then
// on the source of those lanes.
//
// Finish returns nil, or one error or nil for each lane. After the next commit
// the pipeline calls Finish again on every Finisher for the lanes that failed,
// so Finish must be idempotent. It is not called for lanes that are unfinished
// when the run ends.
type Finisher interface {
	Finish(ctx context.Context, lanes []*Lane) []error
}

// A Healther is a Source or a Sink that reports whether it can work. Health
// returns nil, or the reason why it cannot work, such as a full disk or an
// unreachable broker. It must not block.
type Healther interface {
	Health() error
}
