package kafka

import (
	"context"
	"fmt"

	"github.com/segmentio/kafka-go/protocol/offsetcommit"
	"github.com/segmentio/kafka-go/protocol/offsetfetch"
)

// The broker stores each committed offset together with a text, the note, in
// one step. The consumer group of the library neither writes nor reads notes.

// Values of fields for which a request gives no value.
const (
	noEpoch     = -1 // the leader epoch of the last record is unknown
	noRetention = -1 // the retention of the broker applies
)

// Commit stores the next offsets to read.
func (g *Generation) Commit(ctx context.Context, offsets []Assignment) error {
	r := &offsetcommit.Request{GroupID: g.g.GroupID, GenerationID: g.g.ID, MemberID: g.g.MemberID, RetentionTimeMs: noRetention}
	at := map[string]int{} // indexes in r.Topics
	for _, a := range offsets {
		i, known := at[a.Topic]
		if !known {
			i = len(r.Topics)
			at[a.Topic], r.Topics = i, append(r.Topics, offsetcommit.RequestTopic{Name: a.Topic})
		}
		r.Topics[i].Partitions = append(r.Topics[i].Partitions, offsetcommit.RequestPartition{
			PartitionIndex: int32(a.Partition), CommittedOffset: a.Offset, CommittedLeaderEpoch: a.Epoch, CommittedMetadata: a.Note,
		})
	}
	answer, err := roundTrip[*offsetcommit.Response](ctx, g.l, r)
	if err != nil {
		return err
	}
	left := len(offsets)
	for _, t := range answer.Topics {
		for _, p := range t.Partitions {
			if p.ErrorCode != 0 {
				return g.l.explain(Code(p.ErrorCode))
			}
			left--
		}
	}
	if left != 0 {
		return errAnswer
	}
	return nil
}

// Notes sets the committed offset of each partition of list, which is -1 if none is
// committed, and the note that is stored with it.
func (g *Group) Notes(ctx context.Context, list []Assignment) error {
	type partition struct {
		topic string
		id    int32
	}
	r := &offsetfetch.Request{GroupID: g.id}
	asked, at := map[partition]*Assignment{}, map[string]int{} // at: indexes in r.Topics
	for i := range list {
		a := &list[i]
		t, known := at[a.Topic]
		if !known {
			t = len(r.Topics)
			at[a.Topic], r.Topics = t, append(r.Topics, offsetfetch.RequestTopic{Name: a.Topic})
		}
		r.Topics[t].PartitionIndexes = append(r.Topics[t].PartitionIndexes, int32(a.Partition))
		asked[partition{a.Topic, int32(a.Partition)}] = a
	}
	answer, err := roundTrip[*offsetfetch.Response](ctx, g.l, r)
	if err != nil {
		return err
	}
	if answer.ErrorCode != 0 {
		return g.l.explain(Code(answer.ErrorCode))
	}
	for _, t := range answer.Topics {
		for _, p := range t.Partitions {
			key := partition{t.Name, p.PartitionIndex}
			a := asked[key]
			if a == nil {
				return fmt.Errorf("%w: unrequested offset of %s[%d]", errAnswer, t.Name, p.PartitionIndex)
			}
			if p.ErrorCode != 0 {
				return g.l.explain(Code(p.ErrorCode))
			}
			a.Offset, a.Note = max(p.CommittedOffset, -1), p.Metadata
			delete(asked, key)
		}
	}
	if len(asked) > 0 {
		return fmt.Errorf("%w: offsets of %d partitions are missing", errAnswer, len(asked))
	}
	return nil
}
