package file

import (
	"time"

	"github.com/urlfold/urlfold/internal/ground/metric"
)

// Metrics calls emit for each metric of the sink; metrics.Extra describes the
// arguments. It may be called at any time, from any goroutine.
func (s *log) Metrics(emit metric.Emit) {
	count, gauge := metric.Of(emit)
	n := &s.counts
	count("sink_file_bytes_total", "Bytes written to files, including rewritten ones.", n.bytes.Load())
	count("sink_syncs_total", "File syncs.", n.syncs.Load())
	emit("sink_sync_seconds_total", "Time spent in file syncs.", metric.Counter, time.Duration(n.syncTime.Load()).Seconds())
	count("sink_rotations_total", "Files ended by rotation.", n.rotations.Load())
	count("sink_files_finished_total", "Files renamed to their final names.", n.published.Load())
	count("sink_retries_total", "Attempts to repair a file after a failed write or sync.", n.retries.Load(), "class", "file")
	gauge("sink_open_descriptors", "Open files.", n.open.Load())
	gauge("sink_unsynced_batches", "Batches waiting for a file sync.", n.holds.Load())
}
