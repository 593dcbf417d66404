package unique

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/ground/logging"
	"github.com/urlfold/urlfold/internal/ground/metric"
	"github.com/urlfold/urlfold/internal/ground/pause"
	"github.com/urlfold/urlfold/internal/storage/keyset"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A Bucket stores values by key, with a revision that each change increases. An
// error means that it is unknown whether the call had an effect.
type Bucket interface {
	// Get returns the entry of a key. If the key has no entry, or only the
	// marker of a deletion, Value is nil.
	Get(ctx context.Context, key string) (Entry, error)
	// Put stores a value if the entry has revision last, or if last is 0 and no
	// entry exists. Otherwise it returns false. The entry disappears after ttl,
	// if ttl is not 0.
	Put(ctx context.Context, key string, value []byte, last uint64, ttl time.Duration) (revision uint64, ok bool, err error)
	// Delete removes the entry if it has that revision. Otherwise it returns
	// false.
	Delete(ctx context.Context, key string, revision uint64) (ok bool, err error)
	// Close releases the connection.
	Close()
}

// An Entry is the value of a key, with its revision and the time of the change.
type Entry struct {
	Value    []byte
	Revision uint64
	Time     time.Time
}

// ClaimOptions configures a [Claims].
type ClaimOptions struct {
	Identity keyset.Identity
	// TakeOver is the age at which the claim of another record is taken over.
	TakeOver time.Duration
	// Remember is how long a key is remembered after a record of it is durable;
	// 0: forever.
	Remember time.Duration
	Logger   *slog.Logger
}

// A Claims is the set of keys of a pipeline whose source acknowledges single
// messages. It is kept in a bucket, which several processes share. It
// implements [engine.Claims].
//
// The value of a key names the record that claims it, and its state:
//
//	claimed|done LANE POSITION ORDINAL TIME
//
// LANE contains the name of the stream and its creation time, so that the
// positions of a stream that was deleted and created again mean other records.
type Claims struct {
	bucket Bucket
	prefix string // prefix of the keys in the bucket; different for each identity
	o      ClaimOptions
	outage *logging.Outage
	slots  chan struct{} // limits the requests in flight

	counts                             func() *engine.DedupeSnapshot
	requests, takeovers, again, failed atomic.Int64
}

// maxRequests is the maximum number of requests in flight. It hides the round
// trips to the servers, and is far below their limits.
const maxRequests = 512

// The states of a claim, as the first word of its value.
const (
	stateClaimed = "claimed"
	stateDone    = "done"
)

// NewClaims returns the claims in bucket, which it closes in Close.
func NewClaims(bucket Bucket, o ClaimOptions) *Claims {
	return &Claims{
		bucket: bucket, prefix: prefixOf(o.Identity), o: o, slots: make(chan struct{}, maxRequests),
		outage: logging.NewOutage(o.Logger, "bucket of dedupe unavailable, retrying", "bucket of dedupe available again"),
		counts: func() *engine.DedupeSnapshot { return nil },
	}
}

// prefixOf returns the prefix of the keys of a set.
func prefixOf(id keyset.Identity) string {
	return fmt.Sprintf("%016x.", xxh3.HashString(Differences(keyset.Identity{}, id)))
}

// identityKey is the key of the entry with the identity of the instance that
// was started last. It contains no dot, so it is the key of no claim.
const identityKey = "identity"

// Announce logs a message if the instance that was started last has used other keys in
// the bucket, because its configuration was different. It stores the identity of this
// instance. An error means that the bucket cannot be read.
func (c *Claims) Announce(ctx context.Context) error {
	e, err := c.bucket.Get(ctx, identityKey)
	if err != nil {
		return err
	}
	var before keyset.Identity
	if e.Value != nil && json.Unmarshal(e.Value, &before) != nil {
		return fmt.Errorf("key %s: %w", identityKey, errForeign)
	}
	if maps.Equal(before, c.o.Identity) {
		return nil
	}
	if e.Value != nil {
		LogReset(c.o.Logger, before, c.o.Identity)
	}
	text, err := json.Marshal(c.o.Identity)
	if err != nil {
		return err
	}
	// Ignore an error: then only a later start cannot tell what has changed.
	// If the bucket accepts no entries, the claims report it.
	_, _, _ = c.bucket.Put(ctx, identityKey, text, e.Revision, 0)
	return nil
}

