package file

import "time"

// logStats holds the counts of a [log].
type logStats struct {
	Bytes     int64 // bytes written, including rewritten ones
	Syncs     int64 // file syncs
	SyncTime  time.Duration
	Rotations int64
	Published int64 // files renamed to their final names
	Retries   int64 // attempts to repair an output
	OpenFiles int64
	Holds     int64 // batches that wait for a sync
}

// Stats returns the current counts. It may be called at any time.
func (s *log) Stats() logStats {
	c := &s.counts
	return logStats{
		Bytes: c.bytes.Load(), Syncs: c.syncs.Load(), SyncTime: time.Duration(c.syncTime.Load()),
		Rotations: c.rotations.Load(), Published: c.published.Load(), Retries: c.retries.Load(),
		OpenFiles: c.open.Load(), Holds: c.holds.Load(),
	}
}
