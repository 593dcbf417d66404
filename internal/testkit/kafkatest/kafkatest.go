// Package kafkatest provides helpers for the tests of the Kafka source and
// sink: clusters, and ways to fill and read topics without the loops of the
// code under test. Only tests import it.
package kafkatest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/testkit/crew"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// RealBroker is the name of the environment variable with the address of a
// broker that the tests may use.
const RealBroker = "URLFOLD_KAFKA"

// Real returns a connection to the broker that RealBroker names. If the
// variable is not set, it skips the test.
func Real(t testing.TB) connect.Kafka {
	t.Helper()
	addr := os.Getenv(RealBroker)
	if addr == "" {
		t.Skip("skipped: needs a real broker; start one with \"make kafka\" and set " + RealBroker + " to its address")
	}
	return Connection(addr)
}

// Long is the name of the environment variable that, if set to 1, extends
// experiments from seconds to many minutes.
const Long = "URLFOLD_LONG"

// Span returns long if Long is set, else short.
func Span(short, long time.Duration) time.Duration {
	if os.Getenv(Long) == "1" {
		return long
	}
	return short
}

// Fake starts brokers in this process. They stop at the end of the test.
func Fake(t testing.TB, opts ...kfake.Opt) (*kfake.Cluster, connect.Kafka) {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{
		kfake.NumBrokers(1),
		kfake.GroupMinSessionTimeout(100 * time.Millisecond),
		kfake.SleepOutOfOrder(),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, Connection(c.ListenAddrs()...)
}

// Connection returns a connection to brokers.
func Connection(brokers ...string) connect.Kafka {
	c := connect.DefaultKafka()
	c.Brokers = brokers
	c.RequestTimeout = 30 * time.Second
	return c
}

// Client returns a client that is closed at the end of the test.
func Client(t testing.TB, c connect.Kafka, topics ...string) kafka.Client {
	t.Helper()
	client, err := kafka.New(c, topics...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// Context returns a context that is canceled at the end of the test or after a
// minute.
func Context(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// Until waits until ok returns true and fails the test after a minute.
func Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	end := time.Now().Add(time.Minute)
	for !ok() {
		if time.Now().After(end) {
			t.Fatalf("timeout after a minute: %s", what)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// Write appends records to a partition as one batch.
func Write(t testing.TB, client kafka.Client, topic string, partition int, codec string, records ...kafka.Record) {
	t.Helper()
	var e kafka.Encoder
	for i := range records {
		e.Append(&records[i])
	}
	c, err := kafka.CodecByName(codec)
	if err != nil {
		t.Fatal(err)
	}
	batch, err := e.Finish(kafka.NoProducer, 0, c)
	if err != nil {
		t.Fatal(err)
	}
	Append(t, client, topic, partition, batch)
}

// Append appends a batch to a partition. It retries if the partition has moved
// or the broker is gone; the latter is safe because brokers do not stop during
// a request.
func Append(t testing.TB, client kafka.Client, topic string, partition int, batch []byte) {
	t.Helper()
	var err error
	for range 50 {
		if _, err = client.Produce(Context(t), topic, partition, batch); err == nil || errors.Is(err, context.DeadlineExceeded) {
			break
		}
		if !kafka.Moved(err) && kafka.CodeOf(err) != 0 {
			break
		}
		client.Refresh()
		<-time.After(50 * time.Millisecond)
	}
	if err != nil {
		t.Fatalf("%s[%d]: %v", topic, partition, err)
	}
}

// URL returns the n-th URL of a partition. All URLs have the same length.
func URL(partition, n int) string { return fmt.Sprintf("http://p%03d.example/%08d", partition, n) }

// Parse returns the arguments with which URL returned url.
func Parse(t testing.TB, url []byte) (partition, n int) {
	t.Helper()
	if len(url) == len("http://p000.example/00000000") {
		p, err1 := strconv.Atoi(string(url[8:11]))
		n, err2 := strconv.Atoi(string(url[20:]))
		if err1 == nil && err2 == nil {
			return p, n
		}
	}
	t.Fatalf("not a URL of the test: %q", url)
	return 0, 0
}

// Fill appends the URLs from, …, to-1 to each partition, in small batches.
func Fill(t testing.TB, client kafka.Client, topic string, partitions, from, to int) {
	t.Helper()
	const few = 37
	for p := range partitions {
		for at := from; at < to; at += few {
			var records []kafka.Record
			for n := at; n < min(at+few, to); n++ {
				records = append(records, kafka.Record{Millis: int64(n + 1), Value: []byte(URL(p, n))})
			}
			Write(t, client, topic, p, "none", records...)
		}
	}
}

// Read returns all records of a topic, by partition.
func Read(t testing.TB, client kafka.Client, topic string, partitions int) [][]kafka.Record {
	t.Helper()
	all := make([][]kafka.Record, partitions)
	for p := range all {
		all[p] = readPartition(t, client, topic, p)
	}
	return all
}

func readPartition(t testing.TB, client kafka.Client, topic string, p int) (all []kafka.Record) {
	t.Helper()
	var f kafka.Fetched
	d := kafka.Decoder{MaxBytes: 1 << 30, Committed: true}
	offset, err := client.Offset(Context(t), topic, p, kafka.Earliest)
	for tries := 0; ; {
		if err == nil {
			err = client.Fetch(Context(t), &kafka.FetchRequest{
				Topic: topic, Partition: p, Offset: offset, MaxBytes: 1 << 20, MaxWait: 10 * time.Millisecond, Committed: true,
			}, &f)
		}
		if err != nil {
			if tries++; tries > 50 {
				t.Fatalf("%s[%d]: %v", topic, p, err)
			}
			client.Refresh()
			<-time.After(50 * time.Millisecond)
			err = nil
			continue
		}
		d.Reset(&f, offset)
		var r kafka.Record
		for d.Next(&r) {
			all = append(all, clone(&r))
		}
		if d.Err() != nil {
			t.Fatalf("%s[%d]: %v", topic, p, d.Err())
		}
		if offset = d.Offset(); offset >= f.LastStable {
			return all
		}
	}
}

func clone(r *kafka.Record) kafka.Record {
	c := kafka.Record{Offset: r.Offset, Millis: r.Millis, Key: dup(r.Key), Value: dup(r.Value)}
	for _, h := range r.Headers {
		c.Headers = append(c.Headers, kafka.Header{Name: dup(h.Name), Value: dup(h.Value)})
	}
	return c
}

// dup copies b. It returns nil only for nil.
func dup(b []byte) []byte {
	if b == nil {
		return nil
	}
	return append([]byte{}, b...)
}

// Codec returns a constructor of codecs for lines that rewrites URLs and
// collects facts.
func Codec(t testing.TB) func() engine.Codec {
	t.Helper()
	profile, err := codec.Lookup("rfc3986-scheme")
	if err != nil {
		t.Fatal("unknown profile")
	}
	n, err := codec.New(profile)
	if err != nil {
		t.Fatal(err)
	}
	job, err := record.New(record.Config{Format: "lines", Normalizer: n, Facts: true})
	if err != nil {
		t.Fatal(err)
	}
	return engine.NewRecordCodec(job)
}

// A Run is a running pipeline.
type Run struct {
	P    *engine.Pipeline
	stop context.CancelFunc
	done chan struct{}
	err  error
}

// Start starts a pipeline. If o lacks a codec, it uses Codec.
func Start(t testing.TB, o engine.Options) *Run {
	t.Helper()
	if o.NewCodec == nil {
		o.NewCodec = Codec(t)
	}
	o.Workers = 2
	if o.CommitInterval == 0 {
		o.CommitInterval = 20 * time.Millisecond
	}
	p, err := engine.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	r := &Run{P: p, stop: stop, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.err = p.Run(ctx)
	}()
	t.Cleanup(r.Kill)
	return r
}

// Stop requests a soft stop, waits for the end, and returns the error of the
// run.
func (r *Run) Stop() error {
	r.stop()
	<-r.done
	return r.err
}

// Wait waits for a run that ends by itself and returns its error.
func (r *Run) Wait() error {
	<-r.done
	return r.err
}

// Kill requests a hard stop and waits for the end.
func (r *Run) Kill() {
	if r.P != nil {
		r.P.HardStop()
	}
	r.stop()
	<-r.done
}

// Forget releases a pipeline that has ended, in a test that runs many of them;
// the Run itself is kept until the end of the test.
func (r *Run) Forget() { r.P = nil }

// A Collector is a sink that records the values it receives, by partition of
// the input and in order of arrival. Its results may be read even while it is
// not open.
type Collector struct {
	T testing.TB
	// Hold, if set, is called for each batch before its ticket is resolved, in
	// a goroutine that may block. ctx is done at a hard stop.
	Hold func(ctx context.Context)
	// Seen, if set, is called for each batch when it is durable. The calls are
	// in the order of the lane if the pipeline is ordered.
	Seen func(b *engine.Batch)

	ctx     context.Context
	mu      sync.Mutex
	crew    crew.Crew
	got     map[int][]int
	taken   map[*engine.Lane]int64 // last submitted position
	swapped int
}

// Open implements [engine.Sink].
func (c *Collector) Open(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ctx, c.got, c.taken = ctx, map[int][]int{}, map[*engine.Lane]int64{}
	return nil
}

// Submit implements [engine.Sink].
func (c *Collector) Submit(_ context.Context, b *engine.Batch, t engine.Ticket) error {
	c.note(b)
	if c.Hold == nil {
		c.keep(b, t)
		return nil
	}
	if err := c.ctx.Err(); err != nil {
		return err // Close may already have waited
	}
	c.crew.Go(func() {
		if c.Hold(c.ctx); c.ctx.Err() != nil {
			t.Done(engine.Result{Err: c.ctx.Err(), Class: engine.Retryable})
			return
		}
		c.keep(b, t)
	})
	return nil
}

// note checks that the batches of a lane arrive in order.
func (c *Collector) note(b *engine.Batch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range b.Msgs {
		last, ok := c.taken[b.Lane]
		if pos := b.Msgs[i].Pos; ok && pos <= last {
			c.swapped++
		}
		c.taken[b.Lane] = b.Msgs[i].Pos
	}
}

// Swapped returns the number of messages that arrived after a later message of
// their lane. It is 0 if the pipeline preserves the order of lanes and the sink
// accepts everything.
func (c *Collector) Swapped() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.swapped
}

func (c *Collector) keep(b *engine.Batch, t engine.Ticket) {
	st := t.Stream()
	c.mu.Lock()
	for _, r := range st.Recs {
		value := bytes.TrimSuffix(st.Bytes[r.Off:r.Off+r.Len], []byte("\n"))
		if len(value) == 0 {
			continue
		}
		p, n := Parse(c.T, value)
		c.got[p] = append(c.got[p], n)
	}
	if c.Seen != nil {
		c.Seen(b)
	}
	c.mu.Unlock()
	t.Done(engine.Result{})
}

// Barrier implements [engine.Sink].
func (c *Collector) Barrier(context.Context) error { c.crew.Wait(); return nil }

// Close implements [engine.Sink].
func (c *Collector) Close(context.Context) error {
	c.crew.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.taken = nil // releases the lanes and their pipeline
	return nil
}

// Caps implements [engine.Sink].
func (c *Collector) Caps() engine.SinkCaps { return engine.SinkCaps{Ordered: true} }

// Count returns the number of received values.
func (c *Collector) Count() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, g := range c.got {
		n += len(g)
	}
	return n
}

// Got returns the received numbers of a partition.
func (c *Collector) Got(partition int) []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]int(nil), c.got[partition]...)
}

// Sorted reports whether the numbers are in order, except for repetitions,
// which occur after a rebalance.
func Sorted(got []int) bool {
	last := -1
	seen := map[int]bool{}
	for _, g := range got {
		if !seen[g] && g < last {
			return false
		}
		seen[g], last = true, max(last, g)
	}
	return true
}

// Check compares got with the numbers 0 to n-1. It returns the number of
// repetitions, and fails the test if numbers are missing.
func Check(t testing.TB, what string, got []int, n int) (doubled int) {
	t.Helper()
	seen := make([]int, n)
	for _, g := range got {
		if g < 0 || g >= n {
			t.Fatalf("%s: %d was never written", what, g)
		}
		if seen[g]++; seen[g] > 1 {
			doubled++
		}
	}
	lost := 0
	for g := range seen {
		if seen[g] == 0 {
			if lost++; lost == 1 {
				t.Errorf("%s: %d is lost", what, g)
			}
		}
	}
	if lost > 1 {
		t.Errorf("%s: %d are lost", what, lost)
	}
	return doubled
}
