package engine

// This file lets a source use the turns of workers. While a worker waits for
// a batch, a source may do work early, such as inflating the parts of a file
// that it needs later. So batches have priority, and only idle workers are
// replaced by goroutines that work ahead.

// A turn is a source's request to run in place of an idle worker. The worker
// that receives a turn waits until the source closes it.
type turn chan struct{}

// Turn implements [Runtime].
func (in intake) Turn(stop <-chan struct{}) (done func(), ok bool) {
	t := make(turn)
	select {
	case in.p.turns <- t:
		return func() { close(t) }, true
	case <-stop:
	case <-in.p.hard.Done():
	}
	return nil, false
}

// SetSpare sets a function that does work which the source would otherwise do
// later, such as decompressing text, and reports whether there is more of it.
// [Runtime.Get] calls it while the lane has to wait and a worker waits for a
// batch. Get and SetSpare must be called by one goroutine, in which f then
// runs. nil: nothing to do.
func (l *Lane) SetSpare(f func() (more bool)) { l.spare = f }
