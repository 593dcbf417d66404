//go:build !faults

package disk

// recording reports whether operations are recorded: not in this build.
const recording = false

// recorder does nothing: its methods are inlined to nothing.
var recorder noRecorder

type noRecorder struct{}

func (noRecorder) begin() func()               { return nothing }
func (noRecorder) opened(string, string) int64 { return 0 }
func (noRecorder) note(op)                     {}

func nothing() {}
