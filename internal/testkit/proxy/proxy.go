// Package proxy provides a TCP proxy on loopback that fails on demand: it
// closes connections, refuses them, delays them, or stops forwarding without
// closing them. Only tests import it.
package proxy

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// A Filter copies one direction of a connection from r to w, and may omit data.
// It returns when r ends or w fails.
type Filter func(w io.Writer, r io.Reader) error

// A Proxy forwards connections to one address.
type Proxy struct {
	ln     net.Listener
	target string
	wg     sync.WaitGroup

	mu     sync.Mutex
	change *sync.Cond
	up     Filter
	down   Filter
	conns  map[net.Conn]bool
	closed bool
	refuse bool
	frozen bool
	delay  time.Duration
	cuts   int
}

// New returns a proxy to target that is closed at the end of the test.
func New(t testing.TB, target string) *Proxy {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{ln: ln, target: target, conns: map[net.Conn]bool{}}
	p.change = sync.NewCond(&p.mu)
	p.wg.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

// Filter sets the filters for data from clients (up) and from the server
// (down), for connections that begin later. A nil filter copies everything.
func (p *Proxy) Filter(up, down Filter) { p.set(func() { p.up, p.down = up, down }) }

// Addr returns the address to connect to.
func (p *Proxy) Addr() string { return p.ln.Addr().String() }

// set changes the state under the lock and wakes frozen connections.
func (p *Proxy) set(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
	p.change.Broadcast()
}

// Cut closes all connections.
func (p *Proxy) Cut() {
	p.set(func() {
		p.cuts++
		for c := range p.conns {
			_ = c.Close()
		}
	})
}

// Cuts returns the number of calls of Cut.
func (p *Proxy) Cuts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cuts
}

// Refuse sets whether new connections are closed immediately.
func (p *Proxy) Refuse(yes bool) { p.set(func() { p.refuse = yes }) }

// Freeze sets whether the proxy stops forwarding without closing connections,
// so that each side looks alive but silent to the other.
func (p *Proxy) Freeze(yes bool) { p.set(func() { p.frozen = yes }) }

// Delay sets the time by which every forwarded piece of data is delayed.
func (p *Proxy) Delay(d time.Duration) { p.set(func() { p.delay = d }) }

func (p *Proxy) close() {
	_ = p.ln.Close()
	p.set(func() { p.closed = true })
	p.Cut()
	p.wg.Wait()
}

func (p *Proxy) accept() {
	for {
		c, err := p.ln.Accept()
		if err != nil {
			return
		}
		p.wg.Go(func() { p.serve(c) })
	}
}

// serve forwards one connection until either side ends.
func (p *Proxy) serve(c net.Conn) {
	defer func() { _ = c.Close() }()
	s, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer func() { _ = s.Close() }()
	up, down, ok := p.enter(c, s)
	if !ok {
		return
	}
	defer p.set(func() { delete(p.conns, c); delete(p.conns, s) })
	var wg sync.WaitGroup
	one := func(w, r net.Conn, f Filter) {
		wg.Go(func() {
			if f == nil {
				f = plain
			}
			_ = f(&gate{p, w}, r)
			_ = w.Close()
			_ = r.Close()
		})
	}
	one(s, c, up)
	one(c, s, down)
	wg.Wait()
}

func plain(w io.Writer, r io.Reader) error {
	_, err := io.Copy(w, r)
	return err
}

// enter registers a pair of connections and returns their filters. ok is false
// if connections are refused.
func (p *Proxy) enter(c, s net.Conn) (up, down Filter, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.refuse {
		return nil, nil, false
	}
	p.conns[c], p.conns[s] = true, true
	return p.up, p.down, true
}

// A gate writes to a connection and blocks while the proxy is frozen.
type gate struct {
	p *Proxy
	c net.Conn
}

var errCut = errors.New("proxy: cut")

// Write implements io.Writer.
func (g *gate) Write(b []byte) (int, error) {
	g.p.mu.Lock()
	for g.p.frozen && !g.p.closed && g.p.conns[g.c] {
		g.p.change.Wait()
	}
	gone, delay := g.p.closed, g.p.delay
	g.p.mu.Unlock()
	if gone {
		return 0, errCut
	}
	if delay > 0 {
		<-time.After(delay)
	}
	return g.c.Write(b)
}
