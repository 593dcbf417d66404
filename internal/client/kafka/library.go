package kafka

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	kgo "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/listoffsets"
	"github.com/segmentio/kafka-go/protocol/metadata"
	"github.com/segmentio/kafka-go/protocol/produce"
	"github.com/segmentio/kafka-go/protocol/rawproduce"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/client/certs"
)

// library implements Client with segmentio/kafka-go.
type library struct {
	conn      connect.Kafka
	addr      net.Addr
	client    *kgo.Client
	transport *kgo.Transport
	dialer    kgo.Dialer
	tls       *tls.Config
	connect   func(ctx context.Context, network, addr string) (net.Conn, error)

	looking chan struct{}        // holds an element while logs is used
	logs    map[string]topicLogs // by topic

	base   context.Context // done after Close
	stop   context.CancelFunc
	probes sync.WaitGroup

	mu        sync.Mutex
	refreshed time.Time
	probing   bool
	probed    time.Time // when the brokers were last probed because of an error
	mistake   error     // result of the last probe
}

// New returns a client that is not connected yet. topics are the topics that it
// will be used for. New reads the files of the TLS configuration.
func New(c connect.Kafka, topics ...string) (Client, error) {
	var secure *tls.Config
	if t := c.TLS; t != nil {
		var wrong *field.Error
		if secure, wrong = certs.Config(t); wrong != nil {
			return nil, misplaced(wrong.Field, &fileError{wrong.Err})
		}
	}
	login, err := saslMechanism(c.SASL)
	if err != nil {
		return nil, err
	}
	t := &kgo.Transport{
		ClientID:       c.ClientID,
		DialTimeout:    min(c.RequestTimeout, 10*time.Second),
		MetadataTTL:    metadataTTL,
		MetadataTopics: topics,
		SASL:           login,
	}
	addr := brokers(c.Brokers)
	base, stop := context.WithCancel(context.Background())
	l := &library{
		base: base, stop: stop, conn: c, addr: addr, transport: t, tls: secure, connect: new(net.Dialer).DialContext,
		looking: make(chan struct{}, 1), logs: map[string]topicLogs{},
		client: &kgo.Client{Addr: addr, Transport: t, Timeout: c.RequestTimeout},
		dialer: kgo.Dialer{ClientID: c.ClientID, Timeout: t.DialTimeout, SASLMechanism: login},
	}
	t.Dial, l.dialer.DialFunc = l.dialFramed, l.dialFramed
	return l, nil
}

// metadataTTL is twice the mean interval between two refreshes of the partition
// leaders.
const metadataTTL = 4 * time.Second

// saslMechanism returns the login mechanism of s, or nil for a nil s.
func saslMechanism(s *connect.SASL) (sasl.Mechanism, error) {
	if s == nil {
		return nil, nil
	}
	algorithm := scram.SHA512
	switch s.Mechanism {
	case "PLAIN":
		return plain.Mechanism{Username: s.Username, Password: s.Password.Reveal()}, nil
	case "SCRAM-SHA-256":
		algorithm = scram.SHA256
	}
	m, err := scram.Mechanism(algorithm, s.Username, s.Password.Reveal())
	if err != nil {
		return nil, errors.New("sasl: user name or password contains a character that SCRAM does not permit")
	}
	return cappedLogin{m}, nil
}

// maxIterations limits the iterations that a broker demands for SCRAM, during which
// the library does not look at its context. Kafka permits 16384.
const maxIterations = 100_000

// A cappedLogin refuses a SCRAM login with too many iterations.
type cappedLogin struct{ sasl.Mechanism }

// Start implements sasl.Mechanism.
func (m cappedLogin) Start(ctx context.Context) (sasl.StateMachine, []byte, error) {
	s, first, err := m.Mechanism.Start(ctx)
	return cappedSteps{s}, first, err
}

type cappedSteps struct{ sasl.StateMachine }

// Next implements sasl.StateMachine.
func (s cappedSteps) Next(ctx context.Context, challenge []byte) (bool, []byte, error) {
	for part := range strings.SplitSeq(string(challenge), ",") {
		if count, is := strings.CutPrefix(part, "i="); is {
			if n, err := strconv.Atoi(count); err != nil || n > maxIterations {
				return false, nil, fmt.Errorf("%w: more than %d SCRAM iterations", errAnswer, maxIterations)
			}
		}
	}
	return s.StateMachine.Next(ctx, challenge)
}

