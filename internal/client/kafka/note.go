package kafka

import (
	"context"
	"fmt"

	"github.com/segmentio/kafka-go/protocol/offsetcommit"
	"github.com/segmentio/kafka-go/protocol/offsetfetch"
)

// The broker stores a text with each committed offset, in one step. The consumer
// group of the library neither writes nor reads it.

// Values of a request that say nothing.
const (
	noEpoch     = -1 // the leader epoch of the last record is unknown
	noRetention = -1 // that of the broker applies
)

// commitNotes commits offsets with their notes, in the name of the generation.
func (g generation) commitNotes(offsets []Assignment) error {
	r := &offsetcommit.Request{GroupID: g.g.GroupID, GenerationID: g.g.ID, MemberID: g.g.MemberID, RetentionTimeMs: noRetention}
	at := map[string]int{} // topics in r
	for _, a := range offsets {
		i, known := at[a.Topic]
		if !known {
			i = len(r.Topics)
			at[a.Topic], r.Topics = i, append(r.Topics, offsetcommit.RequestTopic{Name: a.Topic})
		}
		r.Topics[i].Partitions = append(r.Topics[i].Partitions, offsetcommit.RequestPartition{
			PartitionIndex: int32(a.Partition), CommittedOffset: a.Offset, CommittedLeaderEpoch: noEpoch, CommittedMetadata: a.Note,
		})
	}
	ctx, cancel := g.l.limit(context.Background(), 0)
	defer cancel()
	m, err := g.l.transport.RoundTrip(ctx, g.l.addr, r)
	if err != nil {
		return g.l.explain(err)
	}
	for _, t := range m.(*offsetcommit.Response).Topics {
		for _, p := range t.Partitions {
			if p.ErrorCode != 0 {
				return g.l.explain(Code(p.ErrorCode))
			}
		}
	}
	return nil
}

// Note implements Group.
func (g *group) Note(ctx context.Context, topic string, partition int) (offset int64, note string, err error) {
	ctx, cancel := g.l.limit(ctx, 0)
	defer cancel()
	m, err := g.l.transport.RoundTrip(ctx, g.l.addr, &offsetfetch.Request{
		GroupID: g.id, Topics: []offsetfetch.RequestTopic{{Name: topic, PartitionIndexes: []int32{int32(partition)}}},
	})
	if err != nil {
		return 0, "", g.l.explain(err)
	}
	r := m.(*offsetfetch.Response)
	if r.ErrorCode != 0 {
		return 0, "", g.l.explain(Code(r.ErrorCode))
	}
	for _, t := range r.Topics {
		for _, p := range t.Partitions {
			if p.ErrorCode != 0 {
				return 0, "", g.l.explain(Code(p.ErrorCode))
			}
			if t.Name == topic && int(p.PartitionIndex) == partition {
				return p.CommittedOffset, p.Metadata, nil
			}
		}
	}
	return 0, "", fmt.Errorf("the broker returned no offset of %s[%d]", topic, partition)
}
