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
	"time"

	"github.com/urlfold/urlfold/config/field"
)

// This file is structured in the following way:
//
//   - SecurityError, and where it is found out: Client.Check.
//   - The probe of one broker: TCP, TLS, the kind of login, the login itself.
//   - The two requests of the protocol that a probe sends.
//
// The library returns EOF or a timeout for most mistakes with TLS and SASL, as it
// does for a broker that is away. A probe tells them apart: it asks the broker in
// the other way, too.

// A SecurityError says that a broker and the configuration do not agree about TLS or
// SASL. No later attempt helps: somebody must change one of them.
type SecurityError struct {
	Broker string // HOST:PORT
	What   string // what is wrong, and what to do; no secret
}

// Error names the broker and what is wrong.
func (e *SecurityError) Error() string { return "broker " + e.Broker + ": " + e.What }

// Misconfigured marks mistakes in a configuration that only a connection shows.
func (e *SecurityError) Misconfigured() {}

// A fileError is a mistake in a file that the configuration names.
type fileError struct{ err error }

func (e *fileError) Error() string  { return e.err.Error() }
func (e *fileError) Unwrap() error  { return e.err }
func (e *fileError) Misconfigured() {}

// misplaced gives a mistake the key that it is about.
func misplaced(key string, err error) error { return &field.Error{Field: key, Err: err} }

// Misconfigured reports whether err is a mistake in the configuration, of which
// the broker was asked.
func Misconfigured(err error) bool {
	return errors.As(err, new(interface{ Misconfigured() }))
}

const (
	// probeTimeout bounds each step of a probe.
	probeTimeout = 3 * time.Second
	// probeEvery is how often brokers are probed while errors last.
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

// explain returns a SecurityError that is behind err, or else err in words of ours.
// Brokers are probed for it beside the caller, at times: what they say is in the
// next error. Only for a failed login it waits.
func (l *library) explain(err error) error {
	code := CodeOf(err)
	login := code == SASLFailed || code == UnsupportedSASL || code == illegalSASLState
	switch {
	case login:
		if err := l.Check(l.base); err != nil {
			return err
		}
		// The library says so of a connection that ends meanwhile, too.
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

// look probes the brokers and keeps what it has found.
func (l *library) look() {
	found := l.Check(l.base)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.probing, l.probed, l.mistake = false, time.Now(), found
}

// probe finds out whether a broker can be talked to. It returns false and no error
// for one that is away.
func (l *library) probe(ctx context.Context, addr string) (working bool, err error) {
	raw, err := dialProbe(ctx, addr)
	if err != nil {
		return false, nil
	}
	defer func() { _ = raw.Close() }() // nothing hangs on it
	wrong := func(key, format string, args ...any) (bool, error) {
		return false, misplaced(key, &SecurityError{Broker: addr, What: fmt.Sprintf(format, args...)})
	}
	conn := raw
	if l.transport.TLS != nil {
		secure := tls.Client(raw, serverName(l.transport.TLS, addr))
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
	case err != nil && l.transport.TLS == nil && speaksTLS(ctx, addr):
		return wrong("tls", "speaks TLS on this port: set tls (tls: {} trusts the authorities of the system), or use its plaintext port")
	case refusedByPeer(err):
		return wrong("tls", "refuses the TLS connection (%v): it may ask for a client certificate: set tls.cert_file and tls.key_file", err)
	case err != nil:
		return false, nil
	case l.conn.SASL == nil && code == UnsupportedSASL && !l.answers(ctx, addr):
		return wrong("sasl", "requires a SASL login on this port: set sasl; it offers %s", list)
	case l.conn.SASL == nil:
		return true, nil
	case code == UnsupportedSASL:
		return wrong("sasl.mechanism", "does not offer the mechanism %s: it offers %s", mechanism, list)
	case code == illegalSASLState:
		return wrong("sasl", "takes no SASL login on this port: remove sasl, or use its SASL port")
	}
	return l.login(ctx, addr)
}

// login logs in, and reports as probe does.
func (l *library) login(ctx context.Context, addr string) (working bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	dialer := l.dialer
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	switch {
	case err == nil:
		_ = conn.Close() // it was good
		return true, nil
	case CodeOf(err) == SASLFailed && ctx.Err() == nil:
		return false, misplaced("sasl", &SecurityError{
			Broker: addr, What: fmt.Sprintf("refuses the user name or the password (%s, user %q)", l.conn.SASL.Mechanism, l.conn.SASL.Username),
		})
	}
	return false, nil
}

// answers reports whether a broker answers a question for which one must be logged
// in, where a login is required.
func (l *library) answers(ctx context.Context, addr string) bool {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	dialer := l.dialer
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }() // it was good for an answer only
	if conn.SetDeadline(time.Now().Add(probeTimeout)) != nil {
		return false
	}
	_, err = conn.Brokers()
	return err == nil
}

// handshake does the handshake of c, in the time of one step.
func handshake(ctx context.Context, c *tls.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	return c.HandshakeContext(ctx)
}

// dialProbe connects. The connection ends after two steps at the latest.
func dialProbe(ctx context.Context, addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: probeTimeout}
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return conn, conn.SetDeadline(time.Now().Add(2 * probeTimeout))
}

// serverName returns c for a broker.
func serverName(c *tls.Config, addr string) *tls.Config {
	c = c.Clone()
	if c.ServerName == "" {
		c.ServerName, _, _ = net.SplitHostPort(addr) // Check has looked at it
	}
	return c
}

// tlsFault returns what is wrong with a handshake, and the key that it is about;
// nothing if the broker is away.
func tlsFault(ctx context.Context, addr string, err error) (key, what string) {
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return "tls.ca_file", "its certificate is signed by an unknown authority: set tls.ca_file to the certificate of that authority"
	case errors.As(err, &host):
		return "tls.server_name", fmt.Sprintf("its certificate is not for the name %q: set tls.server_name to a name in it (%v)", host.Host, err)
	case errors.As(err, &invalid), errors.As(err, new(*tls.CertificateVerificationError)):
		return "tls", fmt.Sprintf("its certificate cannot be verified: %v", err)
	case refusedByPeer(err):
		return "tls", fmt.Sprintf("refuses the TLS handshake: %v", err)
	case errors.As(err, new(tls.RecordHeaderError)), speaksPlain(ctx, addr):
		return "tls", "does not speak TLS on this port: remove tls, or use its TLS port"
	}
	return "", ""
}

