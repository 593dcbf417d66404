package pipeline

import "sync"

// A gate lets any number pass at a time, until it is closed: then they wait. It is
// a lock for readers and one writer whose waits are receives from channels. The
// zero gate is open.
type gate struct {
	mu      sync.Mutex
	passing int
	closed  chan struct{} // closed when the gate opens again; nil: it is open
	idle    chan struct{} // closed when nobody passes any more; nil: nobody waits
}

// enter waits until the gate is open. Who has entered leaves.
func (g *gate) enter() {
	for {
		g.mu.Lock()
		closed := g.closed
		if closed == nil {
			g.passing++
		}
		g.mu.Unlock()
		if closed == nil {
			return
		}
		<-closed
	}
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.passing--
	if g.passing == 0 && g.idle != nil {
		close(g.idle)
		g.idle = nil
	}
}

// close closes the gate, and waits for those who are passing. One goroutine calls
// it, and open after it.
func (g *gate) close() {
	g.mu.Lock()
	g.closed = make(chan struct{})
	var idle chan struct{}
	if g.passing > 0 {
		idle = make(chan struct{})
		g.idle = idle
	}
	g.mu.Unlock()
	if idle != nil {
		<-idle
	}
}

// open opens the gate again.
func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.closed)
	g.closed = nil
}
