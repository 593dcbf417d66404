package nats

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/urlfold/urlfold/internal/observe/logging"
)

// pulls is how many pulls a Pull keeps at the server. The server serves them in
// turn, so those of one size would all end at once and leave a gap of a round trip:
// the first ones are smaller, and they end one after the other from then on.
const pulls = 4

// A PullConfig says what to pull.
type PullConfig struct {
	Stream, Durable string
	Messages, Bytes int           // prefetch, at most
	Expires         time.Duration // of one pull
	Heartbeat       time.Duration // the server's sign of life while it has no message
	Info            ConsumerInfo  // whose limits hold
	// Gone, if not nil, is called by the goroutine that uses the Pull, and by that
	// of the connection, when the consumer may be another one from now on: it was
	// deleted, nobody answers for it, or the connection was lost. It does not block.
	Gone func()
}

// A Pull receives the messages of a pull consumer. What was asked for and not
// taken from C is never more than PullConfig.Messages, and their bytes not more
// than PullConfig.Bytes (or as many as four messages of the largest size): each of
// four pulls asks for a quarter of both, and the next one goes out when the end of
// one, which the server tells behind its last message, was taken.
//
// One goroutine uses it. Health, Failures and Resume may be called by any.
type Pull struct {
	// C delivers messages, and what the server says between them: Handle tells them
	// apart.
	C chan *Msg

	conn    *Conn
	cfg     PullConfig
	sub     *client.Subscription
	inbox   string
	subject string
	alive   map[string]time.Time // by the last token of their inbox: when they go out of date
	n       uint64
	warm    int // pulls of the first round that were sent
	heard   bool
	last    time.Time // when something was heard, as Tick knows it
	silent  int       // times that nothing was heard
	tries   int       // pulls in a row that were refused
	pause   time.Time // no pull before

	cut    atomic.Bool // the connection was lost: the pulls are gone
	resume atomic.Bool // the pause is over
	outage *logging.Outage
	counts [3]atomic.Int64 // of PullClass
}

// A PullClass is why a pull failed.
type PullClass int

// The classes of failures.
const (
	PullGone    PullClass = iota // nobody answers for the consumer, or it was deleted
	PullSilent                   // nothing at all was heard
	PullRefused                  // the server refuses the pull
)

// Failures returns how many pulls have failed, by class.
func (p *Pull) Failures(c PullClass) int64 { return p.counts[c].Load() }

// NewPull subscribes. Messages come after the first call of Tick.
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
	// A pull that cannot hold the next message ends without it, for ever.
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

// subscribe begins again with another inbox.
func (p *Pull) subscribe() error {
	if p.sub != nil {
		_ = p.sub.Unsubscribe() // it was of no use
	}
	p.alive, p.warm = map[string]time.Time{}, 0
	p.inbox = p.conn.nc.NewInbox() + "."
	var err error
	p.sub, err = p.conn.nc.ChanSubscribe(p.inbox+"*", p.C)
	return err
}

// Tick looks after the pulls: it sends what is missing, and begins anew when
// nothing was heard for too long. It is called several times in a heartbeat while
// the caller waits at C, and whenever Handle has returned false.
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
		p.deaf(now)
	}
	for len(p.alive) < pulls && len(p.C) <= p.cfg.Messages/2 && !now.Before(p.pause) {
		if p.send(now) != nil {
			return
		}
	}
}

// deaf gives the pulls up; the second time, the subscription.
func (p *Pull) deaf(now time.Time) {
	p.last = now
	p.silent++
	err := fmt.Errorf("consumer %q of stream %q does not answer", p.cfg.Durable, p.cfg.Stream)
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

// send sends a pull.
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
// If not it has been dealt with.
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
		return false // of a pull that was given up
	}
	delete(p.alive, token)
	switch {
	case status == "408", status == "404", text == "Batch Completed", text == "Message Size Exceeds MaxBytes", text == "Server Shutdown":
		p.well()
	case status == "503":
		p.refused(PullGone, fmt.Errorf("nobody answers for consumer %q of stream %q: were they deleted, or is the server starting?", p.cfg.Durable, p.cfg.Stream))
	case text == "Consumer Deleted":
		p.refused(PullGone, fmt.Errorf("consumer %q of stream %q was deleted", p.cfg.Durable, p.cfg.Stream))
	default: // a leader that changes, a limit of the consumer
		p.refused(PullRefused, fmt.Errorf("consumer %q of stream %q: %s %s", p.cfg.Durable, p.cfg.Stream, status, text))
	}
	return false
}

// refused lets a while go by before the next pull.
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

// Resume has the next pull sent at once: what it failed for is over. Any goroutine
// may call it.
func (p *Pull) Resume() { p.resume.Store(true) }

// Rest says that the caller was not listening until now.
func (p *Pull) Rest(now time.Time) { p.last = now }

// Health returns nil, or why no messages come.
func (p *Pull) Health() error { return p.outage.Err() }

// Stop ends the subscription. What the server had sent before is in C when it
// returns, unless that takes longer than patience.
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
