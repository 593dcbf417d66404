package pipeline

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

var (
	// ErrStopped is what a source gets from its [Runtime] after a hard stop.
	ErrStopped = errors.New("pipeline: stopped")
	// ErrDeadline is the error of a run that was cut before everything was
	// resolved: by the shutdown deadline, or by [Pipeline.HardStop].
	ErrDeadline = errors.New("pipeline: cut before everything was durable")
	// ErrRevoked says that the lane was revoked in the meantime.
	ErrRevoked = errors.New("pipeline: lane revoked")
	// ErrEnded says that a source used a lane after its end.
	ErrEnded = errors.New("pipeline: lane has ended")
)

// An OpenError says that a source or a sink could not be opened: the run has not
// begun.
type OpenError struct{ Err error }

// Error returns the text of the error behind e.
func (e *OpenError) Error() string { return e.Err.Error() }

// Unwrap returns the error behind e.
func (e *OpenError) Unwrap() error { return e.Err }

// bugf returns the error for something that cannot happen unless this package,
// a source or a sink breaks its contract. Operators grep for its first word.
func bugf(format string, args ...any) error {
	return fmt.Errorf("BUG: pipeline: "+format, args...)
}

// logInterval is how often a message that may come with every record is logged.
const logInterval = 10 * time.Second

// A throttle lets one message through per logInterval and counts the others.
// The zero throttle is ready.
type throttle struct {
	mu      sync.Mutex
	last    time.Time
	skipped int64
}

// ok reports whether to log now, and how many messages were skipped before.
func (t *throttle) ok() (skipped int64, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now := time.Now(); t.last.IsZero() || now.Sub(t.last) >= logInterval {
		skipped, t.skipped, t.last = t.skipped, 0, now
		return skipped, true
	}
	t.skipped++
	return 0, false
}

// A LostError is the error of a [Committer] or [Keeper] that can never store
// a checkpoint again: another process may own its directory. It ends the run.
type LostError struct{ Err error }

// Error returns the text of the error that e wraps.
func (e *LostError) Error() string { return e.Err.Error() }

// Unwrap returns the error that e wraps.
func (e *LostError) Unwrap() error { return e.Err }
