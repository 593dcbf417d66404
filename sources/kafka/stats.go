package kafka

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/urlfold/urlfold/internal/client/kafka"
)

// counts are what a source counts over all generations, guarded by Source.mu.
type counts struct {
	generations int
	gaps        map[string]int64 // by topic
	resets      map[string]int64
}

func newCounts() counts { return counts{gaps: map[string]int64{}, resets: map[string]int64{}} }

// stats are figures of a source.
type stats struct {
	Rebalances int   // generations after the first
	Gaps       int64 // offsets that were deleted by retention before they were read
	Resets     int64 // partitions whose log ended before the position, and that began anew
	Partitions []partitionStats
}

// partitionStats are figures of a partition that this member has.
type partitionStats struct {
	Topic     string
	Partition int
	Next      int64 // offset to be read next
	Lag       int64 // offsets from there to the end of the log; -1: not known yet
}

// Stats returns the figures of now.
func (s *source) Stats() stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := stats{Rebalances: max(0, s.count.generations-1)}
	for _, topic := range s.cfg.Topics {
		st.Gaps += s.count.gaps[topic]
		st.Resets += s.count.resets[topic]
	}
	for _, p := range s.parts {
		st.Partitions = append(st.Partitions, p.stats())
	}
	slices.SortFunc(st.Partitions, func(a, b partitionStats) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return st
}

// Metrics gives out the figures of the source: how far it is behind, what it could
// not read, and what it has tried again.
func (s *source) Metrics(emit func(name, help, kind string, value float64, labels ...string)) {
	const counter, gauge = "counter", "gauge"
	st := s.Stats()
	for _, p := range st.Partitions {
		if p.Lag >= 0 {
			emit("source_lag", "Offsets between what was read last and the end of the log, of the partitions that this instance has.",
				gauge, float64(p.Lag), "group", s.cfg.Group, "topic", p.Topic, "partition", strconv.Itoa(p.Partition))
		}
	}
	emit("source_partitions", "Partitions that this instance has.", gauge, float64(len(st.Partitions)), "group", s.cfg.Group)
	emit("rebalances_total", "Generations of the consumer group that this instance has joined after its first.",
		counter, float64(st.Rebalances), "group", s.cfg.Group)
	s.mu.Lock()
	gaps, resets := make([]int64, len(s.cfg.Topics)), make([]int64, len(s.cfg.Topics))
	for i, topic := range s.cfg.Topics {
		gaps[i], resets[i] = s.count.gaps[topic], s.count.resets[topic]
	}
	s.mu.Unlock()
	for i, topic := range s.cfg.Topics {
		emit("source_offset_gap_records_total", "Offsets that retention has deleted before they were read.", counter, float64(gaps[i]), "topic", topic)
		emit("source_resets_total", "Times that a log ended before the position, so that reading began anew.", counter, float64(resets[i]), "topic", topic)
	}
	for _, class := range kafka.Classes() {
		emit("source_retries_total", "What a source has tried again, by the class of the error.", counter, float64(s.faults.of(class)), "class", class)
	}
}
