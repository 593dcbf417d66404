package engine

import "testing"

func TestPoolArenas(t *testing.T) {
	const size = 1 << 10
	l := newPool(&delivery{sinks: make([]*target, 1)}, 1, size)
	f := func(name string, spoil func(*Batch), wantIn, wantOut int) {
		t.Helper()
		b := <-l.free
		b.held.Store(true)
		b.Out.Bytes = make([]byte, 0, size)
		spoil(b)
		if !l.put(b) {
			t.Fatalf("%s: put does not accept the batch", name)
		}
		if len(b.In) != 0 || cap(b.In) != wantIn || cap(b.Out.Bytes) != wantOut {
			t.Errorf("%s: arenas %d (%d) and %d, want 0 (%d) and %d", name, len(b.In), cap(b.In), cap(b.Out.Bytes), wantIn, wantOut)
		}
		if b.Lane != nil || b.Stats.Records != 0 || b.Next != 0 || len(b.Out.Recs) != 0 || len(b.refused) != 0 || b.round == lateRound || b.Piece != Whole {
			t.Errorf("%s: the batch is not empty: %+v", name, b)
		}
	}
	f("unused", func(*Batch) {}, size, size)
	f("used", func(b *Batch) {
		b.In = append(b.In, "abc"...)
		b.Lane, b.Next, b.Piece, b.round = newLane("x", 1), 3, Last, lateRound
		b.Stats.Records++
		b.refused = append(b.refused, 1)
		b.Out.record(0, b)
	}, size, size)
	f("grown to the limit", func(b *Batch) { b.In = make([]byte, 7, 4*size) }, 4*size, size)
	f("grown beyond it", func(b *Batch) {
		b.In = make([]byte, 7, 4*size+1)
		b.Out.Bytes = make([]byte, 7, 4*size+1)
	}, size, 0)
	f("replaced by a smaller one", func(b *Batch) { b.In = nil }, size, size)
}

func TestPoolTwice(t *testing.T) {
	skipIfPanics(t)
	l := newPool(&delivery{sinks: make([]*target, 1)}, 2, 10)
	b := <-l.free
	b.held.Store(true)
	if !l.put(b) || l.put(b) {
		t.Error("want the first put to succeed and the second one to fail")
	}
	if len(l.free) != 2 {
		t.Errorf("%d batches on the free list, want 2", len(l.free))
	}
}
