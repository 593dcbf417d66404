package endtoend

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/testkit/proxy"
)

// prompt is the longest time that the admin server may need for an answer. On an idle
// machine it needs some milliseconds. A handler that waits for the client library needs
// ten seconds, or a minute.
const prompt = 3 * time.Second

// TestNATSHang lets a NATS server hang, again and again: its connections stay open, but
// it neither reads nor answers. The large messages of the sink fill all buffers, and so
// do the reports of the source, which still has thousands of messages then: so the
// client of each is blocked in a write. All that time, /readyz and /metrics must answer
// at once, also while many idle connections use the admin server. When the server works
// again, all records must arrive.
func TestNATSHang(t *testing.T) {
	t.Parallel()
	w := newNATS(t, "position")
	before, behind := proxy.New(t, w.srv.Addr()), proxy.New(t, w.srv.Addr()) // of the source and of the sink
	freeze := func(yes bool) { before.Freeze(yes); behind.Freeze(yes) }
	dir := t.TempDir()
	line := "http://h.example/%06d?" + strings.Repeat("x", 50_000) + "\n"
	const lines = 600   // of 50 kB: more than all buffers
	const held = 20_000 // messages of the source, each reported ten times a second
	appendLines := func(from int) {
		t.Helper()
		f, err := os.OpenFile(filepath.Join(dir, "in.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		for i := range lines {
			if _, err := fmt.Fprintf(f, line, from+i); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	config := strings.ReplaceAll(w.config(), w.srv.URL(), "nats://"+behind.Addr())
	config = strings.Replace(config, "nats://"+behind.Addr(), "nats://"+before.Addr(), 1)
	config = strings.Replace(config, "{ack_wait: 2s}", "{ack_wait: 200ms, max_ack_pending: 100000}", 1)
	config = strings.Replace(config, "sources:\n", fmt.Sprintf("sources:\n  - file: {from: lines, include: [%q], mode: tail, poll_interval: 100ms}\n", filepath.Join(dir, "*.log")), 1)
	appendLines(0)
	p := start(t, config)
	advance(t, "it works", w.stored, func() bool { return w.stored() >= lines })
	addr, err := p.Admin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	idle := idleConnections(t, addr, 500)
	n, answers := rounds(t, 1, 10), 0
	var longest time.Duration
	for i := range n {
		freeze(true)
		w.fill(held)
		before.Freeze(false) // so that few batches get all messages
		until(t, "the source has messages", func() bool { return w.consumer().NumAckPending > held/4 })
		appendLines((i + 1) * lines)
		freeze(true)
		for end := time.Now().Add(8 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			for _, page := range []string{"/readyz", "/metrics"} {
				began := time.Now()
				ctx, cancel := context.WithTimeout(context.Background(), patience)
				status, _, err := p.Get(ctx, page)
				cancel()
				took := time.Since(began)
				if longest = max(longest, took); err != nil || took > prompt || page == "/metrics" && status != http.StatusOK {
					t.Errorf("round %d: %s answers %d after %v, %v", i, page, status, took, err)
				}
				answers++
			}
		}
		freeze(false)
		advance(t, "everything has arrived", w.stored, func() bool { return w.stored() >= int64((i+2)*lines)+int64(w.records) })
		w.drained()
	}
	all, _, err := p.Descriptors()
	if err == nil && all > 300 {
		t.Errorf("%d open descriptors with %d idle connections", all, idle)
	}
	stop(t, p)
	missing := w.missing((n + 1) * lines)
	t.Logf("figure: %d times a server hung; %d answers meanwhile, the longest after %v; %d descriptors with %d idle connections; %d of %d records missing",
		n, answers, longest.Round(time.Millisecond), all, idle, missing, (n+1)*lines)
	if missing > 0 {
		t.Errorf("%d records are missing", missing)
	}
}

// idleConnections opens connections that send nothing.
func idleConnections(t *testing.T, addr string, n int) int {
	t.Helper()
	for range n {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
	}
	return n
}

// missing returns how many of the large lines 0 to n-1 are not in OUT.
func (w *natsWorld) missing(n int) int {
	w.t.Helper()
	seen := map[string]bool{}
	for seq := range uint64(w.stored()) {
		m, err := w.out.GetMsg(w.context(), seq+1)
		if err != nil {
			w.t.Fatal(err)
		}
		if url, _, _ := strings.Cut(string(m.Data), "?"); strings.HasPrefix(url, "http://h.example/") {
			seen[url] = true
		}
	}
	return n - len(seen)
}
