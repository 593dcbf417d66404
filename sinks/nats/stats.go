package nats

// Stats are the figures of a sink. What a sink does not have stays 0.
type Stats struct {
	Published  int64 // messages sent, those sent again not included
	Again      int64 // messages sent again
	Duplicates int64 // that the stream had already, by their ids
	InFlight   int   // messages that wait for their acknowledgment
	Failing    int   // of them, those that were not taken once or more
	Reconnects int64

	// Why messages were sent again.
	Timeouts int64 // not acknowledged in time
	Cuts     int64 // the connection was lost
	Homeless int64 // no stream took the subject
	Refusals int64 // the stream did not take it then
}

// Stats returns the figures. It may be called at any time.
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

// Metrics gives out the figures of the sink that the pipeline does not have: how full
// its window is, and what it has published again and why.
func (s *jetStream) Metrics(emit func(name, help, kind string, value float64, labels ...string)) {
	st := s.Stats()
	emit("sink_window_messages", "Messages that were published and are not acknowledged.", gauge, float64(st.InFlight))
	emit("sink_window_failing_messages", "Messages that the stream has not taken so far, and that are published again: /readyz has the reason.", gauge, float64(st.Failing))
	emit("sink_window_size", "Messages that may be published and not acknowledged.", gauge, float64(s.cfg.Publish.MaxPending))
	emit("sink_published_total", "Messages that were published, those published again not included.", counter, float64(st.Published))
	emit("sink_duplicates_total", "Messages that the stream had already, by their ids.", counter, float64(st.Duplicates))
	for _, r := range []struct {
		class string
		n     int64
	}{{"network", st.Cuts}, {"timeout", st.Timeouts}, {"blocked", st.Homeless}, {"broker", st.Refusals}} {
		emit("sink_retries_total", "Messages that were published again, by the class of the error.", counter, float64(r.n), "class", r.class)
	}
	emit("sink_reconnects_total", reconnectsHelp, counter, float64(st.Reconnects))
}

const reconnectsHelp = "Times that the connection to NATS was lost and found again."

// Stats returns the figures: Again counts batches here.
func (s *core) Stats() Stats {
	conn := s.conn.Load()
	if conn == nil {
		return Stats{}
	}
	return Stats{Published: s.published.Load(), Again: s.again.Load(), Reconnects: conn.Reconnects()}
}

// Metrics gives out the figures of the sink that the pipeline does not have.
func (s *core) Metrics(emit func(name, help, kind string, value float64, labels ...string)) {
	st := s.Stats()
	emit("sink_published_total", "Messages that were published, those published again not included.", counter, float64(st.Published))
	emit("sink_retries_total", "Messages that were published again, by the class of the error.", counter, float64(st.Again), "class", "network")
	emit("sink_reconnects_total", reconnectsHelp, counter, float64(st.Reconnects))
}
