package nats

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/internal/ground/pause"
)

const greeting = `INFO {"server_id":"F","version":"2.15.2","proto":1,"headers":true,"max_payload":1048576,"jetstream":true}` + "\r\n"

// checkAll checks data in pieces of at most n bytes.
func checkAll(data string, n int) error {
	c := &wire{began: time.Now()}
	for len(data) > 0 {
		k := min(n, len(data))
		if err := c.check([]byte(data[:k])); err != nil {
			return err
		}
		data = data[k:]
	}
	return nil
}

// TestWire checks what may arrive on a connection, in pieces of any size.
func TestWire(t *testing.T) {
	for _, c := range []struct {
		data, want string
	}{
		{greeting, ""},
		{greeting + "PING\r\nPONG\r\n+OK\r\n", ""},
		{greeting + "MSG a 1 5\r\nhello\r\nMSG a 1 r 0\r\n\r\nHMSG a 1 12 14\r\nNATS/1.0\r\n\r\nok\r\nPING\r\n", ""},
		{greeting + "-ERR 'Permissions Violation for Publish to \"x\"'\r\n-ERR 'Authorization Violation'\r\n-ERR 'Stale Connection'\r\n", ""},
		{greeting + "MSG a 1 3145728\r\n", ""},
		{greeting + "MSG a 1 3145729\r\n", "announces a message"},
		{greeting + "MSG in 1 99999999999\r\n", "announces a message"},
		{greeting + "MSG a 1 18446744073709551621\r\n", "announces a message"},
		{greeting + "HMSG a 1 5 -1\r\n", "announces a message"},
		{greeting + "MSG a 1 +5\r\n", "announces a message"},
		{"MSG a 1 1\r\n", "announces a message"}, // before INFO
		{greeting + "MSG a 1 5\r\nhello!\r\n", "does not speak"},
		{greeting + "MSG a 1 5\nhello\r\n", "does not speak"},
		{greeting + "MSG a 1\r55\r\n", "does not speak"},
		{greeting + "MSG a\t1 5\r\n", "does not speak"},
		{greeting + "MSG " + strings.Repeat("a", maxLine), "does not speak"},
		{"INFO " + strings.Repeat(" ", maxInfo), "does not speak"},
		{greeting + "PONG" + strings.Repeat(" ", maxLine), "does not speak"},
		{"INFO {\r\n", "does not speak"},
		{"INFO {\"max_payload\":0}\r\n", "does not speak"},
		{"INFO {\"max_payload\":-5}\r\n", "does not speak"},
		{"HTTP/1.1 400 Bad Request\r\n", "does not speak"},
		{greeting + "\x00\x01\r\n", "does not speak"},
		{greeting + "-ERR 'Parser Error'\r\n", "the server reports \"'Parser Error'\""},
		{greeting + strings.Repeat("PING\r\n", maxBurst+1), "floods"},
		{strings.Repeat(greeting, maxBurst+1), "floods"},
	} {
		for _, n := range []int{1, 2, 7, 4096, 1 << 21} {
			if n < 4096 && len(c.data) > 4096 {
				continue
			}
			err := checkAll(c.data, n)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%.60q… in pieces of %d: %v; want %q", c.data, n, err, c.want)
			}
		}
	}
}

// TestWireUsed checks that all connections go through the check, also to a server whose
// name begins like a scheme. WebSocket is refused by package connect.
func TestWireUsed(t *testing.T) {
	for _, server := range []string{"nats://h", "tls://h", "h:4222", "ws1.example:4222"} {
		cfg := connect.DefaultNATS()
		cfg.Servers = []string{server}
		c := &Conn{}
		o, err := c.options(&cfg)
		if err != nil {
			t.Fatal(err)
		}
		c.cut()
		if d, used := o.CustomDialer.(*dialer); !used || d.secure != (server == "tls://h") {
			t.Errorf("%s: checked %v, %+v", server, used, d)
		}
	}
}

// TestServerName checks which name a certificate must have: the host, or for an IP
// address that a server of the cluster has announced, the name of that server.
func TestServerName(t *testing.T) {
	d := &dialer{servers: []string{"10.0.0.1:4222", "10.0.0.2"}}
	for _, c := range [][2]string{
		{"10.0.0.9:4222", "10.0.0.9"}, {"n1.example:4222", "n1.example"}, {"10.0.0.9:4222", "n1.example"},
		{"10.0.0.1:4222", "10.0.0.1"}, {"10.0.0.2:4222", "10.0.0.2"},
	} {
		if got := d.serverName(c[0]); got != c[1] {
			t.Errorf("%s: %s, want %s", c[0], got, c[1])
		}
	}
}

