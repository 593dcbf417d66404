package objects

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/urlfold/urlfold/internal/ground/pause"
)

// A Store retries the requests of a [Client], and bounds the memory of its
// readers. All methods may be called concurrently.
type Store struct {
	Client Client
	// Patience is how long a request is retried without progress.
	Patience time.Duration
	// Pause is the time before the first retry. The time doubles with each
	// retry, up to 100 times Pause.
	Pause time.Duration
	Log   *slog.Logger

	answered atomic.Bool   // the store has answered a request
	ahead    chan struct{} // a token for each range that is read ahead
}

// aheadRanges is how many ranges may be read ahead by all readers together.
const aheadRanges = 16

// firstPatience is the patience with a store that has never answered: its name is
// probably wrong.
const firstPatience = 5 * time.Second

// quietAttempts is how many failed attempts of a request are not logged: a few
// are usual, for example when a store throttles requests.
const quietAttempts = 4

// NewStore returns a store with the usual patience: two minutes, which is longer
// than stores take to admit a higher rate of requests.
func NewStore(c Client) *Store {
	return &Store{Client: c, Patience: 2 * time.Minute, Pause: 100 * time.Millisecond, Log: slog.New(slog.DiscardHandler), ahead: make(chan struct{}, aheadRanges)}
}

// retry calls do until it succeeds or fails for good. If do returns that it
// made progress, the period of Patience starts again.
func (s *Store) retry(ctx context.Context, path, request string, do func() (progress bool, err error)) error {
	start, wait := time.Now(), s.Pause
	for attempt := 1; ; attempt++ {
		progress, err := do()
		if progress {
			start, wait = time.Now(), s.Pause
		}
		kind, patience := KindOf(err), s.Patience
		if kind != Unreachable {
			s.answered.Store(true)
		} else if !s.answered.Load() {
			patience = min(patience, firstPatience)
		}
		if err == nil || kind != Temporary && kind != Unreachable || ctx.Err() != nil || time.Since(start) > patience {
			return err
		}
		if attempt > quietAttempts {
			s.Log.Warn("object request failed, retrying", "path", path, "request", request, "attempt", attempt, "error", err)
		}
		if pause.For(ctx, wait/2+rand.N(wait/2+1)) != nil { // the jitter spreads the requests of processes that were throttled together
			return err
		}
		wait = min(2*wait, 100*s.Pause)
	}
}

// once adapts a request that makes no progress unless it succeeds.
func once(do func() error) func() (bool, error) {
	return func() (bool, error) { return false, do() }
}

// Head returns the current version of the object at path.
func (s *Store) Head(ctx context.Context, path string) (Object, error) {
	return s.HeadVersion(ctx, path, "")
}

// HeadVersion returns the version of the object at path that has the id
// version, or the current version if version is empty.
func (s *Store) HeadVersion(ctx context.Context, path, version string) (o Object, err error) {
	bucket, key := Split(path)
	err = s.retry(ctx, path, "head", once(func() (err error) {
		o, err = s.Client.Head(ctx, bucket, key, version)
		return err
	}))
	return o, err
}

// Remove removes the object at path, if it exists.
func (s *Store) Remove(ctx context.Context, path string) error {
	bucket, key := Split(path)
	return s.retry(ctx, path, "remove", once(func() error { return s.Client.Remove(ctx, bucket, key) }))
}

// List calls visit for the objects of a bucket whose keys begin with prefix, in
// the order of their keys. It leaves out the objects that order skips, if order
// is not nil. A listing that breaks continues after the last key.
func (s *Store) List(ctx context.Context, bucket, prefix string, order *Order, visit func(Object)) error {
	after := ""
	return s.retry(ctx, Scheme+bucket+"/"+prefix, "list", func() (progress bool, err error) {
	request:
		for o, err := range s.Client.List(ctx, bucket, prefix, after) {
			if err != nil {
				return progress, err
			}
			visit(o)
			after, progress = o.Key, true
			if next := order.next(o, time.Now()); next != "" {
				after = next
				goto request
			}
		}
		return progress, nil
	})
}
