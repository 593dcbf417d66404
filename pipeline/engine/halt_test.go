package engine

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/testkit/bubble"
)

// A splitting is a source that can divide its batches.
type splitting struct{ committing }

func (s *splitting) Split(b *Batch, off, _ int) (Position, bool) { return splitLines(b, off), true }

// splitLines returns the position of the line at off of b, for positions that
// count lines.
func splitLines(b *Batch, off int) Position {
	return Position{A: b.End.A - int64(bytes.Count(b.In[off:], newline))}
}

// TestHalt: when a codec ends the run at a record, everything before the record
// is durable and committed if the source can divide batches; otherwise,
// everything before the batch of the record. With an ordering, nothing after
// that point reaches a sink.
func TestHalt(t *testing.T) {
	const at = 200
	f := func(o Ordering, block, split bool) {
		t.Helper()
		bubble.Test(t, func(t *testing.T) {
			lines := numbered(300, "aXDaP")
			lines[at] = "S" + lines[at][1:]
			src := &splitting{committing{fakeSource: fakeSource{lanes: [][]string{lines, numbered(300, "ab")}, readers: 2, block: block}}}
			var source Source = src
			least := at
			if !split {
				source, least = &src.committing, at-10 // a batch has at most ten lines
			}
			out, dead := &fakeSink{answer: flaky(9)}, &fakeSink{}
			p := newPipe(t, Options{Sources: []Source{source}, Sinks: []Sink{out}, DeadLetter: dead, Ordering: o, Workers: 4, CommitInterval: time.Hour})
			if err := p.Run(t.Context()); !errors.Is(err, errHalt) || !strings.Contains(err.Error(), "lane0, offset ") {
				t.Fatalf("%v: %v", o, err)
			}
			checkClosed(t, p)
			s := p.Snapshot()
			if !s.Ledger.Balanced() || s.Ledger.InFlight != 0 {
				t.Errorf("%v: %+v", o, s.Ledger)
			}
			got := int(src.last()["lane0"].A)
			if got > at || got < least {
				t.Errorf("%v: committed %d, want %d", o, got, least)
			}
			if o == OrderNone {
				for _, rec := range of(lines[:got], "a") {
					if !slices.Contains(out.lines["lane0"], rec) {
						t.Errorf("%v: %s is committed but not in the sink", o, rec)
					}
				}
				return
			}
			sameLines(t, fmt.Sprint(o), out.lines["lane0"], of(lines[:got], "a"), true)
			sameLines(t, fmt.Sprint(o, ", dead letter"), dead.lines["lane0"], of(lines[:got], "XP"), true)
		})
	}
	for _, o := range []Ordering{OrderNone, OrderPerLane, OrderInput} {
		for _, split := range []bool{false, true} {
			f(o, false, split)
			f(o, true, split)
		}
	}
}

// A splittingCuts is a CutCommitter that can divide its batches.
type splittingCuts struct{ cutSource }

func (s *splittingCuts) Split(b *Batch, off, _ int) (Position, bool) { return splitLines(b, off), true }

// TestHaltCut: the last cut covers everything before the record that ends the
// run. The lane is not finished, even if that record was in its last batch.
func TestHaltCut(t *testing.T) {
	f := func(n, at int, split bool) {
		t.Helper()
		bubble.Test(t, func(t *testing.T) {
			src := &splittingCuts{}
			lines := numbered(n, "aXDaP")
			lines[at] = "S" + lines[at][1:]
			src.lanes, src.whole = [][]string{lines}, true
			var source Source = src
			least := int64(at)
			if !split {
				source, least = &src.cutSource, int64(at-10)
			}
			out, dead := &extentSink{fakeSink: fakeSink{async: true}}, &extentSink{}
			p := newPipe(t, Options{
				Sources: []Source{source}, Sinks: []Sink{out}, DeadLetter: dead, ExactlyOnce: true, Ordering: OrderPerLane, Workers: 4,
				CommitInterval: time.Hour, SinkNames: []string{"b"},
			})
			if err := p.Run(t.Context()); !errors.Is(err, errHalt) {
				t.Fatal(err)
			}
			if len(src.cuts) != 2 || len(src.cuts[0].at) != 0 || src.cuts[1].at["lane0"] < least || src.cuts[1].at["lane0"] > int64(at) {
				t.Fatalf("cuts: %+v", src.cuts)
			}
			last := src.cuts[1].at["lane0"]
			sameLines(t, "out", out.lines["lane0"], of(lines[:last], "a"), true)
			if len(src.finished)+len(out.finished) > 0 {
				t.Error("a halted lane was finished")
			}
		})
	}
	for _, split := range []bool{false, true} {
		f(300, 200, split)
		f(300, 299, split)
	}
}

