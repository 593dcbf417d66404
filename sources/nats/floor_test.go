package nats

import (
	"math/rand/v2"
	"testing"

	client "github.com/urlfold/urlfold/internal/client/nats"
)

// A fakeConsumer is a simple model of a consumer with several instances. It
// knows the true state.
type fakeConsumer struct {
	cseq, sseq uint64              // last sequences
	pending    map[uint64]int      // by sequence: owning instance; -1: returned
	again      []uint64            // to be redelivered
	first      map[uint64]uint64   // first delivery of each sequence
	floors     []*floor            // of the instances
	hands      []map[uint64]uint64 // of the instances: last delivery by sequence
}

// deliver delivers one message to an instance.
func (c *fakeConsumer) deliver(to int, lost bool) {
	c.cseq++
	seq := uint64(0)
	if len(c.again) > 0 {
		seq, c.again = c.again[0], c.again[1:]
	} else {
		c.sseq += 1 + uint64(rand.IntN(3)) // sequences in between do not match the filter
		seq = c.sseq
		c.first[seq] = c.cseq
	}
	c.pending[seq] = to
	if lost { // in transit
		c.pending[seq] = -1
		c.again = append(c.again, seq)
		return
	}
	c.hands[to][seq] = c.cseq
	c.floors[to].received([]delivery{{Consumer: c.cseq, Stream: seq}})
}

// server returns the floor that the server reports.
func (c *fakeConsumer) server() client.SequencePair {
	at := client.SequencePair{Consumer: c.cseq, Stream: c.sseq}
	for seq := range c.pending {
		if seq <= at.Stream {
			at = client.SequencePair{Consumer: c.first[seq] - 1, Stream: seq - 1}
		}
	}
	return at
}

// TestFloor checks that what an instance considers acknowledged is
// acknowledged, whatever other instances hold, and whatever is lost, returned
// or redelivered. An instance that is alone knows the exact floor without the
// server.
func TestFloor(t *testing.T) {
	for run := range 400 {
		members := 1 + run%3
		base := client.SequencePair{Consumer: uint64(rand.IntN(50)), Stream: uint64(100 + rand.IntN(50))}
		c := &fakeConsumer{cseq: base.Consumer, sseq: base.Stream, pending: map[uint64]int{}, first: map[uint64]uint64{}}
		for range members {
			f := &floor{}
			f.reset(base)
			c.floors, c.hands = append(c.floors, f), append(c.hands, map[uint64]uint64{})
		}
		clean := run%2 == 0 // nothing is lost
		for step := range 300 {
			m := rand.IntN(members)
			switch n := rand.IntN(10); {
			case n < 4:
				c.deliver(m, !clean && rand.IntN(8) == 0)
			case n < 8:
				for seq := range c.hands[m] {
					delete(c.hands[m], seq)
					c.floors[m].acked([]delivery{{Consumer: 0, Stream: seq}})
					delete(c.pending, seq)
					break
				}
			case n == 8:
				for seq := range c.hands[m] { // returned
					delete(c.hands[m], seq)
					if _, ok := c.pending[seq]; ok && !clean {
						c.pending[seq] = -1
						c.again = append(c.again, seq)
					} else {
						c.hands[m][seq] = 0
					}
					break
				}
			case rand.IntN(5) == 0:
				c.floors[m].raise(c.server())
			}
			truth := c.server().Stream
			for i, f := range c.floors {
				got, ok := f.last()
				if !ok || got > truth {
					t.Fatalf("run %d, step %d: instance %d of %d has floor %d, %v; want at most %d", run, step, i, members, got, ok, truth)
				}
				if members == 1 && clean && got != truth {
					t.Fatalf("run %d, step %d: floor %d of a single instance, want %d", run, step, got, truth)
				}
			}
		}
		for _, f := range c.floors {
			f.raise(c.server())
			if got, _ := f.last(); got != c.server().Stream {
				t.Errorf("run %d: raised to %d, floor is %d", run, c.server().Stream, got)
			}
		}
	}
}

// TestFloorBounded checks that after a gap that stays open, a floor keeps a
// bounded number of deliveries, and catches up with the next answer of the
// server.
func TestFloorBounded(t *testing.T) {
	var f floor
	if _, ok := f.last(); ok {
		t.Error("the zero floor is known")
	}
	f.received([]delivery{{Consumer: 1, Stream: 1}})
	f.reset(client.SequencePair{})
	const n = 3 * maxSeen
	for i := uint64(2); i <= n; i++ { // the first one went to another instance
		d := []delivery{{Consumer: i, Stream: i}}
		f.received(d)
		f.acked(d)
	}
	if got, ok := f.last(); got != 0 || !ok || len(f.seen) > maxSeen || len(f.open) > 0 {
		t.Errorf("%d, %v, %d deliveries kept, %d sequences", got, ok, len(f.seen), len(f.open))
	}
	f.raise(client.SequencePair{Consumer: n - 10, Stream: n - 10})
	if got, _ := f.last(); got != n-10 {
		t.Errorf("floor %d after the server reported %d", got, n-10)
	}
	f.raise(client.SequencePair{Consumer: n, Stream: n})
	f.received([]delivery{{Consumer: n + 1, Stream: n + 1}})
	f.acked([]delivery{{Consumer: n + 1, Stream: n + 1}})
	if got, _ := f.last(); got != n+1 {
		t.Errorf("%d, want %d", got, n+1)
	}
}
