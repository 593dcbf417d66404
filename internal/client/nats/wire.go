package nats

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The library trusts the server: it collects a line until it ends, allocates
// what a message announces, and never connects again after an error message
// that it does not know. So everything that arrives is checked before the
// library sees it. The dialer does the handshake of TLS, because the check
// needs the decrypted bytes.

const (
	// maxLine limits the line before a message, which holds two subjects. The
	// default of the server is 4 KiB.
	maxLine = 64 << 10
	// maxInfo limits an INFO line, which lists the servers of a cluster.
	maxInfo = 1 << 20
	// maxPayload limits max_payload. The server warns above 8 MiB.
	maxPayload = 64 << 20
	// maxBurst limits the PING and INFO lines in one second. A server usually
	// sends one every few minutes.
	maxBurst = 100
)

var (
	errNotNATS = errors.New("the server does not speak the protocol of NATS; check the address")
	errFlood   = errors.New("the server floods the connection with PING or INFO")
)

// A dialer connects to servers for the library.
type dialer struct {
	ctx     context.Context // closes all connections when it is done
	timeout time.Duration
	tls     *tls.Config // settings, with or without TLS
	secure  bool        // use TLS even if the server does not require it
	servers []string    // from the configuration, as host or host:port

	mu   sync.Mutex
	name string // host of the last address that was not an IP address
}

// SkipTLSHandshake tells the library that Dial does the handshake.
func (d *dialer) SkipTLSHandshake() bool { return true }

// Dial connects, reads the INFO of the server, and does the TLS handshake that
// follows it.
func (d *dialer) Dial(network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(d.ctx, d.timeout)
	defer cancel()
	raw, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	release := context.AfterFunc(d.ctx, func() { _ = raw.Close() })
	c := &wire{Conn: raw, release: release}
	if err := c.greet(ctx, d, address); err != nil {
		_ = c.Close() // the connection has failed already
		return nil, err
	}
	return c, nil
}

// serverName returns the name that the certificate of the server must have.
// Servers that were discovered by their IP addresses have certificates for the
// name of the cluster.
func (d *dialer) serverName(address string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	host, _, _ := net.SplitHostPort(address)
	if net.ParseIP(host) == nil {
		d.name = host
	} else if d.name != "" && !slices.Contains(d.servers, address) && !slices.Contains(d.servers, host) {
		return d.name
	}
	return host
}

// A wire is a connection whose data was checked.
type wire struct {
	net.Conn
	release func() bool
	ready   []byte // checked and not yet read

	line  []byte // beginning of the current line
	left  int64  // bytes of the current payload
	tail  bool   // the line end after a payload follows
	most  int64  // largest payload
	burst int    // PING and INFO lines since began
	began time.Time
}

// info is what an INFO line says.
type info struct {
	MaxPayload   int64 `json:"max_payload"`
	TLSRequired  bool  `json:"tls_required"`
	TLSAvailable bool  `json:"tls_available"`
}

// greet reads the first line and encrypts the connection if necessary.
func (c *wire) greet(ctx context.Context, d *dialer, address string) error {
	end, _ := ctx.Deadline()
	_ = c.SetDeadline(end) // a closed connection fails in Read
	buf := make([]byte, 32<<10)
	at := -1
	for at < 0 {
		n, err := c.Conn.Read(buf)
		if err != nil {
			return err
		}
		if err := c.check(buf[:n]); err != nil {
			return err
		}
		c.ready = append(c.ready, buf[:n]...)
		at = bytes.IndexByte(c.ready, '\n')
	}
	text, ok := bytes.CutPrefix(c.ready[:at+1], []byte("INFO "))
	var i info
	if !ok || json.Unmarshal(text, &i) != nil {
		return errNotNATS
	}
	if i.TLSRequired || d.secure && i.TLSAvailable {
		if len(c.ready) > at+1 {
			return errNotNATS // the server sent unencrypted data
		}
		settings := d.tls.Clone()
		if settings.ServerName == "" {
			settings.ServerName = d.serverName(address)
		}
		t := tls.Client(c.Conn, settings)
		if err := t.HandshakeContext(ctx); err != nil {
			return err
		}
		c.Conn = t
	}
	return c.SetDeadline(time.Time{})
}

