package main

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
)

// readerWriter is the loop in the documentation of the library, improved with
// the advice in its issues: one Reader in a group, large queues, a Writer with
// batches of 1000, a short timeout and several concurrent calls, commits once a
// second.
func readerWriter(ctx context.Context, b *broker, group, out string) error {
	r := kafka.NewReader(kafka.ReaderConfig{
		Brokers: []string{b.addr}, GroupID: group, Topic: b.in, StartOffset: kafka.FirstOffset,
		MinBytes: 1, MaxBytes: 10 << 20, MaxWait: 250 * time.Millisecond, QueueCapacity: 4 * batch,
		CommitInterval: time.Second,
	})
	defer r.Close()
	w := &kafka.Writer{
		Addr: kafka.TCP(b.addr), Topic: out, Balancer: kafka.Murmur2Balancer{}, RequiredAcks: kafka.RequireAll,
		Compression: kafka.Compression(b.codec()), BatchSize: batch, BatchBytes: 1 << 20, BatchTimeout: 5 * time.Millisecond,
		Transport: new(kafka.Transport),
	}
	defer w.Close()
	type call struct {
		messages []kafka.Message
		done     chan error
	}
	const calls = 4
	under := make(chan *call, calls)
	var wg sync.WaitGroup
	wg.Go(func() { // commits in order
		for c := range under {
			if err := <-c.done; err == nil {
				_ = r.CommitMessages(ctx, c.messages...)
			}
		}
	})
	defer wg.Wait()
	defer close(under)
	for ctx.Err() == nil {
		c := &call{done: make(chan error, 1), messages: make([]kafka.Message, 0, partitions*batch)}
		linger, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		for len(c.messages) < partitions*batch {
			m, err := r.FetchMessage(linger)
			if err != nil {
				break
			}
			c.messages = append(c.messages, m)
		}
		cancel()
		if len(c.messages) == 0 {
			continue
		}
		under <- c
		go func() {
			list := make([]kafka.Message, len(c.messages))
			for i, m := range c.messages {
				list[i] = kafka.Message{Key: m.Key, Value: m.Value}
			}
			c.done <- w.WriteMessages(ctx, list...)
		}()
	}
	return nil
}

// groupProduce is the fastest loop that the library allows: a ConsumerGroup,
// one connection per partition whose messages are read directly into record
// batches of 1000, and Client.Produce while the next batch is read. The keys
// have already determined the partition of the input, so it is not computed
// again.
func groupProduce(ctx context.Context, b *broker, group, out string) error {
	g, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
		ID: group, Brokers: []string{b.addr}, Topics: []string{b.in}, StartOffset: kafka.FirstOffset,
	})
	if err != nil {
		return err
	}
	defer g.Close()
	gen, err := g.Next(ctx)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	var mu sync.Mutex
	offsets := map[int]int64{}
	for _, a := range gen.Assignments[b.in] {
		wg.Add(1)
		gen.Start(func(context.Context) {
			defer wg.Done()
			_ = copyPartition(ctx, b, out, a.ID, func(offset int64) {
				mu.Lock()
				defer mu.Unlock()
				offsets[a.ID] = offset
			})
		})
	}
	commit := func() {
		mu.Lock()
		defer mu.Unlock()
		if len(offsets) > 0 {
			_ = gen.CommitOffsets(map[string]map[int]int64{b.in: offsets})
		}
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			commit()
		case <-ctx.Done():
			return nil
		}
	}
}

// A chunk is a record batch in flight.
type chunk struct {
	records []kafka.Record
	next    int64
}

// copyPartition copies one partition.
func copyPartition(ctx context.Context, b *broker, out string, p int, durable func(next int64)) error {
	chunks := make(chan chunk, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		for c := range chunks {
			if b.produce(ctx, out, p, c.records) == nil {
				durable(c.next)
			}
		}
	})
	defer wg.Wait()
	defer close(chunks)
	conn, err := kafka.DialLeader(ctx, "tcp", b.addr, b.in, p)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })()
	var c chunk
	for ctx.Err() == nil {
		set := conn.ReadBatchWith(kafka.ReadBatchConfig{MinBytes: 1, MaxBytes: 1 << 20, MaxWait: 250 * time.Millisecond})
		for {
			m, err := set.ReadMessage()
			if err != nil {
				break
			}
			c.next = m.Offset + 1
			c.records = append(c.records, kafka.Record{Key: kafka.NewBytes(m.Key), Value: kafka.NewBytes(m.Value), Time: m.Time})
			if len(c.records) == batch {
				chunks <- c
				c = chunk{records: make([]kafka.Record, 0, batch)}
			}
		}
		if err := set.Close(); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(c.records) > 0 {
			chunks <- c
			c = chunk{}
		}
	}
	return ctx.Err()
}
