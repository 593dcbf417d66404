package engine

import (
	"math/rand/v2"
	"testing"
)

// TestSegments resolves batches in random order. Exactly the complete segments
// before the watermark count as verified.
func TestSegments(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		const n = 40
		l := newLane("l", n)
		l.Hold()
		var batches []*Batch
		for i := range n {
			a, _, err := l.admit(false)
			if a != admitted || err != nil {
				t.Fatal(a, err)
			}
			late := rng.IntN(4) == 0
			b := &Batch{Verified: !late && rng.IntN(4) == 0}
			b.Stats.Records = int64(i + 1)
			l.taken(b)
			if err := l.issue(b, Position{A: int64(i + 1)}); err != nil {
				t.Fatal(err)
			}
			if late {
				l.MarkVerified()
				b.Verified = true // for the model
			}
			batches = append(batches, b)
		}
		done := make([]bool, n)
		for _, i := range rng.Perm(n) {
			l.resolve(batches[i], true)
			done[i] = true
			var segments uint64
			var records, sum int64
			for j := 0; j < n && done[j]; j++ {
				sum += int64(j + 1)
				if batches[j].Verified {
					segments, records = segments+1, sum
				}
			}
			if got := l.VerifiedSegments(); got != segments {
				t.Fatalf("seed %d: %d segments are verified, want %d", seed, got, segments)
			}
			if got := l.VerifiedStats().Records; got != records {
				t.Fatalf("seed %d: %d records are verified, want %d", seed, got, records)
			}
		}
		if last := batches[n-1]; last.Segment != l.segments.issued && !last.Verified {
			t.Errorf("seed %d: the last batch has segment %d", seed, last.Segment)
		}
	}
}

// TestMarkVerified marks a batch as verified after it was resolved.
func TestMarkVerified(t *testing.T) {
	l := newLane("l", 4)
	l.Hold()
	l.MarkVerified() // nothing was emitted yet
	if a, _, err := l.admit(false); a != admitted || err != nil {
		t.Fatal(a, err)
	}
	b := &Batch{}
	b.Stats.Records = 7
	l.taken(b)
	if err := l.issue(b, Position{A: 10}); err != nil {
		t.Fatal(err)
	}
	l.resolve(b, true)
	l.undirty()
	l.MarkVerified()
	l.MarkVerified()
	up, dirty := l.undirty()
	if !dirty || up.Pos.A != 10 || l.VerifiedStats().Records != 7 || l.VerifiedSegments() != 1 {
		t.Errorf("%+v, %v, %d records in %d segments", up, dirty, l.VerifiedStats().Records, l.VerifiedSegments())
	}
}

// TestSegmentShortened shortens the last batch of a segment. The segment has
// lost its end and is not verified.
func TestSegmentShortened(t *testing.T) {
	l := newLane("l", 4)
	l.TrackVerified()
	if a, _, err := l.admit(false); a != admitted || err != nil {
		t.Fatal(a, err)
	}
	b := &Batch{Verified: true}
	l.taken(b)
	if err := l.issue(b, Position{A: 10}); err != nil {
		t.Fatal(err)
	}
	l.shorten(b, Position{A: 5})
	l.resolve(b, true)
	if n := l.VerifiedSegments(); n != 0 || l.VerifiedStats().Records != 0 {
		t.Errorf("%d segments are verified", n)
	}
}

// TestWithdrawCommits withdraws text of a lane whose watermark is committed.
// The lane finishes only after another commit.
func TestWithdrawCommits(t *testing.T) {
	l := newLane("l", 4)
	l.Hold()
	l.Withdraw(&Unverified{})
	l.Complete()
	l.ended = true
	if l.finishable(true) {
		t.Error("the lane finished before the withdrawal was committed")
	}
	if _, dirty := l.undirty(); !dirty {
		t.Error("no commit is due")
	}
	if !l.finishable(true) {
		t.Error("the lane is not finished after the commit")
	}
	l.AddUnverifiedFile("a")
	l.AddUnverifiedFile("a")
	if got := l.UnverifiedFiles(); len(got) != 1 || !l.Held() || l.Withdrawn() == nil {
		t.Errorf("%v", got)
	}
}

// TestHeldCommit checks what a commit stores for a held lane: the end of the
// last verified segment, and the end of the lane once it is released.
func TestHeldCommit(t *testing.T) {
	l := newLane("l", 4)
	l.Hold()
	emit := func(end int64, verified bool) *Batch {
		if a, _, err := l.admit(false); a != admitted || err != nil {
			t.Fatal(a, err)
		}
		b := &Batch{Verified: verified}
		l.taken(b)
		if err := l.issue(b, Position{A: end}); err != nil {
			t.Fatal(err)
		}
		return b
	}
	commit := func(want int64, withdrawn bool) {
		t.Helper()
		if up, _ := l.undirty(); up.Pos.A != want || up.Withdrawn != withdrawn {
			t.Fatalf("the commit stores %+v, want %d, %v", up, want, withdrawn)
		}
	}
	first, last, open := emit(1, false), emit(2, true), emit(3, false)
	l.resolve(first, true)
	commit(0, false)
	l.resolve(last, true)
	if l.Covered(0) {
		t.Error("Covered reports a segment that the last commit did not store")
	}
	commit(2, false)
	if !l.Covered(0) || l.Covered(1) {
		t.Error("want the first segment covered and the second one not")
	}
	l.Withdraw(&Unverified{})
	commit(2, false) // one batch is still in flight
	l.resolve(open, true)
	commit(2, true)
	l.segments.withdrawn = nil
	last = emit(4, false)
	l.Release()
	if l.Covered(1) {
		t.Error("Covered reports a batch released after the commit")
	}
	commit(2, false) // a position within a segment is no resume point
	l.resolve(last, true)
	commit(4, false)
	if !l.Covered(1) {
		t.Error("Covered does not report a released batch")
	}
}
