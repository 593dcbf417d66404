// Package tap shows samples of the records of a running pipeline to people, as
// server-sent events. A [Tap] wraps the codec of each worker. Without listeners
// a batch costs one atomic load. With listeners each worker reads some records
// of its batches a second time, and spends at most 0.8 % of its time on that.
// No listener can delay a worker: samples that it does not read are dropped and
// counted.
package tap

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// MaxListeners is the maximum number of listeners at a time.
const MaxListeners = 4

// ErrBusy is the error of Listen if there are MaxListeners listeners.
var ErrBusy = errors.New("too many listeners: at most 4 at a time")

// A Tap distributes samples. It lives as long as the process, across pipelines.
// The zero Tap is without listeners and ready for use. It is safe for
// concurrent use.
type Tap struct {
	mu   sync.Mutex
	list atomic.Pointer[[]*Listener] // never modified in place; nil: none
}

// queued is the number of samples that a listener can be behind.
const queued = 256

// A Listener receives the samples that match its filter.
type Listener struct {
	C <-chan []byte // samples, each a JSON object without a line feed

	tap      *Tap
	filter   Filter
	c        chan []byte
	examined atomic.Int64
	dropped  atomic.Int64

	mu    sync.Mutex
	room  float64 // number of samples that may be sent now
	since time.Time
}

// Listen adds a listener. Call Close when it is no longer needed.
func (t *Tap) Listen(f Filter) (*Listener, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.listeners()
	if len(now) >= MaxListeners {
		return nil, ErrBusy
	}
	c := make(chan []byte, queued)
	l := &Listener{C: c, tap: t, filter: f, c: c, room: max(f.Rate, 1), since: time.Now()}
	next := append(slices.Clone(now), l)
	t.list.Store(&next)
	return l, nil
}

// Close removes the listener. C stays open.
func (l *Listener) Close() {
	t := l.tap
	t.mu.Lock()
	defer t.mu.Unlock()
	next := slices.DeleteFunc(slices.Clone(t.listeners()), func(o *Listener) bool { return o == l })
	if t.list.Store(&next); len(next) == 0 {
		t.list.Store(nil)
	}
}

// Examined returns the number of records that were read for l.
func (l *Listener) Examined() int64 { return l.examined.Load() }

// Dropped returns the number of samples that l has not received because it did
// not read fast enough.
func (l *Listener) Dropped() int64 { return l.dropped.Load() }

// listeners returns the current listeners.
func (t *Tap) listeners() []*Listener {
	if p := t.list.Load(); p != nil {
		return *p
	}
	return nil
}

// admits reports whether the rate of l allows another sample at the time now.
func (l *Listener) admits(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.room = min(max(l.filter.Rate, 1), l.room+l.filter.Rate*max(0, now.Sub(l.since).Seconds()))
	l.since = now
	if l.room < 1 {
		return false
	}
	l.room--
	return true
}
