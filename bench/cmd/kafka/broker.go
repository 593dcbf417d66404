package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/compress"

	"github.com/urlfold/urlfold/bench"
)

const (
	partitions = 4
	keyLen     = 32   // length of the keys that urlfold writes, so that all loops write equally much
	batch      = 1000 // records in a record batch
	urlLen     = 74   // minimum length of a URL; the mean is 90
)

// A broker provides the topics that the loops read and write.
type broker struct {
	addr        string
	compression string
	client      *kafka.Client
	in          string
	mean        float64 // mean length of a URL in bytes
}

func newBroker(addr, compression string) (*broker, error) {
	if _, err := codecOf(compression); err != nil {
		return nil, err
	}
	return &broker{
		addr: addr, compression: compression, in: fmt.Sprintf("bench-in-%d", time.Now().UnixNano()),
		client: &kafka.Client{Addr: kafka.TCP(addr), Timeout: 30 * time.Second, Transport: new(kafka.Transport)},
	}, nil
}

func codecOf(name string) (compress.Compression, error) {
	var c compress.Compression
	if name == "none" {
		return c, nil
	}
	return c, c.UnmarshalText([]byte(name))
}

// codec returns the compression of both topics.
func (b *broker) codec() compress.Compression {
	c, _ := codecOf(b.compression) // newBroker has checked it
	return c
}

func (b *broker) create(ctx context.Context, topic string) error {
	res, err := b.client.CreateTopics(ctx, &kafka.CreateTopicsRequest{
		Topics: []kafka.TopicConfig{{Topic: topic, NumPartitions: partitions, ReplicationFactor: 1}},
	})
	if err == nil {
		err = res.Errors[topic]
	}
	for try := 0; err == nil && try < 100; try++ {
		if _, e := b.count(ctx, topic); e == nil {
			return nil
		}
		<-time.After(50 * time.Millisecond)
		b.client.Transport.(*kafka.Transport).CloseIdleConnections() // it caches that the topic does not exist
	}
	return err
}

func (b *broker) remove(topic string) {
	// An error is harmless: the test broker is removed as a whole.
	_, _ = b.client.DeleteTopics(context.Background(), &kafka.DeleteTopicsRequest{Topics: []string{topic}})
}

// count returns the number of messages in a topic that was never compacted or
// truncated.
func (b *broker) count(ctx context.Context, topic string) (n int, err error) {
	req := make([]kafka.OffsetRequest, partitions)
	for p := range req {
		req[p] = kafka.LastOffsetOf(p)
	}
	res, err := b.client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{topic: req}})
	if err != nil {
		return 0, err
	}
	for _, p := range res.Topics[topic] {
		if p.Error != nil {
			return 0, p.Error
		}
		n += int(p.LastOffset)
	}
	return n, nil
}

// fill creates the input topic: n messages with one distinct URL each, and with
// keys that determine the partition. It returns the total length of the URLs.
func (b *broker) fill(ctx context.Context, n int) (bytes int, err error) {
	if err := b.create(ctx, b.in); err != nil {
		return 0, err
	}
	urls := bench.Generated()[1]
	random := rand.New(rand.NewPCG(1, 2))
	pending := make([][]kafka.Record, partitions)
	for i := range n {
		u := pad(urls.Strings[i%len(urls.Strings)], random)
		bytes += len(u)
		key := fmt.Appendf(nil, "%016x%016x", random.Uint64(), random.Uint64())
		p := kafka.Murmur2Balancer{}.Balance(kafka.Message{Key: key}, 0, 1, 2, 3)
		pending[p] = append(pending[p], kafka.Record{Key: kafka.NewBytes(key), Value: kafka.NewBytes([]byte(u)), Time: time.Now()})
		if len(pending[p]) == batch {
			if err := b.produce(ctx, b.in, p, pending[p]); err != nil {
				return 0, err
			}
			pending[p] = pending[p][:0]
		}
	}
	for p, rest := range pending {
		if len(rest) > 0 {
			if err := b.produce(ctx, b.in, p, rest); err != nil {
				return 0, err
			}
		}
	}
	b.mean = float64(bytes) / float64(n)
	return bytes, nil
}

// pad makes u unique and extends it to about the mean length.
func pad(u string, random *rand.Rand) string {
	var id [24]byte
	for i := range id {
		id[i] = byte(random.Uint32())
	}
	text := hex.EncodeToString(id[:])
	sep := "?"
	for _, c := range u {
		switch c {
		case '?':
			sep = "&"
		case '#':
			return u + text[:8]
		}
	}
	return u + sep + "id=" + text[:min(len(text), max(8, urlLen-len(u)-4))]
}

// produce writes one record batch.
func (b *broker) produce(ctx context.Context, topic string, p int, records []kafka.Record) error {
	res, err := b.client.Produce(ctx, &kafka.ProduceRequest{
		Topic: topic, Partition: p, RequiredAcks: kafka.RequireAll,
		Records: kafka.NewRecordReader(records...), Compression: b.codec(),
	})
	if err != nil {
		return err
	}
	return res.Error
}
