package engine

import (
	"bytes"
	"context"
	"fmt"
	"testing"
)

// A copyCodec copies a batch as a single record.
type copyCodec struct{}

func newCopyCodec() Codec { return copyCodec{} }

func (copyCodec) Process(b *Batch) {
	b.Stats.Records++
	b.Stats.Emitted++
	b.Out.add(b, b.In)
	b.Next = len(b.In)
}
func (copyCodec) Reject(*Batch) {}
func (copyCodec) Refuse(*Batch) {}

// A nullSink accepts everything at once.
type nullSink struct{ done chan struct{} }

func (nullSink) Open(context.Context) error    { return nil }
func (nullSink) Barrier(context.Context) error { return nil }
func (nullSink) Close(context.Context) error   { return nil }
func (nullSink) Caps() SinkCaps                { return SinkCaps{Ordered: true} }
func (s nullSink) Submit(_ context.Context, _ *Batch, t Ticket) error {
	t.Done(Result{})
	if s.done != nil {
		s.done <- struct{}{}
	}
	return nil
}

// TestNoAllocs: the pipeline does not allocate per batch, with any ordering and
// with a route.
func TestNoAllocs(t *testing.T) {
	f := func(o Ordering, newCodec func() Codec) {
		t.Helper()
		sink := nullSink{done: make(chan struct{}, 1)}
		p := newPipe(t, Options{
			Sinks: []Sink{sink}, NewCodec: newCodec, Ordering: o, BatchBytes: 1 << 10,
			Sources: []Source{&funcSource{run: func(ctx context.Context, rt Runtime) error {
				l := rt.NewLane("l", LaneLimits{})
				defer rt.End(l)
				at := int64(0)
				var failed error
				one := func() {
					b, err := rt.Get(ctx, l)
					if err != nil {
						failed = err
						return
					}
					b.In = append(b.In, "some record\n"...)
					at++
					if err := rt.Emit(ctx, b, Position{A: at}); err != nil {
						failed = err
						return
					}
					<-sink.done
				}
				for range 100 { // every batch has been used and its arenas have grown
					one()
				}
				if n := testing.AllocsPerRun(2000, one); n != 0 {
					t.Errorf("%v: %v allocations for a batch", o, n)
				}
				return failed
			}}},
		})
		if err := p.Run(t.Context()); err != nil {
			t.Errorf("%v: Run: %v", o, err)
		}
	}
	f(OrderNone, newCopyCodec)
	f(OrderPerLane, newCopyCodec)
	f(OrderInput, newCopyCodec)
	f(OrderPerLane, newRoutingCodec)
}

// BenchmarkRun measures the cost of the pipeline itself, for batches of 128 KiB
// that the codec copies, and for batches of 64 bytes, where the fixed costs
// dominate.
func BenchmarkRun(b *testing.B) {
	for _, o := range []Ordering{OrderNone, OrderPerLane, OrderInput} {
		for _, size := range []int{64, 128 << 10} {
			b.Run(fmt.Sprintf("%v/%d", o, size), func(b *testing.B) { benchmarkRun(b, o, size) })
		}
	}
}

func benchmarkRun(b *testing.B, o Ordering, size int) {
	data := bytes.Repeat([]byte("x"), size)
	b.SetBytes(int64(size))
	b.ReportAllocs()
	p := newPipe(b, Options{
		Sinks: []Sink{nullSink{}}, NewCodec: newCopyCodec, Ordering: o,
		Sources: []Source{&funcSource{run: func(ctx context.Context, rt Runtime) error {
			l := rt.NewLane("l", LaneLimits{})
			defer rt.End(l)
			for i := 0; b.Loop(); i++ {
				batch, err := rt.Get(ctx, l)
				if err != nil {
					return err
				}
				batch.In = append(batch.In, data...)
				if err := rt.Emit(ctx, batch, Position{A: int64(i)}); err != nil {
					return err
				}
			}
			return nil
		}}},
	})
	if err := p.Run(b.Context()); err != nil {
		b.Fatal(err)
	}
}
