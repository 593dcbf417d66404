// Package startup sets how often garbage is collected, and delays the first collection.
// The initializers of all packages and the first buffers of a run allocate more than
// 4 MB. At this size, the runtime begins a collection. In a run over a few lines, that
// would take a noticeable part of the time.
package startup

import (
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

const (
	defaultGOGC = 100 // the GOGC of a process whose environment sets none
	startGOGC   = 400 // no collection before the heap has 16 MB
	duration    = 100 * time.Millisecond
)

// before is the GOGC of the environment. It is a variable of the package,
// because main begins too late. Go initializes packages in the order of their
// paths, each after its imports. This package imports so little that it
// precedes most packages outside the standard library.
var before = delay()

// now is the GOGC after the start.
var now atomic.Int64

// delay sets GOGC for the start, unless the environment sets another one than the
// default. It returns the setting of the environment.
func delay() int {
	before := debug.SetGCPercent(startGOGC)
	if before != defaultGOGC {
		debug.SetGCPercent(before)
	}
	return before
}

// Begin restores the GOGC of the environment 100 ms after the first call. main calls
// Begin before anything else.
func Begin() { begin() }

var begin = sync.OnceFunc(func() {
	now.CompareAndSwap(0, int64(before))
	time.AfterFunc(duration, end)
})

// end ends the start.
func end() { debug.SetGCPercent(int(now.Load())) }

// SetGOGC sets GOGC, for commands whose memory matters more than the time of
// collections, unless the environment sets another one than the default.
func SetGOGC(percent int) {
	if before == defaultGOGC {
		now.Store(int64(percent))
		debug.SetGCPercent(percent)
	}
}
