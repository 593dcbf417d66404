// Package memory limits the memory of the process: it determines the limit,
// sets it in the Go runtime, and computes how many batches fit into it.
package memory

import (
	"math"
	"os"
	"runtime/debug"
)

// cgroupShare is the percentage of a control group's limit that the Go runtime
// may use. The kernel also counts the page cache and the pages of the
// executable, and it kills the process at the limit.
const cgroupShare = 90

// A Limit is a soft memory limit of the Go runtime.
type Limit struct {
	Bytes int64  // 0: no limit
	From  string // "memory.limit", "GOMEMLIMIT", "cgroup", or "" for no limit
}

// FindLimit returns the configured limit in bytes or, if configured is 0, the
// limit of the environment variable GOMEMLIMIT, but never more than 90 % of the
// limit of the process's control group.
func FindLimit(configured int64) Limit {
	inherited := debug.SetMemoryLimit(-1) // changes nothing
	if inherited == math.MaxInt64 {
		inherited = 0
	}
	return findLimit(configured, inherited, cgroupLimit(os.DirFS("/")))
}

// findLimit chooses among the limits. 0 means no limit.
func findLimit(configured, inherited, cgroup int64) Limit {
	l := Limit{}
	switch {
	case configured > 0:
		l = Limit{configured, "memory.limit"}
	case inherited > 0:
		l = Limit{inherited, "GOMEMLIMIT"}
	}
	if share := cgroup / 100 * cgroupShare; share > 0 && (l.Bytes == 0 || share < l.Bytes) {
		l = Limit{share, "cgroup"}
	}
	return l
}

// Apply sets l as the memory limit of the Go runtime, if there is a limit.
func (l Limit) Apply() {
	if l.Bytes > 0 {
		debug.SetMemoryLimit(l.Bytes)
	}
}

// A Load describes the memory demand of a pipeline.
type Load struct {
	BatchBytes     int64 // capacity of an input arena: pipeline.Options.BatchBytes
	MaxBatches     int   // maximum number of batches in flight
	MaxBytes       int64 // maximum number of bytes of their input
	MaxRecordBytes int64 // maximum length of a record
	Workers        int
	Copies         int // number of copies of the output for sinks, in addition to the output
}

// A Budget is the result of Fit.
type Budget struct {
	Batches  int   // number of batches, for pipeline.Options.Batches; at least 4
	PerBatch int64 // estimated bytes per batch
	Fixed    int64 // estimated bytes for everything else
	Tight    bool  // not even 4 batches fit, so the limit will be exceeded
}

// Least returns the lowest limit, in bytes, into which the minimum number of
// batches fits.
func (b *Budget) Least() int64 { return 2 * (b.Fixed + minBatches*b.PerBatch) }

const (
	minBatches = 4        // minimum of package pipeline
	base       = 32 << 20 // the program, its tables, and idle clients

	// arenas is the estimated size of a batch in input arenas: one for the input,
	// two for the output (JSON is about twice as long as a URL), and one for dead
	// letters, compressed output and record positions.
	arenas = 4
	// copies is the size of a copy of the output.
	copies = 2
)

// Fit computes how many batches fit into l:
//
//	PerBatch = (4 + 2 × Copies) × BatchBytes
//	Fixed    = 32 MiB + Workers × 2 × MaxRecordBytes
//	Batches  = min(MaxBatches, MaxBytes / BatchBytes, (limit / 2 - Fixed) / PerBatch)
//
// The other half of the limit is reserved for temporary memory: garbage between
// two collections, windows of decompressors, and buffers of broker clients.
func (l Limit) Fit(load Load) Budget {
	size := max(load.BatchBytes, 1)
	b := Budget{PerBatch: int64(arenas+copies*load.Copies) * size, Fixed: base + int64(load.Workers)*2*load.MaxRecordBytes}
	n := min(int64(load.MaxBatches), load.MaxBytes/size)
	if l.Bytes > 0 {
		fits := (l.Bytes/2 - b.Fixed) / b.PerBatch
		b.Tight = fits < minBatches
		n = min(n, fits)
	}
	b.Batches = int(max(n, minBatches))
	return b
}
