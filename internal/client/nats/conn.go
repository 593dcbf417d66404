package nats

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/internal/client/certs"
	"github.com/urlfold/urlfold/internal/ground/pause"
)

// A Msg is a message of the client library.
type Msg = client.Msg

var (
	// ErrDown is the error of an operation that requires a connection, while
	// disconnected.
	ErrDown = errors.New("no connection to NATS")
	// ErrClosed is the error of an operation after Close.
	ErrClosed = errors.New("connection to NATS is closed")
)

// A Conn is a connection to a cluster. It reconnects forever. Publishing
// without a connection fails immediately: the client does not buffer messages
// to send them later.
type Conn struct {
	nc *client.Conn
	js jetstream.JetStream
	// api is the prefix of the subjects of the JetStream API, such as
	// "$JS.API."
	api string

	log        *slog.Logger
	cut        context.CancelFunc // closes the socket
	up         atomic.Bool        // cached, because the status call of the library takes its lock
	reconnects atomic.Int64
	complaints complaints
	mu         sync.Mutex
	down       error // why there is no connection; nil if there is one
	watchers   []func(up bool)
}

// Connect connects to the first server that responds. It retries until
// cfg.ConnectTimeout has passed or ctx is done.
func Connect(ctx context.Context, cfg connect.NATS) (*Conn, error) {
	c := &Conn{log: cfg.Logger}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	c.complaints.log = c.log
	c.up.Store(true) // the callbacks clear it
	opts, err := c.options(&cfg)
	if err != nil {
		return nil, err
	}
	waits := func(err error) { c.log.Warn("cannot connect, retrying", "error", connectError(&cfg, err)) }
	if c.nc, err = dialUntil(ctx, opts, cfg.ConnectTimeout, waits); err != nil {
		c.cut()
		return nil, connectError(&cfg, err)
	}
	c.api = "$JS.API."
	if c.js, err = jetstream.New(c.nc); cfg.Domain != "" {
		c.api = "$JS." + cfg.Domain + ".API."
		c.js, err = jetstream.NewWithDomain(c.nc, cfg.Domain)
	}
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("JetStream: %w", err)
	}
	return c, nil
}

// A mistake is an error that persists until somebody corrects the
// configuration or the server.
type mistake struct{ error }

func (e mistake) Unwrap() error { return e.error }

// Misconfigured marks configuration mistakes that only a connection reveals.
func (mistake) Misconfigured() {}

// connectError adds the servers and the remedy to an error of a connection
// attempt.
func connectError(cfg *connect.NATS, err error) error {
	remedy := "start a server, or correct servers"
	switch {
	case errors.Is(err, client.ErrAuthorization), errors.Is(err, client.ErrAuthExpired):
		remedy = "correct user, password, token, nkey_file or creds_file"
	case errors.Is(err, client.ErrSecureConnWanted):
		remedy = "the server does not use TLS: write nats:// in servers and remove tls, or enable TLS in the server"
	case errors.As(err, new(*tls.CertificateVerificationError)):
		remedy = "correct tls.ca_file and tls.server_name"
	}
	err = fmt.Errorf("%w at %s: %w (%s)", errConnect, addresses(cfg.Servers), withoutURL(err), remedy)
	if permanent(err) || errors.Is(err, errServerURL) {
		return mistake{err}
	}
	return err
}

// dialUntil repeats attempts to connect until timeout has passed or ctx is
// done. The error comes from the last complete attempt, if there is one. It
// calls waits before the second attempt.
func dialUntil(ctx context.Context, o *client.Options, timeout time.Duration, waits func(error)) (*client.Conn, error) {
	deadline := time.Now().Add(timeout)
	var last error
	for {
		nc, err := dial(ctx, o)
		if err == nil {
			return nc, nil
		}
		if last == nil || ctx.Err() == nil {
			last = err
		}
		wait := min(200*time.Millisecond, time.Until(deadline))
		if wait <= 0 || permanent(err) || ctx.Err() != nil {
			return nil, last
		}
		if waits != nil {
			waits(last)
			waits = nil
		}
		if pause.For(ctx, wait) != nil {
			return nil, last
		}
	}
}

// addresses returns the hosts and ports of server URLs, without the user names
// and passwords.
func addresses(servers []string) string {
	var list []string
	for _, s := range servers {
		if _, rest, ok := strings.Cut(s, "://"); ok {
			s = rest
		}
		s = s[strings.LastIndexByte(s, '@')+1:]
		host, _, _ := strings.Cut(s, "/")
		list = append(list, host)
	}
	return strings.Join(list, ", ")
}

