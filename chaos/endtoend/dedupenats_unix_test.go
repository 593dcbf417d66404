//go:build unix

package endtoend

import (
	"syscall"
	"testing"
	"time"
)

// TestDedupeNATSPaused stops a member under load for longer than claim_timeout and
// ack_wait, while others work. When it wakes up, it writes what it holds, and
// nothing is lost.
func TestDedupeNATSPaused(t *testing.T) {
	t.Parallel()
	w := newDedupe(t, "none")
	config := w.config("claim_timeout: 1s")
	slow, other := start(t, config), start(t, config)
	for range few(2, 20) {
		before := w.stored()
		w.publish(3000)
		advance(t, "they work", w.acknowledged, func() bool { return w.stored() > before })
		if err := slow.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		w.publish(1000)
		time.Sleep(4 * time.Second) // longer than ack_wait: the others take over
		if err := slow.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
	w.drained()
	stop(t, slow)
	stop(t, other)
	t.Logf("%d keys, %d doubled", w.keys, w.compare())
}
