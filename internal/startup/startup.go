// Package startup delays the first garbage collection. The initializers of all packages
// and the first buffers of a run take 4 MB, at which the runtime would begin a
// collection: a tenth of the time of a run over a few lines.
package startup

import (
	"runtime/debug"
	"time"
)

const (
	usual   = 100 // the GOGC of a process that sets none
	percent = 400 // while the program starts: no collection before the heap has 16 MB
	length  = 100 * time.Millisecond
)

// before is the GOGC of the environment. Of the packages whose imports are ready, the
// one with the first path is initialized first. This one imports so little that most
// packages outside the standard library follow.
var before = delay()

// delay sets GOGC for the start, unless the environment asks for another one. It
// returns the setting of the environment.
func delay() int {
	before := debug.SetGCPercent(percent)
	if before != usual {
		debug.SetGCPercent(before)
	}
	return before
}

// Begin says that main begins. Soon after it, a run that is still going on collects
// garbage as usual.
func Begin() {
	time.AfterFunc(length, func() { debug.SetGCPercent(before) })
}
