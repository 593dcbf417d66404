package nats

import "sync"

// A gate holds acknowledgments back while it is not known whose they are. The
// server takes an acknowledgment by the sequence in it alone: one for a message of a
// stream that was deleted would acknowledge another message in the stream that has
// taken its name, and that would be lost.
//
// The zero gate is open.
type gate struct {
	mu     sync.Mutex
	shuts  uint64 // times that it was shut
	opens  uint64 // times that it was opened
	closed bool
	held   []heldAck
}

// A heldAck waits for the gate to open.
type heldAck struct {
	of   *epoch
	send func()
	drop func()
}

// shut shuts the gate until open is called for it.
func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shuts++
	g.closed = true
}

// state returns whether the gate is shut, and what open wants to know.
func (g *gate) state() (shut bool, shuts uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed, g.shuts
}

// openings returns how often it was opened, and whether it is shut now.
func (g *gate) openings() (n uint64, shut bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.opens, g.closed
}

// open opens the gate, unless it was shut once more since state has returned shuts.
// What was held of the epoch now is sent, and the rest dropped.
func (g *gate) open(shuts uint64, now *epoch) bool {
	g.mu.Lock()
	if g.shuts != shuts {
		g.mu.Unlock()
		return false
	}
	held := g.held
	if g.closed {
		g.opens++
	}
	g.closed, g.held = false, nil
	g.mu.Unlock()
	for _, a := range held {
		if a.of == now {
			a.send()
		} else {
			a.drop()
		}
	}
	return true
}

// pass returns true if the gate is open, or keeps a for later.
func (g *gate) pass(a heldAck) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		g.held = append(g.held, a)
	}
	return !g.closed
}
