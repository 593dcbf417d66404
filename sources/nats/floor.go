package nats

import (
	"sync"

	client "github.com/urlfold/urlfold/internal/client/nats"
)

// A delivery is a message as its consumer counts it, and its sequence in the stream.
type delivery = client.SequencePair

// A floor knows up to which sequence of the stream everything is acknowledged. A
// consumer that was deleted is created again behind it, so it is never higher than
// the truth, though other instances acknowledge messages of the same consumer:
//
//   - The server knows the floor of all instances. Its answers, which are some
//     seconds old, are always true.
//   - Beyond that, this instance knows what it has received itself. The consumer
//     counts deliveries to all instances in one sequence. If this instance has
//     received all of them up to some delivery, no other instance has one of their
//     messages, and the floor is just before the first message in them that this
//     instance has not acknowledged.
//
// The zero floor knows nothing.
type floor struct {
	mu    sync.Mutex
	known bool
	upto  uint64              // all deliveries up to this one are accounted for
	high  uint64              // the highest sequence of the stream in them
	seen  map[uint64]uint64   // deliveries beyond upto, and their sequences
	open  map[uint64]struct{} // sequences received here and not acknowledged
	blind uint64              // deliveries up to this one are not in seen: there were too many
}

// maxSeen bounds the deliveries beyond a gap that are kept. The gaps are those that
// other instances have received; the next answer of the server closes them.
const maxSeen = 1 << 16

// reset begins with a consumer that is not the one from before.
func (f *floor) reset(at client.SequencePair) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.known, f.upto, f.high, f.blind = true, at.Consumer, at.Stream, 0
	f.seen, f.open = map[uint64]uint64{}, map[uint64]struct{}{}
}

// raise takes the floor that the server knows.
func (f *floor) raise(at client.SequencePair) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.known {
		return
	}
	f.upto, f.high = max(f.upto, at.Consumer), max(f.high, at.Stream)
	for c := range f.seen {
		if c <= f.upto {
			delete(f.seen, c)
		}
	}
	for seq := range f.open {
		if seq <= at.Stream { // given back here, and acknowledged by another instance
			delete(f.open, seq)
		}
	}
	if f.upto >= f.blind {
		f.blind = 0
	}
	f.extend()
}

// received notes messages that came to this instance.
func (f *floor) received(list []delivery) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.known {
		return
	}
	for _, d := range list {
		f.open[d.Stream] = struct{}{}
		switch {
		case d.Consumer <= f.upto:
		case d.Consumer == f.upto+1 && f.blind == 0:
			f.upto, f.high = d.Consumer, max(f.high, d.Stream)
		case f.blind > 0 || len(f.seen) >= maxSeen:
			f.blind = max(f.blind, d.Consumer)
			clear(f.seen)
		default:
			f.seen[d.Consumer] = d.Stream
		}
	}
	f.extend()
}

// extend goes up as far as deliveries were received here.
func (f *floor) extend() {
	for len(f.seen) > 0 {
		seq, ok := f.seen[f.upto+1]
		if !ok {
			return
		}
		f.upto++
		f.high = max(f.high, seq)
		delete(f.seen, f.upto)
	}
}

// acked notes messages that are acknowledged, or that are never to be delivered
// again.
func (f *floor) acked(list []delivery) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range list {
		delete(f.open, d.Stream)
	}
}

// last returns the last sequence of the stream up to which all messages are
// acknowledged. It reports false if none is known.
func (f *floor) last() (seq uint64, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	seq = f.high
	for open := range f.open {
		if open <= seq {
			seq = open - 1
		}
	}
	return seq, f.known
}
