package kafka

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/urlfold/urlfold/internal/client/kafka"
)

// counts are the counters of a source over all generations, guarded by
// source.mu.
type counts struct {
	generations int
	gaps        map[string]int64 // by topic
	resets      map[reset]int64
}

// A reset is a topic, and why reading started again in a partition.
type reset struct{ topic, reason string }

// stats are the figures of a source.
type stats struct {
	Rebalances int   // generations after the first
	Gaps       int64 // offsets deleted by retention before they were read
	Resets     int64 // times a log had changed and reading started again
	Partitions []partitionStats
}

// partitionStats are the figures of a partition assigned to this member.
type partitionStats struct {
	Topic     string
	Partition int
	Next      int64 // offset of the next record to read
	Lag       int64 // offsets from Next to the end of the log; -1: unknown
}

// Stats returns the current figures.
func (s *source) Stats() stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := stats{Rebalances: max(0, s.count.generations-1)}
	for _, topic := range s.cfg.Topics {
		st.Gaps += s.count.gaps[topic]
	}
	for _, n := range s.count.resets {
		st.Resets += n
	}
	for _, p := range s.parts {
		st.Partitions = append(st.Partitions, p.stats())
	}
	slices.SortFunc(st.Partitions, func(a, b partitionStats) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return st
}

// Metrics emits the metrics of the source: its lag, the records that it could
// not read, and its retries.
func (s *source) Metrics(emit func(name, help, kind string, value float64, labels ...string)) {
	const counter, gauge = "counter", "gauge"
	st := s.Stats()
	for _, p := range st.Partitions {
		if p.Lag >= 0 {
			emit("source_lag_records", "Records that have not been read yet: for each Kafka partition assigned to this instance, or messages of a JetStream stream, as its topic, that its consumer, as the group, has not delivered to any instance.",
				gauge, float64(p.Lag), "group", s.cfg.Group, "topic", p.Topic, "partition", strconv.Itoa(p.Partition))
		}
	}
	emit("source_partitions", "Partitions assigned to this instance.", gauge, float64(len(st.Partitions)), "group", s.cfg.Group)
	emit("source_rebalances_total", "Generations of the consumer group that this instance has joined, not counting the first.",
		counter, float64(st.Rebalances), "group", s.cfg.Group)
	s.mu.Lock()
	gaps, resets := maps.Clone(s.count.gaps), maps.Clone(s.count.resets)
	s.mu.Unlock()
	for _, topic := range s.cfg.Topics {
		emit("source_offset_gap_records_total", "Offsets deleted by retention before they were read.", counter, float64(gaps[topic]), "topic", topic)
		for _, reason := range []string{recreated, truncated, ended} {
			emit("source_resets_total", "Times that reading started again at another offset: the topic was recreated, or the log was truncated by a new leader, or it ended before the position.",
				counter, float64(resets[reset{topic, reason}]), "topic", topic, "reason", reason)
		}
	}
	for _, class := range kafka.Classes() {
		emit("source_retries_total", "Retries of a source, by class of the error.", counter, float64(s.faults.of(class)), "class", class)
	}
}
