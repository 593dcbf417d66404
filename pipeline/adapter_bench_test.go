package pipeline_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/urlfold/urlfold/codec"
	publicrecord "github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/pipeline"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// BenchmarkDoor compares sources and sinks of package pipeline with those of the engine, in
// ns per record, for records of 50 bytes that are already in normal form.
func BenchmarkDoor(b *testing.B) {
	rec := []byte("http://example.com/a/path/of/some/length?q=value1\n")
	b.Run("engine", func(b *testing.B) {
		job, err := record.New(record.Config{Format: "lines", Normalizer: codec.MustNamed("equiv")})
		if err != nil {
			b.Fatal(err)
		}
		p, err := engine.New(engine.Options{
			Sources: []engine.Source{&inside{rec: rec, n: b.N}}, Sinks: []engine.Sink{acks{}},
			NewCodec: engine.NewRecordCodec(job), Workers: 1,
		})
		if err != nil {
			b.Fatal(err)
		}
		if err := p.Run(ctx); err != nil {
			b.Fatal(err)
		}
	})
	b.Run("outside", func(b *testing.B) {
		p, err := pipeline.New(pipeline.Options{
			Sources: []pipeline.Source{pipeline.SourceFunc(func(_ context.Context, emit func([]byte) error) error {
				for range b.N {
					if err := emit(rec); err != nil {
						return err
					}
				}
				return nil
			})},
			Sinks: []pipeline.Sink{pipeline.SinkFunc(func(context.Context, pipeline.Ticket) error { return nil })},
			Job:   publicrecord.Job{Format: "lines"}, Workers: 1,
		})
		if err != nil {
			b.Fatal(err)
		}
		if err := p.Run(ctx); err != nil {
			b.Fatal(err)
		}
	})
}

// An inside is a source of the engine that emits n copies of a record.
type inside struct {
	rec []byte
	n   int
	rt  engine.Runtime
}

func (s *inside) Open(_ context.Context, rt engine.Runtime) error { s.rt = rt; return nil }
func (*inside) Close(context.Context) error                       { return nil }

func (s *inside) Run(ctx context.Context) error {
	l := s.rt.NewLane("inside", engine.LaneLimits{})
	defer s.rt.End(l)
	block := bytes.Repeat(s.rec, 2600)
	for off := int64(0); s.n > 0; {
		b, err := s.rt.Get(ctx, l)
		if err != nil {
			return err
		}
		n := min(s.n, 2600)
		b.Off, b.In = off, append(b.In, block[:n*len(s.rec)]...)
		off += int64(len(b.In))
		s.n -= n
		if err := s.rt.Emit(ctx, b, engine.Position{A: off}); err != nil {
			return err
		}
	}
	return nil
}

// acks is a sink of the engine that answers at once.
type acks struct{}

func (acks) Open(context.Context) error    { return nil }
func (acks) Barrier(context.Context) error { return nil }
func (acks) Close(context.Context) error   { return nil }
func (acks) Caps() engine.SinkCaps         { return engine.SinkCaps{} }

func (acks) Submit(_ context.Context, _ *engine.Batch, t engine.Ticket) error {
	t.Done(engine.Result{})
	return nil
}
