package file

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/testkit"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// forget is a Runtime that takes batches back without looking at them.
type forget struct {
	*testkit.Runtime
	b    *engine.Batch
	size int
}

func (f *forget) Get(context.Context, *engine.Lane) (*engine.Batch, error) { return f.b, nil }

func (f *forget) Emit(_ context.Context, b *engine.Batch, _ engine.Position) error {
	f.size += len(b.In)
	return nil
}

func (f *forget) Put(*engine.Batch) {}

// BenchmarkSource reads 64 MB, plain and gzipped.
func BenchmarkSource(b *testing.B) {
	text := strings.Repeat(logText(1000), 2000)
	text = text[:min(len(text), 64<<20)]
	for name, packed := range map[string]string{"plain": text, "gzip": gz(b, text)} {
		b.Run(name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "a")
			if err := os.WriteFile(path, []byte(packed), 0o644); err != nil {
				b.Fatal(err)
			}
			rt := &forget{Runtime: testkit.NewRuntime(1, 1), b: &engine.Batch{In: make([]byte, 0, 128<<10)}}
			b.SetBytes(int64(len(text)))
			b.ResetTimer()
			b.ReportAllocs()
			for range b.N {
				rt.size = 0
				s, err := New(Config{Paths: []string{path}, Framing: lines{}})
				if err != nil {
					b.Fatal(err)
				}
				if err := s.Open(context.Background(), rt); err != nil {
					b.Fatal(err)
				}
				if err := s.Run(context.Background()); err != nil {
					b.Fatal(err)
				}
				if rt.size != len(text) {
					b.Fatalf("%d bytes of %d", rt.size, len(text))
				}
			}
		})
	}
}
