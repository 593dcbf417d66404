package testkit

import (
	"maps"
	"slices"
	"sync"
)

// A Crew is the goroutines of a sink. Unlike those of a [sync.WaitGroup], more of them
// may start while others are waited for: a Submit may be under way during a Barrier,
// and after a hard stop during Close. The zero Crew has none.
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

// Wait waits for those that have started before.
func (c *Crew) Wait() {
	c.mu.Lock()
	work := slices.Collect(maps.Keys(c.work))
	c.mu.Unlock()
	for _, done := range work {
		<-done
	}
}
