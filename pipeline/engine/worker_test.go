package engine

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// TestPoison is experiment 10: records on which the codec panics are isolated
// at every position of a batch, and neither the log nor an error quotes them.
func TestPoison(t *testing.T) {
	f := func(name string, lines []string, pass bool) {
		t.Helper()
		src := &fakeSource{lanes: [][]string{lines}, perCall: 8}
		sink, dead := &fakeSink{}, &fakeSink{}
		var log bytes.Buffer
		p := newPipe(t, Options{
			Sources: []Source{src}, Sinks: []Sink{sink}, DeadLetter: dead, Ordering: OrderInput, Workers: 2,
			NewCodec: func() Codec { return &fakeCodec{pass: pass} },
			Logger:   slog.New(slog.NewTextHandler(&log, nil)),
		})
		s := finished(t.Context(), t, p)
		want, wantDead := of(lines, "ab"), of(lines, "P")
		if pass {
			want, wantDead = of(lines, "abP"), nil
		}
		sameLines(t, name, sink.lines["lane0"], want, true)
		sameLines(t, name+", dead letter", dead.lines["lane0"], wantDead, true)
		if n := int64(len(of(lines, "P"))); s.Stats.Panics != n {
			t.Errorf("%s: %d panics counted, want %d", name, s.Stats.Panics, n)
		}
		if strings.Contains(log.String(), "secret") || !strings.Contains(log.String(), "codec panic") {
			t.Errorf("%s: the log: %s", name, log.String())
		}
	}
	f("first", []string{"P0", "a1", "b2"}, false)
	f("last", []string{"a0", "b1", "P2"}, false)
	f("only", []string{"P0"}, false)
	f("all", numbered(40, "P"), false)
	f("some", numbered(400, "abPaP"), false)
	f("pass through", numbered(400, "abPaP"), true)
}

// TestCodecBroken: a codec failure ends the run with an error that contains the
// position but no byte of the record.
func TestCodecBroken(t *testing.T) {
	f := func(name string, codec Codec, lines []string, want ...string) {
		t.Helper()
		src := &fakeSource{lanes: [][]string{lines}, perCall: 1}
		p := newPipe(t, Options{Sources: []Source{src}, Sinks: []Sink{&fakeSink{}}, DeadLetter: &fakeSink{}, Workers: 1,
			NewCodec: func() Codec { return codec }})
		err := p.Run(t.Context())
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Fatalf("%s: Run: %v", name, err)
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: Run: %v, want %q in it", name, err, w)
			}
		}
		if l := p.Snapshot().Ledger; !l.Balanced() || l.InFlight != 0 {
			t.Errorf("%s: ledger %+v", name, l)
		}
		checkClosed(t, p)
	}
	f("panic in Reject", &fakeCodec{}, []string{"F1"}, "panic in Codec.Reject, lane lane0, batch from line 1, offset 0", "value of type string")
	f("Process stops", brokenCodec{}, []string{"a1"}, "BUG:", "Process left 3 bytes")
	f("Reject does not move", brokenCodec{boom: true}, []string{"a1"}, "BUG:", "does not advance")
}

// A brokenCodec does nothing, or panics.
type brokenCodec struct{ boom bool }

func (c brokenCodec) Process(*Batch) {
	if c.boom {
		var none []byte
		_ = none[len(none)]
	}
}
func (brokenCodec) Reject(*Batch) {}
func (brokenCodec) Refuse(*Batch) {}

func TestPanicText(t *testing.T) {
	if got := panicText(errors.New("secret")); got != "value of type *errors.errorString" {
		t.Errorf("%q", got)
	}
	defer func() {
		if got := panicText(recover()); got != "runtime error: index out of range [0] with length 0" {
			t.Errorf("%q", got)
		}
	}()
	brokenCodec{boom: true}.Process(nil)
}

// A packingSink is a fakeSink and Packer that doubles each byte.
type packingSink struct {
	fakeSink
	err error
	off bool
	bad int // batches whose packed form is wrong
}

func (s *packingSink) NewPack() (func(dst, src []byte) []byte, error) {
	if s.err != nil || s.off {
		return nil, s.err
	}
	return double, nil
}

func double(dst, src []byte) []byte {
	for _, c := range src {
		dst = append(dst, c, c)
	}
	return dst
}

func (s *packingSink) Submit(ctx context.Context, b *Batch, t Ticket) error {
	want := double(nil, t.Stream().Bytes)
	if s.off {
		want = nil
	}
	if !bytes.Equal(t.Stream().Packed, want) {
		s.bad++
	}
	return s.fakeSink.Submit(ctx, b, t)
}

func TestPack(t *testing.T) {
	f := func(name string, off bool) {
		t.Helper()
		sink, dead := &packingSink{off: off}, &packingSink{}
		src := oneLane(300, "aXD")
		p := newPipe(t, Options{Sources: []Source{src}, Sinks: []Sink{&fakeSink{}, sink}, DeadLetter: dead, Ordering: OrderInput, Workers: 3})
		finished(t.Context(), t, p)
		if sink.bad+dead.bad != 0 {
			t.Errorf("%s: %d batches and %d batches of dead letters are packed wrongly", name, sink.bad, dead.bad)
		}
		sameLines(t, name, sink.lines["lane0"], of(src.lanes[0], "a"), true)
		sameLines(t, name, dead.lines["lane0"], of(src.lanes[0], "X"), true)
	}
	f("packed", false)
	f("off", true)

	p := newPipe(t, Options{Sources: []Source{oneLane(1, "a")}, Sinks: []Sink{&packingSink{err: errSink}}})
	if err := p.Run(t.Context()); !errors.Is(err, errSink) {
		t.Errorf("Run: %v, want %v", err, errSink)
	}
}
