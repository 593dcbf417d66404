package engine

import "sync"

// A gate lets any number of goroutines pass concurrently until it is closed,
// and then makes them wait. It works like an RWMutex, but goroutines wait by
// receiving from channels. The zero gate is open.
type gate struct {
	mu      sync.Mutex
	passing int
	closed  chan struct{} // closed when the gate reopens; nil while the gate is open
	idle    chan struct{} // closed when the last goroutine leaves; nil if nobody waits
}

// enter waits until the gate is open. The caller must call leave afterwards.
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

// close closes the gate and waits for the goroutines inside to leave. Only one
// goroutine may call close, and it must call open afterwards.
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

// open reopens the gate.
func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.closed)
	g.closed = nil
}