// brokers is the address of a cluster: any of its brokers.
type brokers []string

// Network implements net.Addr as the library expects: one network per address.
func (b brokers) Network() string {
	return strings.TrimSuffix(strings.Repeat("tcp,", len(b)), ",")
}

// String implements net.Addr.
func (b brokers) String() string { return strings.Join(b, ",") }

// limit returns a context with the time limit of a request plus more. The
// library cancels a request only through the context that it was given.
func (l *library) limit(ctx context.Context, more time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, l.conn.RequestTimeout+more)
}

// roundTrip sends a request and returns its answer.
func roundTrip[T protocol.Message](ctx context.Context, l *library, r protocol.Message) (answer T, err error) {
	ctx, cancel := l.limit(ctx, 0)
	defer cancel()
	m, err := l.transport.RoundTrip(ctx, l.addr, r)
	if err != nil {
		return answer, l.explain(err)
	}
	answer, ok := m.(T)
	if !ok {
		return answer, errAnswer
	}
	return answer, nil
}

// Topics implements Client.
func (l *library) Topics(ctx context.Context, names []string, create bool) ([]Topic, error) {
	res, err := roundTrip[*metadata.Response](ctx, l, &metadata.Request{TopicNames: names, AllowAutoTopicCreation: create})
	if err != nil {
		return nil, err
	}
	topics := make([]Topic, len(names))
	for i, name := range names {
		topics[i] = Topic{Name: name, Err: UnknownTopic}
		for _, t := range res.Topics {
			if t.Name == name {
				topics[i] = topicOf(t)
			}
		}
	}
	return topics, nil
}

func topicOf(t metadata.ResponseTopic) Topic {
	topic := Topic{Name: t.Name, Partitions: len(t.Partitions)}
	switch {
	case t.ErrorCode != 0:
		topic.Err = Code(t.ErrorCode)
	case topic.Partitions == 0:
		topic.Err = UnknownTopic
	case topic.Partitions > maxPartitions:
		topic.Err = fmt.Errorf("%w: %d partitions, more than the limit of %d", errAnswer, topic.Partitions, maxPartitions)
	}
	return topic
}

// maxPartitions limits the partitions of a topic, and those assigned to a member of a
// group: each takes memory before anything is read or written.
const maxPartitions = 20_000

// Offset implements Client.
func (l *library) Offset(ctx context.Context, topic string, partition int, at int64) (int64, error) {
	r, err := roundTrip[*listoffsets.Response](ctx, l, &listoffsets.Request{
		ReplicaID: -1,
		Topics: []listoffsets.RequestTopic{{Topic: topic, Partitions: []listoffsets.RequestPartition{
			{Partition: int32(partition), CurrentLeaderEpoch: noEpoch, Timestamp: at},
		}}},
	})
	if err != nil {
		return 0, err
	}
	if len(r.Topics) != 1 || r.Topics[0].Topic != topic || len(r.Topics[0].Partitions) != 1 {
		return 0, errAnswer
	}
	p := r.Topics[0].Partitions[0]
	switch {
	case p.ErrorCode != 0:
		return 0, l.explain(Code(p.ErrorCode))
	case int(p.Partition) != partition:
		return 0, errAnswer
	case p.Offset >= 0:
		return p.Offset, nil
	case at < 0:
		return 0, errAnswer
	}
	return l.Offset(ctx, topic, partition, Latest)
}

// Fetch implements Client.
func (l *library) Fetch(ctx context.Context, r *FetchRequest, f *Fetched) error {
	// The library may still read into the memory of a request that was given
	// up, so Fetch does not reuse that memory.
	req := &fetchRequest{FetchRequest: *r, into: &Fetched{Aborted: f.Aborted, answer: f.answer}}
	*f = Fetched{}
	ctx, cancel := l.limit(ctx, r.MaxWait)
	defer cancel()
	if _, err := l.transport.RoundTrip(ctx, l.addr, req); err != nil {
		return l.explain(err)
	}
	*f = *req.into
	return req.err
}

