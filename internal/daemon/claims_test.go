package daemon

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/urlfold/urlfold/internal/testkit/natstest"
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
