package kafka

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/segmentio/kafka-go/protocol"

	"github.com/urlfold/urlfold/config/field"
)

// This file contains:
//
//   - SecurityError and Client.Check, which detects it.
//   - The probe of one broker: TCP, TLS, the login mechanism, the login itself.
//   - The two protocol requests that a probe sends.
//
// For most TLS and SASL mistakes the library returns EOF or a timeout, as for
// an unreachable broker. A probe distinguishes them: it also tries the opposite
// setting.

// A SecurityError means that a broker and the configuration disagree about TLS
// or SASL. Retrying does not help until either is changed.
type SecurityError struct {
	Broker string // HOST:PORT
	What   string // what is wrong and how to fix it; contains no secret
}

// Error returns the broker and what is wrong.
func (e *SecurityError) Error() string { return "broker " + e.Broker + ": " + e.What }

// Misconfigured marks configuration mistakes that only a connection reveals.
func (e *SecurityError) Misconfigured() {}

// A fileError is an error in a file named in the configuration.
type fileError struct{ err error }

func (e *fileError) Error() string  { return e.err.Error() }
func (e *fileError) Unwrap() error  { return e.err }
func (e *fileError) Misconfigured() {}

// misplaced attributes err to a configuration key.
func misplaced(key string, err error) error { return &field.Error{Field: key, Err: err} }

// Misconfigured reports whether err is a configuration mistake that a
// connection to a broker revealed.
func Misconfigured(err error) bool {
	return errors.As(err, new(interface{ Misconfigured() }))
}

const (
	// probeTimeout limits each step of a probe.
	probeTimeout = 3 * time.Second
	// probeEvery is how often brokers are probed while errors continue.
	probeEvery = 10 * time.Second
)

// Check implements Client.
func (l *library) Check(ctx context.Context) error {
	for _, addr := range l.conn.Brokers {
		working, err := l.probe(ctx, addr)
		if err != nil || working {
			return err
		}
	}
	return nil
}

// explain returns the SecurityError that causes err, if there is one, or
// else err in this project's words. It probes the brokers in the background,
// with a minimum interval, and the next call returns the result. Only after
// a failed login does explain wait for the probe.
func (l *library) explain(err error) error {
	code := CodeOf(err)
	login := code == SASLFailed || code == UnsupportedSASL || code == illegalSASLState
	switch {
	case login:
		if err := l.Check(l.base); err != nil {
			return err
		}
		// For the library, a connection that ends during the login is a
		// failed login, too.
		return fmt.Errorf("kafka: connection ended during the login: %w", io.ErrUnexpectedEOF)
	case code != 0:
		return code
	case l.base.Err() != nil, errors.Is(err, context.Canceled):
		return fmt.Errorf("kafka: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.probing && time.Since(l.probed) > probeEvery {
		l.probing = true
		l.probes.Go(l.look)
	}
	if l.mistake != nil {
		return l.mistake
	}
	return fmt.Errorf("kafka: %w", err)
}

// look probes the brokers and stores the result.
func (l *library) look() {
	found := l.Check(l.base)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.probing, l.probed, l.mistake = false, time.Now(), found
}

// probe checks whether a broker is usable. It returns false without an error
// for an unreachable broker.
func (l *library) probe(ctx context.Context, addr string) (working bool, err error) {
	raw, err := dialProbe(ctx, addr)
	if err != nil {
		return false, nil
	}
	defer closer(ctx, raw)()
	wrong := func(key, format string, args ...any) (bool, error) {
		return false, misplaced(key, &SecurityError{Broker: addr, What: fmt.Sprintf(format, args...)})
	}
	conn := raw
	if l.tls != nil {
		secure := tls.Client(raw, serverName(l.tls, addr))
		if err := handshake(ctx, secure); err != nil {
			if key, what := tlsFault(ctx, addr, err); what != "" {
				return wrong(key, "%s", what)
			}
			return false, nil
		}
		conn = secure
	}
	mechanism := "NONE"
	if l.conn.SASL != nil {
		mechanism = l.conn.SASL.Mechanism
	}
	code, offered, err := askLogin(conn, mechanism)
	list := strings.Join(offered, ", ")
	switch {
	case err != nil && l.tls == nil && speaksTLS(ctx, addr):
		return wrong("tls", "expects TLS on this port: set tls (tls: {} trusts the system's certificate authorities), or use its plaintext port")
	case refusedByPeer(err):
		return wrong("tls", "refuses the TLS connection (%v); it may require a client certificate: set tls.cert_file and tls.key_file", err)
	case err != nil:
		return false, nil
	case l.conn.SASL == nil && code == UnsupportedSASL && len(offered) > 0 && l.hangsUp(ctx, addr):
		return wrong("sasl", "requires a SASL login on this port: set sasl (offered mechanisms: %s)", list)
	case l.conn.SASL == nil:
		return true, nil
	case code == UnsupportedSASL:
		return wrong("sasl.mechanism", "does not support the mechanism %s (offered mechanisms: %s)", mechanism, list)
	case code == illegalSASLState:
		return wrong("sasl", "does not accept a SASL login on this port: remove sasl, or use its SASL port")
	}
	return l.login(ctx, addr)
}

// login logs in to a broker. Its results are as in probe.
func (l *library) login(ctx context.Context, addr string) (working bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	dialer := l.dialer
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	switch {
	case err == nil:
		_ = conn.Close() // the connection has proved that the login works
		return true, nil
	case CodeOf(err) == SASLFailed && ctx.Err() == nil:
		return false, misplaced("sasl", &SecurityError{
			Broker: addr, What: fmt.Sprintf("rejects the user name or password (%s, user %q)", l.conn.SASL.Mechanism, l.conn.SASL.Username),
		})
	}
	return false, nil
}

// hangsUp reports whether a broker ends the connection without an answer to
// a request, as it does if the request requires a login. A failing broker
// may do so once.
func (l *library) hangsUp(ctx context.Context, addr string) bool {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	for range 3 {
		conn, err := l.dialFramed(ctx, "tcp", addr)
		if err != nil {
			return false
		}
		ended := closer(ctx, conn)
		b := request(nil, protocol.Metadata, 1)
		b = binary.BigEndian.AppendUint32(b, 0) // no topics
		_, err = exchange(conn, b, nil)
		ended()
		if !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, syscall.ECONNRESET) || ctx.Err() != nil {
			return false
		}
		if f, ok := conn.(*framedConn); !ok || len(f.buf) > 0 {
			return false // the broker has sent part of an answer
		}
	}
	return true
}

