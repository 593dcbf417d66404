package file

// Metrics calls emit for each metric of the sink; metrics.Extra describes the
// arguments. It may be called at any time, from any goroutine.
func (s *log) Metrics(emit func(name, help, kind string, value float64, labels ...string)) {
	const counter, gauge = "counter", "gauge"
	n := s.Stats()
	emit("sink_file_bytes_total", "Bytes written to files, including rewritten ones.", counter, float64(n.Bytes))
	emit("sink_syncs_total", "File syncs.", counter, float64(n.Syncs))
	emit("sink_sync_seconds_total", "Time spent in file syncs.", counter, n.SyncTime.Seconds())
	emit("sink_rotations_total", "Files ended by rotation.", counter, float64(n.Rotations))
	emit("sink_files_finished_total", "Files renamed to their final names.", counter, float64(n.Published))
	emit("sink_retries_total", "Attempts to repair a file after a failed write or sync.", counter, float64(n.Retries), "class", "file")
	emit("sink_open_descriptors", "Open files.", gauge, float64(n.OpenFiles))
	emit("sink_unsynced_batches", "Batches waiting for a file sync.", gauge, float64(n.Holds))
}
