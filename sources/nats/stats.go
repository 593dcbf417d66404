package nats

import (
	"sync/atomic"

	client "github.com/urlfold/urlfold/internal/client/nats"
)

type counters struct {
	received, redelivered, acked, unconfirmed, naked, terminated, progress atomic.Int64
	recreated, unknown, streams, gaps, doubts                              atomic.Int64
	pending, ackPending                                                    atomic.Uint64
}

// stats are the figures of a source. Figures that do not apply to a source stay
// 0.
type stats struct {
	Received    int64  // messages
	Redelivered int64  // messages delivered before, to any instance
	Acked       int64  // acknowledgments sent
	Unconfirmed int64  // acknowledgments that could not be sent, or were not confirmed
	Naked       int64  // messages returned to the server
	Terminated  int64  // messages terminated
	InProgress  int64  // in-progress reports
	Pending     uint64 // messages of the stream that are not delivered yet: the lag
	AckPending  uint64 // messages delivered to any instance and not acknowledged, as last reported by the server
	InFlight    int    // messages delivered to this instance and not acknowledged
	Recreated   int64  // missing consumers recreated after the last acknowledged message
	Restarted   int64  // missing consumers recreated at the configured start
	Streams     int64  // streams that were deleted and recreated
	Gaps        int64  // messages deleted before they were read
	Doubts      int64  // sequences deleted before they were read, some of which may have been messages of the consumer
	Dropped     int64  // core NATS: messages that the client dropped
	Reconnects  int64
}

// Stats returns the current figures. It may be called at any time, and does not
// wait for the client library.
func (s *jetStream) Stats() stats {
	c := &s.stats
	out := stats{
		Received: c.received.Load(), Redelivered: c.redelivered.Load(), Acked: c.acked.Load(),
		Unconfirmed: c.unconfirmed.Load(), Naked: c.naked.Load(), Terminated: c.terminated.Load(),
		InProgress: c.progress.Load(), Pending: c.pending.Load(),
		Recreated: c.recreated.Load(), Restarted: c.unknown.Load(), Streams: c.streams.Load(), Gaps: c.gaps.Load(), Doubts: c.doubts.Load(), AckPending: c.ackPending.Load(),
	}
	if conn := s.conn.Load(); conn != nil {
		out.Reconnects = conn.Reconnects()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for x := range s.flying {
		out.InFlight += int(x.count.Load())
	}
	return out
}

const counter, gauge = "counter", "gauge"

// Metrics emits the metrics of the source: its lag, and the messages that were
// not simply acknowledged once.
func (s *jetStream) Metrics(emit func(name, help, kind string, value float64, labels ...string)) {
	st := s.Stats()
	one := func(name, help, kind string, value float64) {
		emit(name, help, kind, value, "stream", s.cfg.Stream, "consumer", s.cfg.Durable)
	}
	emit("source_lag_records", lagHelp, gauge, float64(st.Pending), "group", s.cfg.Durable, "topic", s.cfg.Stream, "partition", "")
	one("source_ack_pending", "Messages delivered to any instance and not acknowledged, updated every 10 s.", gauge, float64(st.AckPending))
	one("source_inflight_messages", "Messages delivered to this instance and not acknowledged.", gauge, float64(st.InFlight))
	emit("source_messages_total", messagesHelp, counter, float64(st.Received))
	one("source_redelivered_total", "Messages delivered before, to this instance or another.", counter, float64(st.Redelivered))
	one("source_acks_total", "Messages acknowledged.", counter, float64(st.Acked))
	one("source_acks_lost_total", "Acknowledgments and other replies that could not be sent or were not confirmed.", counter, float64(st.Unconfirmed))
	one("source_naks_total", "Messages returned to the server: unprocessed, or delayed by dedupe.", counter, float64(st.Naked))
	one("source_poison_total", "Messages terminated because they were delivered too often.", counter, float64(st.Terminated))
	one("source_in_progress_total", "In-progress reports sent for messages.", counter, float64(st.InProgress))
	emit("source_reconnects_total", reconnectsHelp, counter, float64(st.Reconnects))
	for _, r := range []struct {
		start string
		n     int64
	}{{"acknowledged", st.Recreated}, {"configured", st.Restarted}} {
		emit("source_consumers_recreated_total", "Missing consumers that were recreated, by where they start: after the last acknowledged message, or at the configured start.",
			counter, float64(r.n), "stream", s.cfg.Stream, "consumer", s.cfg.Durable, "start", r.start)
	}
	emit("source_streams_recreated_total", "Streams that were deleted and recreated while being read.", counter, float64(st.Streams), "stream", s.cfg.Stream)
	emit("source_unread_deleted_total", "Messages deleted from the stream before the consumer could read them.", counter, float64(st.Gaps), "stream", s.cfg.Stream)
	emit("source_unread_deleted_possible_total", "Sequences deleted from the stream that the consumer had not reached. Some of their messages may have matched its filter.",
		counter, float64(st.Doubts), "stream", s.cfg.Stream)
	failing := 0.0
	if s.conn.Load() != nil && s.Health() != nil {
		failing = 1
	}
	emit("source_failing", "1 if the source cannot read now (see /readyz for the reason), else 0.", gauge, failing)
	p := s.pull.Load()
	for _, r := range []struct {
		class string
		of    client.PullClass
	}{{"blocked", client.PullGone}, {"network", client.PullSilent}, {"broker", client.PullRefused}} {
		n := int64(0)
		if p != nil {
			n = p.Failures(r.of)
		}
		emit("source_retries_total", "Retries of a source, by class of the error.", counter, float64(n), "class", r.class)
	}
}

const (
	lagHelp        = "Records that have not been read yet: for each Kafka partition assigned to this instance, or messages of a JetStream stream, as its topic, that its consumer, as the group, has not delivered to any instance."
	messagesHelp   = "Messages delivered to this instance."
	reconnectsHelp = "Reconnections to NATS after the connection was lost."
)

// Stats returns the current figures. It may be called at any time.
func (s *core) Stats() stats {
	out := stats{Received: s.received.Load()}
	if conn := s.conn.Load(); conn != nil {
		out.Reconnects = conn.Reconnects()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out.Dropped = s.gone
	for _, sub := range s.subs {
		out.Dropped += sub.Known()
	}
	return out
}

// Metrics emits the metrics of the source.
func (s *core) Metrics(emit func(name, help, kind string, value float64, labels ...string)) {
	st := s.Stats()
	emit("source_messages_total", messagesHelp, counter, float64(st.Received))
	emit("source_dropped_total", "Messages dropped after they arrived, because the pending limits were reached.",
		counter, float64(st.Dropped), "reason", "slow-consumer")
	emit("source_reconnects_total", reconnectsHelp, counter, float64(st.Reconnects))
}