// TestHaltWithoutPositions: a source without positions does not need a
// Splitter; everything before the record reaches the sinks.
func TestHaltWithoutPositions(t *testing.T) {
	lines := numbered(300, "ab")
	lines[200] = "S200"
	out := &fakeSink{}
	p := newPipe(t, Options{Sources: []Source{&fakeSource{lanes: [][]string{lines}}}, Sinks: []Sink{out}, Ordering: OrderPerLane, Workers: 4})
	if err := p.Run(t.Context()); !errors.Is(err, errHalt) {
		t.Fatal(err)
	}
	sameLines(t, "out", out.lines["lane0"], lines[:200], true)
}

// TestDrainHalted: Drain does not wait for halted batches.
func TestDrainHalted(t *testing.T) {
	l := newLane("l", 4)
	emit := func() *Batch {
		b := &Batch{Lane: l}
		l.out++
		if err := l.issue(b, Position{A: int64(l.next + 1)}); err != nil {
			t.Fatal(err)
		}
		return b
	}
	a, b, c := emit(), emit(), emit()
	lower(&l.end, c.Seq)
	lower(&l.end, b.Seq)
	lower(&l.end, c.Seq)
	if l.halted(a.Seq) || !l.halted(b.Seq) || !l.halted(c.Seq) {
		t.Error("the lane is not halted at the first batch")
	}
	drained := make(chan error)
	go func() { drained <- l.Drain(t.Context()) }()
	l.resolve(c, false)
	l.resolve(b, false)
	l.resolve(a, true)
	if err := <-drained; !errors.Is(err, ErrStopped) {
		t.Error(err)
	}
	if err := l.Drain(t.Context()); !errors.Is(err, ErrStopped) {
		t.Error(err)
	}
	if pos, _ := l.Watermark(); pos.A != 1 {
		t.Errorf("watermark %+v", pos)
	}
}

// TestRecordCodecStops: the codec of package record can be configured to end
// the run at a record that is too long, whether in a block, a message or a
// piece.
func TestRecordCodecStops(t *testing.T) {
	job := linesJobOf(t, record.Config{MaxRecord: 12, OnOversize: record.DispositionStop})
	f := func(b *Batch, next, msg int) {
		t.Helper()
		c := NewRecordCodec(job)()
		b.Lane = newLane("l", 1)
		c.Process(b)
		if !errors.Is(c.(Stopper).Err(), record.ErrOversize) || b.Next != next || b.NextMsg != msg || b.Stats.Records != int64(len(b.Out.Recs)) {
			t.Errorf("%v, next %d, message %d, %d records", c.(Stopper).Err(), b.Next, b.NextMsg, b.Stats.Records)
		}
		ok := &Batch{Lane: b.Lane, In: []byte("http://h/\n")}
		if c.Process(ok); c.(Stopper).Err() != nil || ok.Next != len(ok.In) {
			t.Error("the codec does not process the next batch")
		}
	}
	f(&Batch{In: []byte("http://h/\nhttp://h/abcdef\nhttp://h/\n")}, 10, 0)
	f(&Batch{In: []byte("http://h/abcdef"), Piece: First}, 0, 0)
	b := &Batch{}
	b.AddMessage(1, 0, nil, []byte("http://h/"))
	b.AddMessage(2, 0, nil, []byte("http://h/\nhttp://h/abcdef"))
	b.AddMessage(3, 0, nil, []byte("http://h/"))
	f(b, 19, 1)
}

// TestRecordCodecKey: the dead letter of a message contains the message key.
func TestRecordCodecKey(t *testing.T) {
	job := linesJobOf(t, record.Config{OnRejected: record.DispositionDead})
	b := &Batch{Lane: newLane("l", 1)}
	b.AddMessage(1, 0, nil, []byte("http://["))
	b.AddMessage(2, 0, []byte("k"), []byte("http://[\nhttp://["))
	c := NewRecordCodec(job)()
	c.Process(b)
	b.Next, b.NextMsg = int(b.Msgs[1].Value.Off), 1
	c.Refuse(b)
	b.Next = 0
	b.NextMsg = 0
	c.Refuse(b)
	var keys []bool
	for line := range strings.Lines(string(b.Dead.Bytes)) {
		keys = append(keys, strings.Contains(line, `"key":"k"`))
	}
	if !slices.Equal(keys, []bool{false, true, true, true, false}) {
		t.Errorf("%v in %s", keys, b.Dead.Bytes)
	}
}
