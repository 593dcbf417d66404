package kafka

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/segmentio/kafka-go/protocol"
)

// This file contains the requests with which a consumer detects that a log was replaced
// (KIP-516) or has lost its last records (KIP-320). The library has neither of them.

// A TopicID identifies a topic for its lifetime. A topic that is created again under
// the same name has another id. The zero value means that the brokers have no ids.
type TopicID [16]byte

// A Log identifies the state of the log of a partition. Each election of a leader
// increases the epoch.
type Log struct {
	ID    TopicID
	Epoch int32
}

// Known reports whether l identifies a log.
func (l Log) Known() bool { return l.ID != TopicID{} }

// A topicLogs is an answer of a broker about a topic.
type topicLogs struct {
	at     time.Time
	id     TopicID
	epochs map[int]int32 // by partition
}

// logTTL is how long an answer is reused: after an election, all partitions of a topic
// ask at the same time.
const logTTL = 200 * time.Millisecond

// LogState implements Client.
func (l *library) LogState(ctx context.Context, topic string, partition int) (Log, error) {
	ctx, cancel := l.limit(ctx, 0)
	defer cancel()
	select {
	case l.looking <- struct{}{}:
		defer func() { <-l.looking }()
	case <-ctx.Done():
		return Log{}, ctx.Err()
	}
	t, ok := l.logs[topic]
	if !ok || time.Since(t.at) > logTTL {
		t = topicLogs{}
		r := &rawRequest{api: protocol.Metadata, oldest: metadataVersion, newest: metadataVersion}
		r.encode = func(b []byte) []byte {
			b = append(b, 0)                   // tags
			b = append(b, 2)                   // topics, plus 1
			b = append(b, make([]byte, 16)...) // topic id: find the topic by its name
			b = binary.AppendUvarint(b, uint64(len(topic))+1)
			b = append(b, topic...)
			b = append(b, 0)       // tags
			b = append(b, 0, 0, 0) // create no topic, return no permissions
			return append(b, 0)    // tags
		}
		r.decode = func(w *wire) error { return t.decode(w, topic) }
		if err := l.ask(ctx, r, r); err != nil {
			return Log{}, err
		}
		t.at = time.Now()
		l.logs[topic] = t
	}
	epoch, ok := t.epochs[partition]
	if !ok && t.id != (TopicID{}) {
		return Log{}, UnknownTopic
	}
	return Log{t.id, epoch}, nil
}

// metadataVersion is the first version of Metadata with topic ids. Its messages
// are flexible.
const metadataVersion = 10

// decode parses the answer about a topic.
func (t *topicLogs) decode(w *wire, topic string) error {
	w.tags()
	w.i32()                                          // throttle time
	for n := w.size(true, 0); n > 0 && !w.bad; n-- { // brokers
		w.i32()
		w.sized(true, 0)
		w.i32()
		w.sized(true, 0)
		w.tags()
	}
	w.sized(true, 0) // cluster id
	w.i32()          // controller
	if w.size(true, 0) != 1 {
		return errAnswer
	}
	code := w.i16()
	name := w.sized(true, 0)
	copy(t.id[:], w.take(int64(len(t.id))))
	w.take(1) // internal topic
	t.epochs = map[int]int32{}
	for n := w.size(true, 0); n > 0 && !w.bad; n-- {
		w.i16() // error code
		id := w.i32()
		w.i32() // leader
		t.epochs[int(id)] = w.i32()
		for range 3 { // replicas, in-sync replicas, offline replicas
			w.take(4 * max(w.size(true, 0), 0))
		}
		w.tags()
	}
	switch {
	case w.bad || string(name) != topic:
		return errAnswer
	case code != 0:
		return Code(code)
	}
	return nil
}

// EpochEnd implements Client.
func (l *library) EpochEnd(ctx context.Context, topic string, partition int, current, epoch int32) (int64, error) {
	ctx, cancel := l.limit(ctx, 0)
	defer cancel()
	end := int64(-1)
	r := &leaderRequest{topic: topic, partition: partition}
	r.rawRequest = rawRequest{api: protocol.OffsetForLeaderEpoch, oldest: epochVersion, newest: epochVersion}
	r.encode = func(b []byte) []byte {
		put := binary.BigEndian
		b = put.AppendUint32(b, 1<<32-1) // replica id: none
		b = put.AppendUint32(b, 1)       // topics
		b = appendText(b, topic)
		b = put.AppendUint32(b, 1) // partitions
		b = put.AppendUint32(b, uint32(partition))
		b = put.AppendUint32(b, uint32(current))
		return put.AppendUint32(b, uint32(epoch))
	}
	r.decode = func(w *wire) error {
		w.i32() // throttle time
		if w.i32() != 1 || w.text() != topic || w.i32() != 1 {
			return errAnswer
		}
		code, id := w.i16(), w.i32()
		w.i32() // the largest epoch that is not greater
		end = w.i64()
		switch {
		case w.bad || int(id) != partition:
			return errAnswer
		case code != 0:
			return Code(code)
		}
		return nil
	}
	if err := l.ask(ctx, r, &r.rawRequest); err != nil {
		return -1, err // a request that was given up may still write end
	}
	return end, nil
}

// epochVersion is the first version of OffsetForLeaderEpoch that is for
// consumers.
const epochVersion = 3
