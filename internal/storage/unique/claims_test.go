package unique

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/storage/keyset"
	"github.com/urlfold/urlfold/internal/testkit/bubble"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// member returns the claims of another process in a calm world.
func (w *claimWorld) member(wrap func(Bucket) Bucket) *Claims {
	var b Bucket = simClaims{&member{w: w}}
	if wrap != nil {
		b = wrap(b)
	}
	return NewClaims(b, ClaimOptions{Identity: simIdentity, TakeOver: w.takeOver})
}

// ask claims key A for the record at a position.
func ask(t *testing.T, c *Claims, position int64) *engine.Claim {
	t.Helper()
	cl := &engine.Claim{Key: codec.KeyFromUint64s('A', 1), Origin: engine.Origin{Lane: "jetstream/IN/d/0", Position: position}}
	if err := c.Claim(t.Context(), []*engine.Claim{cl}); err != nil {
		t.Error(err)
	}
	return cl
}

// settle settles a claim.
func settle(t *testing.T, c *Claims, cl *engine.Claim) {
	t.Helper()
	if err := c.Settle(t.Context(), []*engine.Claim{cl}); err != nil {
		t.Error(err)
	}
}

func want(t *testing.T, what string, cl *engine.Claim, answer engine.ClaimAnswer) {
	t.Helper()
	if cl.Answer != answer {
		t.Errorf("%s: answer %d, want %d", what, cl.Answer, answer)
	}
}

// calmly runs f in a world without faults.
func calmly(t *testing.T, f func(t *testing.T, w *claimWorld)) {
	bubble.Test(t, func(t *testing.T) {
		w := newClaimWorld(t, 1)
		w.calm = true
		for _, s := range w.sinks {
			s.keys[w.bucketKey("A")] = 1
		}
		f(t, w)
	})
}

// TestClaimRedelivery: a record that is delivered again holds its own claim, in
// another process too, however old the claim is; the same position of another
// stream is another record.
func TestClaimRedelivery(t *testing.T) {
	calmly(t, func(t *testing.T, w *claimWorld) {
		a, b := w.member(nil), w.member(nil)
		want(t, "the first", ask(t, a, 1), engine.ClaimHeld)
		want(t, "a duplicate", ask(t, b, 2), engine.ClaimDelayed)
		again := ask(t, b, 1)
		want(t, "the first, delivered again", again, engine.ClaimHeld)
		settle(t, b, again)
		want(t, "a duplicate of a durable record", ask(t, a, 2), engine.ClaimDone)
		want(t, "the first after its record is durable", ask(t, a, 1), engine.ClaimDone)
	})
}

// TestClaimTakeOver: an old claim is taken over by one record only. The slow
// owner can still declare its record durable, which everybody then relies on.
func TestClaimTakeOver(t *testing.T) {
	calmly(t, func(t *testing.T, w *claimWorld) {
		slow := w.member(nil)
		first := ask(t, slow, 1)
		time.Sleep(w.takeOver)
		var read sync.WaitGroup
		read.Add(2)
		var claims [2]*engine.Claim
		var wg sync.WaitGroup
		var members [2]*Claims
		for i := range claims {
			members[i] = w.member(func(b Bucket) Bucket { return &readBarrier{Bucket: b, read: &read} })
			wg.Go(func() { claims[i] = ask(t, members[i], int64(2+i)) })
		}
		wg.Wait()
		held := 0
		for _, cl := range claims {
			if cl.Answer == engine.ClaimHeld {
				held++
			}
		}
		if held != 1 {
			t.Errorf("%d records have taken the claim over, want 1", held)
		}
		settle(t, slow, first)
		want(t, "after the slow owner has finished", ask(t, w.member(nil), 9), engine.ClaimDone)
		for i, cl := range claims {
			if cl.Answer == engine.ClaimHeld {
				cl.Refused = i == 0
				settle(t, members[i], cl) // neither a refusal nor another done changes the owner
			}
		}
		want(t, "in the end", ask(t, w.member(nil), 9), engine.ClaimDone)
	})
}

// A readBarrier lets the first Get return when all members have read.
type readBarrier struct {
	Bucket
	read *sync.WaitGroup
	once sync.Once
}

func (b *readBarrier) Get(ctx context.Context, key string) (Entry, error) {
	e, err := b.Bucket.Get(ctx, key)
	b.once.Do(func() { b.read.Done(); b.read.Wait() })
	return e, err
}

