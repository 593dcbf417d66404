//go:build !faults

package disk

// recording is false: this build does not record operations.
const recording = false

// recorder does nothing: its methods are inlined away.
var recorder noRecorder

type noRecorder struct{}

func (noRecorder) begin() func()               { return nothing }
func (noRecorder) opened(string, string) int64 { return 0 }
func (noRecorder) note(op)                     {}

func nothing() {}
