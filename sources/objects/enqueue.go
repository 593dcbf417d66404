package objects

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	client "github.com/urlfold/urlfold/internal/client/nats"
	"github.com/urlfold/urlfold/internal/ground/pause"
	storage "github.com/urlfold/urlfold/internal/storage/objects"
	"github.com/urlfold/urlfold/internal/storage/objects/s3"
)

// A publisher adds references to a queue. All are stored when publish returns nil.
type publisher interface {
	publish(ctx context.Context, refs []Reference) error
	close(ctx context.Context) error
}

// publishAtOnce is the number of references of one call of publish.
const publishAtOnce = 1000

// Enqueue publishes a reference to each object below path, s3://BUCKET/PREFIX,
// to the queue of c, and returns the number of references. It leaves out the
// objects that stand for folders, and the objects for which owns returns false
// for the path relative to the bucket. subject is the JetStream subject or the
// Kafka topic, and may be empty if there is a single one.
func Enqueue(ctx context.Context, c Config, path, subject string, owns func(rel string) bool, log *slog.Logger) (n int, err error) {
	bucket, prefix := storage.Split(path)
	if !storage.Is(path) || bucket == "" {
		return 0, fmt.Errorf("%q: must be s3://BUCKET/PREFIX", path)
	}
	store, err := s3.Connect(c.S3, os.Getenv, log)
	if err != nil {
		return 0, err
	}
	p, err := c.publisher(ctx, subject, log)
	if err != nil {
		return 0, err
	}
	defer func() { _ = p.close(ctx) }() // all references are stored
	var refs []Reference
	var failed error
	send := func() {
		if failed == nil && len(refs) > 0 {
			if failed = p.publish(ctx, refs); failed == nil {
				n += len(refs)
			}
			refs = refs[:0]
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err = store.List(ctx, bucket, prefix, nil, func(o storage.Object) {
		if o.StandsForFolder() || !owns(storage.Local(o.Key)) {
			return
		}
		if refs = append(refs, Reference{URL: o.Path(), ETag: o.ETag}); len(refs) == publishAtOnce {
			if send(); failed != nil {
				cancel()
			}
		}
	})
	if err == nil {
		send()
	}
	return n, cmp.Or(failed, err)
}

// publisher connects to the queue.
func (c *Config) publisher(ctx context.Context, subject string, log *slog.Logger) (publisher, error) {
	switch {
	case c.SQS.URL != "":
		q := &sqs{cfg: c.SQS, store: c.S3}
		return q, q.open(ctx)
	case len(c.Kafka.Topics) > 0:
		return newKafkaPublisher(c.Kafka, subject)
	}
	q := &jetStream{cfg: c.JetStream, log: log}
	conn, err := q.connect(ctx)
	if err != nil {
		return nil, err
	}
	p, err := q.publisher(ctx, conn, subject)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return p, nil
}

// A natsPublisher publishes to a subject of JetStream. The id of a message is a
// hash of its reference, so that the stream stores an object once within its
// duplicate window.
type natsPublisher struct {
	conn    *client.Conn
	window  *client.Window
	subject string
}

// mostPending is the maximum number of messages that the stream has not
// acknowledged.
const mostPending = 256

func (q *jetStream) publisher(ctx context.Context, conn *client.Conn, subject string) (publisher, error) {
	info, err := conn.Stream(ctx, q.cfg.Stream)
	if err == nil {
		err = info.Writable()
	}
	if err != nil {
		return nil, err
	}
	if subject == "" {
		list := q.cfg.Consumer.FilterSubjects
		if len(list) == 0 {
			list = info.Subjects
		}
		if len(list) != 1 || strings.ContainsAny(list[0], "*>") {
			return nil, fmt.Errorf("stream %q stores %q: name one subject with --subject", info.Name, list)
		}
		subject = list[0]
	}
	if !slices.ContainsFunc(info.Subjects, func(s string) bool { return client.Covers(s, subject) }) {
		return nil, fmt.Errorf("stream %q does not store the subject %q, but %q", info.Name, subject, info.Subjects)
	}
	w, err := conn.NewWindow(mostPending, ackTimeout, client.Accept{Only: info.Name})
	if err != nil {
		return nil, err
	}
	return &natsPublisher{conn, w, subject}, nil
}

func (p *natsPublisher) publish(ctx context.Context, refs []Reference) (err error) {
	l := &load{p.subject, refs, make(chan error, len(refs))}
	if err := p.window.Publish(ctx, l, 0, len(refs)); err != nil {
		return errors.Join(err, p.window.Health())
	}
	for range refs {
		select {
		case e := <-l.stored:
			err = cmp.Or(err, e)
		case <-ctx.Done():
			p.window.Forget(l)
			return errors.Join(ctx.Err(), p.window.Health())
		}
	}
	return err
}

func (p *natsPublisher) close(context.Context) error {
	defer p.conn.Close()
	return p.window.Close()
}

// A load is references that are published together. It implements [client.Load].
type load struct {
	subject string
	refs    []Reference
	stored  chan error // has room for all results
}

func (l *load) Message(i int, m *client.Msg) {
	r := l.refs[i]
	m.Subject = l.subject
	m.Data, _ = json.Marshal(r) // a struct of strings cannot fail
	if m.Header == nil {
		m.Header = map[string][]string{}
	}
	h := xxh3.HashString128(r.URL + "\x00" + r.ETag)
	m.Header["Nats-Msg-Id"] = []string{fmt.Sprintf("urlfold-%016x%016x", h.Hi, h.Lo)}
}

func (l *load) Resolved(_ int, err error) { l.stored <- err }

// sendTries is how often a request is sent. A message whose request failed may be
// in the queue nevertheless.
const sendTries = 5

func (q *sqs) publish(ctx context.Context, refs []Reference) error {
	return sendAll(ctx, refs, mostFetched, func(texts []string) error { return q.client.Send(ctx, texts) })
}

// sendAll sends references, n at a time, and repeats requests that fail.
func sendAll(ctx context.Context, refs []Reference, n int, send func(texts []string) error) error {
	for few := range slices.Chunk(refs, n) {
		var texts []string
		for _, r := range few {
			text, _ := json.Marshal(r) // a struct of strings cannot fail
			texts = append(texts, string(text))
		}
		for try := 1; ; try++ {
			err := send(texts)
			if err == nil {
				break
			}
			if try == sendTries || pause.For(ctx, time.Second) != nil {
				return err
			}
		}
	}
	return nil
}
