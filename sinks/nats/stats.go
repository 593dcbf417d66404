package nats

import (
	client "github.com/urlfold/urlfold/internal/client/nats"
	"github.com/urlfold/urlfold/internal/ground/metric"
)

// Stats holds the counts of a sink. A count that does not apply to the sink is
// 0.
type Stats struct {
	client.WindowStats
	Reconnects int64
}

// Stats returns the current counts. It may be called at any time.
func (s *jetStream) Stats() Stats {
	window := s.window.Load()
	if window == nil {
		return Stats{}
	}
	return Stats{window.Stats(), s.Reconnects()}
}

// Metrics calls emit for each metric of the sink that the pipeline does not
// collect: the use of the window, and repetitions by reason.
func (s *jetStream) Metrics(emit metric.Emit) {
	count, gauge := metric.Of(emit)
	st := s.Stats()
	gauge("sink_pending_messages", "Published messages that are not yet acknowledged.", int64(st.InFlight))
	gauge("sink_failing_messages", "Messages that the stream has not accepted yet and that are being retried; /readyz shows the reason.", int64(st.Failing))
	gauge("sink_pending_messages_limit", "Maximum number of unacknowledged messages.", int64(s.cfg.Publish.MaxPending))
	count("sink_messages_total", "Messages published, without retries.", st.Published)
	count("sink_duplicates_total", "Messages that the stream already had, according to their ids or subjects.", st.Duplicates)
	for _, r := range []struct {
		class string
		n     int64
	}{{"network", st.Cuts}, {"timeout", st.Timeouts}, {"blocked", st.Homeless}, {"broker", st.Refusals}} {
		count("sink_retries_total", "Messages that were retried, by error class.", r.n, "class", r.class)
	}
	count("sink_reconnects_total", reconnectsHelp, st.Reconnects)
}

const reconnectsHelp = "Reconnections to NATS after a lost connection."

// Stats returns the current counts. Again counts failed batches instead of messages,
// because the pipeline submits a failed batch again as a whole.
func (s *core) Stats() Stats {
	return Stats{client.WindowStats{Published: s.published.Load(), Again: s.again.Load()}, s.Reconnects()}
}

// Metrics calls emit for each metric of the sink that the pipeline does not
// collect.
func (s *core) Metrics(emit metric.Emit) {
	count, _ := metric.Of(emit)
	st := s.Stats()
	count("sink_messages_total", "Messages published, without retries.", st.Published)
	count("sink_retries_total", "Batches that were published again after an error, by error class.", st.Again, "class", "network")
	count("sink_reconnects_total", reconnectsHelp, st.Reconnects)
}
