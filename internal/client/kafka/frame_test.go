package kafka

import (
	"context"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/config/connect"
)

// TestNotKafka: a server that speaks another protocol ends a request with an error.
// The library would take the number of elements of a list from its text, and
// allocate memory for them.
func TestNotKafka(t *testing.T) {
	for name, greeting := range map[string]string{
		"NATS": `INFO {"server_id":"NDUP6JO4T5LRUEXZUHWXMJYMG4IZAJDWNETTA4GPJ7DKXLJUXBN3UP3M","version":"2.15.2"}` + "\r\n",
		"HTTP": "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request",
		"SSH":  "SSH-2.0-OpenSSH_9.9 Debian-3" + strings.Repeat(" ", 100) + "\r\n",
		"TLS":  "\x15\x03\x03\x00\x02\x02\x46", // an alert
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = l.Close() }() // close errors do not matter
			go func() {
				for {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					_, _ = conn.Write([]byte(greeting)) // the client notices errors
					_ = conn.Close()
				}
			}()
			c := connect.DefaultKafka()
			c.Brokers, c.RequestTimeout = []string{l.Addr().String()}, 2*time.Second
			client, err := New(c, "urls")
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err = client.Offset(context.Background(), "urls", 0, Latest)
			runtime.ReadMemStats(&after)
			if n := (after.TotalAlloc - before.TotalAlloc) >> 20; err == nil || n > 16 {
				t.Errorf("%d MiB allocated, %v", n, err)
			}
			t.Log(err)
		})
	}
}

// TestFrames checks streams of frames that arrive in pieces of every size.
func TestFrames(t *testing.T) {
	f := func(stream string, want bool) {
		t.Helper()
		for size := 1; size <= len(stream); size++ {
			var c framedConn
			got := true
			for piece := range slices.Chunk([]byte(stream), size) {
				got = got && c.check(piece)
			}
			if got != want {
				t.Errorf("%q in pieces of %d bytes: %v, want %v", stream, size, got, want)
			}
		}
	}
	f("\x00\x00\x00\x06\x00\x00\x00\x01ab\x00\x00\x00\x04\x00\x00\x00\x02", true)
	f("\x00\x00\x00\x00\x00\x00\x00\x03r=a\x00\x00\x00\x06r=abcd\x00\x00\x00\x05\x00\x00\x00\x01x", true) // tokens of a login
	f("\x10\x00\x00\x00\x00\x00\x00\x01abc", true)                                                        // not yet complete
	f("\x10\x00\x00\x00urlfabc", true)
	f("\x10\x00\x00\x00 abcabc", false)
	f("\x00\x00\x00\x06\x00\x00\x00\x01abINFO {\"a\":1}", false)
	f("HTTP/1.1 400", false)
	f("\xff\xff\xff\xff\x00\x00\x00\x01", false)
}
