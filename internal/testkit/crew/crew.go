// Package crew waits for goroutines that start at any time.
package crew

import (
	"maps"
	"slices"
	"sync"
)

// A Crew is the set of goroutines of a sink. Unlike with a [sync.WaitGroup],
// new goroutines may start while Wait is running: a Submit may run during a
// Barrier and, after a hard stop, during Close. The zero Crew is ready to use.
type Crew struct {
	mu   sync.Mutex
	work map[chan struct{}]bool
}

// Go runs f in a goroutine.
func (c *Crew) Go(f func()) {
	done := make(chan struct{})
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.work == nil {
		c.work = map[chan struct{}]bool{}
	}
	c.work[done] = true
	go func() {
		f()
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.work, done)
		close(done)
	}()
}

// Wait waits for the goroutines that were started before the call.
func (c *Crew) Wait() {
	c.mu.Lock()
	work := slices.Collect(maps.Keys(c.work))
	c.mu.Unlock()
	for _, done := range work {
		<-done
	}
}
