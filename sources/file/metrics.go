package file

import (
	"github.com/urlfold/urlfold/internal/storage/compress"
)

// laggards is how many files have a figure of their own: those with the most to
// read. A folder may have thousands.
const laggards = 20

// Metrics calls emit for each figure of w; see metrics.Extra for what its arguments
// mean. It may be called at any time, from any goroutine.
func (w *watcher) Metrics(emit func(name, help, kind string, value float64, labels ...string)) {
	const counter, gauge = "counter", "gauge"
	s := w.glance()
	const files = "Files by what has become of them."
	for _, f := range []struct {
		state string
		n     int
	}{{"open", s.Open}, {"held", s.Held}, {"done", s.Done}, {"damaged", s.Damaged}, {"unreadable", s.Unreadable}} {
		emit("source_files", files, gauge, float64(f.n), "state", f.state)
	}
	emit("source_lag_bytes", "Bytes in files that were not read yet, of compressed files as they are stored.", gauge, float64(s.LagBytes))
	for _, f := range s.Files {
		emit("source_file_lag_bytes", "The same, of the files that have the most.", gauge, float64(f.Lag), "path", f.Path)
	}
	damageMetrics(s.DamagedBy, emit)
	// All kinds, also those that have not come up: Prometheus sees no increase of a
	// counter that begins at 1.
	for kind := compress.OK; kind <= compress.Unreadable; kind++ {
		emit("archive_verdicts_total", "Files that were finished, or cannot be read, by verdict.", counter, float64(s.Verdicts[kind.String()]), "verdict", kind.String())
	}
	const unverified = "Records of damaged compressed files that no checksum verifies, by whether they are in the outputs."
	emit("archive_unverified_records_total", unverified, counter, float64(s.UnverifiedEmitted), "outcome", "emitted")
	emit("archive_unverified_records_total", unverified, counter, float64(s.UnverifiedWithheld), "outcome", "withheld")
	emit("source_truncations_total", "Files that were truncated or written over.", counter, float64(s.Truncations))
	emit("source_lost_bytes_total", "Bytes seen in files that were gone or truncated before they were read, and found in no copy.", counter, float64(s.LostBytes))
	emit("source_reinflated_bytes_total", "Bytes that were decompressed again to go on inside a file.", counter, float64(s.Reinflated))
	emit("source_verifying_bytes", "Bytes still to be read again to verify that files hold a text that is known.", gauge, float64(s.Verifying))
	emit("source_verified_bytes_total", "Bytes that were read again for that.", counter, float64(s.Verified))
	emit("source_lookalikes_total", "Files that looked like a known text and were another one: they are read from their beginning.", counter, float64(s.Lookalikes))
	emit("source_open_descriptors", "Files that are held open.", gauge, float64(s.Descriptors))

	c := w.cfg.Store.Stats()
	emit("checkpoint_saves_total", "How often the checkpoint was stored.", counter, float64(c.Saves))
	emit("checkpoint_failures_total", "How often that has failed.", counter, float64(c.Failures))
	emit("checkpoint_compactions_total", "How often a snapshot has replaced the log of commits.", counter, float64(c.Compactions))
	emit("checkpoint_bytes", "Size of the checkpoint.", gauge, float64(c.SnapshotBytes), "part", "snapshot")
	emit("checkpoint_bytes", "Size of the checkpoint.", gauge, float64(c.LogBytes), "part", "log")
}
