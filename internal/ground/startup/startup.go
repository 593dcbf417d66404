// Package startup delays the first garbage collection, and sets how often the later ones
// run. The initializers of all packages and the first buffers of a run allocate more than
// 4 MB. At this size, the runtime begins a collection. In a run over a few lines, that
// would take a noticeable part of the time.
package startup

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"
)

const (
	defaultGOGC = 100 // the GOGC of a process whose environment sets none
	startGOGC   = 400 // no collection before the heap has 16 MB
)

// usual reports whether the environment sets no other GOGC than the default. It
// is initialized with the package, because main begins too late. Go initializes
// packages in the order of their paths, each after its imports. This package
// imports so little that it precedes most packages outside the standard
// library.
var usual = delay()

// now is the GOGC after the first collection.
var now atomic.Int64

// delay sets GOGC until the end of the first collection, unless the environment sets
// GOGC to a value other than the default.
func delay() bool {
	if before := debug.SetGCPercent(startGOGC); before != defaultGOGC {
		debug.SetGCPercent(before)
		return false
	}
	now.Store(defaultGOGC)
	unreachable := new([32]byte) // the first collection finds it
	runtime.AddCleanup(unreachable, func(struct{}) { debug.SetGCPercent(int(now.Load())) }, struct{}{})
	return true
}

// SetGOGC sets GOGC, for commands whose memory matters more than the time of
// collections, unless the environment sets GOGC to a value other than the default.
func SetGOGC(percent int) {
	if usual {
		now.Store(int64(percent))
		debug.SetGCPercent(percent)
	}
}
