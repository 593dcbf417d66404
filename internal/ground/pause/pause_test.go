package pause

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/testkit/bubble"
)

func TestFor(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		start := time.Now()
		if err := For(t.Context(), time.Hour); err != nil || time.Since(start) != time.Hour {
			t.Errorf("waited %v, %v", time.Since(start), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start = time.Now()
		if err := For(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Minute {
			t.Errorf("waited %v, %v", time.Since(start), err)
		}
	})
}
