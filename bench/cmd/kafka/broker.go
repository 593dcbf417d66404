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
	keyLen     = 32   // as long as the keys that urlfold writes, so that all loops write as much
	batch      = 1000 // records of a record batch
	urlLen     = 74   // at least; the mean is 90
)

// A broker is where the loops read and write.
type broker struct {
	addr        string
	compression string
	client      *kafka.Client
	in          string
	mean        float64 // bytes of a URL
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
	c, _ := codecOf(b.compression) // newBroker has tried it
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
		b.client.Transport.(*kafka.Transport).CloseIdleConnections() // it keeps that there is no such topic
	}
	return err
}

func (b *broker) remove(topic string) {
	// A broker of tests is removed whole, so it does not matter if this fails.
	_, _ = b.client.DeleteTopics(context.Background(), &kafka.DeleteTopicsRequest{Topics: []string{topic}})
}

// count returns how many messages are in a topic that was never cleaned.
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

// fill makes the input topic: n messages of URLs, no two of them the same, with
// keys that decide their partition. It returns the bytes of all URLs.
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

// pad makes u unique, and about as long as the mean.
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
