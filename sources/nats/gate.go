package nats

import "sync"

// A gate holds acknowledgments back while their stream is uncertain. The server
// identifies a message by the sequence in its acknowledgment alone: an
// acknowledgment for a message of a deleted stream would acknowledge another
// message in a new stream of the same name, which would be lost.
//
// The zero gate is open.
type gate struct {
	mu     sync.Mutex
	shuts  uint64 // number of calls of shut
	opens  uint64 // number of transitions to open
	closed bool
	held   []heldAck
}

// A heldAck is an acknowledgment that waits for the gate to open.
type heldAck struct {
	of   *epoch
	send func()
	drop func()
}

// shut closes the gate until open is called.
func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shuts++
	g.closed = true
}

// state returns whether the gate is shut, and the argument for open.
func (g *gate) state() (shut bool, shuts uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed, g.shuts
}

// openings returns how often the gate was opened, and whether it is shut now.
func (g *gate) openings() (n uint64, shut bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.opens, g.closed
}

// open opens the gate, sends the held acknowledgments of the epoch now, and
// drops the others. It returns false and does nothing if the gate was shut
// again after state returned shuts.
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

// pass returns true if the gate is open; otherwise it keeps a until the gate
// opens.
func (g *gate) pass(a heldAck) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		g.held = append(g.held, a)
	}
	return !g.closed
}
