package daemon

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/config/connect"
	client "github.com/urlfold/urlfold/internal/client/nats"
	"github.com/urlfold/urlfold/internal/storage/keyset"
	"github.com/urlfold/urlfold/internal/storage/unique"
	"github.com/urlfold/urlfold/internal/testkit/natstest"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// clusterClaims returns the claims of a process with a separate connection.
func clusterClaims(t *testing.T, servers []*natstest.Server) *unique.Claims {
	t.Helper()
	cfg := connect.DefaultNATS()
	cfg.ReconnectWait = 10 * time.Millisecond
	for _, s := range servers {
		cfg.Servers = append(cfg.Servers, s.URL())
	}
	conn, err := client.Connect(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	var bucket *client.Bucket
	for end := time.Now().Add(3 * time.Minute); bucket == nil; { // a new cluster does not answer before it has leaders
		if bucket, err = conn.OpenBucket(t.Context(), client.BucketConfig{Name: "seen", Create: true, Replicas: 3}); time.Now().After(end) {
			t.Fatal(err)
		}
	}
	c := unique.NewClaims(claimBucket{Bucket: bucket, conn: conn}, unique.ClaimOptions{Identity: keyset.Identity{"by": "k1"}, TakeOver: time.Hour})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// claimList returns claims of keys for the records of a lane.
func claimList(lane string, from, n int) (list []*engine.Claim) {
	for i := range n {
		list = append(list, &engine.Claim{Key: codec.KeyFromUint64s(uint64(from+i), 1), Origin: engine.Origin{Lane: lane, Position: int64(i)}})
	}
	return list
}

// TestClaimsCluster: of three processes that claim the same keys in a bucket with
// three replicas at the same time, one gets each key. Without a quorum, a claim
// waits, and Health says why.
func TestClaimsCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("starts three servers; run without -short")
	}
	servers := natstest.Cluster(t, 3)
	const n = 300
	var lists [3][]*engine.Claim
	var members [3]*unique.Claims
	var wg sync.WaitGroup
	for i := range members {
		members[i] = clusterClaims(t, servers)
		lists[i] = claimList("jetstream/IN/d/"+string(rune('a'+i)), 1, n)
	}
	for i, c := range members {
		wg.Go(func() {
			if err := c.Claim(t.Context(), lists[i]); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for k := range n {
		held := 0
		for i := range lists {
			if lists[i][k].Answer == engine.ClaimHeld {
				held++
			}
		}
		if held != 1 {
			t.Errorf("%d processes hold key %d, want 1", held, k)
		}
	}

	servers[1].Down()
	servers[2].Down()
	done := make(chan error, 1)
	more := claimList("jetstream/IN/d/a", 10_000, 20)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	go func() { done <- members[0].Claim(ctx, more) }()
	for members[0].Health() == nil {
		select {
		case err := <-done:
			t.Fatalf("a claim without a quorum has succeeded: %v", err)
		case <-ctx.Done():
			t.Fatal("Health reports nothing")
		case <-time.After(10 * time.Millisecond):
		}
	}
	servers[1].Up()
	servers[2].Up()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	for _, cl := range more {
		if cl.Answer != engine.ClaimHeld {
			t.Errorf("key %v: answer %d after the quorum is back", cl.Key, cl.Answer)
		}
	}
	if err := members[0].Health(); err != nil {
		t.Errorf("after the quorum is back: %v", err)
	}
}
