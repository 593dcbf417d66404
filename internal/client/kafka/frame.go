package kafka

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"

	"github.com/segmentio/kafka-go/protocol"
)

// The library trusts the bytes that it receives: it decodes a response without
// comparing its correlation id first, allocates memory for as many elements of a
// list as the response announces, and panics in its own goroutines. So each
// connection, above TLS, checks the frames that arrive before the library sees
// them.

// errNotKafka is the error of a connection on which text arrived instead of a
// response.
var errNotKafka = errors.New("the server does not speak the protocol of Kafka; check the address")

// dialFramed connects to addr, with TLS if it is configured.
func (l *library) dialFramed(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := l.connect(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	if l.tls != nil {
		secure := tls.Client(conn, serverName(l.tls, addr))
		if err := secure.HandshakeContext(ctx); err != nil {
			_ = conn.Close() // the handshake has failed
			return nil, err
		}
		conn = secure
	}
	return &framedConn{Conn: conn, logins: l.tokens(), calls: map[uint32]call{}}, nil
}

// tokens returns the number of tokens that each side sends during a login.
func (l *library) tokens() int {
	switch {
	case l.conn.SASL == nil:
		return 0
	case l.conn.SASL.Mechanism == "PLAIN":
		return 1
	}
	return 2
}

// A framedConn checks each response, then delivers it. A response to a request that
// this package has encoded is only checked for its length, because it may be long and
// this package decodes it.
type framedConn struct {
	net.Conn
	logins int // number of login tokens, which follow SaslHandshake version 0 and have no header

	mu       sync.Mutex // the library may read and write at the same time
	head     []byte     // beginning of the frame being written
	skip     int64      // bytes of that frame that are still to be written
	sent     int        // tokens to be written
	calls    map[uint32]call
	versions map[protocol.ApiKey]versionRange // versions of the broker; nil before its answer

	// Used by Read only.
	buf      []byte // frame being read
	checked  []byte // part of buf to be delivered
	raw      int64  // bytes to be delivered unchecked
	received int    // tokens to be read
}

// A call is a request without an answer yet.
type call struct {
	api     protocol.ApiKey
	version int16
}

type versionRange struct{ lowest, highest int16 }

// Limits of answers that the library decodes.
const (
	maxChecked = 16 << 20
	maxToken   = 1 << 20 // maximum length of a login token
)

// requestHead is the length of the part of a request that identifies it: its size,
// API, version and correlation id.
const requestHead = 12

// Write implements [net.Conn].
func (c *framedConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	c.note(p)
	c.mu.Unlock()
	return c.Conn.Write(p)
}

// note registers the requests that begin in p.
func (c *framedConn) note(p []byte) {
	for len(p) > 0 {
		if n := min(c.skip, int64(len(p))); n > 0 {
			c.skip -= n
			p = p[n:]
			continue
		}
		want := requestHead
		if c.sent > 0 {
			want = 4
		}
		n := min(want-len(c.head), len(p))
		c.head, p = append(c.head, p[:n]...), p[n:]
		if len(c.head) < want {
			return
		}
		c.skip = int64(binary.BigEndian.Uint32(c.head)) + 4 - int64(want)
		if want == requestHead {
			r := call{protocol.ApiKey(binary.BigEndian.Uint16(c.head[4:])), int16(binary.BigEndian.Uint16(c.head[6:]))}
			c.calls[binary.BigEndian.Uint32(c.head[8:])] = r
			if r.api == protocol.SaslHandshake && r.version == 0 {
				c.sent = c.logins
			}
		} else {
			c.sent--
		}
		c.head = c.head[:0]
	}
}

// Read implements [net.Conn].
func (c *framedConn) Read(p []byte) (int, error) {
	for len(c.checked) == 0 && c.raw == 0 {
		if err := c.next(); err != nil {
			return 0, err
		}
	}
	if len(c.checked) > 0 {
		n := copy(p, c.checked)
		c.checked = c.checked[n:]
		return n, nil
	}
	n, err := c.Conn.Read(p[:min(int64(len(p)), c.raw)])
	c.raw -= int64(n)
	return n, err
}

// next reads and checks a frame. After a timeout it can be called again.
func (c *framedConn) next() error {
	if err := c.fill(4); err != nil {
		return err
	}
	size := int64(int32(binary.BigEndian.Uint32(c.buf)))
	if size < 0 || size > maxAnswer {
		return errNotKafka
	}
	if c.received > 0 {
		if size > maxToken {
			return errNotKafka
		}
		if err := c.fill(4 + int(size)); err != nil {
			return err
		}
		c.received--
		c.deliver()
		return nil
	}
	if size < 4 {
		return errNotKafka
	}
	if err := c.fill(8); err != nil {
		return err
	}
	id := binary.BigEndian.Uint32(c.buf[4:])
	c.mu.Lock()
	r, asked := c.calls[id]
	c.mu.Unlock()
	switch {
	case !asked:
		return errNotKafka
	case id == correlation:
		c.raw = size - 4
	case size > maxChecked:
		return fmt.Errorf("%w: %s: longer than 16 MiB", errAnswer, r.api)
	default:
		if err := c.fill(4 + int(size)); err != nil {
			return err
		}
		if err := c.check(r); err != nil {
			return err
		}
	}
	c.mu.Lock()
	delete(c.calls, id)
	c.mu.Unlock()
	c.deliver()
	return nil
}

// check checks the answer to r, which is in buf.
func (c *framedConn) check(r call) error {
	body := c.buf[8:]
	if err := checkAnswer(r, body); err != nil {
		return err
	}
	switch {
	case r == (call{protocol.ApiVersions, 0}) && int32(binary.BigEndian.Uint32(body[2:])) < 0:
		return fmt.Errorf("%w: %s: no list", errAnswer, r.api) // the consumer group would make a slice of this length
	case r.api == protocol.ApiVersions:
		c.mu.Lock()
		c.versions = versionsIn(body)
		c.mu.Unlock()
	case r.api == protocol.SaslHandshake && r.version == 0:
		c.received = c.logins
	}
	return nil
}

// deliver hands the bytes of buf over to Read as checked, and empties buf. Unless buf
// is large, the next frame reuses the memory after Read has returned the bytes.
func (c *framedConn) deliver() {
	c.checked, c.buf = c.buf, c.buf[:0]
	if cap(c.buf) > chunk {
		c.buf = nil
	}
}

// fill reads until buf has n bytes. It grows buf only as bytes arrive.
func (c *framedConn) fill(n int) error {
	for len(c.buf) < n {
		at := len(c.buf)
		want := min(n-at, chunk)
		c.buf = slices.Grow(c.buf, want)
		k, err := c.Conn.Read(c.buf[at : at+want])
		c.buf = c.buf[:at+k]
		switch {
		case len(c.buf) >= n:
		case err == io.EOF && len(c.buf) > 0:
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
	}
	return nil
}

// LocalAddr implements [net.Conn]. A request that is encoded here finds its
// connection by this address, because the library exposes nothing else of a
// connection.
func (c *framedConn) LocalAddr() net.Addr { return framedAddr{c.Conn.LocalAddr(), c} }

type framedAddr struct {
	net.Addr
	conn *framedConn
}

// supports returns the newest version of an API, at most the given one, that
// the broker at the other end of rw supports; -1 if it supports none of them.
func supports(rw io.ReadWriter, api protocol.ApiKey, version int16) int16 {
	conn, ok := rw.(net.Conn)
	if !ok {
		return -1
	}
	addr, ok := conn.LocalAddr().(framedAddr)
	if !ok {
		return -1
	}
	addr.conn.mu.Lock()
	r, ok := addr.conn.versions[api]
	addr.conn.mu.Unlock()
	if version = min(version, r.highest); !ok || version < r.lowest {
		return -1
	}
	return version
}
