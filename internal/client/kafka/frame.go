package kafka

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
)

// The library trusts the bytes that it receives: it decodes a response before it
// compares its correlation id, and allocates memory for as many elements of a list as
// the response announces. At the greeting of a server of another protocol, such as
// NATS, that takes gigabytes. So the frames of a connection without TLS are checked
// before the library sees them.

// errNotKafka is the error of a connection on which text arrived instead of a
// response.
var errNotKafka = errors.New("the server does not speak the protocol of Kafka; check the address")

// dialFramed dials addr. Without TLS, it checks the frames that arrive.
func (l *library) dialFramed(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil || l.dialer.TLS != nil {
		return conn, err
	}
	return &framedConn{Conn: conn}, nil
}

// A framedConn checks the length and the correlation id of each frame that arrives.
type framedConn struct {
	net.Conn
	head [8]byte // of the current frame: its length and its first bytes
	have int     // bytes in head
	left int64   // bytes of the current frame after head
}

// Read implements [net.Conn].
func (c *framedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if !c.check(p[:n]) {
		return 0, errNotKafka
	}
	return n, err
}

// check reports whether b can follow the bytes before it.
func (c *framedConn) check(b []byte) bool {
	for len(b) > 0 {
		if skipped := min(c.left, int64(len(b))); skipped > 0 {
			c.left -= skipped
			b = b[skipped:]
			continue
		}
		n := copy(c.head[c.have:c.headLen()], b)
		c.have += n
		b = b[n:]
		if c.have < 4 || c.have < c.headLen() {
			continue
		}
		size, id := c.size(), binary.BigEndian.Uint32(c.head[4:])
		if size < 0 || size > maxAnswer || size > maxToken && id != correlation && isText(id) {
			return false
		}
		c.left = size + 4 - int64(c.have)
		c.have = 0
	}
	return true
}

// headLen returns the number of bytes to collect in head. An answer during a login
// may have fewer than four bytes after its length.
func (c *framedConn) headLen() int {
	if c.have < 4 {
		return 4
	}
	return 4 + int(max(0, min(4, c.size())))
}

func (c *framedConn) size() int64 { return int64(int32(binary.BigEndian.Uint32(c.head[:]))) }

// maxToken is more than the length of any answer during a login. These have no
// correlation id, and can be text.
const maxToken = 1 << 20

// isText reports whether the first byte of a correlation id is ASCII text. The library
// counts ids from 1.
func isText(id uint32) bool { return id>>24 >= ' ' }
