package file

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/urlfold/urlfold/pipeline/engine"
)

// BenchmarkLog submits batches of 128 KiB like a pipeline with sixteen batches:
// when all of them wait for their answers, there is none left to submit.
func BenchmarkLog(b *testing.B) {
	text := append(bytes.Repeat([]byte("x"), 128<<10-1), '\n')
	for name, path := range map[string]string{"one file": "out.log", "lanes": "{lane}"} {
		b.Run(name, func(b *testing.B) {
			cfg := DefaultLogConfig()
			cfg.Path = filepath.Join(b.TempDir(), path)
			out := openLog(b, cfg, "")
			free := make(chan *engine.Batch, defaultBatches)
			for range defaultBatches {
				free <- &engine.Batch{Lane: laneOfRel("a"), Out: engine.Stream{Bytes: text}}
			}
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				batch := <-free
				must(b, out.Submit(ctx, batch, engine.NewTicket(&batch.Out, func(engine.Result) { free <- batch })))
			}
			must(b, out.Barrier(ctx))
			b.ReportMetric(float64(out.Stats().Syncs)/float64(b.N), "syncs/op")
		})
	}
}