// dial makes one attempt to connect. The library does not take a context for
// that, so at the end of ctx dial leaves the attempt to itself: the attempt
// ends after ConnectTimeout, and a connection that it makes is closed.
func dial(ctx context.Context, o *client.Options) (*client.Conn, error) {
	type result struct {
		nc  *client.Conn
		err error
	}
	done := make(chan result, 1)
	go func() {
		nc, err := o.Connect()
		done <- result{nc, err}
	}()
	select {
	case r := <-done:
		return r.nc, r.err
	case <-ctx.Done():
	}
	go func() {
		if r := <-done; r.err == nil {
			r.nc.Close()
		}
	}()
	return nil, ctx.Err()
}

// errServerURL replaces an error about a server URL, whose text contains the
// URL with its password.
var errServerURL = errors.New("invalid server URL (not shown: it may contain a password)")

// withoutURL returns err, or errServerURL if the text of err contains a URL.
func withoutURL(err error) error {
	if errors.As(err, new(*url.Error)) {
		return errServerURL
	}
	return err
}

// permanent reports whether retrying to connect is pointless.
func permanent(err error) bool {
	return errors.As(err, new(*url.Error)) || errors.Is(err, client.ErrAuthorization) || errors.Is(err, client.ErrAuthExpired) ||
		errors.Is(err, client.ErrSecureConnWanted) || errors.As(err, new(*tls.CertificateVerificationError))
}

var errConnect = errors.New("cannot connect to NATS")

// Unreachable reports whether err means that no server answers, so that the
// operation may succeed later.
func Unreachable(err error) bool {
	return errors.Is(err, errConnect) && !permanent(err) && !errors.Is(err, errServerURL) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, client.ErrConnectionClosed) || errors.Is(err, client.ErrNoResponders)
}

// options converts cfg to options of the client library.
func (c *Conn) options(cfg *connect.NATS) (*client.Options, error) {
	o := client.GetDefaultOptions()
	o.Servers = cfg.Servers
	o.Name = "urlfold"
	o.Timeout = cfg.ConnectTimeout
	o.MaxReconnect = -1
	o.ReconnectWait = cfg.ReconnectWait
	o.ReconnectJitter, o.ReconnectJitterTLS = cfg.ReconnectWait/2, cfg.ReconnectWait/2
	o.FlusherTimeout = writeTimeout
	o.ReconnectBufSize = -1 // publishing without a connection must fail instead of being sent later
	o.IgnoreAuthErrorAbort = true
	o.PingInterval, o.MaxPingsOut = cfg.PingInterval, 2
	if cfg.Buffer > 0 {
		o.SubChanLen = cfg.Buffer
	}
	o.User, o.Password, o.Token = cfg.User, cfg.Password.Reveal(), cfg.Token.Reveal()
	o.DisconnectedErrCB = func(_ *client.Conn, err error) { c.lost(err) }
	o.ReconnectedCB = func(nc *client.Conn) { c.found(nc) }
	o.ClosedCB = func(*client.Conn) { c.change(ErrClosed) }
	o.AsyncErrorCB = func(_ *client.Conn, _ *client.Subscription, err error) { c.complaints.note(err) }
	var more []client.Option
	if cfg.InboxPrefix != "" {
		more = append(more, client.CustomInboxPrefix(cfg.InboxPrefix))
	}
	if cfg.CredsFile != "" {
		if _, err := os.Stat(cfg.CredsFile); err != nil {
			return nil, fmt.Errorf("creds_file: %w", err)
		}
		more = append(more, client.UserCredentials(cfg.CredsFile))
	}
	if cfg.NkeyFile != "" {
		nkey, err := client.NkeyOptionFromSeed(cfg.NkeyFile)
		if err != nil {
			return nil, fmt.Errorf("nkey_file: %w", err)
		}
		more = append(more, nkey)
	}
	t, wrong := certs.Config(&cfg.TLS)
	if wrong != nil {
		return nil, fmt.Errorf("%s: %w", wrong.Field, wrong.Err)
	}
	secure := cfg.TLS != (connect.TLS{})
	if secure {
		more = append(more, client.Secure(t))
	}
	ctx, cut := context.WithCancel(context.Background())
	c.cut = cut
	o.SkipHostLookup = true // the dialer needs the names
	o.CustomDialer = &dialer{
		ctx: ctx, timeout: cfg.ConnectTimeout, tls: t, servers: strings.Split(addresses(cfg.Servers), ", "),
		secure: secure || slices.ContainsFunc(cfg.Servers, func(s string) bool { return strings.HasPrefix(s, "tls://") }),
	}
	for _, opt := range more {
		if err := opt(&o); err != nil {
			return nil, err
		}
	}
	return &o, nil
}

