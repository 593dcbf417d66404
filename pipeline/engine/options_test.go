package engine

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
)

type everySource struct {
	committing
	acking
}

func (*everySource) Open(context.Context, Runtime) error { return nil }
func (*everySource) Run(context.Context) error           { return nil }
func (*everySource) Close(context.Context) error         { return nil }

type unorderedSink struct{ fakeSink }

func (*unorderedSink) Caps() SinkCaps { return SinkCaps{} }

func TestOptionsMistakes(t *testing.T) {
	f := func(o Options, want ...string) {
		t.Helper()
		_, err := New(o)
		if err == nil {
			t.Fatal("New accepts it")
		}
		got := strings.Split(err.Error(), "\n")
		if len(got) != len(want) {
			t.Errorf("%d mistakes, want %d:\n%v", len(got), len(want), err)
			return
		}
		for i := range got {
			if !strings.Contains(got[i], want[i]) {
				t.Errorf("%q, want %q in it", got[i], want[i])
			}
		}
	}
	f(Options{}, "missing source", "missing sink", "missing codec")
	f(Options{
		Sources: []Source{&everySource{}}, Sinks: []Sink{nil, &fakeSink{}, &fakeSink{}, &unorderedSink{}}, NewCodec: newFakeCodec,
		Workers: -1, Ordering: OrderPerLane, BatchBytes: -1, Batches: 3, CommitInterval: -1, ShutdownTimeout: -1,
	},
		"it must be at most one of them", "workers: -1", "batch bytes: -1", "batches: 3", "commit interval: -1ns", "shutdown timeout: -1ns",
		"sink 1 is nil", "sink 4 does not support ordering")
	f(Options{Sources: []Source{&fakeSource{}}, Sinks: make([]Sink, 64), NewCodec: newFakeCodec, Ordering: 3},
		append([]string{"too many sinks: 64", "ordering: invalid value 3"}, nilSinks(64)...)...)
}

func nilSinks(n int) []string {
	s := make([]string, n)
	for i := range s {
		s[i] = "is nil"
	}
	return s
}

func TestOptionsDefaults(t *testing.T) {
	p := newPipe(t, Options{Sources: []Source{&fakeSource{}}, Sinks: []Sink{&fakeSink{}}, NewCodec: newFakeCodec})
	w := runtime.GOMAXPROCS(0)
	if o := p.o; o.Workers != w || o.Batches != max(16, 4*w+2) || o.BatchBytes != 128<<10 ||
		o.CommitInterval != time.Second || o.ShutdownTimeout != 30*time.Second {
		t.Errorf("%+v", o)
	}
	p = newPipe(t, Options{Sources: []Source{&fakeSource{}}, Sinks: []Sink{&fakeSink{}, &fakeSink{}}, Workers: 64})
	if p.o.Batches != 4*64+2*2 {
		t.Errorf("%d batches", p.o.Batches)
	}
}

// TestOpenFails: exactly the parts on which Open was called are closed.
func TestOpenFails(t *testing.T) {
	src := &fakeSource{}
	a, b, dead := &fakeSink{}, &fakeSink{openErr: errSink}, &fakeSink{}
	p := newPipe(t, Options{Sources: []Source{src}, Sinks: []Sink{a, b}, DeadLetter: dead})
	if err := p.Run(t.Context()); !errors.Is(err, errSink) {
		t.Errorf("Run: %v, want %v", err, errSink)
	}
	if a.closed != 1 || b.closed != 1 || dead.closed != 0 || src.closed != 0 || !a.cutShort {
		t.Errorf("closed %d, %d, %d, %d times", a.closed, b.closed, dead.closed, src.closed)
	}
	if err := p.Run(t.Context()); err == nil {
		t.Error("a second Run succeeds")
	}
}
