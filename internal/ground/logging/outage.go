package logging

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// outageInterval is the interval at which a continuing outage is logged.
const outageInterval = 10 * time.Second

// An Outage tracks an operation that may fail for a while, such as writing to a
// broker. It logs the beginning of an outage, repeats the message every 10 s
// while the outage lasts, and logs when it is over. Its methods are safe for
// concurrent use.
type Outage struct {
	log    *slog.Logger
	failed string // event at the beginning and during an outage
	healed string // event when it is over
	attrs  []any

	now atomic.Pointer[outage] // nil: no outage

	mu     sync.Mutex
	logged time.Time // time of the last failed event
	said   bool      // the last logged event is failed
}

type outage struct {
	err   error
	since time.Time
}

// NewOutage returns an Outage that logs the event failed as a warning with the
// error, and the event healed with the duration of the outage. attrs are added
// to both. A nil logger discards them.
func NewOutage(log *slog.Logger, failed, healed string, attrs ...any) *Outage {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Outage{log: log, failed: failed, healed: healed, attrs: attrs}
}

// Set records a failure with its error, which must not contain secrets.
func (o *Outage) Set(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	next := &outage{err: err, since: time.Now()}
	if last := o.now.Load(); last != nil {
		next.since = last.since
	}
	o.now.Store(next)
	if now := time.Now(); o.logged.IsZero() || now.Sub(o.logged) >= outageInterval {
		o.logged, o.said = now, true
		o.log.Warn(o.failed, append([]any{"error", err, "lasting", now.Sub(next.since).Round(time.Millisecond)}, o.attrs...)...)
	}
}

// Clear records a success. Without a preceding failure it costs one atomic
// load.
func (o *Outage) Clear() {
	if o.now.Load() == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	last := o.now.Swap(nil)
	if last == nil || !o.said {
		return
	}
	o.said = false
	o.log.Info(o.healed, append([]any{"lasted", time.Since(last.since).Round(time.Millisecond)}, o.attrs...)...)
}

// Err returns the error of the current outage, or nil.
func (o *Outage) Err() error {
	if last := o.now.Load(); last != nil {
		return last.err
	}
	return nil
}