// handshake performs the handshake of c within probeTimeout.
func handshake(ctx context.Context, c *tls.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	return c.HandshakeContext(ctx)
}

// dialProbe connects. The deadline of the connection allows for two steps.
func dialProbe(ctx context.Context, addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: probeTimeout}
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return conn, conn.SetDeadline(time.Now().Add(2 * probeTimeout))
}

// closer returns a function that closes conn. The end of ctx closes conn too,
// which ends a read or write.
func closer(ctx context.Context, conn net.Conn) func() {
	ended := context.AfterFunc(ctx, func() { _ = conn.Close() }) // close errors do not matter
	return func() {
		ended()
		_ = conn.Close() // close errors do not matter
	}
}

// serverName returns a copy of c with the server name of a broker.
func serverName(c *tls.Config, addr string) *tls.Config {
	c = c.Clone()
	if c.ServerName == "" {
		c.ServerName, _, _ = net.SplitHostPort(addr) // Check has validated addr
	}
	return c
}

// tlsFault returns the cause of a failed handshake and the configuration key to
// fix. It returns "" if the broker is unreachable.
func tlsFault(ctx context.Context, addr string, err error) (key, what string) {
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return "tls.ca_file", "certificate signed by an unknown authority: set tls.ca_file to the certificate of that authority"
	case errors.As(err, &host):
		return "tls.server_name", fmt.Sprintf("certificate not valid for the name %q: set tls.server_name to a name in the certificate (%v)", host.Host, err)
	case errors.As(err, &invalid), errors.As(err, new(*tls.CertificateVerificationError)):
		return "tls", fmt.Sprintf("cannot verify certificate: %v", err)
	case refusedByPeer(err):
		return "tls", fmt.Sprintf("refuses the TLS handshake: %v", err)
	case errors.As(err, new(tls.RecordHeaderError)), speaksPlain(ctx, addr):
		return "tls", "does not use TLS on this port: remove tls, or use its TLS port"
	}
	return "", ""
}

// refusedByPeer reports whether err is a TLS alert sent by the peer.
func refusedByPeer(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}

// speaksPlain reports whether a broker responds without TLS.
func speaksPlain(ctx context.Context, addr string) bool {
	conn, err := dialProbe(ctx, addr)
	if err != nil {
		return false
	}
	defer closer(ctx, conn)()
	_, _, err = askLogin(conn, "NONE")
	return err == nil
}

// speaksTLS reports whether a broker responds to a TLS handshake, even with an
// alert.
func speaksTLS(ctx context.Context, addr string) bool {
	conn, err := dialProbe(ctx, addr)
	if err != nil {
		return false
	}
	defer closer(ctx, conn)()
	c := tls.Client(conn, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}) //nolint:gosec // the connection carries no data: it only tests whether the broker uses TLS
	err = handshake(ctx, c)
	return err == nil || refusedByPeer(err)
}

// illegalSASLState is the code of a broker that does not accept logins.
const illegalSASLState Code = 34

// askLogin requests a SASL mechanism. It returns 0 if the broker accepts it,
// UnsupportedSASL with the offered mechanisms if it offers others,
// illegalSASLState if it does not accept logins, or another code. The error is
// a connection error or errAnswer.
func askLogin(conn net.Conn, mechanism string) (code Code, offered []string, err error) {
	if err := conn.SetDeadline(time.Now().Add(probeTimeout)); err != nil {
		return 0, nil, err
	}
	b := request(nil, protocol.SaslHandshake, 1)
	answer, err := exchange(conn, appendText(b, mechanism), nil)
	if err != nil {
		return 0, nil, err
	}
	w := wire{cursor{b: answer}}
	code = Code(w.i16())
	for n := w.i32(); n > 0 && !w.bad; n-- {
		offered = append(offered, w.text())
	}
	if w.bad {
		return 0, nil, errAnswer
	}
	return code, offered, nil
}
