package nats

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/urlfold/urlfold/internal/ground/logging"
)

// pulls is the number of pull requests that a Pull keeps at the server. The
// server serves them in turn, so requests of the same size would all end at the
// same time and leave a gap of a round trip. The first ones are smaller, so
// that they end one after another from then on.
const pulls = 4

// A PullConfig configures a Pull.
type PullConfig struct {
	Stream, Durable string
	Messages, Bytes int           // prefetch limits
	Expires         time.Duration // expiry of one pull request
	Heartbeat       time.Duration // interval of the server's heartbeats while it has no messages
	Info            ConsumerInfo  // state of the consumer, whose limits apply
	// Gone, if not nil, is called when the consumer may from now on be a
	// different one: it was deleted, nobody responds for it, or the connection
	// was lost. It is called by the goroutine that uses the Pull and by the
	// connection's, and must not block.
	Gone func()
}

// A Pull receives the messages of a pull consumer. The messages that were
// requested but not taken from C never exceed PullConfig.Messages, and their
// bytes never exceed PullConfig.Bytes (or four messages of the maximum size,
// if that is more). Each of four pull requests asks for a quarter of both
// limits. The server announces the end of a request after its last message;
// when this announcement is taken from C, the Pull sends the next request.
//
// A Pull is used by one goroutine. Health, Failures and Resume may be called
// from any goroutine.
type Pull struct {
	// C delivers messages, and status messages of the server between them. Pass
	// each to Handle to distinguish them.
	C chan *Msg

	conn    *Conn
	cfg     PullConfig
	sub     *client.Subscription
	inbox   string
	subject string
	alive   map[string]time.Time // expiry of each request, by the last token of its inbox
	n       uint64
	warm    int // number of requests sent in the first round
	heard   bool
	last    time.Time // time of the last message, updated by Tick
	silent  int       // consecutive periods of silence
	tries   int       // consecutive refused requests
	pause   time.Time // send no request before this time

	cut    atomic.Bool // the connection was lost, and the requests with it
	resume atomic.Bool // end the pause
	outage *logging.Outage
	counts [3]atomic.Int64 // counts by PullClass
}

// A PullClass is a reason why a pull request failed.
type PullClass int

// The classes of failures.
const (
	PullGone    PullClass = iota // nobody responds for the consumer, or it was deleted
	PullSilent                   // no message of any kind arrived
	PullRefused                  // the server refused the request
)

// Failures returns the number of failed pull requests of a class.
func (p *Pull) Failures(c PullClass) int64 { return p.counts[c].Load() }

// NewPull subscribes. Messages arrive after the first call of Tick.
func (c *Conn) NewPull(cfg PullConfig) (*Pull, error) {
	p := &Pull{
		C:       make(chan *Msg, 2*cfg.Messages+256),
		conn:    c,
		subject: c.api + "CONSUMER.MSG.NEXT." + cfg.Stream + "." + cfg.Durable,
		last:    time.Now(),
		outage: logging.NewOutage(c.log, "read failed, retrying", "read recovered",
			"stream", cfg.Stream, "consumer", cfg.Durable),
	}
	if cfg.Gone == nil {
		cfg.Gone = func() {}
	}
	limit := func(v *int, limit int) {
		if limit > 0 {
			*v = min(*v, limit)
		}
	}
	limit(&cfg.Messages, pulls*cfg.Info.MaxBatch)
	limit(&cfg.Bytes, pulls*cfg.Info.MaxBytes)
	if cfg.Info.MaxExpires > 0 {
		cfg.Expires = min(cfg.Expires, cfg.Info.MaxExpires)
	}
	cfg.Heartbeat = min(cfg.Heartbeat, cfg.Expires/2)
	// A request that is too small for the next message would always end without
	// it.
	cfg.Bytes = max(cfg.Bytes, pulls*(c.MaxPayload()+4096))
	cfg.Messages = max(cfg.Messages, pulls)
	p.cfg = cfg
	c.Watch(func(up bool) {
		if !up {
			p.cut.Store(true)
			p.cfg.Gone()
		}
	})
	return p, p.subscribe()
}

// subscribe starts over with a new inbox.
func (p *Pull) subscribe() error {
	if p.sub != nil {
		_ = p.sub.Unsubscribe() // the subscription failed
	}
	p.alive, p.warm = map[string]time.Time{}, 0
	p.inbox = p.conn.nc.NewInbox() + "."
	var err error
	p.sub, err = p.conn.nc.ChanSubscribe(p.inbox+"*", p.C)
	return err
}

