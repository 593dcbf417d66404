package kafka

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/internal/ground/metric"
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

// partitionStats are the figures of a partition assigned to this member.
type partitionStats struct {
	Topic     string
	Partition int
	Next      int64 // offset of the next record to read
	Lag       int64 // offsets from Next to the end of the log; -1: unknown
}

// partitions returns the figures of the assigned partitions, in order.
func (s *source) partitions() (all []partitionStats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.parts {
		all = append(all, p.stats())
	}
	slices.SortFunc(all, func(a, b partitionStats) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return all
}

// Metrics emits the metrics of the source: its lag, the records that it could
// not read, and its retries.
func (s *source) Metrics(emit metric.Emit) {
	count, gauge := metric.Of(emit)
	parts := s.partitions()
	for _, p := range parts {
		if p.Lag >= 0 {
			gauge("source_lag_records", "Records that have not been read yet: for each Kafka partition assigned to this instance, or messages of a JetStream stream, as its topic, that its consumer, as the group, has not delivered to any instance.", p.Lag, "group", s.cfg.Group, "topic", p.Topic, "partition", strconv.Itoa(p.Partition))
		}
	}
	gauge("source_partitions", "Partitions assigned to this instance.", int64(len(parts)), "group", s.cfg.Group)
	s.mu.Lock()
	generations, gaps, resets := s.count.generations, maps.Clone(s.count.gaps), maps.Clone(s.count.resets)
	s.mu.Unlock()
	count("source_rebalances_total", "Generations of the consumer group that this instance has joined, not counting the first.", int64(max(0, generations-1)), "group", s.cfg.Group)
	for _, topic := range s.cfg.Topics {
		count("source_offset_gap_records_total", "Offsets deleted by retention before they were read.", gaps[topic], "topic", topic)
		for _, reason := range []string{recreated, truncated, ended} {
			count("source_resets_total", "Times that reading started again at another offset: the topic was recreated, or the log was truncated by a new leader, or it ended before the position.", resets[reset{topic, reason}], "topic", topic, "reason", reason)
		}
	}
	for _, class := range kafka.Classes() {
		count("source_retries_total", "Retries of a source, by class of the error.", s.faults.of(class), "class", class)
	}
}
