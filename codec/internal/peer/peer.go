// Package peer defines how package codec calls the packages in its subdirectories. Each
// of them reproduces the result of another program, byte for byte and with its bugs.
package peer

// A Canonicalizer computes what a program returns for a URL. It keeps scratch
// memory from call to call, so it belongs to one goroutine at a time.
type Canonicalizer interface {
	// Append appends what the program returns for src, and returns the extended
	// slice. If the program rejects src, Append returns false, and bytes
	// appended to dst have no meaning. Append keeps no reference to its
	// arguments. t receives the steps of the program; it may be nil.
	Append(dst, src []byte, t Trace) (out []byte, ok bool)
}

// A Trace receives a step that the program applied, and the text before and
// after the step. It must not keep the texts.
type Trace func(step string, before, after []byte)

// Step calls t unless it is nil.
func (t Trace) Step(step string, before, after []byte) {
	if t != nil {
		t(step, before, after)
	}
}
