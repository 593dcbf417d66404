package nats

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"time"

	client "github.com/urlfold/urlfold/internal/client/nats"
)

// reasonHeader is the header with the reason why a message was published to
// poison.subject.
const reasonHeader = "urlfold-reason"

// remove terminates a message, after publishing it to poison.subject if
// configured. If that fails, the message is redelivered.
func (s *jetStream) remove(ctx context.Context, of *epoch, m *client.Msg, meta client.Meta) {
	d := []delivery{{Consumer: meta.Consumer, Stream: meta.Stream}}
	of.floor.received(d)
	reason := fmt.Sprintf("delivered %d times without acknowledgment", meta.Delivered-1)
	if s.cfg.Poison.Action == poisonPublish {
		if err := s.putAway(ctx, of, m, meta, reason); err != nil {
			s.answer([]string{m.Reply}, s.nak, &s.stats.naked)
			return
		}
	}
	of.floor.acked(d)
	refs := []string{m.Reply}
	end := heldAck{of: of, send: func() { s.answer(refs, client.Term(reason), &s.stats.terminated) }, drop: func() { s.lose(refs) }}
	if s.gate.pass(end) {
		end.send()
	}
}

// putAway publishes m to poison.subject.
func (s *jetStream) putAway(ctx context.Context, of *epoch, m *client.Msg, meta client.Meta, reason string) error {
	out := client.Msg{Subject: s.cfg.Poison.Subject, Data: m.Data, Header: maps.Clone(m.Header)}
	if out.Header == nil {
		out.Header = map[string][]string{}
	}
	for name := range out.Header {
		if client.IsOrder(name) {
			delete(out.Header, name)
		}
	}
	out.Header[reasonHeader] = []string{reason}
	out.Header[sourceHeader] = []string{s.laneName() + "@" + strconv.FormatUint(meta.Stream, 10)}
	out.Header["Nats-Msg-Id"] = []string{s.laneID(of) + "/" + strconv.FormatUint(meta.Stream, 10) + "/poison"}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return s.Conn().Store(ctx, &out)
}

// sourceHeader is the header with the origin of a message, as the sinks write
// it.
const sourceHeader = "urlfold-source"
