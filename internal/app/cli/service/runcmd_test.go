package service

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urlfold/urlfold/internal/testkit/bubble"
)

// TestWatchFile: a file that has changed since it was read counts as changed, though
// that was before somebody watched it; so does each later change.
func TestWatchFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "c.yaml")
	write := func(text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a")
	loaded := stampOf(name)
	write("ab")
	bubble.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		var changes atomic.Int64
		go watchFile(ctx, name, loaded, func() { changes.Add(1) })
		for want, text := range []string{"", "abc", "abcd"} {
			if text != "" {
				write(text)
			}
			time.Sleep(3 * time.Second)
			synctest.Wait()
			if got := int(changes.Load()); got != want+1 {
				t.Errorf("after %q: %d changes, want %d", text, got, want+1)
			}
		}
		stop()
	})
}
