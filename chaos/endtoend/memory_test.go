package endtoend

import (
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// maxHeap is the memory, in bytes, above which something in this process is wrong: the
// servers that the tests start here need less than a tenth of it.
const maxHeap = 6 << 30

// watchMemory ends the process with the stacks of all goroutines if its heap grows too
// large. Otherwise the operating system would kill it, and the cause would stay unknown.
func watchMemory() {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	for range time.Tick(time.Second) {
		if metrics.Read(heap); heap[0].Value.Uint64() > maxHeap {
			debug.SetTraceback("all")
			panic(fmt.Sprintf("the heap has %d bytes", heap[0].Value.Uint64()))
		}
	}
}
