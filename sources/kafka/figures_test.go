package kafka

// stats are the figures of a source.
type stats struct {
	Rebalances int   // generations after the first
	Gaps       int64 // offsets deleted by retention before they were read
	Resets     int64 // times a log had changed and reading started again
	Partitions []partitionStats
}

// Stats returns the current figures.
func (s *source) Stats() stats {
	st := stats{Partitions: s.partitions()}
	s.mu.Lock()
	defer s.mu.Unlock()
	st.Rebalances = max(0, s.count.generations-1)
	for _, n := range s.count.gaps {
		st.Gaps += n
	}
	for _, n := range s.count.resets {
		st.Resets += n
	}
	return st
}
