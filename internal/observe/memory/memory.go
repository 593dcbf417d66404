// Package memory bounds the memory of the process: it finds the limit, tells the Go
// runtime, and computes how many batches fit.
package memory

import (
	"math"
	"os"
	"runtime/debug"
)

// cgroupShare is the part of a control group's limit that the Go runtime may use,
// in percent. The kernel counts the page cache of our files and the program's own
// pages too, and kills at the limit.
const cgroupShare = 90

// A Limit is how much memory the Go runtime should use at most.
type Limit struct {
	Bytes int64  // 0: there is none
	From  string // "memory.limit", "GOMEMLIMIT", "cgroup", or "" if there is none
}

// FindLimit returns the configured limit in bytes; if that is 0, the one that the
// environment has given to the runtime by GOMEMLIMIT; and never more than 90 % of
// the limit of the control group that the process is in.
func FindLimit(configured int64) Limit {
	inherited := debug.SetMemoryLimit(-1) // changes nothing
	if inherited == math.MaxInt64 {
		inherited = 0
	}
	return findLimit(configured, inherited, cgroupLimit(os.DirFS("/")))
}

// findLimit chooses among the limits; 0 is none.
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

// Apply makes the garbage collector keep to l.
func (l Limit) Apply() {
	if l.Bytes > 0 {
		debug.SetMemoryLimit(l.Bytes)
	}
}

// A Load is what the pipeline asks for.
type Load struct {
	BatchBytes     int64 // capacity of an input arena: pipeline.Options.BatchBytes
	MaxBatches     int   // batches in flight at most
	MaxBytes       int64 // bytes of their input at most
	MaxRecordBytes int64 // the longest record
	Workers        int
}

// A Budget says how many batches fit.
type Budget struct {
	Batches  int   // for pipeline.Options.Batches; at least 4
	PerBatch int64 // bytes that one is counted with
	Fixed    int64 // bytes that everything else is counted with
	Tight    bool  // even 4 batches do not fit in the limit: it will be exceeded
}

// Least returns the limit in bytes in which the fewest batches fit.
func (b *Budget) Least() int64 { return 2 * (b.Fixed + minBatches*b.PerBatch) }

const (
	minBatches = 4        // what package pipeline needs
	base       = 32 << 20 // the program, its tables, and clients at rest

	// arenas is how many input arenas a batch is counted with: the input, its
	// rendering (JSON of a URL is about twice as long), and one arena for
	// dead letters, compressed output and positions of records.
	arenas = 4
)

// Fit returns how many batches fit into l:
//
//	PerBatch = 4 × BatchBytes
//	Fixed    = 32 MiB + Workers × 2 × MaxRecordBytes
//	Batches  = the least of MaxBatches, MaxBytes / BatchBytes, and (limit / 2 - Fixed) / PerBatch
//
// Half of the limit is left to what comes and goes: garbage between two collections,
// windows of decompressors, buffers of the clients of brokers.
func (l Limit) Fit(load Load) Budget {
	size := max(load.BatchBytes, 1)
	b := Budget{PerBatch: arenas * size, Fixed: base + int64(load.Workers)*2*load.MaxRecordBytes}
	n := min(int64(load.MaxBatches), load.MaxBytes/size)
	if l.Bytes > 0 {
		fits := (l.Bytes/2 - b.Fixed) / b.PerBatch
		b.Tight = fits < minBatches
		n = min(n, fits)
	}
	b.Batches = int(max(n, minBatches))
	return b
}
