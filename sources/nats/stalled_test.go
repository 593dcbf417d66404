package nats_test

import (
	"testing"
	"time"

	client "github.com/urlfold/urlfold/internal/client/nats"
	"github.com/urlfold/urlfold/internal/testkit/proxy"
	source "github.com/urlfold/urlfold/sources/nats"
)

// stall makes the client library of conn, which connects through p, hold its lock:
// it writes to a server that reads nothing. The returned function reports whether
// it has held the lock since then.
func stall(t *testing.T, p *proxy.Proxy, conn *client.Conn) (held func() bool) {
	t.Helper()
	p.Freeze(true)
	t.Cleanup(func() { p.Freeze(false) })
	go func() {
		for data := make([]byte, 1<<20); t.Context().Err() == nil; {
			if conn.Publish("out.x", data) != nil {
				time.Sleep(time.Millisecond)
			}
		}
	}()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		free := make(chan struct{})
		go func() {
			conn.MaxPayload() // takes the lock of the library
			close(free)
		}()
		select {
		case <-free:
		case <-time.After(500 * time.Millisecond):
			return func() bool {
				select {
				case <-free:
					return false
				default:
					return true
				}
			}
		}
	}
	t.Fatal("the library does not hold its lock")
	return nil
}

// A watched is what the admin server asks.
type watched interface {
	Health() error
	Metrics(emit func(name, help, kind string, value float64, labels ...string))
}

// asked checks that all that the handlers of the admin server call returns while the
// library holds its lock.
func asked(t *testing.T, p *proxy.Proxy, conn *client.Conn, part watched) {
	t.Helper()
	for range 5 { // the library gives up a write after 10 s
		held := stall(t, p, conn)
		_ = part.Health() // may be an error or not
		metricsOf(t, part)
		if held() {
			return
		}
		p.Freeze(false)
	}
	t.Error("Health and Metrics wait for the lock of the client library")
}

// TestStalled checks that the handlers of the admin server do not wait for a
// connection whose other end reads nothing.
func TestStalled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := proxy.New(t, w.srv.Addr())
	servers := []string{"nats://" + p.Addr()}
	t.Run("jetstream", func(t *testing.T) {
		out := &linesSink{}
		release := out.close()
		defer release()
		src := w.source(func(c *source.JetStreamConfig) { c.Servers, c.Consumer.AckWait = servers, 100*time.Millisecond })
		r := startRun(t, src, out)
		w.fill(0, 10)
		until(t, "messages in flight", func() bool { return src.Stats().InFlight > 0 && src.Stats().InProgress > 0 })
		asked(t, p, src.Conn(), src)
		release()
		p.Freeze(false)
		r.kill()
	})
	t.Run("core", func(t *testing.T) {
		src := w.core(func(c *source.CoreConfig) { c.Servers = servers })
		r := startRun(t, src, &linesSink{})
		asked(t, p, src.Conn(), src)
		p.Freeze(false)
		r.kill()
	})
}
