package sinks_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/app/where"
	"github.com/urlfold/urlfold/internal/kinds"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/pipeline/engine"
	"github.com/urlfold/urlfold/sinks/discard"
)

// A textSource emits the batches of one lane.
type textSource struct {
	rt      engine.Runtime
	batches []string
}

func (s *textSource) Open(_ context.Context, rt engine.Runtime) error { s.rt = rt; return nil }
func (s *textSource) Close(context.Context) error                     { return nil }

func (s *textSource) Run(ctx context.Context) error {
	l := s.rt.NewLane("lane", engine.LaneLimits{})
	defer s.rt.End(l)
	off := int64(0)
	for _, text := range s.batches {
		b, err := s.rt.Get(ctx, l)
		if err != nil {
			return err
		}
		b.In, b.Off = append(b.In, text...), off
		off += int64(len(text))
		if err := s.rt.Emit(ctx, b, engine.Position{A: off}); err != nil {
			return err
		}
	}
	l.Complete()
	return nil
}

// routed: a sink that gets only some records of each batch, because a route
// sends the others to another sink, writes each of its own once and in order,
// also if it gets none of a batch.
func routed(t testing.TB, f fixture) {
	when, err := where.Compile(`path startsWith "/mine/"`, nil)
	if err != nil {
		t.Fatal(err)
	}
	n, err := codec.New(codec.Profiles()[0])
	if err != nil {
		t.Fatal(err)
	}
	s, other := f.sink(), discard.New(discard.Config{})
	reader, facts := s.(kinds.FactReader)
	job, err := record.New(record.Config{
		Format: "lines", Normalizer: n, Facts: facts && reader.NeedsFacts(),
		Route: []record.Branch{{When: when, To: 1 << 0}, {To: 1 << 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	src, want := &textSource{}, []string(nil)
	for i := range 60 {
		var text strings.Builder
		for k := range i % 7 {
			line := fmt.Sprintf("http://h/others/%d/%d\n", i, k)
			if k%3 == 1 {
				line = fmt.Sprintf("http://h/mine/%d/%d\n", i, k)
				want = append(want, line)
			}
			text.WriteString(line)
		}
		if text.String() != "" {
			src.batches = append(src.batches, text.String())
		}
	}
	o := engine.Options{Sources: []engine.Source{src}, Sinks: []engine.Sink{s, other}, NewCodec: engine.NewRecordCodec(job), Workers: 3, Batches: 2 * len(src.batches), ShutdownTimeout: patience}
	if s.Caps().Ordered {
		o.Ordering = engine.OrderPerLane
	}
	p, err := engine.New(o)
	if err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(patience, p.HardStop)
	defer late.Stop()
	if err := p.Run(ctx); err != nil {
		t.Fatalf("Run: %v", err)
	}
	if got := p.Snapshot().Sinks[0].Records; got != int64(len(want)) {
		t.Errorf("%d records are counted for the sink, want %d", got, len(want))
	}
	sameRecords(t, f, want, s.Caps().Ordered && !f.scattered)
}