// FuzzWire checks that the check accepts the same data in pieces of any size,
// holds no more than the longest line, and lets no larger message pass than INFO
// permits.
func FuzzWire(f *testing.F) {
	f.Add([]byte("MSG a 1 5\r\nhello\r\nPING\r\n"), 3)
	f.Add([]byte("HMSG a 1 12 14\r\nNATS/1.0\r\n\r\nok\r\n-ERR 'x'\r\n"), 1)
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		all := greeting + string(data)
		c := &wire{began: time.Now()}
		whole := c.check([]byte(all))
		if len(c.line) > maxInfo || c.left > 2*1048576+1<<20 && !bytes.Contains(data, []byte("INFO")) {
			t.Fatalf("%d bytes of a line, %d of a message", len(c.line), c.left)
		}
		if pieces := checkAll(all, max(1, min(n, 1<<20))); (whole == nil) != (pieces == nil) {
			t.Fatalf("%v as a whole, %v in pieces", whole, pieces)
		}
	})
}

// A fakeServer speaks enough of the protocol for a sink and its checks. change
// may replace each answer.
type fakeServer struct {
	ln     net.Listener
	info   string // answer to a request for stream S
	change func(answer []byte) []byte
	wg     sync.WaitGroup
}

func newFakeServer(t testing.TB, change func([]byte) []byte) *fakeServer {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &fakeServer{ln: ln, change: change}
	s.info = `{"type":"io.nats.jetstream.api.v1.stream_info_response","config":{"name":"S","subjects":["s"]},"created":"2026-01-01T00:00:00Z","state":{"first_seq":1,"last_seq":1}}`
	ctx, cancel := context.WithCancel(context.Background())
	s.wg.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
			s.wg.Go(func() { defer stop(); s.serve(conn) })
		}
	})
	t.Cleanup(func() { cancel(); _ = ln.Close(); s.wg.Wait() })
	return s
}

// serve answers requests: INFO of a stream S, and acknowledgments from S.
func (s *fakeServer) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	say := func(format string, args ...any) bool {
		_, err := conn.Write(s.change(fmt.Appendf(nil, format, args...)))
		return err == nil
	}
	if !say("%s", greeting) {
		return
	}
	in, sids, seq := bufio.NewReader(conn), map[string]string{}, 0
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		w := strings.Fields(line)
		switch {
		case len(w) == 0:
		case w[0] == "PING":
			say("PONG\r\n")
		case w[0] == "SUB":
			sids[strings.TrimRight(w[1], "*>")] = w[len(w)-1]
		case w[0] == "PUB" || w[0] == "HPUB":
			var size int
			_, _ = fmt.Sscan(w[len(w)-1], &size)
			if _, err := io.CopyN(io.Discard, in, int64(size+2)); err != nil {
				return
			}
			seq++
			body := fmt.Sprintf(`{"stream":"S","seq":%d}`, seq)
			if strings.Contains(w[1], "STREAM.INFO") {
				body = s.info
			}
			for prefix, sid := range sids {
				if len(w) > 2 && strings.HasPrefix(w[2], prefix) {
					say("MSG %s %s %d\r\n%s\r\n", w[2], sid, len(body), body)
				}
			}
		}
	}
}

// connectFake connects to s.
func connectFake(t testing.TB, s *fakeServer, timeout time.Duration) (*Conn, error) {
	cfg := connect.DefaultNATS()
	cfg.Servers = []string{"nats://" + s.ln.Addr().String()}
	cfg.ConnectTimeout, cfg.ReconnectWait, cfg.PingInterval = timeout, time.Millisecond, timeout
	return Connect(t.Context(), cfg)
}

// mutate changes answer: a bit, a byte, a number, the length, or the order.
func mutate(r *rand.Rand, answer []byte) []byte {
	b := bytes.Clone(answer)
	i := r.IntN(len(b))
	switch r.IntN(8) {
	case 0:
		b[i] ^= 1 << r.IntN(8)
	case 1:
		b[i] = byte(r.Uint32())
	case 2:
		b = b[:i]
	case 3:
		b = append(b[:i], append([]byte("99999999999999999999")[:1+r.IntN(20)], b[i:]...)...)
	case 4:
		b = append(b, b[i:]...)
	case 5:
		b = bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
	case 6:
		b = append([]byte("-ERR '"+string(b[:min(i, 20)])+"'\r\n"), b...)
	case 7:
		b = append(bytes.Repeat([]byte("PING\r\n"), r.IntN(200)), b...)
	}
	return b
}

