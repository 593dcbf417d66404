package where

import (
	"testing"

	"github.com/urlfold/urlfold/internal/record"
)

// BenchmarkWhere measures the sample log with and without an expression that
// keeps all records.
func BenchmarkWhere(b *testing.B) {
	lines := sample(b)
	for _, bench := range []struct{ name, expression string }{
		{"none", ""},
		{"numbers", `status < 600 && method != "" && bytes >= 0`},
		{"text", `!(agent contains "nobody") && path startsWith "/"`},
		{"time", `time >= "2024-01-01"`},
	} {
		b.Run(bench.name, func(b *testing.B) {
			c := newConfig(b, record.RenderRewrite)
			c.Format = "combined"
			if bench.expression != "" {
				c.Where = compile(b, bench.expression)
			}
			j, err := record.New(c)
			if err != nil {
				b.Fatal(err)
			}
			w := j.NewWorker()
			var st record.Stats
			var out []byte
			input := make([][]byte, len(lines))
			for i, line := range lines {
				input[i] = []byte(line + "\n")
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				out, _ = w.Append(out[:0], nil, input[i], record.Position{}, &st)
				if i++; i == len(input) {
					i = 0
				}
			}
		})
	}
}
