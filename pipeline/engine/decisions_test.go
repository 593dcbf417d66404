package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/codec"
)

// A memoryKeys is a KeySet that only counts.
type memoryKeys struct {
	members, last map[codec.Key]bool
	err           error // of Has
}

func (m *memoryKeys) Has(k codec.Key) (bool, error) { return m.members[k], m.err }

func (m *memoryKeys) Seal(keys []codec.Key) ([]byte, error) {
	m.last = map[codec.Key]bool{}
	for _, k := range keys {
		m.last[k] = true
	}
	return []byte("state"), nil
}

func (m *memoryKeys) Stored() error {
	for k := range m.last {
		m.members[k] = true
	}
	return nil
}

// A keySource is a fakeSource that commits keys.
type keySource struct {
	fakeSource
	err error
}

func (*keySource) Commit(context.Context, []LanePos) error        { return nil }
func (s *keySource) CommitKeys(_ context.Context, _ KeyCut) error { return s.err }

// byKind is the identity of the lines of a fakeCodec in these tests: their first
// byte.
func byKind() Codec {
	return &fakeCodec{key: func(rec []byte) codec.Key { return codec.KeyFromUint64s(uint64(rec[0]), 1) }}
}

// TestDedupeErrors: an error of the set, and a codec without facts, end the run
// before anything is resolved.
func TestDedupeErrors(t *testing.T) {
	damaged := errors.New("damaged run")
	for _, c := range []struct {
		codec func() Codec
		set   KeySet
		want  string
	}{
		{byKind, &memoryKeys{err: damaged}, "deduplicate: damaged run"},
		{newFakeCodec, &memoryKeys{}, "BUG: pipeline: cannot deduplicate: the codec collected 0 identities for 1 records"},
	} {
		src := &keySource{fakeSource: fakeSource{lanes: [][]string{numbered(100, "KL")}}}
		p := newPipe(t, Options{Sources: []Source{src}, Sinks: []Sink{&fakeSink{}}, NewCodec: c.codec, Dedupe: &Dedupe{Set: c.set}, Workers: 2})
		err := p.Run(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Run: %v, want %s", err, c.want)
		}
		if l := p.Snapshot().Ledger; !l.Balanced() || l.InFlight != 0 || l.Emitted != 0 {
			t.Errorf("ledger: %+v", l)
		}
	}
}

// TestDedupeSnapshot: the counts of a whole run, and what is named while a
// commit fails and the room for keys is full.
func TestDedupeSnapshot(t *testing.T) {
	src := &keySource{fakeSource: fakeSource{lanes: [][]string{numbered(200, "KLM"), numbered(200, "LMN")}}}
	sink, set := &fakeSink{}, &memoryKeys{members: map[codec.Key]bool{}}
	p := newPipe(t, Options{
		Sources: []Source{src}, Sinks: []Sink{sink}, NewCodec: byKind, Dedupe: &Dedupe{Set: set, Room: 2}, Workers: 3,
		CommitInterval: 10 * time.Millisecond,
	})
	s := finished(t.Context(), t, p)
	if len(sink.all) != 4 || len(set.members) != 4 || s.Ledger.Duplicates != 396 || s.Dedupe.Firsts != 4 || s.Dedupe.Duplicates != 396 || s.Dedupe.Waiting != 0 || s.Dedupe.Oldest.Lane != "" {
		t.Errorf("%v, %d keys, %+v, %+v", sink.all, len(set.members), s.Ledger, s.Dedupe)
	}

	src = &keySource{fakeSource: fakeSource{lanes: [][]string{numbered(200, "KLMNOQTUVWYZ")}}, err: errors.New("disk full")}
	p = newPipe(t, Options{
		Sources: []Source{src}, Sinks: []Sink{&fakeSink{}}, NewCodec: byKind, Dedupe: &Dedupe{Set: &memoryKeys{members: map[codec.Key]bool{}}, Room: 6}, Workers: 3,
		CommitInterval: 10 * time.Millisecond, ShutdownTimeout: time.Second,
	})
	ended := make(chan error, 1)
	go func() { ended <- p.Run(t.Context()) }()
	for !(!p.Snapshot().Dedupe.FullSince.IsZero() && p.Snapshot().CommitErr != "") {
		time.Sleep(time.Millisecond)
	}
	p.HardStop()
	if err := <-ended; !errors.Is(err, ErrDeadline) {
		t.Errorf("Run: %v", err)
	}
	if l := p.Snapshot().Ledger; !l.Balanced() || l.InFlight != 0 {
		t.Errorf("ledger: %+v", l)
	}
}

// keyed returns a batch of l with a record for each key, as a worker leaves it.
func keyed(l *Lane, p *Pipeline, seq uint64, keys ...uint64) *Batch {
	b := &Batch{Lane: l, handover: handover{delivery: &p.delivery}, Seq: seq, epoch: l.epoch, End: Position{A: int64(seq) + 1}}
	for i, k := range keys {
		b.Next = i
		b.Out.add(b, fmt.Appendf(nil, "line %d\n", i))
		b.Out.IDs = append(b.Out.IDs, codec.KeyFromUint64s(k, 1))
	}
	b.keep = b.keep.all(len(keys))
	return b
}

