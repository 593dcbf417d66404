package testkit

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/urlfold/urlfold/pipeline"
)

// An Emitted is a copy of a batch as it was emitted.
type Emitted struct {
	Lane  string
	Bytes []byte
	Off   int64
	Line  int64
	Piece pipeline.Piece
	End   pipeline.Position
}

// A Runtime is a [pipeline.Runtime] of a fixed number of batches that keeps a
// copy of all that is emitted. A batch that comes back is overwritten, so that a
// source that keeps a slice of it is found out. It may be used from many
// goroutines, as its contract says.
type Runtime struct {
	// OnEmit, if it is set, is called after each Emit with the number of batches
	// that were emitted so far.
	OnEmit func(n int)

	free  chan *pipeline.Batch
	size  int
	total int
	hard  chan struct{}

	mu      sync.Mutex
	stopped bool
	lanes   []*lane
	held    map[*pipeline.Batch]*lane
	out     []Emitted
	wrong   []string
}

type lane struct {
	lane  *pipeline.Lane
	name  string
	ended bool
	next  int64
	inRec bool // in the middle of an oversize record
}

// NewRuntime returns a Runtime of n batches with arenas of size bytes.
func NewRuntime(n, size int) *Runtime {
	r := &Runtime{
		free:  make(chan *pipeline.Batch, n),
		size:  size,
		total: n,
		hard:  make(chan struct{}),
		held:  map[*pipeline.Batch]*lane{},
	}
	for range n {
		r.free <- &pipeline.Batch{In: make([]byte, 0, size)}
	}
	return r
}

// HardStop makes Get and Emit fail from now on.
func (r *Runtime) HardStop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stopped {
		r.stopped = true
		close(r.hard)
	}
}

func (r *Runtime) complain(format string, args ...any) {
	r.wrong = append(r.wrong, fmt.Sprintf(format, args...))
}

// find returns what is known of l. The caller holds mu.
func (r *Runtime) find(l *pipeline.Lane) *lane {
	i := slices.IndexFunc(r.lanes, func(k *lane) bool { return k.lane == l })
	if i < 0 {
		r.complain("a lane that was not opened here")
		return &lane{lane: l}
	}
	return r.lanes[i]
}

// NewLane implements [pipeline.Runtime].
func (r *Runtime) NewLane(name string, _ pipeline.LaneLimits) *pipeline.Lane {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := &lane{lane: new(pipeline.Lane), name: name}
	r.lanes = append(r.lanes, l)
	return l.lane
}

// Get implements [pipeline.Runtime].
func (r *Runtime) Get(ctx context.Context, l *pipeline.Lane) (*pipeline.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case <-r.hard:
		return nil, pipeline.ErrStopped
	case <-ctx.Done():
		return nil, ctx.Err()
	case b := <-r.free:
		r.mu.Lock()
		defer r.mu.Unlock()
		k := r.find(l)
		if k.ended {
			r.complain("%s: Get after End", k.name)
		}
		b.Lane = l
		r.held[b] = k
		return b, nil
	}
}

// Emit implements [pipeline.Runtime].
func (r *Runtime) Emit(_ context.Context, b *pipeline.Batch, end pipeline.Position) error {
	r.mu.Lock()
	if r.stopped {
		r.mu.Unlock()
		r.Put(b)
		return pipeline.ErrStopped
	}
	if k := r.held[b]; k != nil {
		r.check(k, b, end)
		r.out = append(r.out, Emitted{k.name, bytes.Clone(b.In), b.Off, b.Line, b.Piece, end})
	}
	n := len(r.out)
	r.mu.Unlock()
	r.Put(b)
	if r.OnEmit != nil {
		r.OnEmit(n)
	}
	return nil
}

// check looks at a batch that is emitted on k. The caller holds mu.
func (r *Runtime) check(k *lane, b *pipeline.Batch, end pipeline.Position) {
	if k.ended {
		r.complain("%s: Emit after End", k.name)
	}
	if len(b.In) == 0 {
		r.complain("%s: an empty batch", k.name)
	}
	if b.Off != k.next || end.A != b.Off+int64(len(b.In)) {
		r.complain("%s: batch from %d to %d, after one that ended at %d", k.name, b.Off, end.A, k.next)
	}
	k.next = end.A
	if goesOn := b.Piece == pipeline.Middle || b.Piece == pipeline.Last; goesOn != k.inRec {
		r.complain("%s: piece %d, in a record: %v", k.name, b.Piece, k.inRec)
	}
	k.inRec = b.Piece == pipeline.First || b.Piece == pipeline.Middle
}

// Put implements [pipeline.Runtime].
func (r *Runtime) Put(b *pipeline.Batch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held[b] == nil {
		r.complain("a batch was given back that is not held")
		return
	}
	delete(r.held, b)
	all := b.In[:cap(b.In)]
	for i := range all {
		all[i] = '#'
	}
	if cap(b.In) > r.size {
		b.In = make([]byte, 0, r.size)
	}
	b.In, b.Lane, b.Off, b.Line, b.Piece = b.In[:0], nil, -1, -1, 99
	r.free <- b
}

// End implements [pipeline.Runtime].
func (r *Runtime) End(l *pipeline.Lane) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.find(l)
	if k.ended {
		r.complain("%s: End was called twice", k.name)
	}
	k.ended = true
}

// Emitted returns what was emitted, in that order.
func (r *Runtime) Emitted() []Emitted {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.out)
}

// Text returns all that was emitted on the lane with that name.
func (r *Runtime) Text(name string) []byte {
	var text []byte
	for _, e := range r.Emitted() {
		if e.Lane == name {
			text = append(text, e.Bytes...)
		}
	}
	return text
}

// Lanes returns the names of the lanes, in the order in which they were opened.
func (r *Runtime) Lanes() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var names []string
	for _, l := range r.lanes {
		names = append(names, l.name)
	}
	return names
}

// Head returns the header record of the lane with that name.
func (r *Runtime) Head(name string) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.lanes {
		if l.name == name {
			return l.lane.Head()
		}
	}
	return nil
}

// Broken returns the promises that were broken so far, and with them, after the
// run of a source, the batches that it kept and the lanes that it did not end.
func (r *Runtime) Broken() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	wrong := slices.Clone(r.wrong)
	if n := len(r.held); n > 0 {
		wrong = append(wrong, fmt.Sprintf("%d batches of %d were kept", n, r.total))
	}
	for _, l := range r.lanes {
		if !l.ended {
			wrong = append(wrong, fmt.Sprintf("%s: the lane was not ended", l.name))
		}
	}
	return wrong
}

// Interface guard.
var _ pipeline.Runtime = (*Runtime)(nil)