// Produce implements Client.
func (l *library) Produce(ctx context.Context, topic string, partition int, batch []byte) (int64, error) {
	r, err := roundTrip[*produce.Response](ctx, l, &rawproduce.Request{
		Acks: int16(kgo.RequireAll), Timeout: int32(l.conn.RequestTimeout.Milliseconds() / 2), // half of the time remains for the network
		Topics: []rawproduce.RequestTopic{{Topic: topic, Partitions: []rawproduce.RequestPartition{
			{Partition: int32(partition), RecordSet: protocol.RawRecordSet{Reader: bytes.NewReader(batch)}},
		}}},
	})
	if err != nil {
		return -1, err
	}
	if len(r.Topics) != 1 || r.Topics[0].Topic != topic || len(r.Topics[0].Partitions) != 1 {
		return -1, errAnswer
	}
	p := &r.Topics[0].Partitions[0]
	if int(p.Partition) != partition {
		return -1, errAnswer
	}
	return p.BaseOffset, recordsError(Code(p.ErrorCode), p.RecordErrors)
}

// NewProducer implements Client.
func (l *library) NewProducer(ctx context.Context) (Producer, error) {
	ctx, cancel := l.limit(ctx, 0)
	defer cancel()
	producer := NoProducer
	// The library would ask for the coordinator of a transaction, but there
	// is no transaction.
	r := &rawRequest{api: protocol.InitProducerId, newest: 1, old: UnsupportedVersion} // later versions have tagged fields
	r.encode = func(b []byte) []byte {
		b = binary.BigEndian.AppendUint16(b, 1<<16-1)    // transactional id: null
		return binary.BigEndian.AppendUint32(b, 1<<31-1) // transaction timeout
	}
	r.decode = func(w *wire) error {
		w.i32() // throttle time
		code := w.i16()
		producer = Producer{w.i64(), w.i16()}
		switch {
		case code != 0:
			return Code(code)
		case w.bad:
			return errAnswer
		}
		return nil
	}
	if err := l.ask(ctx, r, r); err != nil {
		return NoProducer, err // a request that was given up may still write producer
	}
	return producer, nil
}

// CreateTopic implements Client.
func (l *library) CreateTopic(ctx context.Context, name string, partitions int, settings map[string]string, dry bool) error {
	ctx, cancel := l.limit(ctx, 0)
	defer cancel()
	t := kgo.TopicConfig{Topic: name, NumPartitions: partitions, ReplicationFactor: -1}
	for k, v := range settings {
		t.ConfigEntries = append(t.ConfigEntries, kgo.ConfigEntry{ConfigName: k, ConfigValue: v})
	}
	res, err := l.client.CreateTopics(ctx, &kgo.CreateTopicsRequest{Topics: []kgo.TopicConfig{t}, ValidateOnly: dry})
	if err != nil {
		return l.explain(err)
	}
	switch err, answered := res.Errors[name]; {
	case !answered:
		return errAnswer
	case err != nil:
		return l.explain(err)
	}
	return nil
}

// Setting implements Client.
func (l *library) Setting(ctx context.Context, topic, name string) (string, error) {
	ctx, cancel := l.limit(ctx, 0)
	defer cancel()
	res, err := l.client.DescribeConfigs(ctx, &kgo.DescribeConfigsRequest{
		Resources: []kgo.DescribeConfigRequestResource{{
			ResourceType: kgo.ResourceTypeTopic, ResourceName: topic, ConfigNames: []string{name},
		}},
	})
	if err != nil {
		return "", l.explain(err)
	}
	for _, r := range res.Resources {
		if r.ResourceName != topic {
			continue
		}
		if r.Error != nil {
			return "", l.explain(r.Error)
		}
		for _, e := range r.ConfigEntries {
			if e.ConfigName == name {
				return e.ConfigValue, nil
			}
		}
	}
	return "", errAnswer
}

// Refresh implements Client. Closing connections is the only way to make the
// library refresh.
func (l *library) Refresh() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.refreshed) > metadataTTL/8 {
		l.refreshed = time.Now()
		l.transport.CloseIdleConnections()
	}
}

// Close implements Client.
func (l *library) Close() {
	l.stop()
	l.probes.Wait()
	l.transport.CloseIdleConnections()
}
