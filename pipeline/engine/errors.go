package engine

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

var (
	// ErrStopped is the error that a source gets from its [Runtime] after a
	// hard stop.
	ErrStopped = errors.New("pipeline: stopped")
	// ErrDeadline is the error of a run that ended before everything was
	// resolved, because of the shutdown deadline. The error of a run that
	// [Pipeline.HardStop] ended matches it too, but has another text.
	ErrDeadline = errors.New("pipeline: shutdown deadline exceeded")
	// ErrRevoked is the error for a batch of a lane that has been revoked since
	// the batch was taken.
	ErrRevoked = errors.New("pipeline: lane revoked")
	// ErrEnded is the error for the use of a lane that has ended.
	ErrEnded = errors.New("pipeline: lane has ended")
)

// An OpenError is the error of a source or a sink that could not be opened. The
// run has not begun.
type OpenError struct{ Err error }

// Error returns the text of the wrapped error.
func (e *OpenError) Error() string { return e.Err.Error() }

// Unwrap returns the wrapped error.
func (e *OpenError) Unwrap() error { return e.Err }

// A hardStop is the error of a run that [Pipeline.HardStop] ended.
type hardStop struct{}

func (hardStop) Error() string { return "pipeline: stopped by a second signal" }

// Is makes a hard stop match ErrDeadline: a caller treats both the same way.
func (hardStop) Is(target error) bool { return target == ErrDeadline }

// A ContractError reports that a source, a sink, a codec or the pipeline itself broke
// its contract. It ends the run, because the ledger cannot be trusted any more.
type ContractError struct {
	Part string // name of the source or the sink; empty if it is not known
	Text string // what it did, with its name
}

// Error returns the text, which starts with "BUG:": operators search for that.
func (e *ContractError) Error() string { return "BUG: pipeline: " + e.Text }

// bugf returns the error for a violated contract.
func bugf(format string, args ...any) error {
	return &ContractError{Text: fmt.Sprintf(format, args...)}
}

// bug returns the error for a contract that the sink violated.
func (t *target) bug(text string) error {
	return &ContractError{Part: t.name, Text: t.name + " " + text}
}

// logInterval is the minimum time between two log messages of a kind that may
// occur with every record.
const logInterval = 10 * time.Second

// A throttle passes one message per logInterval and counts the others. The zero
// throttle is ready to use.
type throttle struct {
	mu      sync.Mutex
	last    time.Time
	skipped int64
}

// ok reports whether to log now, and how many messages it has suppressed
// before.
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

// A LostError is the error of a [Committer] or [Keeper] that can no longer
// store checkpoints, for example because another process may own its directory.
// It ends the run.
type LostError struct{ Err error }

// Error returns the text of the wrapped error.
func (e *LostError) Error() string { return e.Err.Error() }

// Unwrap returns the wrapped error.
func (e *LostError) Unwrap() error { return e.Err }