// Tick maintains the pull requests: it sends missing ones, and starts over when
// nothing has arrived for too long. Call it several times per heartbeat while
// waiting at C, and whenever Handle has returned false.
func (p *Pull) Tick(now time.Time) {
	if p.heard {
		p.heard, p.last, p.silent = false, now, 0
	}
	if !p.conn.Up() {
		p.last = now
		return
	}
	if p.cut.Swap(false) {
		clear(p.alive)
		p.warm, p.tries, p.pause, p.last = 0, 0, time.Time{}, now
	}
	if p.resume.Swap(false) {
		p.pause = time.Time{}
	}
	for token, end := range p.alive {
		if now.After(end) {
			delete(p.alive, token)
		}
	}
	if len(p.alive) > 0 && len(p.C) == 0 && now.Sub(p.last) > 2*p.cfg.Heartbeat+p.cfg.Heartbeat/2 {
		// Give up the current requests and, the second time, the subscription.
		p.last = now
		p.silent++
		err := fmt.Errorf("no response from consumer %q of stream %q", p.cfg.Durable, p.cfg.Stream)
		if c := p.conn.Complaint(); c != nil {
			err = fmt.Errorf("%w: %w", err, c)
		}
		p.fail(PullSilent, err)
		p.cfg.Gone()
		clear(p.alive)
		p.warm = 0
		if p.silent > 1 {
			if err := p.subscribe(); err != nil {
				p.fail(PullSilent, err)
			}
		}
	}
	for len(p.alive) < pulls && len(p.C) <= p.cfg.Messages/2 && !now.Before(p.pause) {
		if p.send(now) != nil {
			return
		}
	}
}

// send sends a pull request.
func (p *Pull) send(now time.Time) error {
	share := pulls
	if p.warm < pulls-1 {
		p.warm++
		share = p.warm
	}
	p.n++
	token := strconv.FormatUint(p.n, 36)
	req := fmt.Appendf(nil, `{"batch":%d,"max_bytes":%d,"expires":%d,"idle_heartbeat":%d}`,
		max(p.cfg.Messages/pulls*share/pulls, 1), p.cfg.Bytes/pulls, p.cfg.Expires, p.cfg.Heartbeat)
	if err := p.conn.nc.PublishRequest(p.subject, p.inbox+token, req); err != nil {
		p.fail(PullRefused, err)
		return err
	}
	p.alive[token] = now.Add(p.cfg.Expires + 5*time.Second)
	return nil
}

// Handle reports whether m, which was taken from C, is a message of the stream.
// Otherwise it has processed the status message.
func (p *Pull) Handle(m *Msg) bool {
	p.heard = true
	if strings.HasPrefix(m.Reply, "$JS.ACK.") {
		p.well()
		return true
	}
	token := strings.TrimPrefix(m.Subject, p.inbox)
	status, text := m.Header.Get("Status"), m.Header.Get("Description")
	if status == "100" {
		p.well()
		return false
	}
	if _, mine := p.alive[token]; !mine {
		return false // the message belongs to an abandoned request
	}
	delete(p.alive, token)
	switch {
	case status == "408", status == "404", text == "Batch Completed", text == "Message Size Exceeds MaxBytes", text == "Server Shutdown":
		p.well()
	case status == "503":
		p.refused(PullGone, fmt.Errorf("no responders for consumer %q of stream %q (deleted, or the server is starting)", p.cfg.Durable, p.cfg.Stream))
	case text == "Consumer Deleted":
		p.refused(PullGone, fmt.Errorf("consumer %q of stream %q was deleted", p.cfg.Durable, p.cfg.Stream))
	default: // for example a leader change or a limit of the consumer
		p.refused(PullRefused, fmt.Errorf("consumer %q of stream %q: %s %s", p.cfg.Durable, p.cfg.Stream, status, text))
	}
	return false
}

// refused delays the next request.
func (p *Pull) refused(class PullClass, err error) {
	p.fail(class, err)
	if class == PullGone {
		p.cfg.Gone()
	}
	p.pause = time.Now().Add(min(100*time.Millisecond<<min(p.tries, 10), 5*time.Second))
	p.tries++
}

func (p *Pull) fail(class PullClass, err error) {
	p.counts[class].Add(1)
	p.outage.Set(err)
}

func (p *Pull) well() {
	p.tries = 0
	p.outage.Clear()
}

// Resume ends the pause after a failure, so that the next request is sent
// immediately. Any goroutine may call it.
func (p *Pull) Resume() { p.resume.Store(true) }

// Rest records that the caller took no messages from C until now. Otherwise
// Tick could regard that time as a silence of the server.
func (p *Pull) Rest(now time.Time) { p.last = now }

// Health returns nil, or why no messages arrive.
func (p *Pull) Health() error { return p.outage.Err() }

// Stop ends the subscription. When it returns, C holds everything that the
// server had sent before, unless that takes longer than patience.
func (p *Pull) Stop(patience time.Duration) error {
	closed := p.sub.StatusChanged(client.SubscriptionClosed)
	if err := p.sub.Drain(); err != nil {
		return errors.Join(err, p.sub.Unsubscribe())
	}
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-closed:
		return nil
	case <-t.C:
		return errors.Join(ErrDown, p.sub.Unsubscribe())
	}
}
