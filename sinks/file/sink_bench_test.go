package file

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkFile writes 512 MiB and publishes it. "sync-ms" is the duration of
// the final Barrier, which early writeback is meant to shorten.
func BenchmarkFile(b *testing.B) {
	const batch, batches = 128 << 10, 4096
	text := string(bytes.Repeat([]byte("x"), batch))
	for _, early := range []bool{true, false} {
		name := "early"
		if !early {
			name = "late"
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(batch * batches)
			var last time.Duration
			for range b.N {
				out := open(b, Config{Path: filepath.Join(b.TempDir(), "out")})
				if !early {
					out.(*sink).flushing = writeback{}
				}
				for range batches {
					submit(b, out, text)
				}
				start := time.Now()
				must(b, out.Barrier(ctx))
				last += time.Since(start)
				must(b, out.Close(ctx))
				must(b, out.Publish())
			}
			b.ReportMetric(float64(last.Milliseconds())/float64(b.N), "sync-ms")
		})
	}
}
