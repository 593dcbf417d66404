package nats

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/internal/testkit/natstest"
)

// dialBucket returns a connection to a server of its own.
func dialBucket(t *testing.T) *Conn {
	t.Helper()
	srv := natstest.Start(t, nil)
	cfg := connect.DefaultNATS()
	cfg.Servers = []string{srv.URL()}
	c, err := Connect(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TestBucket: values change only by revision; a deleted key and an expired one
// can be created again.
func TestBucket(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	b, err := dialBucket(t).OpenBucket(ctx, BucketConfig{Name: "b", TTL: true, Create: true, Replicas: 1})
	if err != nil {
		t.Fatal(err)
	}
	put := func(value string, last uint64, ttl time.Duration, want bool) uint64 {
		t.Helper()
		rev, ok, err := b.Put(ctx, "k", []byte(value), last, ttl)
		if err != nil || ok != want {
			t.Fatalf("Put(%s, %d) = %t, %v", value, last, ok, err)
		}
		return rev
	}
	get := func(want string) uint64 {
		t.Helper()
		e, err := b.Get(ctx, "k")
		if err != nil || string(e.Value) != want {
			t.Fatalf("Get = %q, %v, want %q", e.Value, err, want)
		}
		return e.Revision
	}
	if get("") != 0 {
		t.Error("a new key has a revision")
	}
	one := put("one", 0, 0, true)
	put("two", 0, 0, false)
	put("two", one+1, 0, false)
	two := put("two", one, 0, true)
	put("three", one, 0, false)
	if get("two") != two {
		t.Error("another revision")
	}
	if ok, err := b.Delete(ctx, "k", one); ok || err != nil {
		t.Errorf("Delete of an old revision: %t, %v", ok, err)
	}
	if ok, err := b.Delete(ctx, "k", two); !ok || err != nil {
		t.Errorf("Delete: %t, %v", ok, err)
	}
	last := get("")
	put("four", last, time.Second, true)
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		e, err := b.Get(ctx, "k")
		if err != nil || time.Now().After(end) {
			t.Fatalf("%q does not expire: %v", e.Value, err)
		}
		if last = e.Revision; e.Value == nil {
			break
		}
	}
	put("five", last, 0, true)
	get("five")
}

// TestBucketRefused: a bucket that forgets claims by itself is an error that says
// what to do.
func TestBucketRefused(t *testing.T) {
	t.Parallel()
	c := dialBucket(t)
	if _, err := c.OpenBucket(t.Context(), BucketConfig{Name: "none"}); !errors.Is(err, ErrNoStream) {
		t.Errorf("a bucket that does not exist: %v", err)
	}
	for _, k := range []struct {
		name   string
		ttl    bool
		change func(*jetstream.StreamConfig)
		want   string
	}{
		{"good", true, func(*jetstream.StreamConfig) {}, ""},
		{"ttl", false, func(s *jetstream.StreamConfig) { s.MaxAge = time.Hour }, "has a TTL of 1h0m0s for all entries"},
		{"evicts", false, func(s *jetstream.StreamConfig) { s.MaxBytes, s.Discard = 1<<20, jetstream.DiscardOld }, "removes old entries when it is full"},
		{"limited", false, func(s *jetstream.StreamConfig) { s.MaxBytes = 1 << 20 }, ""},
		{"old", true, func(s *jetstream.StreamConfig) { s.AllowMsgTTL = false }, "nats stream edit KV_old --allow-msg-ttl"},
		{"norollup", false, func(s *jetstream.StreamConfig) { s.AllowRollup = false }, "does not permit rollups"},
	} {
		s := jetstream.StreamConfig{
			Name: "KV_" + k.name, Subjects: []string{"$KV." + k.name + ".>"}, MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew,
			AllowRollup: true, AllowDirect: true, AllowMsgTTL: true, Storage: jetstream.MemoryStorage,
		}
		k.change(&s)
		if _, err := c.js.CreateStream(context.Background(), s); err != nil {
			t.Fatal(err)
		}
		_, err := c.OpenBucket(t.Context(), BucketConfig{Name: k.name, TTL: k.ttl})
		if (err == nil) != (k.want == "") || err != nil && !strings.Contains(err.Error(), k.want) {
			t.Errorf("%s: %v, want %q", k.name, err, k.want)
		}
	}
}

// TestStored: a response is understood with and without the short cut.
func TestStored(t *testing.T) {
	for _, c := range []struct {
		response string
		want     uint64
		err      string
	}{
		{`{"stream":"KV_b","seq":17}`, 17, ""},
		{`{"stream":"KV_b", "seq": 17}`, 17, ""},
		{`{"stream":"KV_b","domain":"hub","seq":9223372036854775807,"duplicate":true}`, 1<<63 - 1, ""},
		{`{"seq":3,"stream":"KV_b"}`, 3, ""},
		{`{"type":"x","stream":"KV_b","seq":5}`, 5, ""},
		{`{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 4"},"stream":"KV_b","seq":0}`, 0, "wrong last sequence: 4"},
		{`{"stream":"KV_b","error":{"code":503,"err_code":10077,"description":"maximum messages exceeded"},"seq":7}`, 0, "maximum messages exceeded"},
		{`{"stream":"KV_b"}`, 0, errAnswer.Error()},
		{`{"stream":"KV_b","seq":0}`, 0, errAnswer.Error()},
		{`+OK`, 0, errAnswer.Error()},
		{``, 0, errAnswer.Error()},
	} {
		got, err := readStored([]byte(c.response))
		if got.seq != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %d, %v", c.response, got.seq, err)
		}
	}
}
