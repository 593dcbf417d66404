package logging

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// outageInterval is how often an outage that lasts is logged.
const outageInterval = 10 * time.Second

// An Outage is the state of something that fails for a while, such as writes to a
// broker. It is logged when it begins, every 10 s while it lasts, and when it is
// over, so that no outage is silent and none floods the log. Its methods may be
// called by many goroutines.
type Outage struct {
	log    *slog.Logger
	failed string // event: it fails
	healed string // event: it works again
	attrs  []any

	now atomic.Pointer[outage] // nil: all is well

	mu     sync.Mutex
	logged time.Time // when a failure was logged last
	said   bool      // the last event in the log is failed
}

type outage struct {
	err   error
	since time.Time
}

// NewOutage returns an Outage that logs the event failed, with the error, as a
// warning, and the event healed, with the time that it lasted. attrs are added to
// both. A nil logger discards.
func NewOutage(log *slog.Logger, failed, healed string, attrs ...any) *Outage {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Outage{log: log, failed: failed, healed: healed, attrs: attrs}
}

// Set says that it fails, and why. The error holds no secret.
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

// Clear says that it works. Without a failure before it costs next to nothing.
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

// Err returns why it fails now, or nil.
func (o *Outage) Err() error {
	if last := o.now.Load(); last != nil {
		return last.err
	}
	return nil
}