// TestClaimRefused: after a sink has refused the first record, the next record
// is the first, at once. A claim that another record has taken over stays.
func TestClaimRefused(t *testing.T) {
	calmly(t, func(t *testing.T, w *claimWorld) {
		a, b := w.member(nil), w.member(nil)
		first := ask(t, a, 1)
		first.Refused = true
		settle(t, a, first)
		second := ask(t, b, 2)
		want(t, "the next record", second, engine.ClaimHeld)
		settle(t, a, first) // as if its answer had been lost
		want(t, "a third record", ask(t, a, 3), engine.ClaimDelayed)
	})
}

// TestClaimHolderBehind: a record that holds its key since before a crash claims it
// again, although another record of the key, which is delivered together with it
// each time, comes first. So neither waits until the claim can be taken over.
func TestClaimHolderBehind(t *testing.T) {
	for _, mark := range []bool{false, true} {
		calmly(t, func(t *testing.T, w *claimWorld) {
			w.mark, w.together, w.takeOver = mark, true, 10_000*time.Hour
			w.messages = []*simMessage{{seq: 1, lines: []string{"A1"}}, {seq: 2, lines: []string{"A2", "A3"}}, {seq: 3, lines: []string{"A4"}}}
			w.all = slices.Clone(w.messages)
			want(t, "the second message", ask(t, w.member(nil), 2), engine.ClaimHeld)
			w.live(0)
			if took := time.Since(w.began); took > time.Hour {
				t.Errorf("mark %t: it took %v", mark, took)
			}
			for _, s := range w.sinks[:2] {
				if s.firsts["A2"] != 1 || s.keys[w.bucketKey("A")] != 2 { // calmly has written one of the two
					t.Errorf("mark %t: %s has %v, want A2 as the first record", mark, s.name, s.lines)
				}
			}
		})
	}
}

// TestAckAfterDone: a message is acknowledged only after its key is done. So
// after a crash between the two, the message is delivered again, and no
// duplicate becomes the first record.
func TestAckAfterDone(t *testing.T) {
	calmly(t, func(t *testing.T, w *claimWorld) {
		w.messages = []*simMessage{{seq: 1, lines: []string{"A1"}}}
		w.all = slices.Clone(w.messages)
		blocked := make(chan struct{})
		w.beforeDone = func() {
			w.mu.Lock()
			acked, durable := w.messages[0].acked, w.sinks[0].lines["A1"]+w.sinks[1].lines["A1"]
			w.mu.Unlock()
			if acked || durable != 2 {
				t.Errorf("acknowledged: %t, durable in %d sinks, before the key is done", acked, durable)
			}
			select {
			case <-blocked:
			default:
				close(blocked)
			}
			time.Sleep(time.Hour)
		}
		w.live(0)
		select {
		case <-blocked:
		default:
			t.Error("the key was never done")
		}
	})
}

// TestSimClaimsExact: without faults, long pauses and refused records, each key
// comes once, whatever the number of members.
func TestSimClaimsExact(t *testing.T) {
	for seed := range uint64(20) {
		bubble.Test(t, func(t *testing.T) {
			w := newClaimWorld(t, seed)
			w.calm, w.ackWait, w.takeOver = true, time.Hour, time.Hour
			w.publish(60, 10)
			for _, m := range w.messages {
				for i, line := range m.lines {
					m.lines[i] = line[:1] + "n" + line[1:] // refused by no sink
				}
			}
			var wg sync.WaitGroup
			for range 3 {
				wg.Go(func() { w.live(0) })
			}
			wg.Wait()
			for _, s := range w.sinks[:2] {
				for key, n := range s.keys {
					if n != 1 && key != w.bucketKey("-") {
						t.Errorf("seed %d: %s holds %s %d times", seed, s.name, key, n)
					}
				}
			}
		})
	}
}

// TestAnnounce: an instance with another configuration than the one that was
// started last logs what has changed.
func TestAnnounce(t *testing.T) {
	calmly(t, func(t *testing.T, w *claimWorld) {
		for _, c := range []struct{ by, want string }{{"equivalent", ""}, {"equivalent", ""}, {"fetch", `by was \"equivalent\" and is \"fetch\"`}, {"fetch", ""}} {
			var log bytes.Buffer
			claims := NewClaims(simClaims{&member{w: w}}, ClaimOptions{Identity: keyset.Identity{"by": c.by}, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			if err := claims.Announce(t.Context()); err != nil {
				t.Error(err)
			}
			if c.want == "" && log.Len() > 0 || !strings.Contains(log.String(), c.want) {
				t.Errorf("%s: %q, want %q", c.by, &log, c.want)
			}
		}
		w.bucket[identityKey] = Entry{Value: []byte("?"), Revision: 99}
		if err := w.member(nil).Announce(t.Context()); !errors.Is(err, errForeign) {
			t.Errorf("a value of another program: %v", err)
		}
	})
}
