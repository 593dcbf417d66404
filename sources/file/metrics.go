package file

import (
	"cmp"
	"slices"
)

// laggards is how many files have a figure of their own: those with the most to
// read. A folder may have thousands.
const laggards = 20

// Metrics calls emit for each figure of w; see metrics.Extra for what its arguments
// mean. It may be called at any time, from any goroutine.
func (w *Watcher) Metrics(emit func(name, help, kind string, value float64, labels ...string)) {
	const counter, gauge = "counter", "gauge"
	s := w.Stats()
	const files = "Files by what has become of them."
	for _, f := range []struct {
		state string
		n     int
	}{{"open", s.Open}, {"held", s.Held}, {"done", s.Done}, {"damaged", s.Damaged}, {"unreadable", s.Unreadable}} {
		emit("source_files", files, gauge, float64(f.n), "state", f.state)
	}
	emit("source_lag_bytes", "Bytes in files that were not read yet, of compressed files as they are stored.", gauge, float64(s.LagBytes))
	slices.SortFunc(s.Files, func(a, b Standing) int { return cmp.Compare(b.Lag, a.Lag) })
	for _, f := range s.Files[:min(len(s.Files), laggards)] {
		if f.Lag > 0 {
			emit("source_file_lag_bytes", "The same, of the files that have the most.", gauge, float64(f.Lag), "path", f.Path)
		}
	}
	for verdict, n := range s.Verdicts {
		emit("archive_verdicts_total", "Files that were finished, or cannot be read, by verdict.", counter, float64(n), "verdict", verdict)
	}
	emit("source_truncations_total", "Files that were truncated or written over.", counter, float64(s.Truncations))
	emit("source_lost_bytes_total", "Bytes seen in files that were gone or truncated before they were read, and found in no copy.", counter, float64(s.LostBytes))
	emit("source_reinflated_bytes_total", "Bytes that were decompressed again to go on inside a file.", counter, float64(s.Reinflated))
	emit("source_open_descriptors", "Files that are held open.", gauge, float64(s.Descriptors))

	c := w.cfg.Store.Stats()
	emit("checkpoint_saves_total", "How often the progress was stored.", counter, float64(c.Saves))
	emit("checkpoint_failures_total", "How often that has failed.", counter, float64(c.Failures))
}