// refusedByPeer reports whether err is an alert that the other side has sent.
func refusedByPeer(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}

// speaksPlain reports whether a broker answers without TLS.
func speaksPlain(ctx context.Context, addr string) bool {
	conn, err := dialProbe(ctx, addr)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }() // it was good for an answer only
	_, _, err = askLogin(conn, "NONE")
	return err == nil
}

// speaksTLS reports whether a broker answers a TLS handshake, in whatever way.
func speaksTLS(ctx context.Context, addr string) bool {
	conn, err := dialProbe(ctx, addr)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()                                                        // likewise
	c := tls.Client(conn, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}) //nolint:gosec // nothing is sent on it: it asks whether there is TLS
	err = handshake(ctx, c)
	return err == nil || refusedByPeer(err)
}

// illegalSASLState is what a broker answers that takes no login.
const illegalSASLState Code = 34

// askLogin asks for a mechanism of SASL. The answer is 0 if the broker takes it,
// UnsupportedSASL and what it offers if it takes others, illegalSASLState if it takes
// none, and may be another code. The error is that of a connection, or errAnswer.
func askLogin(conn net.Conn, mechanism string) (code Code, offered []string, err error) {
	const saslHandshake, version = 17, 1
	if err := conn.SetDeadline(time.Now().Add(probeTimeout)); err != nil {
		return 0, nil, err
	}
	body := binary.BigEndian.AppendUint16(nil, saslHandshake)
	body = binary.BigEndian.AppendUint16(body, version)
	body = binary.BigEndian.AppendUint32(body, 1) // correlation
	for _, text := range []string{"urlfold", mechanism} {
		body = binary.BigEndian.AppendUint16(body, uint16(len(text)))
		body = append(body, text...)
	}
	if _, err := conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)); err != nil {
		return 0, nil, err
	}
	var head [4]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n < 6 || n > 4096 {
		return 0, nil, errAnswer
	}
	answer := make([]byte, n)
	if _, err := io.ReadFull(conn, answer); err != nil {
		return 0, nil, err
	}
	if binary.BigEndian.Uint32(answer) != 1 {
		return 0, nil, errAnswer
	}
	return Code(binary.BigEndian.Uint16(answer[4:])), names(answer[6:]), nil
}

// names reads an array of strings, as far as it is whole.
func names(b []byte) (list []string) {
	if len(b) < 4 {
		return nil
	}
	b = b[4:]
	for len(b) >= 2 {
		n := int(binary.BigEndian.Uint16(b))
		if b = b[2:]; n > len(b) {
			return list
		}
		list = append(list, string(b[:n]))
		b = b[n:]
	}
	return list
}
