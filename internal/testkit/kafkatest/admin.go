package kafkatest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	kgo "github.com/segmentio/kafka-go"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/internal/client/kafka"
)

// admin returns a client for administrative requests. Call done after the last one:
// otherwise the library searches for the brokers until the process ends, even if they
// no longer exist. Hundreds of such searches take all the time of the processor.
func admin(c connect.Kafka) (client *kgo.Client, done func()) {
	t := &kgo.Transport{IdleTimeout: time.Second}
	return &kgo.Client{Addr: kgo.TCP(c.Brokers...), Timeout: 30 * time.Second, Transport: t}, t.CloseIdleConnections
}

// CreateTopic creates a topic with one replica and waits until it can be
// written to. The topic has no retention limit, because the records of tests
// have timestamps in 1970.
func CreateTopic(t testing.TB, c connect.Kafka, name string, partitions int, config map[string]string) {
	t.Helper()
	topic := kgo.TopicConfig{Topic: name, NumPartitions: partitions, ReplicationFactor: 1}
	topic.ConfigEntries = append(topic.ConfigEntries, kgo.ConfigEntry{ConfigName: "retention.ms", ConfigValue: "-1"})
	for k, v := range config {
		topic.ConfigEntries = append(topic.ConfigEntries, kgo.ConfigEntry{ConfigName: k, ConfigValue: v})
	}
	client, done := admin(c)
	defer done()
	res, err := client.CreateTopics(Context(t), &kgo.CreateTopicsRequest{Topics: []kgo.TopicConfig{topic}})
	if err == nil {
		err = res.Errors[name]
	}
	if err != nil {
		t.Fatal(err)
	}
	reader := Client(t, c, name)
	Until(t, "topic "+name, func() bool {
		for p := range partitions {
			// A broker that recreates a topic may answer for the old log for a moment.
			// Records appended to the old log would be lost.
			if end, err := reader.Offset(Context(t), name, p, kafka.Latest); err != nil || end > 0 {
				reader.Refresh()
				return false
			}
		}
		return true
	})
}

// CreateReplicated creates a topic with one partition. The first replica is the
// leader. Any replica may become the leader, even one whose log is behind.
func CreateReplicated(t testing.TB, c connect.Kafka, name string, replicas ...int) {
	t.Helper()
	client, done := admin(c)
	defer done()
	Until(t, "topic "+name, func() bool {
		res, err := client.CreateTopics(Context(t), &kgo.CreateTopicsRequest{Topics: []kgo.TopicConfig{{
			Topic: name, NumPartitions: -1, ReplicationFactor: -1,
			ReplicaAssignments: []kgo.ReplicaAssignment{{Partition: 0, Replicas: replicas}},
			ConfigEntries: []kgo.ConfigEntry{
				{ConfigName: "retention.ms", ConfigValue: "-1"}, {ConfigName: "unclean.leader.election.enable", ConfigValue: "true"},
			},
		}}})
		return err == nil && res.Errors[name] == nil
	})
}

// Lead makes one of two brokers, leader, the leader of a partition, as soon as
// it has the records of the other broker. It reports whether that took an
// election.
func Lead(t testing.TB, c connect.Kafka, topic string, leader, other int) (elected bool) {
	t.Helper()
	client, done := admin(c)
	defer done()
	Until(t, fmt.Sprint("the leader ", leader), func() bool {
		order, err := client.AlterPartitionReassignments(Context(t), &kgo.AlterPartitionReassignmentsRequest{
			Topic: topic, Assignments: []kgo.AlterPartitionReassignmentsRequestAssignment{{BrokerIDs: []int{leader, other}}}, Timeout: 10 * time.Second,
		})
		if err != nil || order.Error != nil {
			return false
		}
		res, err := client.ElectLeaders(Context(t), &kgo.ElectLeadersRequest{Topic: topic, Partitions: []int{0}, Timeout: 10 * time.Second})
		if err != nil || res.Error != nil || len(res.PartitionResults) != 1 {
			return false
		}
		err = res.PartitionResults[0].Error
		elected = err == nil
		return elected || errors.Is(err, kgo.ElectionNotNeeded)
	})
	return elected
}

// Committed returns the committed offset of a group for each partition; -1
// means none.
func Committed(t testing.TB, c connect.Kafka, group, topic string, partitions int) []int64 {
	t.Helper()
	offsets, _ := CommittedNotes(t, c, group, topic, partitions)
	return offsets
}

// CommittedNotes is Committed, with the text that is stored with each offset.
func CommittedNotes(t testing.TB, c connect.Kafka, group, topic string, partitions int) (offsets []int64, notes []string) {
	t.Helper()
	all := make([]int, partitions)
	for p := range all {
		all[p] = p
	}
	client, done := admin(c)
	defer done()
	ctx := Context(t)
	for try := 0; ; try++ {
		res, err := client.OffsetFetch(ctx, &kgo.OffsetFetchRequest{GroupID: group, Topics: map[string][]int{topic: all}})
		if err == nil {
			err = res.Error
		}
		if err != nil && try < 50 {
			<-time.After(50 * time.Millisecond)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		offsets, notes = make([]int64, partitions), make([]string, partitions)
		for _, p := range res.Topics[topic] {
			offsets[p.Partition], notes[p.Partition] = p.CommittedOffset, p.Metadata
		}
		return offsets, notes
	}
}

// Rewind sets the committed offsets of a group without members, and the texts that are
// stored with them, if there are any.
func Rewind(t testing.TB, c connect.Kafka, group, topic string, offsets []int64, notes ...string) {
	t.Helper()
	list := make([]kgo.OffsetCommit, len(offsets))
	for p, offset := range offsets {
		list[p] = kgo.OffsetCommit{Partition: p, Offset: offset}
		if p < len(notes) {
			list[p].Metadata = notes[p]
		}
	}
	client, done := admin(c)
	defer done()
	Until(t, "the offsets of "+group+" are set", func() bool { // the broker refuses while a member is leaving
		res, err := client.OffsetCommit(Context(t), &kgo.OffsetCommitRequest{GroupID: group, GenerationID: -1, Topics: map[string][]kgo.OffsetCommit{topic: list}})
		if err != nil || len(res.Topics[topic]) != len(offsets) {
			return false
		}
		for _, p := range res.Topics[topic] {
			if p.Error != nil {
				return false
			}
		}
		return true
	})
}

// Recreate deletes a topic and creates it again.
func Recreate(t testing.TB, c connect.Kafka, name string, partitions int) {
	t.Helper()
	client, done := admin(c)
	defer done()
	res, err := client.DeleteTopics(Context(t), &kgo.DeleteTopicsRequest{Topics: []string{name}})
	if err == nil {
		err = res.Errors[name]
	}
	if err != nil {
		t.Fatal(err)
	}
	CreateTopic(t, c, name, partitions, nil)
}
