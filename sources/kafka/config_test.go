package kafka

import (
	"testing"
	"time"
)

// TestRebalanceTimeout: a rebalance outlasts the session of a member that has died and the
// time to drain, and a short session makes it short.
func TestRebalanceTimeout(t *testing.T) {
	for _, c := range []struct{ session, drain, want time.Duration }{
		{45 * time.Second, 15 * time.Second, time.Minute}, // the defaults
		{6 * time.Second, 15 * time.Second, 8 * time.Second},
		{30 * time.Minute, 5 * time.Minute, 10 * time.Minute},
		{30 * time.Minute, time.Second, time.Minute},
	} {
		cfg := Default()
		cfg.SessionTimeout, cfg.DrainTimeout = c.session, c.drain
		if got := cfg.rebalance(); got != c.want || got < 2*cfg.drain() {
			t.Errorf("%v, %v: %v, want %v", c.session, c.drain, got, c.want)
		}
	}
}
