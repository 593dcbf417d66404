package file

// Metrics calls emit for each figure of the sink; see metrics.Extra for what its
// arguments mean. It may be called at any time, from any goroutine.
func (s *log) Metrics(emit func(name, help, kind string, value float64, labels ...string)) {
	const counter, gauge = "counter", "gauge"
	n := s.Stats()
	emit("sink_file_bytes_total", "Bytes written to files, those that were written again among them.", counter, float64(n.Bytes))
	emit("sink_syncs_total", "How often a file was brought down to the disk.", counter, float64(n.Syncs))
	emit("sink_sync_seconds_total", "Time that took.", counter, n.SyncTime.Seconds())
	emit("sink_rotations_total", "Files that were ended because they were full or old.", counter, float64(n.Rotations))
	emit("sink_published_files_total", "Files that got their final names.", counter, float64(n.Published))
	emit("sink_retries_total", "Repairs of a file that were tried.", counter, float64(n.Retries), "class", "file")
	emit("sink_open_descriptors", "Files that are held open.", gauge, float64(n.OpenFiles))
	emit("sink_unsynced_batches", "Batches that wait for a file to be brought down to the disk.", gauge, float64(n.Holds))
}
