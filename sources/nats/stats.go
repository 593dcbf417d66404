package nats

import "sync/atomic"

type counters struct {
	received, redelivered, acked, unconfirmed, naked, terminated, progress atomic.Int64
	pending, ackPending                                                    atomic.Uint64
}

// Stats are the figures of a source. What a source does not have stays 0.
type Stats struct {
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
	Dropped     int64  // of core NATS, messages that the client had to drop
	Reconnects  int64
}

// Stats returns the figures. It may be called at any time.
func (s *JetStream) Stats() Stats {
	c := &s.stats
	out := Stats{
		Received: c.received.Load(), Redelivered: c.redelivered.Load(), Acked: c.acked.Load(),
		Unconfirmed: c.unconfirmed.Load(), Naked: c.naked.Load(), Terminated: c.terminated.Load(),
		InProgress: c.progress.Load(), Pending: c.pending.Load(), AckPending: c.ackPending.Load(),
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
func (s *JetStream) Metrics(emit func(name, help, kind string, value float64, labels ...string)) {
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
}

const (
	messagesHelp   = "Messages that were delivered to this instance."
	reconnectsHelp = "Times that the connection to NATS was lost and found again."
)

// Stats returns the figures. It may be called at any time.
func (s *Core) Stats() Stats {
	out := Stats{Received: s.received.Load()}
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
func (s *Core) Metrics(emit func(name, help, kind string, value float64, labels ...string)) {
	st := s.Stats()
	emit("source_messages_total", messagesHelp, counter, float64(st.Received))
	emit("source_dropped_total", "Messages that had arrived and were dropped: more than pending allows were waiting.",
		counter, float64(st.Dropped), "reason", "slow_consumer")
	emit("source_reconnects_total", reconnectsHelp, counter, float64(st.Reconnects))
}
