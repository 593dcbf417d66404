package engine

import (
	"bytes"
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
