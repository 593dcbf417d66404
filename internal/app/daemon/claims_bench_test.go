package daemon

import (
	"fmt"
	"testing"
	"time"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/config/connect"
	client "github.com/urlfold/urlfold/internal/client/nats"
	"github.com/urlfold/urlfold/internal/storage/keyset"
	"github.com/urlfold/urlfold/internal/storage/unique"
	"github.com/urlfold/urlfold/internal/testkit/natstest"
	"github.com/urlfold/urlfold/internal/testkit/proxy"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// BenchmarkClaims claims new keys in a bucket, and settles them, one after the
// other and with all requests of a batch in flight,
// with a server that is 2 ms away.
func BenchmarkClaims(b *testing.B) {
	cfg := connect.DefaultNATS()
	far := proxy.New(b, natstest.Start(b, nil).Addr())
	cfg.Servers = []string{"nats://" + far.Addr()}
	conn, err := client.Connect(b.Context(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	bucket, err := conn.OpenBucket(b.Context(), client.BucketConfig{Name: "seen", Create: true, Replicas: 1})
	if err != nil {
		b.Fatal(err)
	}
	c := unique.NewClaims(claimBucket{Bucket: bucket, conn: conn}, unique.ClaimOptions{Identity: keyset.Identity{"by": "k1"}, TakeOver: time.Minute})
	defer func() { _ = c.Close() }()
	far.Delay(time.Millisecond)
	key := uint64(0)
	for _, n := range []int{1, 1000} {
		b.Run(fmt.Sprintf("%d_in_flight", n), func(b *testing.B) {
			for done := 0; done < b.N; done += n {
				list := make([]*engine.Claim, n)
				for i := range list {
					key++
					list[i] = &engine.Claim{Key: codec.KeyFromUint64s(key*0x9e3779b97f4a7c15, key), Origin: engine.Origin{Lane: "jetstream/IN/d/0", Position: int64(key)}}
				}
				if err := c.Claim(b.Context(), list); err != nil {
					b.Fatal(err)
				}
				if err := c.Settle(b.Context(), list); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "keys/s")
		})
	}
}
