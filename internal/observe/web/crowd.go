package web

import (
	"net"
	"net/http"
	"sync"
	"time"
)

// maxConns limits the open connections. Each takes about 18 KB.
const maxConns = 128

// A crowd limits the connections of a server: a new connection beyond maxConns
// replaces the connection that has been idle longest. So clients that open many
// connections cannot lock out others, whose connections have a request in
// progress.
type crowd struct {
	mu   sync.Mutex
	idle map[net.Conn]time.Time // since when; zero: a request is being handled
}

// change is the function for [http.Server.ConnState].
func (c *crowd) change(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idle == nil {
		c.idle = map[net.Conn]time.Time{}
	}
	switch state {
	case http.StateActive:
		c.idle[conn] = time.Time{}
	case http.StateNew, http.StateIdle:
		c.idle[conn] = time.Now()
	default:
		delete(c.idle, conn)
	}
	if len(c.idle) <= maxConns {
		return
	}
	oldest := conn
	for other, since := range c.idle {
		if !since.IsZero() && since.Before(c.idle[oldest]) {
			oldest = other
		}
	}
	delete(c.idle, oldest)
	_ = oldest.Close() // no client waits for this connection
}
