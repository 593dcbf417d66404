package nats

import (
	"sync/atomic"

	client "github.com/urlfold/urlfold/internal/client/nats"
)

type counters struct {
	received, redelivered, acked, unconfirmed, naked, terminated, progress atomic.Int64
	recreated, unknown, streams, gaps                                      atomic.Int64
	pending, ackPending                                                    atomic.Uint64
}

// stats are the figures of a source. What a source does not have stays 0.
type stats struct {
	Received    int64  // messages
	Redelivered int64  // of them, those that were delivered before
	Acked       int64  // acknowledgments sent
	Unconfirmed int64  // acknowledgments that could not be sent, or were not confirmed
	Naked       int64  // messages given back
	Terminated  int64  // messages that are not to be delivered again
	InProgress  int64  // reports that a message is in progress
	Pending     uint64 // messages of the stream that were not delivered yet: the lag
	AckPending  uint64 // messages that some instance has and has not acknowledged, as it was asked for last
	InFlight    int    // messages that this instance has and has not acknowledged
	Recreated   int64  // consumers that were missing and were created again behind what was acknowledged
	Restarted   int64  // and those created where start says
	Streams     int64  // streams that have taken the name of the one before
	Gaps        int64  // messages that were deleted with a consumer before they were acknowledged
	Dropped     int64  // of core NATS, messages that the client had to drop
	Reconnects  int64
}

// Stats returns the figures. It may be called at any time.
func (s *jetStream) Stats() stats {
	c := &s.stats
	out := stats{
		Received: c.received.Load(), Redelivered: c.redelivered.Load(), Acked: c.acked.Load(),
		Unconfirmed: c.unconfirmed.Load(), Naked: c.naked.Load(), Terminated: c.terminated.Load(),
		InProgress: c.progress.Load(), Pending: c.pending.Load(),
		Recreated: c.recreated.Load(), Restarted: c.unknown.Load(), Streams: c.streams.Load(), Gaps: c.gaps.Load(), AckPending: c.ackPending.Load(),
	}
	if conn := s.conn.Load(); conn != nil {
		out.Reconnects = conn.Reconnects()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for x := range s.flying {
		out.InFlight += x.len()
	}
	return out
}

const counter, gauge = "counter", "gauge"

// Metrics gives out the figures of the source: how far it is behind, and what became
// of messages otherwise than that they were acknowledged once.
func (s *jetStream) Metrics(emit func(name, help, kind string, value float64, labels ...string)) {
	st := s.Stats()
	one := func(name, help, kind string, value float64) {
		emit(name, help, kind, value, "stream", s.cfg.Stream, "consumer", s.cfg.Durable)
	}
	one("source_pending_messages", "Messages of the stream that were not delivered yet.", gauge, float64(st.Pending))
	one("source_ack_pending", "Messages that all instances together have and have not acknowledged, asked for every 10 s.", gauge, float64(st.AckPending))
	one("source_inflight_messages", "Messages that this instance has and has not acknowledged.", gauge, float64(st.InFlight))
	emit("source_messages_total", messagesHelp, counter, float64(st.Received))
	one("source_redelivered_total", "Messages that were delivered before, to this instance or another.", counter, float64(st.Redelivered))
	one("source_acks_total", "Messages that were acknowledged.", counter, float64(st.Acked))
	one("source_acks_lost_total", "Acknowledgments and other answers that could not be sent, or were not confirmed.", counter, float64(st.Unconfirmed))
	one("source_naks_total", "Messages that were given back unprocessed.", counter, float64(st.Naked))
	one("source_poison_total", "Messages that were delivered too often, and put away.", counter, float64(st.Terminated))
	one("source_in_progress_total", "Reports that the work on a message goes on.", counter, float64(st.InProgress))
	emit("source_reconnects_total", reconnectsHelp, counter, float64(st.Reconnects))
	for _, r := range []struct {
		start string
		n     int64
	}{{"acknowledged", st.Recreated}, {"configured", st.Restarted}} {
		emit("source_consumers_recreated_total", "Consumers that were missing and were created again: after what was acknowledged, or where start says.",
			counter, float64(r.n), "stream", s.cfg.Stream, "consumer", s.cfg.Durable, "start", r.start)
	}
	emit("source_streams_recreated_total", "Streams that were deleted and created again while they were read.", counter, float64(st.Streams), "stream", s.cfg.Stream)
	emit("source_unread_deleted_total", "Sequences that were missing from the stream, and not known to be acknowledged, when a consumer was created again.",
		counter, float64(st.Gaps), "stream", s.cfg.Stream)
	s.pullMetrics(emit)
}

// pullMetrics gives out what was tried again, and whether reading fails now.
func (s *jetStream) pullMetrics(emit func(name, help, kind string, value float64, labels ...string)) {
	failing := 0.0
	if s.conn.Load() != nil && s.Health() != nil {
		failing = 1
	}
	emit("source_failing", "Whether the source cannot read now: /readyz has the reason.", gauge, failing)
	p := s.pull.Load()
	for _, r := range []struct {
		class string
		of    client.PullClass
	}{{"blocked", client.PullGone}, {"network", client.PullSilent}, {"broker", client.PullRefused}} {
		n := int64(0)
		if p != nil {
			n = p.Failures(r.of)
		}
		emit("source_retries_total", "What a source has tried again, by the class of the error.", counter, float64(n), "class", r.class)
	}
}

const (
	messagesHelp   = "Messages that were delivered to this instance."
	reconnectsHelp = "Times that the connection to NATS was lost and found again."
)

// Stats returns the figures. It may be called at any time.
func (s *core) Stats() stats {
	out := stats{Received: s.received.Load()}
	if conn := s.conn.Load(); conn != nil {
		out.Reconnects = conn.Reconnects()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out.Dropped = s.gone
	for _, sub := range s.subs {
		out.Dropped += sub.Dropped()
	}
	return out
}

// Metrics gives out the figures of the source.
func (s *core) Metrics(emit func(name, help, kind string, value float64, labels ...string)) {
	st := s.Stats()
	emit("source_messages_total", messagesHelp, counter, float64(st.Received))
	emit("source_dropped_total", "Messages that had arrived and were dropped: more than pending allows were waiting.",
		counter, float64(st.Dropped), "reason", "slow_consumer")
	emit("source_reconnects_total", reconnectsHelp, counter, float64(st.Reconnects))
}
