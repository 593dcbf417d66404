package kafka

import (
	"context"
	"encoding/binary"
	"io"
	"time"

	"github.com/segmentio/kafka-go/protocol"
)

// This file contains the requests with which a consumer finds out that a log was
// replaced (KIP-516) or has lost its last records (KIP-320). The library has
// neither of them.

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
		r := &logsRequest{topic: topic}
		if _, err := l.transport.RoundTrip(ctx, l.addr, r); err != nil {
			return Log{}, l.explain(err)
		}
		if r.err != nil {
			return Log{}, r.err
		}
		t = r.found
		t.at = time.Now()
		l.logs[topic] = t
	}
	epoch, ok := t.epochs[partition]
	if !ok && t.id != (TopicID{}) {
		return Log{}, UnknownTopic
	}
	return Log{t.id, epoch}, nil
}

// A logsRequest is a metadata request for one topic, to any broker.
type logsRequest struct {
	topic string
	found topicLogs
	err   error
}

// metadataVersion is the first version of the API with topic ids. Its messages are
// flexible.
const metadataVersion = 10

// ApiKey implements protocol.Message.
func (r *logsRequest) ApiKey() protocol.ApiKey { return protocol.Metadata } //nolint:staticcheck // the library has the name

// Required implements protocol.RawExchanger.
func (r *logsRequest) Required(map[protocol.ApiKey]int16) bool { return true }

// RawExchange implements protocol.RawExchanger.
func (r *logsRequest) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	if supports(rw, protocol.Metadata, metadataVersion) != metadataVersion {
		return r, nil
	}
	b := request(nil, protocol.Metadata, metadataVersion, clientID)
	b = append(b, 0)                   // tags
	b = append(b, 2)                   // topics, plus 1
	b = append(b, make([]byte, 16)...) // topic id: find the topic by its name
	b = binary.AppendUvarint(b, uint64(len(r.topic))+1)
	b = append(b, r.topic...)
	b = append(b, 0)       // tags
	b = append(b, 0, 0, 0) // create no topic, tell no permissions
	b = append(b, 0)       // tags
	answer, err := exchange(rw, b, nil)
	if err != nil {
		return nil, err
	}
	r.err = r.decode(answer)
	return r, nil
}

// decode parses a response.
func (r *logsRequest) decode(answer []byte) error {
	w := wire{cursor{b: answer}}
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
	copy(r.found.id[:], w.take(int64(len(r.found.id))))
	w.take(1) // internal topic
	r.found.epochs = map[int]int32{}
	for n := w.size(true, 0); n > 0 && !w.bad; n-- {
		w.i16() // error code
		id := w.i32()
		w.i32() // leader
		r.found.epochs[int(id)] = w.i32()
		for range 3 { // replicas, in-sync replicas, offline replicas
			w.take(4 * max(w.size(true, 0), 0))
		}
		w.tags()
	}
	switch {
	case w.bad || string(name) != r.topic:
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
	r := &epochRequest{topic: topic, partition: partition, current: current, epoch: epoch, end: -1}
	if _, err := l.transport.RoundTrip(ctx, l.addr, r); err != nil {
		return -1, l.explain(err)
	}
	return r.end, r.err
}

// An epochRequest is a request of the API OffsetForLeaderEpoch, to the leader of a
// partition.
type epochRequest struct {
	topic          string
	partition      int
	current, epoch int32
	end            int64
	err            error
}

// epochVersion is the first version of the API for consumers.
const epochVersion = 3

// ApiKey implements protocol.Message.
func (r *epochRequest) ApiKey() protocol.ApiKey { return protocol.OffsetForLeaderEpoch } //nolint:staticcheck // the library has the name

// Broker implements protocol.BrokerMessage. It returns the leader.
func (r *epochRequest) Broker(c protocol.Cluster) (protocol.Broker, error) {
	return leader(c, r.topic, r.partition)
}

// Required implements protocol.RawExchanger.
func (r *epochRequest) Required(map[protocol.ApiKey]int16) bool { return true }

// RawExchange implements protocol.RawExchanger.
func (r *epochRequest) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	if supports(rw, protocol.OffsetForLeaderEpoch, epochVersion) != epochVersion {
		return r, nil
	}
	put := binary.BigEndian
	b := request(nil, protocol.OffsetForLeaderEpoch, epochVersion, clientID)
	b = put.AppendUint32(b, 1<<32-1) // replica id: none
	b = put.AppendUint32(b, 1)       // topics
	b = appendText(b, r.topic)
	b = put.AppendUint32(b, 1) // partitions
	b = put.AppendUint32(b, uint32(r.partition))
	b = put.AppendUint32(b, uint32(r.current))
	b = put.AppendUint32(b, uint32(r.epoch))
	answer, err := exchange(rw, b, nil)
	if err != nil {
		return nil, err
	}
	w := wire{cursor{b: answer}}
	w.i32() // throttle time
	if w.i32() != 1 || w.text() != r.topic || w.i32() != 1 {
		r.err = errAnswer
		return r, nil
	}
	code, id := w.i16(), w.i32()
	w.i32() // the largest epoch that is not greater
	r.end = w.i64()
	switch {
	case w.bad || int(id) != r.partition:
		r.err = errAnswer
	case code != 0:
		r.err = Code(code)
	}
	return r, nil
}
