package nats

import (
	"sync"

	client "github.com/urlfold/urlfold/internal/client/nats"
)

// A delivery identifies a message by its consumer sequence and its stream
// sequence.
type delivery = client.SequencePair

// A floor tracks up to which stream sequence all messages are acknowledged. A
// deleted consumer is recreated after that sequence, so the floor must never be
// too high, even though other instances acknowledge messages of the same
// consumer:
//
//   - The server knows the floor over all instances. Its answers are a few
//     seconds old but never too high.
//   - Beyond that, this instance knows its own deliveries. The consumer numbers
//     the deliveries to all instances in one sequence. If this instance has
//     received all of them up to some delivery, no other instance has one of
//     their messages, and the floor is just before the first of these messages
//     that this instance has not acknowledged.
//
// The zero floor covers no deliveries.
type floor struct {
	mu    sync.Mutex
	known bool
	upto  uint64              // all deliveries up to this one are accounted for
	high  uint64              // highest stream sequence among them
	seen  map[uint64]uint64   // deliveries after upto, with their stream sequences
	open  map[uint64]struct{} // stream sequences received here and not acknowledged
	blind uint64              // deliveries up to this one are missing from seen, which was full
}

// maxSeen limits the deliveries kept after a gap. A gap consists of deliveries
// to other instances; the next answer of the server closes it.
const maxSeen = 1 << 16

// reset starts over with a new consumer.
func (f *floor) reset(at client.SequencePair) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.known, f.upto, f.high, f.blind = true, at.Consumer, at.Stream, 0
	f.seen, f.open = map[uint64]uint64{}, map[uint64]struct{}{}
}

// raise applies the floor reported by the server.
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
		if seq <= at.Stream { // this instance returned the message, and another one acknowledged it
			delete(f.open, seq)
		}
	}
	if f.upto >= f.blind {
		f.blind = 0
	}
	f.extend()
}

// received records messages that were delivered to this instance.
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

// extend advances upto over the deliveries received here.
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

// acked records messages that are acknowledged or will never be redelivered.
func (f *floor) acked(list []delivery) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range list {
		delete(f.open, d.Stream)
	}
}

// last returns the highest stream sequence up to which all messages are
// acknowledged. ok is false if that is unknown.
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