// TestMutatedAnswers publishes through a server whose answers are changed at
// random. Whatever arrives, the process must not crash, its memory must stay
// bounded, and every message counts once, after a valid acknowledgment.
func TestMutatedAnswers(t *testing.T) {
	changed := int64(2000)
	if os.Getenv("URLFOLD_LONG") == "1" {
		changed = 100_000
	}
	var mu sync.Mutex
	var mutated atomic.Int64
	r := rand.New(rand.NewPCG(1, 2))
	s := newFakeServer(t, func(answer []byte) []byte {
		mu.Lock()
		defer mu.Unlock()
		if r.IntN(10) > 0 {
			return answer
		}
		mutated.Add(1)
		return mutate(r, answer)
	})
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for mutated.Load() < changed {
				if conn, err := connectFake(t, s, 100*time.Millisecond); err == nil {
					publishMutated(t, conn, func() bool { return mutated.Load() >= changed })
					conn.Close()
				}
			}
		})
	}
	wg.Wait()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.Sys > 1<<29 {
		t.Errorf("%d MiB of memory", m.Sys>>20)
	}
}

// publishMutated publishes until done returns true.
func publishMutated(t *testing.T, conn *Conn, done func() bool) {
	w, err := conn.NewWindow(64, 20*time.Millisecond, Accept{Only: "S"})
	if err != nil {
		return // the connection is lost already
	}
	defer func() { _ = w.Close() }() // only the server causes errors here
	for !done() {
		l := &load{subject: "s", resolved: make([]atomic.Int32, 200)}
		if err := w.Publish(t.Context(), l, 0, len(l.resolved)); err != nil {
			t.Error(err)
			return
		}
		w.Forget(l)
		for i := range l.resolved {
			if n := l.resolved[i].Load(); n > 1 {
				t.Errorf("message %d resolved %d times", i, n)
			}
		}
	}
}

// TestForeignAcks checks that acknowledgments that name another stream, or no
// sequence, do not count: the message is published again until the right one
// arrives.
func TestForeignAcks(t *testing.T) {
	for _, c := range []struct {
		from, to string
		which    Accept
	}{
		{`"stream":"S"`, `"stream":"OTHER"`, Accept{Only: "S"}},
		{`"seq":`, `"seq":0,"x":`, Accept{Any: true}},
		{`"seq":`, `"seq":99999999999999999999,"x":`, Accept{}},
	} {
		var wrong atomic.Int64
		s := newFakeServer(t, func(answer []byte) []byte {
			if bytes.Contains(answer, []byte(`{"stream":"S"`)) && wrong.Add(1) <= 3 {
				line, body, _ := strings.Cut(string(answer), "\r\n")
				body = strings.Replace(strings.TrimSpace(body), c.from, c.to, 1)
				return fmt.Appendf(nil, "%s %d\r\n%s\r\n", line[:strings.LastIndexByte(line, ' ')], len(body), body)
			}
			return answer
		})
		conn, err := connectFake(t, s, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		w, err := conn.NewWindow(4, time.Minute, c.which)
		if err != nil {
			t.Fatal(err)
		}
		l := &load{subject: "s", resolved: make([]atomic.Int32, 1)}
		if err := w.Publish(t.Context(), l, 0, 1); err != nil {
			t.Fatal(err)
		}
		for l.good.Load() == 0 {
			if pause.For(t.Context(), time.Millisecond) != nil {
				t.Fatal("not resolved")
			}
		}
		if st := w.Stats(); st.Again < 3 || st.Refusals+st.Cuts < 3 { // an answer during the publish counts as a cut
			t.Errorf("%+v: %+v", c, st)
		}
		_ = w.Close()
		conn.Close()
	}
}

// TestUnknownStream checks that an acknowledgment of a stream that does not
// exist does not count.
func TestUnknownStream(t *testing.T) {
	s := newFakeServer(t, func(answer []byte) []byte { return answer })
	s.info = `{"type":"io.nats.jetstream.api.v1.stream_info_response","error":{"code":404,"err_code":10059,"description":"stream not found"}}`
	conn, err := connectFake(t, s, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	w, err := conn.NewWindow(4, time.Minute, Accept{})
	if err != nil {
		t.Fatal(err)
	}
	l := &load{subject: "s", resolved: make([]atomic.Int32, 1)}
	if err := w.Publish(t.Context(), l, 0, 1); err != nil {
		t.Fatal(err)
	}
	for w.Stats().Refusals == 0 {
		if pause.For(t.Context(), time.Millisecond) != nil {
			t.Fatal("not refused")
		}
	}
	if l.good.Load() > 0 || w.Health() == nil || !strings.Contains(w.Health().Error(), "stream not found") {
		t.Errorf("%d accepted, %v", l.good.Load(), w.Health())
	}
	_ = w.Close()
}
