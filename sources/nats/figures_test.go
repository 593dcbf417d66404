package nats

// stats are the figures of a source. Figures that do not apply to a source stay 0.
type stats struct {
	Received, Redelivered, Acked, Unconfirmed, Naked, Terminated, InProgress int64
	Recreated, Restarted, Streams, Gaps, Doubts, Dropped, Reconnects         int64
	Pending, AckPending                                                      uint64
	InFlight                                                                 int
}

// Stats returns the current figures.
func (s *jetStream) Stats() stats {
	c := &s.stats
	return stats{
		Received: c.received.Load(), Redelivered: c.redelivered.Load(), Acked: c.acked.Load(), Unconfirmed: c.unconfirmed.Load(),
		Naked: c.naked.Load(), Terminated: c.terminated.Load(), InProgress: c.progress.Load(), Recreated: c.recreated.Load(),
		Restarted: c.unknown.Load(), Streams: c.streams.Load(), Gaps: c.gaps.Load(), Doubts: c.doubts.Load(),
		Pending: c.pending.Load(), AckPending: c.ackPending.Load(), InFlight: s.inFlight(), Reconnects: s.Reconnects(),
	}
}

// Stats returns the current figures.
func (s *core) Stats() stats {
	return stats{Received: s.received.Load(), Dropped: s.dropped(), Reconnects: s.Reconnects()}
}
