package engine

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A keeper is a Committer whose Keep can fail.
type keeper struct {
	committing
	err  atomic.Pointer[error]
	kept atomic.Int64
}

func (k *keeper) Keep() error {
	k.kept.Add(1)
	if err := k.err.Load(); err != nil {
		return *err
	}
	return nil
}

// TestKeeper: Keep is called even if there is nothing to commit, a temporary
// error is retried, and a LostError ends the run at once, without waiting for
// the shutdown timeout and without finishing any lane.
func TestKeeper(t *testing.T) {
	k := &keeper{committing: committing{fakeSource: fakeSource{lanes: [][]string{numbered(20, "k")}, block: true}}}
	p := newPipe(t, Options{Sources: []Source{k}, Sinks: []Sink{&fakeSink{}}, CommitInterval: time.Millisecond, ShutdownTimeout: time.Hour})
	done := make(chan error, 1)
	go func() { done <- p.Run(context.Background()) }()
	await := func(what string, ok func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("timed out waiting for " + what)
			}
		}
	}
	await("looks", func() bool { return k.kept.Load() > 5 })
	passing := errors.New("permission denied")
	k.err.Store(&passing)
	await("an error", func() bool { return strings.Contains(p.Snapshot().CommitErr, "permission denied") })
	k.err.Store(nil)
	await("no error", func() bool { return p.Snapshot().CommitErr == "" })
	lost := error(&LostError{errors.New("the lock was removed")})
	k.err.Store(&lost)
	select {
	case err := <-done:
		var l *LostError
		if !errors.As(err, &l) || errors.Is(err, ErrDeadline) || strings.Count(err.Error(), "the lock was removed") != 1 {
			t.Errorf("the run ended with %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the run did not end")
	}
}
