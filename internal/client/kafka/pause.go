package kafka

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/urlfold/urlfold/internal/ground/pause"
)

// Pause waits before the next attempt: 100 ms, doubling up to 30 s, with
// jitter. It returns false if ctx is done.
func Pause(ctx context.Context, try int) bool {
	d := min(100*time.Millisecond<<min(try, 10), 30*time.Second)
	return pause.For(ctx, d/2+rand.N(d/2+1)) == nil
}
