package nats

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	client "github.com/urlfold/urlfold/internal/client/nats"
	"github.com/urlfold/urlfold/internal/ground/logging"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A core is a sink that publishes with core NATS. It answers a batch when the
// server has read it, which is the strongest guarantee available. After a lost
// connection it asks for the whole batch again. It preserves the order of
// batches.
type core struct {
	cfg   CoreConfig
	press press
	client.Link

	free      chan *client.Msg // messages for reuse
	published atomic.Int64
	again     atomic.Int64
	outage    *logging.Outage
}

// NewCore returns a sink with the given configuration. The error joins all
// problems of cfg. NewCore does not open a connection.
func NewCore(cfg CoreConfig) (engine.Sink, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("nats sink: %w", err)
	}
	t, err := parseTemplate(cfg.Subject)
	if err != nil {
		return nil, fmt.Errorf("nats sink: %w", err)
	}
	return &core{
		cfg: cfg, Link: client.Link{Config: cfg.NATS}, press: press{subject: t, headers: cfg.Headers, id: idNone},
		free:   make(chan *client.Msg, maxScratch),
		outage: logging.NewOutage(cfg.Logger, "write failed, retrying", "write recovered"),
	}, nil
}

// NeedsFacts reports whether the codec must collect facts for the sink.
func (s *core) NeedsFacts() bool { return s.press.subject.facts() || s.cfg.Has("flags") }

// Caps implements [engine.Sink].
func (s *core) Caps() engine.SinkCaps { return engine.SinkCaps{Ordered: true} }

// flushTimeout is the maximum time for the server to read a batch.
const flushTimeout = 10 * time.Second

// Submit implements [engine.Sink].
func (s *core) Submit(ctx context.Context, b *engine.Batch, t engine.Ticket) error {
	p := page{b: b, s: t.Stream(), dead: b.IsDead(t.Stream())}
	r, err := s.publish(&p, t)
	if err == nil {
		one, cancel := context.WithTimeout(ctx, flushTimeout)
		err = s.Conn().Flush(one)
		cancel()
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		s.again.Add(1)
		s.outage.Set(err)
		t.Done(engine.Result{Err: err, Class: engine.Retryable})
		return nil
	}
	s.outage.Clear()
	t.Done(r)
	return nil
}

// maxScratch is the maximum number of messages kept for reuse. More concurrent
// submissions allocate more.
const maxScratch = 16

// take returns an empty message.
func (s *core) take() *client.Msg {
	select {
	case m := <-s.free:
		return m
	default:
		return &client.Msg{Header: map[string][]string{}}
	}
}

// give puts back a message for reuse. The message keeps no part of the batch.
func (s *core) give(m *client.Msg) {
	clear(m.Header)
	m.Data = nil
	select {
	case s.free <- m:
	default:
	}
}

// publish writes the messages of p to the connection. It returns the answer for
// t, with the records that the client permanently refuses, or an error after
// which all of them must be published again.
func (s *core) publish(p *page, t engine.Ticket) (r engine.Result, err error) {
	conn, m := s.Conn(), s.take()
	defer s.give(m)
	for i := range p.s.Recs {
		if t.Held() {
			r.Untried = append(r.Untried, uint32(i))
			continue
		}
		clear(m.Header)
		s.press.fill(p, i, m)
		err := conn.PublishMsg(m)
		switch {
		case client.Refuses(err):
			t.Hold()
			refuse(&r, err, uint32(i))
		case err != nil:
			return r, err
		default:
			s.published.Add(1)
		}
	}
	if r.Failed == nil && r.Untried != nil {
		r.Err, r.Class = errUntried, engine.Retryable
	}
	return r, nil
}

// refuse adds permanently refused records to r.
func refuse(r *engine.Result, err error, records ...uint32) {
	code, fault := client.RefusalCode(err), engine.FaultRecord
	if client.Oversize(err) {
		fault = engine.FaultSize
	}
	if r.Failed != nil && r.Code != code {
		code, fault = "", engine.FaultRecord
	}
	*r = engine.Result{Err: err, Class: engine.Permanent, Code: code, Fault: fault, Failed: append(r.Failed, records...), Untried: r.Untried}
}

// Barrier implements [engine.Sink]. Every batch is flushed, then answered.
func (s *core) Barrier(context.Context) error { return nil }

// Health implements [engine.Healther].
func (s *core) Health() error { return errors.Join(s.Link.Health(), s.outage.Err()) }

// Interface guard.
var _ engine.Healther = (*core)(nil)