// lost handles the loss of the connection.
func (c *Conn) lost(err error) {
	if err == nil { // closed by this process
		c.change(ErrDown)
		return
	}
	c.log.Warn("NATS connection lost, reconnecting", "error", err)
	c.change(fmt.Errorf("%w: %w", ErrDown, err))
}

// found handles a successful reconnection.
func (c *Conn) found(nc *client.Conn) {
	c.log.Info("NATS connection restored", "server", nc.ConnectedServerName())
	c.reconnects.Add(1)
	c.complaints.mu.Lock() // the new connection may have other permissions
	c.complaints.last, c.complaints.listens = nil, nil
	c.complaints.mu.Unlock()
	c.change(nil)
}

// Warn logs warnings about suboptimal settings, in one message: the logger may
// limit how often the same message is logged.
func (c *Conn) Warn(warnings []string) {
	if len(warnings) > 0 {
		c.log.Warn("suboptimal NATS settings", "error", strings.Join(warnings, "; "))
	}
}

// change sets why there is no connection, or nil if there is one, and notifies
// the watchers.
func (c *Conn) change(down error) {
	c.up.Store(down == nil)
	c.mu.Lock()
	c.down = down
	watchers := c.watchers
	c.mu.Unlock()
	for _, f := range watchers {
		f(down == nil)
	}
}

// Watch registers f, which is called whenever the connection is lost or
// restored. The calls come from one goroutine, in order. f must not block.
func (c *Conn) Watch(f func(up bool)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watchers = append(c.watchers[:len(c.watchers):len(c.watchers)], f)
}

// Health returns nil, or why there is no connection, or what the server has
// refused to this user.
func (c *Conn) Health() error {
	if c.Up() {
		return c.Complaint()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.down == nil {
		return ErrDown
	}
	return c.down
}

// Complaint returns what the server has recently refused to this user, or nil.
// The server reports missing permissions in no other way.
func (c *Conn) Complaint() error { return c.complaints.err(time.Now()) }

// Up reports whether there is a connection. It does not block.
func (c *Conn) Up() bool { return c.up.Load() }

// Reconnects returns how often the connection was restored.
func (c *Conn) Reconnects() int64 { return c.reconnects.Load() }

// MaxPayload returns the maximum size of a message, including headers, that the
// server accepts.
func (c *Conn) MaxPayload() int { return int(min(c.nc.MaxPayload(), maxPayload)) }

// MessageLimit returns the maximum size of a message in a stream, in bytes.
func (c *Conn) MessageLimit(i *StreamInfo) int {
	if i.MaxMsgSize > 0 {
		return min(i.MaxMsgSize, c.MaxPayload())
	}
	return c.MaxPayload()
}

// Publish publishes a copy of data. A nil error means that the message is in
// the write buffer.
func (c *Conn) Publish(subject string, data []byte) error { return c.nc.Publish(subject, data) }

// PublishMsg publishes a copy of m.
func (c *Conn) PublishMsg(m *Msg) error { return c.nc.PublishMsg(m) }

// Request publishes data and waits for a reply until ctx is done.
func (c *Conn) Request(ctx context.Context, subject string, data []byte) error {
	_, err := c.nc.RequestWithContext(ctx, subject, data)
	return err
}

// Flush waits until the server has processed everything that was published
// before.
func (c *Conn) Flush(ctx context.Context) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
	}
	return c.nc.FlushWithContext(ctx)
}

// Close closes the connection. It sends the contents of the write buffer if
// that is possible without waiting.
func (c *Conn) Close() {
	c.up.Store(false)
	stop := time.AfterFunc(closeTimeout, c.cut) // the library may wait for a server that does not read
	c.nc.Close()
	stop.Stop()
	c.cut()
}

const (
	// writeTimeout is how long a server may read nothing. Meanwhile, all calls
	// of the library wait.
	writeTimeout = 10 * time.Second
	// closeTimeout is how long Close waits for a server that reads nothing.
	closeTimeout = time.Second
)
