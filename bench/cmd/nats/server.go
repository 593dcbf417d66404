package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/urlfold/urlfold/bench"
)

// The limits of all loops, which are the defaults of urlfold.
const (
	prefetch = 2000 // messages requested but not processed
	window   = 4000 // messages published but not acknowledged
	batch    = 1000
	urlLen   = 90 // mean
)

// A server provides the streams that the loops read and write.
type server struct {
	addr    string
	conn    *nats.Conn
	js      jetstream.JetStream
	storage jetstream.StorageType
	in      *stream
	n       int
	mean    float64 // mean length of a URL in bytes
}

// A stream accepts subjects that consist of its name and one more token.
type stream struct {
	jetstream.Stream
	name, subject string
}

func newServer(addr, storage string) (*server, error) {
	s := &server{addr: addr}
	if err := s.storage.UnmarshalJSON([]byte(`"` + storage + `"`)); err != nil {
		return nil, err
	}
	var err error
	if s.conn, err = nats.Connect(addr); err != nil {
		return nil, err
	}
	s.js, err = jetstream.New(s.conn, jetstream.WithPublishAsyncMaxPending(window))
	return s, err
}

// close removes the input stream.
func (s *server) close() {
	if s.in != nil {
		_ = s.remove(s.in) // an error is harmless: the test server is removed as a whole
	}
	s.conn.Close()
}

// create creates a stream. single: it refuses a second message of a subject.
func (s *server) create(ctx context.Context, name string, single bool) (*stream, error) {
	cfg := jetstream.StreamConfig{Name: name, Subjects: []string{name + ".*"}, Storage: s.storage, Duplicates: 2 * time.Minute}
	if single {
		cfg.MaxMsgsPerSubject, cfg.Discard, cfg.DiscardNewPerSubject = 1, jetstream.DiscardNew, true
	}
	st, err := s.js.CreateStream(ctx, cfg)
	return &stream{st, name, name + ".x"}, err
}

func (s *server) remove(st *stream) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if st != s.in {
		if err := s.in.DeleteConsumer(ctx, st.name); err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
			return err
		}
	}
	return s.js.DeleteStream(ctx, st.name)
}

// progress returns the number of messages in st, and the number of input
// messages that the consumer with the name of st has not acknowledged.
func (s *server) progress(ctx context.Context, st *stream) (got, rest int, err error) {
	info, err := st.Info(ctx)
	if err != nil {
		return 0, 0, err
	}
	if info.State.Msgs < uint64(s.n) {
		return int(info.State.Msgs), s.n, nil
	}
	c, err := s.in.Consumer(ctx, st.name)
	if err != nil {
		return 0, 0, err
	}
	i := c.CachedInfo()
	return int(info.State.Msgs), int(i.NumPending) + i.NumAckPending, nil
}

// fill creates the input: n messages with one distinct URL each.
func (s *server) fill(ctx context.Context, n int) (err error) {
	if s.in, err = s.create(ctx, fmt.Sprintf("bench-in-%d", time.Now().UnixNano()), false); err != nil {
		return err
	}
	s.n = n
	urls := bench.Generated()[1]
	random := rand.New(rand.NewPCG(1, 2))
	bytes := 0
	for i := range n {
		u := pad(urls.Strings[i%len(urls.Strings)], random)
		bytes += len(u)
		if _, err := s.js.PublishAsync(s.in.subject, []byte(u), jetstream.WithStallWait(30*time.Second)); err != nil {
			return err
		}
	}
	s.mean = float64(bytes) / float64(n)
	select {
	case <-s.js.PublishAsyncComplete():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pad makes u unique and extends it to about the mean length.
func pad(u string, random *rand.Rand) string {
	var id [24]byte
	for i := range id {
		id[i] = byte(random.Uint32())
	}
	text := hex.EncodeToString(id[:])
	if strings.Contains(u, "#") {
		return u + text[:16]
	}
	sep := "?"
	if strings.Contains(u, "?") {
		sep = "&"
	}
	return u + sep + "id=" + text[:min(len(text), max(8, urlLen-len(u)-4))]
}