// Close implements [net.Conn].
func (c *wire) Close() error {
	c.release()
	return c.Conn.Close()
}

// Read implements [net.Conn].
func (c *wire) Read(p []byte) (int, error) {
	if len(c.ready) > 0 {
		n := copy(p, c.ready)
		if c.ready = c.ready[n:]; len(c.ready) == 0 {
			c.ready = nil
		}
		return n, nil
	}
	n, err := c.Conn.Read(p)
	if wrong := c.check(p[:n]); wrong != nil {
		return 0, wrong
	}
	return n, err
}

// check returns an error if b cannot follow what has arrived.
func (c *wire) check(b []byte) error {
	for len(b) > 0 {
		if skip := min(c.left, int64(len(b))); skip > 0 {
			c.left -= skip
			b = b[skip:]
			continue
		}
		end := bytes.IndexByte(b, '\n') + 1
		part := b[:end]
		if end == 0 {
			part = b
		}
		if len(c.line)+len(part) > c.limit(part) {
			return errNotNATS
		}
		if end == 0 || len(c.line) > 0 {
			c.line = append(c.line, part...)
			part = c.line
		}
		if end == 0 {
			return nil
		}
		if err := c.control(part); err != nil {
			return err
		}
		c.line = c.line[:0]
		b = b[end:]
	}
	return nil
}

// limit returns the maximum length of the current line. The line begins with
// c.line or, if that is empty, with part.
func (c *wire) limit(part []byte) int {
	if len(c.line) > 0 {
		part = c.line
	}
	switch {
	case c.tail:
		return len("\r\n")
	case part[0] == 'I':
		return maxInfo
	}
	return maxLine
}

// control checks a line, including the line end.
func (c *wire) control(line []byte) error {
	text, ok := bytes.CutSuffix(line, []byte("\r\n"))
	if !ok || bytes.ContainsAny(text, "\r\t") {
		return errNotNATS
	}
	if c.tail {
		c.tail = false
		return nil
	}
	op, args, _ := bytes.Cut(text, []byte(" "))
	switch string(op) {
	case "MSG", "HMSG":
		size := args[bytes.LastIndexByte(args, ' ')+1:]
		n, err := strconv.ParseUint(string(size), 10, 32)
		if err != nil || int64(n) > c.most {
			return fmt.Errorf("the server announces a message of %.20q bytes; with its max_payload, at most %d are possible", size, c.most)
		}
		c.left, c.tail = int64(n), true
	case "INFO":
		var i info
		if json.Unmarshal(args, &i) != nil || i.MaxPayload <= 0 {
			return errNotNATS
		}
		// Answers of the API may contain a message in base64, which is
		// longer.
		c.most = 2*min(i.MaxPayload, maxPayload) + 1<<20
		return c.count()
	case "PING":
		return c.count()
	case "-ERR":
		return fatal(string(args))
	case "PONG", "+OK":
	default:
		return errNotNATS
	}
	return nil
}

// count counts a line that a server sends rarely.
func (c *wire) count() error {
	if now := time.Now(); now.Sub(c.began) > time.Second {
		c.began, c.burst = now, 0
	}
	if c.burst++; c.burst > maxBurst {
		return errFlood
	}
	return nil
}

// mild are the beginnings of the error messages after which the library stays
// connected or connects again.
var mild = []string{
	"permissions violation", "maximum subscriptions exceeded", "authorization violation", "user authentication expired",
	"user authentication revoked", "account authentication expired",
}

// fatal returns an error if text is an error message after which the library
// would not connect again.
func fatal(text string) error {
	lower := strings.ToLower(strings.Trim(text, " '"))
	switch lower {
	case "stale connection", "maximum connections exceeded", "maximum account active connections exceeded", "unknown protocol operation":
		return nil
	}
	if slices.ContainsFunc(mild, func(m string) bool { return strings.HasPrefix(lower, m) }) {
		return nil
	}
	return fmt.Errorf("the server reports %.200q", text)
}
