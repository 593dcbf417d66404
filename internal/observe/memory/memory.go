// Package memory limits the memory of the process: it determines the limit,
// sets it in the Go runtime, and computes how many batches fit into it.
package memory

import (
	"math"
	"os"
	"runtime/debug"
	"sync"
)

// cgroupShare is the percentage of a control group's limit that the Go runtime
// may use. The kernel also counts the page cache and the pages of the
// executable, and it kills the process at the limit.
const cgroupShare = 90

// A Limit is a soft memory limit of the Go runtime.
type Limit struct {
	Bytes int64  // 0: no limit
	From  string // "memory_limit", "GOMEMLIMIT", "cgroup", or "" for no limit
}

// FindLimit returns the configured limit in bytes or, if configured is 0, the
// limit of the environment variable GOMEMLIMIT, but never more than 90 % of the
// limit of the process's control group.
func FindLimit(configured int64) Limit {
	return findLimit(configured, inherited, cgroupLimit(os.DirFS("/")))
}

// inherited is the limit of GOMEMLIMIT, or 0: Apply changes the runtime's limit.
var inherited = debug.SetMemoryLimit(-1) % math.MaxInt64

// findLimit chooses among the limits. 0 means no limit.
func findLimit(configured, inherited, cgroup int64) Limit {
	l := Limit{}
	switch {
	case configured > 0:
		l = Limit{configured, "memory_limit"}
	case inherited > 0:
		l = Limit{inherited, "GOMEMLIMIT"}
	}
	if share := cgroup / 100 * cgroupShare; share > 0 && (l.Bytes == 0 || share < l.Bytes) {
		l = Limit{share, "cgroup"}
	}
	return l
}

// Apply makes l the memory limit of the process. The Go runtime gets what the
// pages of the program and the memory outside the heap leave, but at least a
// quarter of l. When the pages and the memory outside the heap exceed three
// quarters of l, Apply or Outside calls exceeded once, with the bytes outside
// the heap. exceeded must not call Apply or Outside.
func (l Limit) Apply(exceeded func(outside int64)) {
	process.Lock()
	defer process.Unlock()
	process.limit, process.exceeded = l.Bytes, exceeded
	process.set()
}

// Needed returns the lowest limit, in bytes, with which Apply and Outside do
// not call exceeded for n bytes outside the heap.
func Needed(n int64) int64 { return (n+program)*4/3 + 1 }

// Outside registers n more bytes of memory outside the heap of Go, or fewer if
// n is negative. It adapts the limit of the runtime when enough bytes have
// changed: see step.
func Outside(n int64) {
	process.Lock()
	defer process.Unlock()
	process.outside += n
	if d := process.outside - process.counted; process.limit > 0 && (d >= step || d <= -step) {
		process.set()
	}
}

// step is the change of the memory outside the heap that is worth another limit
// of the runtime: each change of the limit stops all goroutines for a moment.
const step = 1 << 20

// process is what Apply and Outside have set.
var process state

type state struct {
	sync.Mutex
	limit            int64
	outside, counted int64 // bytes outside the heap now, and when the limit of the runtime was set
	exceeded         func(outside int64)
}

func (s *state) set() {
	s.counted = s.outside
	left := s.limit - program - s.outside
	switch {
	case s.limit == 0:
		left = math.MaxInt64
	case left < s.limit/4:
		left = s.limit / 4
		if s.exceeded != nil {
			s.exceeded(s.outside)
			s.exceeded = nil
		}
	}
	debug.SetMemoryLimit(left)
}

// A Load describes the memory demand of a pipeline.
type Load struct {
	BatchBytes     int64 // capacity of an input arena: engine.Options.BatchBytes
	MaxBatches     int   // maximum number of batches in flight
	MaxBytes       int64 // maximum number of bytes of their input
	MaxRecordBytes int64 // maximum length of a record
	Workers        int
	Copies         int   // number of copies of the output for sinks, in addition to the output
	Keys           int64 // maximum bytes of a set of keys outside the heap; 0: there is no set
}

// A Budget is the result of Fit.
type Budget struct {
	Batches  int   // number of batches, for engine.Options.Batches; at least 4
	PerBatch int64 // estimated bytes per batch
	Fixed    int64 // estimated bytes for everything else
	Tight    bool  // not even 4 batches fit, so the limit will be exceeded
	Keys     int64 // bytes of a set of keys outside the heap
	Room     int   // keys that wait for a commit, for engine.Dedupe.Room
	least    int64 // minimum bytes of Keys and Room
}

// Least returns the lowest memory limit, in bytes, that leaves room for the
// minimum number of batches.
func (b *Budget) Least() int64 { return 2*(b.Fixed+minBatches*b.PerBatch) + b.least }

const (
	minBatches = 4        // minimum of package pipeline
	base       = 32 << 20 // the program, its tables, and idle clients
	program    = 24 << 20 // the part of base for the pages of the executable file

	// arenas is the estimated size of a batch in input arenas: one for the input,
	// two for the output (JSON is about twice as long as a URL), and one for dead
	// letters, compressed output and record positions.
	arenas = 4
	// copies is the size of a copy of the output.
	copies = 2

	// A set of keys gets half of the memory that everything else leaves. The
	// keys that wait for a commit get a quarter, because each of them is in
	// several lists and in a map.
	minKeys, minRoom = 2 << 20, 16 << 10
	maxRoom          = 256 << 10
	roomBytes        = 256
)

// Fit computes how many batches fit into l:
//
//	PerBatch = (4 + 2 × Copies) × BatchBytes
//	Fixed    = 32 MiB + Workers × 2 × MaxRecordBytes
//	Batches  = min(MaxBatches, MaxBytes / BatchBytes, (limit / 2 - Fixed) / PerBatch)
//
// With a set of keys, Keys and 256 × Room bytes are subtracted from the limit
// first. The other half of the limit is reserved for temporary memory: garbage
// between two collections, windows of decompressors, and buffers of broker
// clients.
func (l Limit) Fit(load Load) Budget {
	size := max(load.BatchBytes, 1)
	b := Budget{PerBatch: int64(arenas+copies*load.Copies) * size, Fixed: base + int64(load.Workers)*2*load.MaxRecordBytes}
	n := min(int64(load.MaxBatches), load.MaxBytes/size)
	left := l.Bytes
	if load.Keys > 0 {
		b.Keys, b.Room = load.Keys, maxRoom
	}
	if load.Keys > 0 && l.Bytes > 0 {
		b.least = minKeys + minRoom*roomBytes
		spare := max(l.Bytes-b.Least(), 0)
		b.Keys = min(load.Keys, minKeys+spare/2)
		b.Room = int(min(maxRoom, minRoom+spare/4/roomBytes))
		left -= b.Keys + int64(b.Room)*roomBytes
	}
	if l.Bytes > 0 {
		fits := (left/2 - b.Fixed) / b.PerBatch
		b.Tight = fits < minBatches
		n = min(n, fits)
	}
	b.Batches = int(max(n, minBatches))
	return b
}
