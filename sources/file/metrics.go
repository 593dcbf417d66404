package file

import (
	"github.com/urlfold/urlfold/internal/storage/compress"
)

// Metrics calls emit for each metric of w; see metrics.Extra for its arguments.
// It may be called at any time, from any goroutine.
func (w *watcher) Metrics(emit func(name, help, kind string, value float64, labels ...string)) {
	const counter, gauge = "counter", "gauge"
	s := w.glance()
	const files = "Files by state."
	for _, f := range []struct {
		state string
		n     int
	}{{"open", s.Open}, {"held", s.Held}, {"done", s.Done}, {"damaged", s.Damaged}, {"unreadable", s.Unreadable}} {
		emit("source_files", files, gauge, float64(f.n), "state", f.state)
	}
	emit("source_lag_bytes", "Bytes in files that have not been read yet; for compressed files, compressed bytes.", gauge, float64(s.LagBytes))
	for kind := compress.TrailingGarbage + 1; kind <= compress.Unreadable; kind++ { // the verdicts that mean damage
		emit("source_damaged_files", "Damaged files that have not been replaced, by verdict.", gauge, float64(s.DamagedBy[kind.String()]), "verdict", kind.String())
	}
	// Emit all kinds, including those with a count of 0: Prometheus sees no
	// increase of a counter that first appears with the value 1.
	for kind := compress.OK; kind <= compress.Unreadable; kind++ {
		emit("source_files_finished_total", "Files that were finished or cannot be read, by verdict; lost: removed or truncated before they were read to the end.", counter, float64(s.Verdicts[kind.String()]), "verdict", kind.String())
	}
	emit("source_files_finished_total", "", counter, float64(s.Verdicts[lostVerdict]), "verdict", lostVerdict)
	const unverified = "Records of damaged compressed files that no checksum verifies, by outcome: emitted to the outputs or withheld."
	emit("archive_unverified_records_total", unverified, counter, float64(s.UnverifiedEmitted), "outcome", "emitted")
	emit("archive_unverified_records_total", unverified, counter, float64(s.UnverifiedWithheld), "outcome", "withheld")
	emit("source_truncations_total", "Files that were truncated or overwritten.", counter, float64(s.Truncations))
	emit("source_lost_bytes_total", "Bytes lost because a file was deleted or truncated before they were read, and no copy was found.", counter, float64(s.LostBytes))
	emit("source_reinflated_bytes_total", "Bytes decompressed again to resume within a compressed file.", counter, float64(s.Reinflated))
	emit("source_verifying_bytes", "Bytes still to be read again to verify that files hold a known text.", gauge, float64(s.Verifying))
	emit("source_verified_bytes_total", "Bytes read again to verify that files hold a known text.", counter, float64(s.Verified))
	emit("source_lookalikes_total", "Files that resembled a known file but differ from it, and are read from the beginning.", counter, float64(s.Lookalikes))
	emit("source_open_descriptors", "Open file descriptors of source files.", gauge, float64(s.Descriptors))

	c := w.cfg.Store.Stats()
	emit("checkpoint_saves_total", "Checkpoint saves.", counter, float64(c.Saves))
	emit("checkpoint_failures_total", "Failed checkpoint saves.", counter, float64(c.Failures))
	emit("checkpoint_compactions_total", "Times a snapshot replaced the commit log.", counter, float64(c.Compactions))
	emit("checkpoint_bytes", "Size of the checkpoint on disk, in bytes.", gauge, float64(c.SnapshotBytes), "part", "snapshot")
	emit("checkpoint_bytes", "Size of the checkpoint on disk, in bytes.", gauge, float64(c.LogBytes), "part", "log")
}
