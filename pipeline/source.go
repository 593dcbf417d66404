package pipeline

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"github.com/urlfold/urlfold/internal/kinds"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A Source reads records. The pipeline calls Open once, then Run once, then Close once; it
// calls Close even if Open failed.
//
// A source may also be a [Committer] or an [Acker], but not both. It can have further
// methods:
//
//   - Health() error: the status page and /readyz report the error. Health must not block.
//   - CheckConnect(context.Context) error: "urlfold check -c --connect" calls it instead of Open.
//   - Unwrap() Source: a source that passes its work on to another source returns the other
//     source, so that the pipeline finds the methods of the other source, too.
type Source interface {
	// Open connects, loads positions and reports every problem that can be
	// found before the first record. The source may keep rt. The end of ctx
	// means that the run is over.
	Open(ctx context.Context, rt *Runtime) error
	// Run emits records until the input ends or ctx is done (it returns nil then), or
	// until it cannot read any more. It may use many goroutines, all of which have ended
	// when it returns.
	Run(ctx context.Context) error
	// Close releases the source. The pipeline calls it after the last Commit.
	Close(ctx context.Context) error
}

// A Committer is a Source that stores how far its lanes are durable, and goes on from there
// in the next process.
type Committer interface {
	// Commit stores positions: everything before them is durable in all sinks. One
	// goroutine calls it, about once a second, and again after an error. The positions of
	// a lane never decrease.
	Commit(ctx context.Context, done []LanePosition) error
}

// A LanePosition is the position up to which a lane is durable.
type LanePosition struct {
	Lane   string // id of the lane
	Offset int64  // what [Runtime.Lane] takes as start, in bytes; 0 for a lane of messages
	Token  int64  // what the source gave to Emit with the last durable batch
}

// An Acker is a Source that acknowledges messages one by one. The pipeline calls one of the
// methods for each emitted batch, from many goroutines. They must not block.
type Acker interface {
	// Durable reports that all records of a batch are durable in all sinks. tag
	// was set by [Batch.SetTag].
	Durable(tag any)
	// Abandoned reports that this process will not make the records of a batch
	// durable, because of cause.
	Abandoned(tag any, cause error)
}

// ErrStopped is the error of [Runtime.Get] and [Runtime.Emit] when the run was ended before
// everything was durable. A source returns it, or nil, from Run.
var ErrStopped = engine.ErrStopped

// A Runtime gives a source its lanes and empty batches, and takes the filled
// batches. Many goroutines may use it, but only one at a time may use a given
// lane.
type Runtime struct {
	rt     engine.Runtime
	name   string        // name of the source
	stored bool          // the source stores positions
	format kinds.Framing // framing of the records; nil: unknown
	mu     sync.Mutex
	open   map[string]bool // lanes, by id
}