// keyOf returns the key of k in the bucket.
func (c *Claims) keyOf(k codec.Key) string {
	var b [64]byte
	return string(hex.AppendEncode(append(b[:0], c.prefix...), k.AppendTo(nil)))
}

// Claim implements [engine.Claims].
func (c *Claims) Claim(ctx context.Context, list []*engine.Claim) error {
	return c.all(ctx, list, c.claim)
}

// Settle implements [engine.Claims].
func (c *Claims) Settle(ctx context.Context, list []*engine.Claim) error {
	return c.all(ctx, list, c.settle)
}

// all calls f for each claim, many at the same time.
func (c *Claims) all(ctx context.Context, list []*engine.Claim, f func(context.Context, *engine.Claim) error) error {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var first error
	for _, cl := range list {
		select {
		case c.slots <- struct{}{}:
		case <-ctx.Done():
			wg.Wait()
			return ctx.Err()
		}
		wg.Go(func() {
			defer func() { <-c.slots }()
			if err := f(ctx, cl); err != nil {
				mu.Lock()
				defer mu.Unlock()
				first = cmp.Or(first, err)
			}
		})
	}
	wg.Wait()
	return first
}

// claim claims the key of cl, or learns why it cannot.
func (c *Claims) claim(ctx context.Context, cl *engine.Claim) error {
	key, mine := c.keyOf(cl.Key), valueOf(stateClaimed, cl)
	var last uint64
	for try := 0; ; try++ {
		revision, ok, err := c.put(ctx, key, mine, last, 0)
		if err != nil {
			return err
		}
		if ok {
			cl.Answer, cl.Revision = engine.ClaimHeld, revision
			return nil
		}
		e, err := c.get(ctx, key)
		if err != nil {
			return err
		}
		decided, err := c.judge(cl, &e)
		if decided || err != nil {
			return err
		}
		last = e.Revision
		if backOff(ctx, try) != nil {
			return ctx.Err()
		}
	}
}

// judge decides what an existing entry means for cl. If it returns false, cl
// may replace the entry.
func (c *Claims) judge(cl *engine.Claim, e *Entry) (decided bool, err error) {
	if e.Value == nil {
		return false, nil // deleted meanwhile
	}
	state, owner, err := parseValue(e.Value)
	switch {
	case err != nil:
		return false, err
	case state == stateDone:
		cl.Answer, cl.First = engine.ClaimDone, owner
		return true, nil
	case owner == cl.Origin: // claimed before a crash, or before the message was delivered again
		c.again.Add(1)
		return false, nil
	case time.Since(e.Time) < c.o.TakeOver:
		cl.Answer, cl.First = engine.ClaimDelayed, owner
		return true, nil
	}
	c.takeovers.Add(1)
	return false, nil
}

// settle writes that the record of cl is durable, or deletes the claim if
// the record was refused. If the entry has changed, settle still writes that
// a record of the key is durable, because that is true.
func (c *Claims) settle(ctx context.Context, cl *engine.Claim) error {
	key := c.keyOf(cl.Key)
	if cl.Refused {
		return c.remove(ctx, key, cl.Revision)
	}
	done, last := valueOf(stateDone, cl), cl.Revision
	for try := 0; ; try++ {
		_, ok, err := c.put(ctx, key, done, last, c.o.Remember)
		if ok || err != nil {
			return err
		}
		e, err := c.get(ctx, key)
		if err != nil {
			return err
		}
		if state, _, err := parseValue(e.Value); e.Value != nil && (err != nil || state == stateDone) {
			return err
		}
		last = e.Revision
		if backOff(ctx, try) != nil {
			return ctx.Err()
		}
	}
}

// The three functions below repeat a request until it succeeds, or ctx is done.

