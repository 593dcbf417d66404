package engine

import (
	"errors"
	"testing"

	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/testkit/bubble"
)

// picky permanently refuses the records that begin with R, and all records of a
// batch that contains one beginning with W.
func picky(_ *Batch, s *Stream) (Result, bool) {
	r := Result{Err: errSink, Class: Permanent}
	for i, o := range s.Recs {
		switch s.Bytes[o.Off] {
		case 'R':
			r.Failed = append(r.Failed, uint32(i))
		case 'W':
			return Result{Err: errSink, Class: Permanent}, true
		}
	}
	if r.Failed == nil {
		return Result{}, true
	}
	return r, true
}

// TestRefused: a permanently refused record becomes exactly one dead letter,
// regardless of how many sinks refuse it. The ledger is updated, and other
// records are not affected.
func TestRefused(t *testing.T) {
	f := func(name string, ordering Ordering, second func(*Batch, *Stream) (Result, bool)) {
		t.Helper()
		bubble.Test(t, func(t *testing.T) {
			src := &committing{fakeSource: *oneLane(300, "aRXDaPb")}
			lines := src.lanes[0]
			a, b := &fakeSink{answer: picky, async: true}, &fakeSink{answer: second}
			dead := &fakeSink{answer: flaky(4)}
			p := newPipe(t, Options{Sources: []Source{src}, Sinks: []Sink{a, b}, DeadLetter: dead, Ordering: ordering, Workers: 4})
			s := finished(t.Context(), t, p)
			sameLines(t, name, a.lines["lane0"], of(lines, "ab"), ordering != OrderNone)
			sameLines(t, name+", dead letter", dead.lines["lane0"], of(lines, "RXP"), false)
			refused := int64(len(of(lines, "R")))
			if s.Ledger.Dead != int64(len(of(lines, "RXP"))) || s.Stats.Rejects[record.Refused] != refused {
				t.Errorf("%s: ledger %+v, %d refused, want %d", name, s.Ledger, s.Stats.Rejects[record.Refused], refused)
			}
			if got := src.last()["lane0"].A; got != int64(len(lines)) {
				t.Errorf("%s: committed %d, want %d", name, got, len(lines))
			}
		})
	}
	f("one refuses", OrderNone, nil)
	f("both refuse", OrderNone, picky)
	f("in order", OrderPerLane, nil)
	f("in order of the input", OrderInput, picky)
}

// TestRefusedDropped: with RefusedDrop, refused records are dropped and
// counted.
func TestRefusedDropped(t *testing.T) {
	src := oneLane(300, "aRb")
	src.lanes = append(src.lanes, []string{"W", "a"})
	sink := &fakeSink{answer: picky}
	p := newPipe(t, Options{Sources: []Source{src}, Sinks: []Sink{sink}, OnRefused: RefusedDrop})
	s := finished(t.Context(), t, p)
	sameLines(t, "sink", sink.lines["lane0"], of(src.lanes[0], "ab"), false)
	want := Ledger{Read: 302, Emitted: 200, Dropped: 102}
	if len(sink.lines["lane1"]) == 1 { // the two records were in different batches
		want.Emitted, want.Dropped = 201, 101
	}
	if s.Ledger != want {
		t.Errorf("ledger %+v, want %+v", s.Ledger, want)
	}
}

// TestRefuseBroken: a codec that cannot write a dead letter ends the run,
// because the record cannot go anywhere else.
func TestRefuseBroken(t *testing.T) {
	p := newPipe(t, Options{
		Sources: []Source{oneLane(3, "R")}, Sinks: []Sink{&fakeSink{answer: picky}}, DeadLetter: &fakeSink{},
		NewCodec: func() Codec { return noLetters{&fakeCodec{}} },
	})
	err := p.Run(t.Context())
	if err == nil || errors.Is(err, ErrDeadline) {
		t.Errorf("Run: %v, want the panic in Refuse", err)
	}
	if l := p.Snapshot().Ledger; !l.Balanced() || l.InFlight != 0 || l.Dead != 0 {
		t.Errorf("ledger %+v", l)
	}
}

type noLetters struct{ Codec }

func (noLetters) Refuse(*Batch) { panic("secret") }
