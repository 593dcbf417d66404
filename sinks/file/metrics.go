package file

import "github.com/urlfold/urlfold/internal/ground/metric"

// Metrics calls emit for each metric of the sink; metrics.Extra describes the
// arguments. It may be called at any time, from any goroutine.
func (s *log) Metrics(emit metric.Emit) {
	count, gauge := metric.Of(emit)
	n := s.Stats()
	count("sink_file_bytes_total", "Bytes written to files, including rewritten ones.", n.Bytes)
	count("sink_syncs_total", "File syncs.", n.Syncs)
	emit("sink_sync_seconds_total", "Time spent in file syncs.", metric.Counter, n.SyncTime.Seconds())
	count("sink_rotations_total", "Files ended by rotation.", n.Rotations)
	count("sink_files_finished_total", "Files renamed to their final names.", n.Published)
	count("sink_retries_total", "Attempts to repair a file after a failed write or sync.", n.Retries, "class", "file")
	gauge("sink_open_descriptors", "Open files.", n.OpenFiles)
	gauge("sink_unsynced_batches", "Batches waiting for a file sync.", n.Holds)
}