func (c *Claims) put(ctx context.Context, key string, value []byte, last uint64, ttl time.Duration) (revision uint64, ok bool, err error) {
	err = c.retry(ctx, func() error {
		revision, ok, err = c.bucket.Put(ctx, key, value, last, ttl)
		return err
	})
	return revision, ok, err
}

func (c *Claims) get(ctx context.Context, key string) (e Entry, err error) {
	err = c.retry(ctx, func() error {
		e, err = c.bucket.Get(ctx, key)
		return err
	})
	return e, err
}

func (c *Claims) remove(ctx context.Context, key string, revision uint64) error {
	return c.retry(ctx, func() error {
		_, err := c.bucket.Delete(ctx, key, revision) // a claim that another record has taken over has another revision, and stays
		return err
	})
}

func (c *Claims) retry(ctx context.Context, f func() error) error {
	for try := 1; ; try++ {
		c.requests.Add(1)
		err := f()
		if err == nil {
			c.outage.Clear()
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.failed.Add(1)
		c.outage.Set(err)
		if err := backOff(ctx, try+3); err != nil {
			return err
		}
	}
}

// backOff waits before another try: not at all before the first tries, then up
// to 2 s.
func backOff(ctx context.Context, try int) error {
	if try < 3 {
		return nil
	}
	return pause.For(ctx, min(time.Millisecond<<min(try, 11), 2*time.Second))
}

// valueOf returns the value of a claim.
func valueOf(state string, cl *engine.Claim) []byte {
	b := append([]byte(state), ' ')
	b = append(append(b, cl.Lane...), ' ')
	b = append(strconv.AppendInt(b, cl.Position, 10), ' ')
	b = append(strconv.AppendInt(b, int64(cl.Ordinal), 10), ' ')
	return strconv.AppendInt(b, cl.Time, 10)
}

// errForeign means that another program has written to the bucket.
var errForeign = errors.New("the dedupe bucket holds a value that urlfold has not written: name a bucket that only urlfold uses")

// parseValue is the reverse of valueOf, without the time.
func parseValue(value []byte) (state string, owner engine.Origin, err error) {
	words := strings.Split(string(value), " ")
	n := len(words)
	if n < 5 || words[0] != stateClaimed && words[0] != stateDone {
		return "", owner, errForeign
	}
	position, err1 := strconv.ParseInt(words[n-3], 10, 64)
	ordinal, err2 := strconv.Atoi(words[n-2])
	if err1 != nil || err2 != nil {
		return "", owner, errForeign
	}
	return words[0], engine.Origin{Lane: strings.Join(words[1:n-3], " "), Position: position, Ordinal: ordinal}, nil
}

// Health implements [engine.Healther].
func (c *Claims) Health() error {
	if h, ok := c.bucket.(engine.Healther); ok && h.Health() != nil {
		return h.Health()
	}
	return c.outage.Err()
}

// Count sets the function that returns the counts for metrics.
func (c *Claims) Count(f func() *engine.DedupeSnapshot) { c.counts = f }

// Metrics emits the metrics of the claims.
func (c *Claims) Metrics(emit metric.Emit) {
	count, gauge := metric.Of(emit)
	count("dedupe_bucket_requests_total", "Number of requests to the dedupe bucket, including repeated requests.", c.requests.Load())
	count("dedupe_bucket_errors_total", "Number of requests to the dedupe bucket that failed and were repeated.", c.failed.Load())
	count("dedupe_takeovers_total", "Number of claims of other records that were old enough to be taken over.", c.takeovers.Load())
	count("dedupe_reclaims_total", "Number of claims that were found again, because their messages were delivered again.", c.again.Load())
	if s := c.counts(); s != nil {
		emitCounts(emit, s)
		count("dedupe_records_total", resultsHelp, s.Delayed, "result", "delayed")
		gauge("dedupe_waiting_keys", waitingHelp, int64(s.Waiting))
	}
}

// Close closes the bucket.
func (c *Claims) Close() error {
	c.bucket.Close()
	return nil
}

// Interface guards.
var (
	_ engine.Claims   = (*Claims)(nil)
	_ engine.Healther = (*Claims)(nil)
)
