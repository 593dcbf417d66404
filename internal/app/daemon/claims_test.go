package daemon

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/urlfold/urlfold/internal/observe/web"
	"github.com/urlfold/urlfold/internal/testkit"
	"github.com/urlfold/urlfold/internal/testkit/natstest"
	"github.com/urlfold/urlfold/pipeline/engine"
	source "github.com/urlfold/urlfold/sources/nats"
)

// TestDedupeBucketConnect: validate --connect rejects a bucket whose claims could
// expire, and does not create a missing one. A run creates it.
func TestDedupeBucketConnect(t *testing.T) {
	srv := natstest.Start(t, nil)
	nc, err := nats.Connect(srv.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "s", Subjects: []string{"s"}}); err != nil {
		t.Fatal(err)
	}
	f, err := loadText(t, strings.Replace(claiming, "nats://h:1", srv.URL(), 1))
	if err != nil {
		t.Fatal(err)
	}
	p, err := testCatalog(t).newPlan(f)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.connect(t.Context()); err != nil {
		t.Errorf("without a bucket: %v", err)
	}
	if _, err := js.KeyValue(t.Context(), "seen"); err == nil {
		t.Fatal("the check has created the bucket")
	}
	var c parts
	if err := p.openClaims(t.Context(), &c, discardLog); err != nil {
		t.Fatal(err)
	}
	if err := c.closeKeys(); err != nil {
		t.Error(err)
	}
	if err := js.DeleteKeyValue(t.Context(), "seen"); err != nil {
		t.Errorf("the run has not created the bucket: %v", err)
	}
	if _, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "seen", TTL: time.Hour}); err != nil {
		t.Fatal(err)
	}
	const want = `c.yaml:5:26: bucket: bucket "seen" has a TTL of 1h0m0s for all entries`
	if _, err := p.connect(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v\nwant %s", err, want)
	}
	if err := p.openClaims(t.Context(), &c, discardLog); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v\nwant %s", err, want)
	}
}

// claimingPlan returns the plan of a run that claims keys on srv, which has its
// stream.
func claimingPlan(t *testing.T, srv *natstest.Server) (*plan, jetstream.JetStream) {
	t.Helper()
	nc, err := nats.Connect(srv.URL(), nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "s", Subjects: []string{"s"}}); err != nil {
		t.Fatal(err)
	}
	f, err := loadText(t, strings.Replace(claiming, "nats://h:1", srv.URL(), 1))
	if err != nil {
		t.Fatal(err)
	}
	p, err := testCatalog(t).newPlan(f)
	if err != nil {
		t.Fatal(err)
	}
	return p, js
}

// TestBucketChanged: a bucket that is deleted while a run uses it is created again,
// and a TTL that is set on it meanwhile is reported.
func TestBucketChanged(t *testing.T) {
	t.Parallel()
	p, js := claimingPlan(t, natstest.Start(t, nil))
	var log testkit.Log
	var c parts
	if err := p.openClaims(t.Context(), &c, log.Logger()); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.closeKeys() }()
	claim := func(lane string) *engine.Claim {
		t.Helper()
		list := claimList(lane, 0, 1)
		if err := c.claims.Claim(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		return list[0]
	}
	first := claim("a")
	if err := js.DeleteKeyValue(t.Context(), "seen"); err != nil {
		t.Fatal(err)
	}
	if err := c.claims.Settle(t.Context(), []*engine.Claim{first}); err != nil {
		t.Fatal(err)
	}
	if again := claim("b"); again.Answer != engine.ClaimDone {
		t.Errorf("%+v", again)
	}
	log.Wants(t, "level=ERROR", "bucket recreated, its keys are lost", "bucket=seen")
	log.Wants(t, "level=WARN", "bucket of dedupe unavailable, retrying", "write to bucket seen")
	until(t, "the bucket to be healthy", func() bool { return c.claims.Health() == nil })
	s, err := js.Stream(t.Context(), "KV_seen")
	if err != nil {
		t.Fatal(err)
	}
	changed := s.CachedInfo().Config
	changed.MaxAge = time.Hour
	if _, err := js.UpdateStream(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	until(t, "the TTL to be reported", func() bool {
		err := c.claims.Health()
		return err != nil && strings.Contains(err.Error(), `bucket "seen" has a TTL of 1h0m0s for all entries`) && strings.Contains(err.Error(), "without --ttl")
	})
	log.Wants(t, "level=WARN", "bucket unusable", "has a TTL")
}

// TestBucketUnreachable: a run whose bucket cannot be reached at the start waits,
// is not ready, and says why. It opens the bucket when the server is back.
func TestBucketUnreachable(t *testing.T) {
	t.Parallel()
	srv := natstest.Start(t, func(o *server.Options) { o.StoreDir = t.TempDir() })
	p, _ := claimingPlan(t, srv)
	srv.Down()
	source := p.file.Sources[0].Config.(*source.JetStreamConfig)
	source.ConnectTimeout = 200 * time.Millisecond
	var log testkit.Log
	d, err := p.catalog.New(p.file, Options{Log: &log})
	if err != nil {
		t.Fatal(err)
	}
	var c parts
	opened := make(chan error, 1)
	go func() { opened <- d.openDedupe(t.Context(), p, &c) }()
	until(t, "the reason in /readyz", func() bool {
		ok, checks := d.server.Ready()
		return !ok && slices.ContainsFunc(checks, func(c web.Check) bool {
			return c.Name == "dedupe" && strings.Contains(c.Reason, "cannot connect to NATS at "+srv.Addr())
		})
	})
	srv.Up()
	if err := <-opened; err != nil {
		t.Fatal(err)
	}
	if err := c.closeKeys(); err != nil {
		t.Error(err)
	}
	if _, checks := d.server.Ready(); slices.ContainsFunc(checks, func(c web.Check) bool { return c.Name == "dedupe" }) {
		t.Errorf("%+v", checks)
	}
	log.Wants(t, "level=WARN", "keys of dedupe unavailable, waiting", "cannot connect to NATS")
	log.Wants(t, "level=INFO", "keys of dedupe available")
}

// until waits until f returns true.
func until(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(3 * time.Minute); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("timeout waiting for: %s", what)
		}
	}
}
