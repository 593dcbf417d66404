package pipelinetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/kinds"
	"github.com/urlfold/urlfold/pipeline"
)

// enough is the number of records after which a source that does not end is stopped.
const enough = 1000

// TestSource checks a source. open returns a new source that was not opened. If
// these sources store positions, they store them in the same place, like
// sources of successive processes. The source ends, or emits records until it
// is stopped.
func TestSource(t *testing.T, open func() pipeline.Source) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(t testing.TB, open func() pipeline.Source)
	}{
		{"close", sourceCloses},
		{"lives", sourceLives},
		{"stopped", sourceStopped},
		{"stopped hard", sourceStoppedHard},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, open) })
	}
}

// A ledger holds the records that sinks got from successive sources, by the
// message id that a sink would derive.
type ledger struct {
	mu   sync.Mutex
	recs map[string]entry
	life int
	bad  []string
}

// An entry is a record, and the life of the source in which a sink got it.
type entry struct {
	text string
	life int
}

// sink returns a sink that enters records. stop is called after enough of them.
func (l *ledger) sink(stop func()) pipeline.Sink {
	seen := 0
	return pipeline.SinkFunc(func(_ context.Context, t pipeline.Ticket) error {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, r := range t.Records() {
			pos, index := r.Origin()
			id := fmt.Sprintf("%s %d %d", t.LaneID(), pos, index)
			switch old, ok := l.recs[id]; {
			case ok && old.text != string(r.Bytes):
				l.bad = append(l.bad, fmt.Sprintf("two records have the id %q, so that a server drops the second: lane ids and offsets continue at the stored position (see Runtime.Lane)", id))
			case ok && old.life != l.life:
				l.bad = append(l.bad, fmt.Sprintf("the record %q is read again by the next process, although the run ended and its position was stored: Commit stores, and Open loads", id))
			}
			l.recs[id] = entry{string(r.Bytes), l.life}
			if seen++; seen == enough {
				stop()
			}
		}
		return nil
	})
}

// sourceLives runs the source three times, as processes that follow one another.
func sourceLives(t testing.TB, open func() pipeline.Source) {
	l := &ledger{recs: map[string]entry{}}
	for l.life = range 3 {
		ctx, cancel := context.WithCancel(context.Background())
		p := newPipeline(t, pipeline.Options{Sources: []pipeline.Source{open()}, Sinks: []pipeline.Sink{l.sink(cancel)}, Workers: 2})
		var err error
		soon(t, "Run", func() { err = p.Run(ctx) })
		cancel()
		if err != nil {
			t.Fatalf("Run: %v", err)
		}
	}
	for _, text := range l.bad[:min(len(l.bad), 3)] {
		t.Error(text)
	}
}

// A timed is a source that is stopped soon after its Run begins.
type timed struct {
	pipeline.Source
	stop func()
}

func (s timed) Unwrap() pipeline.Source { return s.Source }

func (s timed) Run(ctx context.Context) error {
	time.AfterFunc(10*time.Millisecond, s.stop)
	return s.Source.Run(ctx)
}

// sourceStopped checks that a source which is stopped while it runs returns
// nil.
func sourceStopped(t testing.TB, open func() pipeline.Source) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p := newPipeline(t, pipeline.Options{Sources: []pipeline.Source{timed{open(), cancel}}, Sinks: []pipeline.Sink{pipeline.SinkFunc(func(context.Context, pipeline.Ticket) error { return nil })}})
	var err error
	soon(t, "Run", func() { err = p.Run(ctx) })
	if err != nil {
		t.Errorf("Run after the stop: %v", err)
	}
}

// sourceStoppedHard ends the run while the sink does not answer: the source must not wait.
func sourceStoppedHard(t testing.TB, open func() pipeline.Source) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var p *pipeline.Pipeline
	stuck := pipeline.SinkFunc(func(ctx context.Context, _ pipeline.Ticket) error {
		p.HardStop()
		<-ctx.Done()
		return ctx.Err()
	})
	p = newPipeline(t, pipeline.Options{Sources: []pipeline.Source{open()}, Sinks: []pipeline.Sink{stuck}})
	var err error
	soon(t, "Run", func() { err = p.Run(ctx) })
	if err != nil && !errors.Is(err, pipeline.ErrDeadline) {
		t.Errorf("Run after HardStop: %v", err)
	}
}

// sourceCloses closes a source that was never opened.
func sourceCloses(t testing.TB, open func() pipeline.Source) {
	s := open()
	_ = kinds.Outside.Source(s, kinds.SourceEnv{Name: "source"})
	var err error
	soon(t, "Close", func() { err = s.Close(context.Background()) })
	if err != nil {
		t.Errorf("Close without Open: %v", err)
	}
}
