package objects

import (
	"context"
	"errors"
	"log/slog"
	"time"

	client "github.com/urlfold/urlfold/internal/client/nats"
)

// A jetStream is the queue in a JetStream stream.
type jetStream struct {
	cfg  JetStream
	log  *slog.Logger
	conn *client.Conn
	wait time.Duration // ack_wait of the consumer
}

func (q *jetStream) name() string { return "jetstream/" + q.cfg.Stream + "/" + q.cfg.Durable }

// consumer returns the consumer, and creates it if create is set.
func (q *jetStream) consumer(ctx context.Context, conn *client.Conn, create bool) (client.ConsumerInfo, error) {
	if _, err := conn.Stream(ctx, q.cfg.Stream); err != nil {
		return client.ConsumerInfo{}, err
	}
	return conn.Consumer(ctx, client.Consumer{
		Stream: q.cfg.Stream, Durable: q.cfg.Durable, Filters: q.cfg.Consumer.FilterSubjects, MaxDeliver: -1,
		AckWait: q.cfg.Consumer.AckWait, MaxAckPending: q.cfg.Consumer.MaxAckPending,
	}, create)
}

func (q *jetStream) connect(ctx context.Context) (*client.Conn, error) {
	c := q.cfg.NATS
	c.Domain, c.Logger = q.cfg.Domain, q.log
	return client.Connect(ctx, c)
}

func (q *jetStream) open(ctx context.Context) (err error) {
	if q.conn, err = q.connect(ctx); err != nil {
		return err
	}
	info, err := q.consumer(ctx, q.conn, q.cfg.Consumer.Create)
	q.wait = info.AckWait
	return err
}

// check is like open, but changes nothing on the server.
func (q *jetStream) check(ctx context.Context) error {
	conn, err := q.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err = q.consumer(ctx, conn, false); q.cfg.Consumer.Create && errors.Is(err, client.ErrNoConsumer) {
		return nil
	}
	return err
}

// fetchWait is how long a request for messages waits, and so how long a soft
// stop may take.
const fetchWait = time.Second

func (q *jetStream) fetch(ctx context.Context, n int) ([]*message, error) {
	list, err := q.conn.Fetch(ctx, q.cfg.Stream, q.cfg.Durable, n, fetchWait)
	if errors.Is(err, client.ErrNoConsumer) && q.cfg.Consumer.Create {
		_, err = q.consumer(ctx, q.conn, true)
	}
	var all []*message
	for _, m := range list {
		meta, err := client.ParseReply(m.Reply)
		if err != nil {
			return all, err
		}
		all = append(all, &message{text: m.Data, handle: m.Reply, deliveries: int(meta.Delivered)})
	}
	return all, err
}

// ackTimeout is how long to wait until the server confirms an acknowledgment.
const ackTimeout = 5 * time.Second

func (q *jetStream) ack(ctx context.Context, m *message) error {
	ctx, cancel := context.WithTimeout(ctx, ackTimeout)
	defer cancel()
	return q.conn.Request(ctx, m.handle, client.Ack)
}

func (q *jetStream) keep(_ context.Context, m *message) error {
	return q.conn.Publish(m.handle, client.InProgress)
}

func (q *jetStream) giveBack(_ context.Context, m *message) error {
	return q.conn.Publish(m.handle, client.Nak)
}

func (q *jetStream) every() time.Duration { return q.wait / 3 }

func (q *jetStream) empty(ctx context.Context) bool {
	i, err := q.conn.ConsumerState(ctx, q.cfg.Stream, q.cfg.Durable)
	return err == nil && i.Pending == 0 && i.AckPending == 0
}

func (q *jetStream) health() error { return q.conn.Health() }

func (q *jetStream) close(ctx context.Context) error {
	if q.conn == nil {
		return nil
	}
	defer q.conn.Close()
	if !q.conn.Up() {
		return nil // the messages are delivered again
	}
	return q.conn.Flush(ctx)
}
