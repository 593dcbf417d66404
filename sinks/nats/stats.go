package nats

// Stats holds the counts of a sink. Fields that do not apply to a sink are 0.
type Stats struct {
	Published  int64 // messages published, without repetitions
	Again      int64 // messages published again
	Duplicates int64 // messages that the stream already had, according to their ids or subjects
	InFlight   int   // messages that are not yet acknowledged
	Failing    int   // messages among these that were rejected at least once
	Reconnects int64

	// Reasons for publishing messages again.
	Timeouts int64 // not acknowledged in time
	Cuts     int64 // the connection was lost
	Homeless int64 // no stream accepted the subject
	Refusals int64 // the stream temporarily refused the message
}

// Stats returns the current counts. It may be called at any time.
func (s *jetStream) Stats() Stats {
	window := s.window.Load()
	if window == nil {
		return Stats{}
	}
	w := window.Stats()
	return Stats{
		Published: w.Published, Again: w.Again, Duplicates: w.Duplicates, InFlight: w.InFlight, Failing: w.Failing, Reconnects: s.conn.Load().Reconnects(),
		Timeouts: w.Timeouts, Cuts: w.Cuts, Homeless: w.Homeless, Refusals: w.Refusals,
	}
}

const counter, gauge = "counter", "gauge"

// Metrics calls emit for each metric of the sink that the pipeline does not
// collect: the use of the window, and repetitions by reason.
func (s *jetStream) Metrics(emit func(name, help, kind string, value float64, labels ...string)) {
	st := s.Stats()
	emit("sink_pending_messages", "Published messages that are not yet acknowledged.", gauge, float64(st.InFlight))
	emit("sink_failing_messages", "Messages that the stream has not accepted yet and that are being retried; /readyz shows the reason.", gauge, float64(st.Failing))
	emit("sink_pending_messages_limit", "Maximum number of unacknowledged messages.", gauge, float64(s.cfg.Publish.MaxPending))
	emit("sink_messages_total", "Messages published, without retries.", counter, float64(st.Published))
	emit("sink_duplicates_total", "Messages that the stream already had, according to their ids or subjects.", counter, float64(st.Duplicates))
	for _, r := range []struct {
		class string
		n     int64
	}{{"network", st.Cuts}, {"timeout", st.Timeouts}, {"blocked", st.Homeless}, {"broker", st.Refusals}} {
		emit("sink_retries_total", "Messages that were retried, by error class.", counter, float64(r.n), "class", r.class)
	}
	emit("sink_reconnects_total", reconnectsHelp, counter, float64(st.Reconnects))
}

const reconnectsHelp = "Reconnections to NATS after a lost connection."

// Stats returns the current counts. Here, Again counts batches.
func (s *core) Stats() Stats {
	conn := s.conn.Load()
	if conn == nil {
		return Stats{}
	}
	return Stats{Published: s.published.Load(), Again: s.again.Load(), Reconnects: conn.Reconnects()}
}

// Metrics calls emit for each metric of the sink that the pipeline does not
// collect.
func (s *core) Metrics(emit func(name, help, kind string, value float64, labels ...string)) {
	st := s.Stats()
	emit("sink_messages_total", "Messages published, without retries.", counter, float64(st.Published))
	emit("sink_retries_total", "Messages that were retried, by error class.", counter, float64(st.Again), "class", "network")
	emit("sink_reconnects_total", reconnectsHelp, counter, float64(st.Reconnects))
}
