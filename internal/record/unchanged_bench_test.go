package record

import "testing"

// BenchmarkUnchanged measures how a worker copies a record that does not change,
// and what Append takes for the same.
func BenchmarkUnchanged(b *testing.B) {
	for _, c := range copiers {
		if c.Normalizer != normalizers["equiv"] || c.MaxRecord > 0 || c.Dialect != "" || c.Base != "" {
			continue
		}
		in := usualRecord(c, benchTarget)
		head := in[:newJob(b, c).Framing().Head(in)]
		in = in[len(head):]
		run := func(name string, read func(w *Worker, out []byte, st *Stats) []byte) {
			b.Run(c.Format+"/"+name, func(b *testing.B) {
				w, out := newJob(b, c).NewWorker(), []byte(nil)
				var st Stats
				b.SetBytes(int64(len(in)))
				for b.Loop() {
					out = read(w, out[:0], &st)
				}
				if len(out) != len(in) {
					b.Fatal("not copied")
				}
			})
		}
		run("AppendRun", func(w *Worker, out []byte, st *Stats) []byte {
			w.Begin(in)
			out, _ = w.AppendRun(out, nil, 0, len(in), &Position{Head: head, Off: 1, Line: 2}, 1, st)
			return out
		})
		run("Append", func(w *Worker, out []byte, st *Stats) []byte {
			out, _ = w.Append(out, nil, in[:w.Next(in)], Position{Head: head, Off: 1, Line: 2}, st)
			return out
		})
	}
}