// Lane opens a lane: one ordered stream of records, such as a file or a
// partition. id must not be empty, and must differ from the ids of the other
// open lanes of the source; otherwise the error is a [ContractError].
//
// Sinks build the ids of messages, by which servers recognize a repetition,
// from the name of the source, id and the position of a record. For a source
// that stores positions (a [Committer] or an [Acker]), id must be the same in
// each process, and start be the stored [LanePosition].Offset, or 0 before the
// first: with a smaller start, new records would get the ids of old records,
// and a server would drop the new records. For any other source the ids are new
// each time that a lane is opened, because nothing distinguishes its records
// from the records of the last process; start is then an offset to begin with.
func (rt *Runtime) Lane(id string, start int64) (*Lane, error) {
	switch {
	case id == "":
		return nil, rt.bug("opens a lane without an id")
	case start < 0:
		return nil, rt.bug(fmt.Sprintf("opens lane %q at the negative offset %d", id, start))
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if rt.open[id] {
		return nil, rt.bug(fmt.Sprintf("opens lane %q, which is open", id))
	}
	rt.open[id] = true
	l := &Lane{lane: rt.rt.NewLane(id, engine.LaneLimits{}), rt: rt, id: id, off: start, line: 1}
	unique := rt.name + "/" + id
	if !rt.stored {
		unique += "/" + rand.Text()
	}
	l.lane.SetID(unique)
	l.lane.SetRel(id)
	return l, nil
}

// bug returns the error for a contract that the source violated.
func (rt *Runtime) bug(text string) error {
	return &ContractError{Part: rt.name, Text: rt.name + " " + text}
}

// Get returns an empty batch for l. It blocks until a batch is free, which
// is the backpressure of the pipeline. The error comes from ctx, is
// [ErrStopped], or says that the lane has ended. A goroutine must emit its
// batch before getting another batch.
func (rt *Runtime) Get(ctx context.Context, l *Lane) (*Batch, error) {
	b, err := rt.rt.Get(ctx, l.lane)
	if err != nil {
		return nil, err
	}
	b.Ext = nil
	return &Batch{b: b, lane: l}, nil
}

// Emit hands b over to the workers. The records of b must be whole. The source
// chooses token, which may be 0. A [Committer] gets token back with the
// position after b. Emit does not block. An empty batch goes back to the
// pipeline unused. b must not be used afterwards, whatever Emit returns.
func (rt *Runtime) Emit(ctx context.Context, b *Batch, token int64) error {
	in, l := b.b, b.lane
	if in == nil {
		return rt.bug("emitted a batch twice")
	}
	b.b = nil
	if len(in.In) == 0 && len(in.Msgs) == 0 {
		rt.rt.Put(in)
		return nil
	}
	if b.text && len(in.Msgs) > 0 {
		rt.rt.Put(in)
		return rt.bug("emitted a batch of lane " + l.id + " with both records and messages")
	}
	in.Off, in.Line = l.off, l.line
	if b.text && l.off == 0 && !l.headed && rt.format != nil {
		if n := rt.format.Head(in.In); n > 0 {
			l.SetHead(in.In[:n])
		}
	}
	if b.text {
		l.off += int64(len(in.In))
		l.line += int64(bytes.Count(in.In, []byte{'\n'}))
	}
	return rt.rt.Emit(ctx, in, engine.Position{A: l.off, B: token})
}

// A Lane is an open lane. See [Runtime.Lane].
type Lane struct {
	lane *engine.Lane
	rt   *Runtime
	id   string
	off  int64 // offset of the next batch in the stream of the lane
	line int64 // number of the first line of the next batch

	headed bool
}

// SetHead sets the header record of a table, such as the column names of a
// CSV file, with its line end, if the records of the lane do not begin with
// the header, because the lane continues from a stored position. The source
// calls it before the first Emit of the lane.
func (l *Lane) SetHead(rec []byte) {
	l.headed = true
	l.lane.SetHead(rec)
}

// Drain waits until everything that the lane has emitted is durable. The error
// comes from ctx, or is [ErrStopped] if the run was ended or part of the lane
// was given up.
func (l *Lane) Drain(ctx context.Context) error { return l.lane.Drain(ctx) }

// End ends the lane. complete says that its input has ended, and not only the run. The
// lane must not be used afterwards. Its id may be opened again.
func (l *Lane) End(complete bool) {
	if complete {
		l.lane.Complete()
	}
	l.rt.rt.End(l.lane)
	l.rt.mu.Lock()
	defer l.rt.mu.Unlock()
	delete(l.rt.open, l.id)
}

// A Batch is a piece of one lane. It holds records, or messages that hold records, not both.
type Batch struct {
	b    *engine.Batch // nil: emitted
	lane *Lane
	text bool
}

// Append appends a copy of a whole record as it is, with its line end if the
// format has lines. The pipeline computes the offsets in the lane from the
// lengths of the records.
func (b *Batch) Append(rec []byte) {
	b.b.In = append(b.b.In, rec...)
	b.text = b.text || len(rec) > 0
}

// AppendMessage appends a copy of a broker's message, whose value holds
// records. pos is its position in the lane, such as a Kafka offset, and greater
// than the position of the message before; at is its time, or zero. With a nil
// key, the message has no key; with a nil value, it is a tombstone, which is
// passed through.
func (b *Batch) AppendMessage(pos int64, at time.Time, key, value []byte) {
	nano := int64(0)
	if !at.IsZero() {
		nano = at.UnixNano()
	}
	b.b.AddMessage(pos, nano, key, value)
}

// AddHeader appends a header to the last message.
func (b *Batch) AddHeader(name string, value []byte) { b.b.AddHeader(name, value) }

// SetTag stores the tag that an [Acker] gets for the batch.
func (b *Batch) SetTag(tag any) { b.b.Ext = tag }

// Len returns the number of bytes of the records or values.
func (b *Batch) Len() int { return len(b.b.In) }

// Room returns how many more bytes fit without an allocation. Emit the batch when the next
// record does not fit; a longer record is accepted, too.
func (b *Batch) Room() int { return cap(b.b.In) - len(b.b.In) }
