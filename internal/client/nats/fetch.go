package nats

import (
	"context"
	"errors"
	"time"

	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Fetch returns the messages that a pull consumer has now, at most n of
// them. If it has none, Fetch waits for one, at most for wait, and may
// return none. Use it instead of a [Pull] if each message takes long: no
// message waits in this process.
func (c *Conn) Fetch(ctx context.Context, stream, durable string, n int, wait time.Duration) ([]*Msg, error) {
	one, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	consumer, err := c.js.Consumer(one, stream, durable)
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		return nil, ErrNoConsumer
	}
	if err != nil {
		return nil, c.apiError(err)
	}
	list, err := collect(consumer.FetchNoWait(n))
	if err == nil && len(list) == 0 {
		list, err = collect(consumer.Fetch(1, jetstream.FetchMaxWait(wait)))
	}
	return list, err
}

// collect returns the messages of a batch. The error is nil if there are any.
func collect(batch jetstream.MessageBatch, err error) (list []*Msg, _ error) {
	if err != nil {
		return nil, err
	}
	for m := range batch.Messages() {
		list = append(list, &Msg{Subject: m.Subject(), Reply: m.Reply(), Header: m.Headers(), Data: m.Data()})
	}
	if err := batch.Error(); len(list) == 0 && !errors.Is(err, jetstream.ErrNoMessages) && !errors.Is(err, client.ErrTimeout) {
		return nil, err
	}
	return list, nil
}
