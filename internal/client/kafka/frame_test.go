package kafka

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go/protocol"

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

// A stub is a connection on which data arrives in pieces of a size.
type stub struct {
	net.Conn
	data []byte
	size int
}

func (s *stub) Write(p []byte) (int, error) { return len(p), nil }

func (s *stub) Read(p []byte) (int, error) {
	if len(s.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.data[:min(s.size, len(s.data))])
	s.data = s.data[n:]
	return n, nil
}

// head returns the head of a request, which its text follows.
func head(api protocol.ApiKey, version int16, id uint32, text string) string {
	b := binary.BigEndian.AppendUint32(nil, uint32(8+len(text)))
	b = binary.BigEndian.AppendUint16(b, uint16(api))
	b = binary.BigEndian.AppendUint16(b, uint16(version))
	return string(binary.BigEndian.AppendUint32(b, id)) + text
}

// TestFrames checks requests that are written, and frames that arrive, in pieces of
// every size.
func TestFrames(t *testing.T) {
	f := func(name, written, stream string, logins int, want error) {
		t.Helper()
		for size := 1; size <= len(stream); size++ {
			c := framedConn{Conn: &stub{data: []byte(stream), size: size}, logins: logins, calls: map[uint32]call{}}
			for piece := range slices.Chunk([]byte(written), size) {
				if _, err := c.Write(piece); err != nil {
					t.Fatal(err)
				}
			}
			got, err := io.ReadAll(&c)
			if !errors.Is(err, want) || want == nil && string(got) != stream {
				t.Errorf("%s, in pieces of %d bytes: %q, %v, want %v", name, size, got, err, want)
			}
		}
	}
	beat := head(protocol.Heartbeat, 0, 1, "abc")
	f("two answers", beat+head(protocol.Heartbeat, 0, 2, ""), "\x00\x00\x00\x06\x00\x00\x00\x02\x00\x1b\x00\x00\x00\x06\x00\x00\x00\x01\x00\x00", 0, nil)
	f("an own request", head(protocol.Fetch, 11, correlation, "abc"), "\x00\x00\x00\x08urlfabcd", 0, nil)
	login := head(protocol.SaslHandshake, 0, 1, "") + "\x00\x00\x00\x03n,," + "\x00\x00\x00\x02c="
	f("a login without headers", login+head(protocol.Heartbeat, 0, 2, ""),
		"\x00\x00\x00\x0a\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00"+"\x00\x00\x00\x03r=a\x00\x00\x00\x00"+"\x00\x00\x00\x06\x00\x00\x00\x02\x00\x00", 2, nil)
	f("half an answer", beat, "\x00\x00\x00\x06\x00\x00\x00\x01\x00", 0, io.ErrUnexpectedEOF)
	f("an answer that is too short", beat, "\x00\x00\x00\x05\x00\x00\x00\x01\x00", 0, errAnswer)
	f("an answer twice", beat, strings.Repeat("\x00\x00\x00\x06\x00\x00\x00\x01\x00\x00", 2), 0, errNotKafka)
	f("text", beat, "HTTP/1.1 400", 0, errNotKafka)
	f("a negative length", beat, "\xff\xff\xff\xff\x00\x00\x00\x01", 0, errNotKafka)
	f("a long answer", beat, "\x01\x00\x00\x01\x00\x00\x00\x01\x00\x00", 0, errAnswer)
	f("an address that is two", head(protocol.FindCoordinator, 0, 1, ""), "\x00\x00\x00\x13\x00\x00\x00\x01\x00\x00\x00\x00\x00\x01\x00\x03a,b\x00\x00\x00\x09", 0, errAnswer)
	f("less than no elements", head(protocol.ApiVersions, 0, 1, ""), "\x00\x00\x00\x0a\x00\x00\x00\x01\x00\x00\xff\xff\xff\xff", 0, errAnswer)
	f("many elements", head(protocol.ApiVersions, 0, 1, ""), "\x00\x00\x00\x0a\x00\x00\x00\x01\x00\x00\x7f\xff\xff\xff", 0, errAnswer)
}
