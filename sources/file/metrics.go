package file

import (
	"github.com/urlfold/urlfold/internal/ground/metric"
	"github.com/urlfold/urlfold/internal/storage/compress"
)

// Metrics calls emit for each metric of w; see metrics.Extra for its arguments.
// It may be called at any time, from any goroutine.
func (w *watcher) Metrics(emit metric.Emit) {
	count, gauge := metric.Of(emit)
	s := w.glance()
	const files = "Files by state."
	for _, f := range []struct {
		state string
		n     int
	}{{"open", s.Open}, {"held", s.Held}, {"done", s.Done}, {"damaged", s.Damaged}, {"unreadable", s.Unreadable}} {
		gauge("source_files", files, int64(f.n), "state", f.state)
	}
	gauge("source_lag_bytes", "Bytes in files that have not been read yet; for compressed files, compressed bytes.", s.LagBytes)
	for kind := compress.TrailingGarbage + 1; kind <= compress.Unreadable; kind++ { // the verdicts that mean damage
		gauge("source_damaged_files", "Damaged files that have not been replaced, by verdict.", int64(s.DamagedBy[kind.String()]), "verdict", kind.String())
	}
	// Emit all kinds, including those with a count of 0: Prometheus sees no
	// increase of a counter that first appears with the value 1.
	for kind := compress.OK; kind <= compress.Unreadable; kind++ {
		count("source_files_finished_total", "Files that were finished or cannot be read, by verdict; lost: removed or truncated before they were read to the end.", s.Verdicts[kind.String()], "verdict", kind.String())
	}
	count("source_files_finished_total", "", s.Verdicts[lostVerdict], "verdict", lostVerdict)
	const unverified = "Records of damaged compressed files that no checksum verifies, by outcome: emitted to the outputs or withheld."
	count("archive_unverified_records_total", unverified, s.UnverifiedEmitted, "outcome", "emitted")
	count("archive_unverified_records_total", unverified, s.UnverifiedWithheld, "outcome", "withheld")
	count("source_truncations_total", "Files that were truncated or overwritten.", s.Truncations)
	count("source_lost_bytes_total", "Bytes lost because a file was deleted or truncated before they were read, and no copy was found.", s.LostBytes)
	count("source_reinflated_bytes_total", "Bytes decompressed again to resume within a compressed file.", s.Reinflated)
	gauge("source_verifying_bytes", "Bytes still to be read again to verify that files hold a known text.", s.Verifying)
	count("source_verified_bytes_total", "Bytes read again to verify that files hold a known text.", s.Verified)
	count("source_lookalikes_total", "Files that resembled a known file but differ from it, and are read from the beginning.", s.Lookalikes)
	gauge("source_open_descriptors", "Open file descriptors of source files.", int64(s.Descriptors))

	c := w.cfg.Store.Stats()
	count("checkpoint_saves_total", "Checkpoint saves.", c.Saves)
	count("checkpoint_failures_total", "Failed checkpoint saves.", c.Failures)
	count("checkpoint_compactions_total", "Times a snapshot replaced the commit log.", c.Compactions)
	gauge("checkpoint_bytes", "Size of the checkpoint on disk, in bytes.", c.SnapshotBytes, "part", "snapshot")
	gauge("checkpoint_bytes", "Size of the checkpoint on disk, in bytes.", c.LogBytes, "part", "log")
}
