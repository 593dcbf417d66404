// Package startup delays the first garbage collection. The initializers of all packages
// and the first buffers of a run allocate more than 4 MB. At this size, the runtime
// begins a collection. In a run over a few lines, that would take a noticeable part of
// the time.
package startup

import (
	"runtime/debug"
	"sync"
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
	time.AfterFunc(duration, func() { debug.SetGCPercent(before) })
})
