package nats

import (
	"sync/atomic"

	client "github.com/urlfold/urlfold/internal/client/nats"
	"github.com/urlfold/urlfold/internal/ground/metric"
)

// counters are what a source counts.
type counters struct {
	received, redelivered atomic.Int64 // messages; redelivered to any instance
	acked, unconfirmed    atomic.Int64 // acknowledgments; unconfirmed or not sent
	naked, terminated     atomic.Int64 // messages returned to the server, and terminated
	progress              atomic.Int64 // in-progress reports
	recreated, unknown    atomic.Int64 // recreated consumers: after the last acknowledged message, and at the configured start
	streams               atomic.Int64 // streams that were deleted and recreated
	gaps, doubts          atomic.Int64 // messages deleted before they were read, and sequences that may have been such messages
	ends                  atomic.Int64 // acknowledged messages that the stream lost at its end
	pending, ackPending   atomic.Uint64
}

// inFlight returns the number of messages delivered to this instance and not
// acknowledged.
func (s *jetStream) inFlight() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for x := range s.flying {
		n += int(x.count.Load())
	}
	return n
}

// Metrics emits the metrics of the source: its lag, its messages by
// outcome, and its recreated consumers and streams.
func (s *jetStream) Metrics(emit metric.Emit) {
	count, gauge := metric.Of(emit)
	st := &s.stats
	one := func(as metric.Int, name, help string, n int64) {
		as(name, help, n, "stream", s.cfg.Stream, "consumer", s.cfg.Durable)
	}
	gauge("source_lag_records", lagHelp, int64(st.pending.Load()), "group", s.cfg.Durable, "topic", s.cfg.Stream, "partition", "")
	one(gauge, "source_ack_pending", "Messages delivered to any instance and not acknowledged, updated every 10 s.", int64(st.ackPending.Load()))
	one(gauge, "source_inflight_messages", "Messages delivered to this instance and not acknowledged.", int64(s.inFlight()))
	count("source_messages_total", messagesHelp, st.received.Load())
	one(count, "source_redelivered_total", "Messages delivered before, to this instance or another.", st.redelivered.Load())
	one(count, "source_acks_total", "Messages acknowledged.", st.acked.Load())
	one(count, "source_acks_lost_total", "Acknowledgments and other replies that could not be sent or were not confirmed.", st.unconfirmed.Load())
	one(count, "source_naks_total", "Messages returned to the server: unprocessed, or delayed by dedupe.", st.naked.Load())
	one(count, "source_poison_total", "Messages terminated because they were delivered too often.", st.terminated.Load())
	one(count, "source_in_progress_total", "In-progress reports sent for messages.", st.progress.Load())
	count("source_reconnects_total", reconnectsHelp, s.Reconnects())
	for _, r := range []struct {
		start string
		n     int64
	}{{"acknowledged", st.recreated.Load()}, {"configured", st.unknown.Load()}} {
		count("source_consumers_recreated_total", "Missing consumers that were recreated, by where they start: after the last acknowledged message, or at the configured start.", r.n, "stream", s.cfg.Stream, "consumer", s.cfg.Durable, "start", r.start)
	}
	count("source_streams_recreated_total", "Streams that were deleted and recreated while being read.", st.streams.Load(), "stream", s.cfg.Stream)
	count("source_unread_deleted_total", "Messages deleted from the stream before the consumer could read them.", st.gaps.Load(), "stream", s.cfg.Stream)
	count("source_unread_deleted_possible_total", "Sequences deleted from the stream that the consumer had not reached. Some of their messages may have matched its filter.", st.doubts.Load(), "stream", s.cfg.Stream)
	count("source_stream_lost_messages_total", "Acknowledged messages that a stream lost at its end, as after a restore from a backup.", st.ends.Load(), "stream", s.cfg.Stream)
	failing := 0.0
	if s.Conn() != nil && s.Health() != nil {
		failing = 1
	}
	emit("source_failing", "1 if the source cannot read now (see /readyz for the reason), else 0.", metric.Gauge, failing)
	p := s.pull.Load()
	for _, r := range []struct {
		class string
		of    client.PullClass
	}{{"blocked", client.PullGone}, {"network", client.PullSilent}, {"broker", client.PullRefused}} {
		n := int64(0)
		if p != nil {
			n = p.Failures(r.of)
		}
		count("source_retries_total", "Retries of a source, by class of the error.", n, "class", r.class)
	}
}

const (
	lagHelp        = "Records that have not been read yet: for each Kafka partition assigned to this instance, or messages of a JetStream stream, as its topic, that its consumer, as the group, has not delivered to any instance."
	messagesHelp   = "Messages delivered to this instance."
	reconnectsHelp = "Reconnections to NATS after the connection was lost."
)

// dropped returns the number of messages that the client has dropped.
func (s *core) dropped() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.gone
	for _, sub := range s.subs {
		n += sub.Known()
	}
	return n
}

// Metrics emits the metrics of the source.
func (s *core) Metrics(emit metric.Emit) {
	count, _ := metric.Of(emit)
	count("source_messages_total", messagesHelp, s.received.Load())
	count("source_dropped_total", "Messages dropped after they arrived, because the pending limits were reached.", s.dropped(), "reason", "slow-consumer")
	count("source_reconnects_total", reconnectsHelp, s.Reconnects())
}
