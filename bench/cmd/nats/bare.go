package main

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A bare holds the resources of both loops of the library: two connections, one
// to read and one to write, and a consumer with explicit acknowledgments.
type bare struct {
	from, to *nats.Conn
	js       jetstream.JetStream // of to
	consumer jetstream.Consumer
	subject  string
}

func newBare(ctx context.Context, s *server, consumer, subject string) (*bare, error) {
	b := &bare{subject: subject}
	var err error
	if b.from, err = nats.Connect(s.addr); err != nil {
		return nil, err
	}
	if b.to, err = nats.Connect(s.addr); err != nil {
		return nil, err
	}
	if b.js, err = jetstream.New(b.to, jetstream.WithPublishAsyncMaxPending(window)); err != nil {
		return nil, err
	}
	in, err := jetstream.New(b.from)
	if err != nil {
		return nil, err
	}
	b.consumer, err = in.CreateConsumer(ctx, s.in.name, jetstream.ConsumerConfig{
		Durable: consumer, AckPolicy: jetstream.AckExplicitPolicy, AckWait: 90 * time.Second, MaxAckPending: 20000,
	})
	return b, err
}

func (b *bare) close() {
	b.from.Close()
	b.to.Close()
}

// A copied is a message and the future of its copy.
type copied struct {
	msg    jetstream.Msg
	stored jetstream.PubAckFuture
}

// publish publishes a copy of m, with an id that is the same if m is read
// again.
func (b *bare) publish(m jetstream.Msg) (copied, error) {
	meta, err := m.Metadata()
	if err != nil {
		return copied{}, err
	}
	out := nats.NewMsg(b.subject)
	out.Data = m.Data()
	out.Header.Set(jetstream.MsgIDHeader, strconv.FormatUint(meta.Sequence.Stream, 10))
	f, err := b.js.PublishMsgAsync(out, jetstream.WithStallWait(30*time.Second))
	return copied{m, f}, err
}

// settle acknowledges the message when its copy is stored.
func (c copied) settle() error {
	select {
	case <-c.stored.Ok():
		return c.msg.Ack()
	case err := <-c.stored.Err():
		return err
	}
}

// bareMessages reads with the prefetching iterator of the library. A second
// goroutine waits for the acknowledgments of the copies.
func bareMessages(ctx context.Context, s *server, consumer, subject string) error {
	b, err := newBare(ctx, s, consumer, subject)
	if err != nil {
		return err
	}
	defer b.close()
	messages, err := b.consumer.Messages(jetstream.PullMaxMessages(prefetch))
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, messages.Stop)()
	under := make(chan copied, window)
	var wg sync.WaitGroup
	wg.Go(func() {
		for c := range under {
			_ = c.settle() // a missing acknowledgment is detected at the end
		}
	})
	defer wg.Wait()
	defer close(under)
	for {
		m, err := messages.Next()
		if errors.Is(err, jetstream.ErrMsgIteratorClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		c, err := b.publish(m)
		if err != nil {
			return err
		}
		under <- c
	}
}

// bareFetch pulls batches and publishes each while the previous one is
// acknowledged.
func bareFetch(ctx context.Context, s *server, consumer, subject string) error {
	b, err := newBare(ctx, s, consumer, subject)
	if err != nil {
		return err
	}
	defer b.close()
	under := make(chan []copied, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		for list := range under {
			for _, c := range list {
				_ = c.settle() // a missing acknowledgment is detected at the end
			}
		}
	})
	defer wg.Wait()
	defer close(under)
	for ctx.Err() == nil {
		got, err := b.consumer.Fetch(batch, jetstream.FetchMaxWait(500*time.Millisecond))
		if err != nil {
			return err
		}
		list := make([]copied, 0, batch)
		for m := range got.Messages() {
			c, err := b.publish(m)
			if err != nil {
				return err
			}
			list = append(list, c)
		}
		under <- list
	}
	return nil
}
