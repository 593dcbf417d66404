package objects

import (
	"cmp"
	"context"
	"errors"
	"os"
	"sync/atomic"
	"time"

	"github.com/urlfold/urlfold/config/connect"
	client "github.com/urlfold/urlfold/internal/client/sqs"
	"github.com/urlfold/urlfold/internal/storage/objects/s3"
)

// An sqs is a queue in Amazon SQS.
type sqs struct {
	cfg    SQS
	store  connect.S3
	client *client.Client
	state  atomic.Pointer[sqsState]
}

// An sqsState is the result of the last request for messages.
type sqsState struct {
	none bool // the last request returned no message
	err  error
}

func (q *sqs) name() string { return q.cfg.URL }

func (q *sqs) open(context.Context) error {
	settings, err := s3.Of(q.store, os.Getenv)
	if err != nil {
		return err
	}
	region := cmp.Or(client.Region(q.cfg.URL), settings.Region)
	if region == "" {
		return errors.New("the region of the queue is unknown: set region, or AWS_REGION")
	}
	var signer client.Signer
	if signer.Sign, signer.Expire, err = s3.NewSigner(settings, "sqs", region); err != nil {
		return err
	}
	q.client, err = client.New(q.cfg.URL, signer)
	return err
}

// check takes a message and gives it back: SQS has no request that checks the
// same without an effect.
func (q *sqs) check(ctx context.Context) error {
	if err := q.open(ctx); err != nil {
		return err
	}
	_, err := q.client.Receive(ctx, 1, 0, 0)
	return err
}

// pollWait is how long SQS waits for a message, which is the longest that it
// permits.
const pollWait = 20 * time.Second

func (q *sqs) fetch(ctx context.Context, n int) (all []*message, err error) {
	list, err := q.client.Receive(ctx, n, min(pollWait, q.cfg.wait), q.cfg.VisibilityTimeout)
	q.state.Store(&sqsState{err == nil && len(list) == 0, err})
	for _, m := range list {
		all = append(all, &message{text: []byte(m.Body), handle: m.Receipt, deliveries: m.Count})
	}
	return all, err
}

func (q *sqs) ack(ctx context.Context, m *message) error { return q.client.Delete(ctx, m.handle) }

func (q *sqs) keep(ctx context.Context, m *message) error {
	return q.client.Hide(ctx, m.handle, q.cfg.VisibilityTimeout)
}

func (q *sqs) giveBack(ctx context.Context, m *message) error {
	return q.client.Hide(ctx, m.handle, 0)
}

func (q *sqs) every() time.Duration { return q.cfg.VisibilityTimeout / 3 }

// empty reports whether the last request returned no message. Messages in
// progress elsewhere are unknown.
func (q *sqs) empty(context.Context) bool {
	s := q.state.Load()
	return s != nil && s.none
}

func (q *sqs) health() error {
	if s := q.state.Load(); s != nil {
		return s.err
	}
	return nil
}

func (q *sqs) close(context.Context) error { return nil }
