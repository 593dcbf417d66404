package kafka

import (
	"context"
	"math/rand/v2"
	"time"
)

// Pause waits before the next attempt: 100 ms, doubling up to 30 s, with
// jitter. It returns false if ctx is done.
func Pause(ctx context.Context, try int) bool {
	d := min(100*time.Millisecond<<min(try, 10), 30*time.Second)
	t := time.NewTimer(d/2 + rand.N(d/2+1))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
