package testkit

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/urlfold/urlfold/pipeline/engine"
)

// An Emitted is a copy of an emitted batch.
type Emitted struct {
	Lane  string
	Bytes []byte
	Off   int64
	Line  int64
	Piece engine.Piece
	End   engine.Position
}

// A Runtime is an [engine.Runtime] with a fixed number of batches that keeps a
// copy of everything emitted. It overwrites each returned batch, to detect a
// source that keeps a slice of it. As its contract requires, it may be used by
// several goroutines.
type Runtime struct {
	// OnEmit, if set, is called after each Emit with the number of batches
	// emitted until now.
	OnEmit func(n int)

	free  chan *engine.Batch
	size  int
	total int
	hard  chan struct{}

	mu      sync.Mutex
	stopped bool
	lanes   []*lane
	held    map[*engine.Batch]*lane
	out     []Emitted
	wrong   []string
}

type lane struct {
	lane  *engine.Lane
	name  string
	ended bool
	next  int64
	inRec bool // inside an oversize record
}

// NewRuntime returns a Runtime with n batches whose arenas have size bytes.
func NewRuntime(n, size int) *Runtime {
	r := &Runtime{
		free:  make(chan *engine.Batch, n),
		size:  size,
		total: n,
		hard:  make(chan struct{}),
		held:  map[*engine.Batch]*lane{},
	}
	for range n {
		r.free <- &engine.Batch{In: make([]byte, 0, size)}
	}
	return r
}

// HardStop makes all later calls of Get and Emit fail.
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

// find returns the state of l. The caller holds mu.
func (r *Runtime) find(l *engine.Lane) *lane {
	i := slices.IndexFunc(r.lanes, func(k *lane) bool { return k.lane == l })
	if i < 0 {
		r.complain("lane was not opened by this runtime")
		return &lane{lane: l}
	}
	return r.lanes[i]
}

// NewLane implements [engine.Runtime].
func (r *Runtime) NewLane(name string, _ engine.LaneLimits) *engine.Lane {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := &lane{lane: new(engine.Lane), name: name}
	r.lanes = append(r.lanes, l)
	return l.lane
}

// Get implements [engine.Runtime].
func (r *Runtime) Get(ctx context.Context, l *engine.Lane) (*engine.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case <-r.hard:
		return nil, engine.ErrStopped
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

// Emit implements [engine.Runtime].
func (r *Runtime) Emit(_ context.Context, b *engine.Batch, end engine.Position) error {
	r.mu.Lock()
	if r.stopped {
		r.mu.Unlock()
		r.Put(b)
		return engine.ErrStopped
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

// check checks a batch emitted on k. The caller holds mu.
func (r *Runtime) check(k *lane, b *engine.Batch, end engine.Position) {
	if k.ended {
		r.complain("%s: Emit after End", k.name)
	}
	if len(b.In) == 0 {
		r.complain("%s: empty batch", k.name)
	}
	if b.Off != k.next || end.A != b.Off+int64(len(b.In)) {
		r.complain("%s: batch from %d to %d, but the previous one ended at %d", k.name, b.Off, end.A, k.next)
	}
	k.next = end.A
	if goesOn := b.Piece == engine.Middle || b.Piece == engine.Last; goesOn != k.inRec {
		r.complain("%s: piece %d, inside a record: %v", k.name, b.Piece, k.inRec)
	}
	k.inRec = b.Piece == engine.First || b.Piece == engine.Middle
}

// Turn implements [engine.Runtime]. There is always a turn.
func (r *Runtime) Turn(stop <-chan struct{}) (done func(), ok bool) {
	select {
	case <-stop:
		return nil, false
	default:
		return func() {}, true
	}
}

// Put implements [engine.Runtime].
func (r *Runtime) Put(b *engine.Batch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held[b] == nil {
		r.complain("returned a batch that is not held")
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

// End implements [engine.Runtime].
func (r *Runtime) End(l *engine.Lane) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.find(l)
	if k.ended {
		r.complain("%s: End called twice", k.name)
	}
	k.ended = true
}

// Emitted returns the emitted batches in order.
func (r *Runtime) Emitted() []Emitted {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.out)
}

// Text returns everything emitted on the lane with that name.
func (r *Runtime) Text(name string) []byte {
	var text []byte
	for _, e := range r.Emitted() {
		if e.Lane == name {
			text = append(text, e.Bytes...)
		}
	}
	return text
}

// Lanes returns the names of the lanes in the order in which they were opened.
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

// Broken returns the violations of the contract until now. After the run of a
// source these include batches that it kept and lanes that it did not end.
func (r *Runtime) Broken() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	wrong := slices.Clone(r.wrong)
	if n := len(r.held); n > 0 {
		wrong = append(wrong, fmt.Sprintf("%d of %d batches were not returned", n, r.total))
	}
	for _, l := range r.lanes {
		if !l.ended {
			wrong = append(wrong, fmt.Sprintf("%s: lane was not ended", l.name))
		}
	}
	return wrong
}

// A Runtime implements engine.Runtime.
var _ engine.Runtime = (*Runtime)(nil)