// TestDedupeRevoke: after a lane is revoked, the keys that only its abandoned
// batches hold are new again; the keys within its cut are not.
func TestDedupeRevoke(t *testing.T) {
	p := newPipe(t, Options{
		Sources: []Source{&keySource{}}, Sinks: []Sink{&fakeSink{}}, NewCodec: byKind,
		Dedupe: &Dedupe{Set: &memoryKeys{}, Scope: ScopeLane}, Workers: 1,
	})
	l := intake{p, 0}.NewLane("lane", LaneLimits{})
	decide := func(b *Batch) {
		l.mu.Lock()
		if l.next-l.low == uint64(len(l.ring)) {
			l.grow()
		}
		l.next++
		l.mu.Unlock()
		if ok, err := p.filtering.decisions.decide(b); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	first, second := keyed(l, p, 0, 1, 2), keyed(l, p, 1, 2, 3)
	decide(first)
	decide(second)
	if second.keep.has(0) || !second.keep.has(1) || second.needs != first.number {
		t.Fatalf("keep %b, needs %d", second.keep, second.needs)
	}
	p.filtering.decisions.settle(first, true)
	l.Revoke()
	again := keyed(l, p, 2, 1, 3)
	decide(again)
	if again.keep.has(0) || !again.keep.has(1) || again.needs != 0 {
		t.Errorf("after Revoke: keep %b, needs %d; want the second record alone, which needs nothing", again.keep, again.needs)
	}
	if late := keyed(l, p, 3, 9); true {
		late.epoch--
		if ok, err := p.filtering.decisions.decide(late); !ok || err != nil || !late.void {
			t.Errorf("a batch of the revoked lane: %v, %v, void %v", ok, err, late.void)
		}
	}
}

// TestDedupePause: while a cut is taken, batches wait undecided.
func TestDedupePause(t *testing.T) {
	p := newPipe(t, Options{Sources: []Source{&keySource{}}, Sinks: []Sink{&fakeSink{}}, NewCodec: byKind, Dedupe: &Dedupe{Set: &memoryKeys{}}, Workers: 1})
	b := keyed(intake{p, 0}.NewLane("lane", LaneLimits{}), p, 0, 1, 2)
	p.filtering.decisions.pause()
	if ok, err := p.filtering.decisions.decide(b); ok || err != nil || b.number != 0 {
		t.Errorf("in a pause: %v, %v, number %d; want false, and no number", ok, err, b.number)
	}
	if !p.filtering.decisions.resume() {
		t.Error("resume reports that no batch waits")
	}
	if ok, err := p.filtering.decisions.decide(b); !ok || err != nil || b.number == 0 {
		t.Errorf("after the pause: %v, %v, number %d; want true, and a number", ok, err, b.number)
	}
}

// TestDedupeLockOrder: a snapshot waits for a decision without holding the mutex
// that a commit takes while decisions are locked.
func TestDedupeLockOrder(t *testing.T) {
	p := newPipe(t, Options{Sources: []Source{&keySource{}}, Sinks: []Sink{&fakeSink{}}, NewCodec: byKind, Dedupe: &Dedupe{Set: &memoryKeys{}}, Workers: 1})
	p.filtering.decisions.mu.Lock()
	done := make(chan struct{})
	go func() {
		p.Snapshot()
		close(done)
	}()
	time.Sleep(20 * time.Millisecond) // the snapshot waits by now; if it does not, the test proves nothing
	if p.roster.mu.TryLock() {
		p.roster.mu.Unlock()
	} else {
		t.Error("Snapshot holds roster.mu while it waits for decisions.mu")
	}
	p.filtering.decisions.mu.Unlock()
	<-done
}

// TestMarkRefused: with marks, a sink that refuses a duplicate, in the batch with
// the first record or in a later one, does not make its key forgotten.
func TestMarkRefused(t *testing.T) {
	lines := append([]string{"A"}, numbered(39, "K")...) // the first batch has one line
	src := &keySource{fakeSource: fakeSource{lanes: [][]string{lines}, limits: LaneLimits{Batches: 1}}}
	sink, letters, set := &fakeSink{}, &fakeSink{}, &memoryKeys{members: map[codec.Key]bool{}}
	sink.answer = func(b *Batch, s *Stream) (r Result, ok bool) {
		for i, rec := range s.Recs {
			if _, duplicate := cutNote(strings.TrimSpace(string(s.Bytes[rec.Off : rec.Off+rec.Len]))); duplicate {
				r.Failed = append(r.Failed, uint32(i))
				r.Class, r.Err, r.Code = Permanent, errors.New("no"), fmt.Sprint(b.Seq, len(r.Failed))
			}
		}
		return r, true
	}
	p := newPipe(t, Options{
		Sources: []Source{src}, Sinks: []Sink{sink}, DeadLetter: letters, Workers: 2, Ordering: OrderPerLane,
		NewCodec: func() Codec { c := byKind().(*fakeCodec); c.notes = true; return c },
		Dedupe:   &Dedupe{Set: set, NewMark: newFakeMark},
	})
	s := finished(t.Context(), t, p)
	if len(sink.all) != 2 || len(letters.all) != 38 || len(set.members) != 2 || s.Dedupe.Firsts != 2 || s.Dedupe.Duplicates != 38 {
		t.Errorf("%v, %d dead letters, %d keys, %+v", sink.all, len(letters.all), len(set.members), s.Dedupe)
	}
}
