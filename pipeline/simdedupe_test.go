package pipeline

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/testkit/bubble"
)

// A simUnique is the deduplication of a world, with the set of keys that
// survives the death of a process. A nil simUnique does nothing.
type simUnique struct {
	w       *world
	scope   Scope
	room    int
	letters int // size of the alphabet of keys

	// Guarded by the mutex of the world.
	stored map[codec.Key]bool // stored with the positions
	sealed map[codec.Key]bool // what CommitKeys is to store
	slow   bool               // one batch is to be held for an hour
}

// revokes reports whether lanes may be revoked.
func (w *world) revokes() bool {
	return !w.once && (w.unique == nil || w.unique.scope == ScopeLane)
}

// keyOf returns the key of a line, or zero for some lines.
func (u *simUnique) keyOf(line string) (k codec.Key) {
	n, _ := strconv.Atoi(line[1:])
	if line[0] == 'b' && n%5 == 0 {
		return k
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(line[1:]))
	return codec.Key{Hi: 1 + h.Sum64()%uint64(u.letters), Lo: 7}
}

// in returns k as a key of the scope of a lane.
func (u *simUnique) in(lane int, k codec.Key) codec.Key {
	if u.scope == ScopeAll || k == (codec.Key{}) {
		return k
	}
	d := decisions{}
	return d.seriesOf(newLane(strconv.Itoa(lane), 1)).keyIn(k)
}

// codecKey returns the key function of the codec.
func (u *simUnique) codecKey() func(rec []byte) codec.Key {
	if u == nil {
		return nil
	}
	return func(rec []byte) codec.Key { return u.keyOf(string(rec[:len(rec)-1])) }
}

// written reports whether the codec passes the line on to the sinks.
func written(line string) bool { return line[0] != 'D' && line[0] != 'X' && line[0] != 'P' }

// covers reports whether a sink holds another line with the key of line.
func (u *simUnique) covers(s *simSink, lane int, line string) bool {
	if u == nil || u.keyOf(line) == (codec.Key{}) {
		return false
	}
	k := u.keyOf(line)
	for i := range u.w.lines {
		if u.scope == ScopeLane && i != lane {
			continue
		}
		for other := range s.durable[i] {
			if u.keyOf(other) == k {
				return true
			}
		}
	}
	return false
}

// hold keeps one batch of the last process of a world for an hour.
func (u *simUnique) hold() {
	if u == nil || !u.w.chance(2) {
		return
	}
	u.w.mu.Lock()
	slow := u.slow
	u.slow = false
	u.w.mu.Unlock()
	if slow {
		time.Sleep(time.Hour)
	}
}

// begin prepares the options of a process. last is set for the last one.
func (u *simUnique) begin(o *Options, last bool) {
	if u == nil {
		return
	}
	u.slow = last
	o.Dedupe = &Dedupe{Set: &simKeys{u: u, members: maps.Clone(u.stored)}, Scope: u.scope, Room: u.room}
}

// A simKeys is the set of keys of one process.
type simKeys struct {
	u       *simUnique
	members map[codec.Key]bool // guarded by the mutex of the world
	last    []codec.Key        // of the last Seal, if it was not stored
}

func (s *simKeys) Has(k codec.Key) (bool, error) {
	w := s.u.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if k == (codec.Key{}) {
		w.t.Error("the set was asked for the zero key")
	}
	return s.members[k], nil
}

// Seal implements KeySet.
func (s *simKeys) Seal(keys []codec.Key) ([]byte, error) {
	w := s.u.w
	if len(keys) < len(s.last) || !slices.Equal(keys[:len(s.last)], s.last) {
		w.t.Errorf("Seal(%v) after %v was not stored", keys, s.last)
	}
	if len(keys) == 0 {
		return nil, nil
	}
	if w.chance(5) {
		w.trouble()
		return nil, errors.New("disk full")
	}
	s.last = slices.Clone(keys)
	w.mu.Lock()
	defer w.mu.Unlock()
	s.u.sealed = maps.Clone(s.members)
	for _, k := range keys {
		s.u.sealed[k] = true
	}
	return []byte("keys"), nil
}

// Stored implements KeySet.
func (s *simKeys) Stored() error {
	s.u.w.mu.Lock()
	defer s.u.w.mu.Unlock()
	for _, k := range s.last {
		s.members[k] = true
	}
	s.last = nil
	return nil
}

// CommitKeys implements KeyCommitter. It may fail although everything is
// stored.
func (s *simSource) CommitKeys(ctx context.Context, cut KeyCut) error {
	err := s.Commit(ctx, cut.Ups)
	if err != nil {
		return err
	}
	w := s.w
	unsure := w.chance(3)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead || s.life != w.life {
		return nil
	}
	if cut.Exact {
		for _, sink := range w.all() {
			sink.stored = sink.marked
		}
	}
	if cut.Keys != nil {
		w.unique.stored = w.unique.sealed
	}
	w.unique.judgeKeys()
	if unsure {
		w.troubles++
		return errors.New("stored, but the sync failed")
	}
	return nil
}

// judgeKeys checks that each stored key has a durable line in every sink, and
// if a restart truncates the sinks, that this line survives and is not read
// again. The caller holds the mutex of the world.
func (u *simUnique) judgeKeys() {
	w := u.w
	for k, s := range w.sinks {
		there := map[codec.Key]bool{}
		for i := range w.lines {
			for at, line := range s.taken[i] {
				n, _ := strconv.Atoi(line[1:])
				if w.once && (at >= s.stored.taken[i] || int64(n) >= w.committed[i]) {
					continue
				}
				if s.durable[i][line] {
					there[u.in(i, u.keyOf(line))] = true
				}
			}
		}
		for key := range u.stored {
			if !there[key] {
				w.t.Errorf("key %v is stored, but sink %d has no record of it that is durable and before the positions", key, k)
			}
		}
	}
}

// judge checks how often the sinks hold each key at the end.
func (u *simUnique) judge() {
	if u == nil {
		return
	}
	w := u.w
	quiet := w.policy == RefusedBlock && w.ordering == OrderPerLane && // without an order, sinks forget what they took
		!slices.ContainsFunc(w.restarts, func(n int) bool { return n > 0 })
	exact := w.policy == RefusedBlock && w.once
	for _, s := range w.sinks {
		count := map[codec.Key]int{}
		for i := range w.lines {
			for _, line := range s.taken[i] {
				count[u.in(i, u.keyOf(line))]++
			}
		}
		delete(count, codec.Key{})
		for k, n := range count {
			if n > 1 && (quiet || exact) {
				w.t.Errorf("%s: key %v comes %d times, want once", s.name, k, n)
			}
		}
		if exact && len(w.lines) == 1 {
			u.judgeFirsts(s)
		}
	}
}

// judgeFirsts checks that a sink holds the lines that a process without faults
// writes, in the same order, for a world with one lane.
func (u *simUnique) judgeFirsts(s *simSink) {
	var want []string
	seen := map[codec.Key]bool{{}: false}
	for _, line := range u.w.lines[0] {
		if k := u.keyOf(line); written(line) && !seen[k] {
			want = append(want, line)
			seen[k] = k != codec.Key{}
		}
	}
	sameLines(u.w.t, s.name+", the first line of each key", s.taken[0], want, true)
}

// TestSimDedupe: in every simulated world with deduplication, at each commit and
// at the end, a line that was dropped has another line of its key in every sink,
// or is a dead letter; the stored keys are exactly those that the stored
// positions cover; with exactly_once each key comes once, and with one lane the
// output is that of a run without faults.
func TestSimDedupe(t *testing.T) {
	troubles := 0
	for seed := range seedsOf(t, 192) {
		pick := rand.New(rand.NewPCG(seed, 77))
		ordering := [...]Ordering{OrderNone, OrderPerLane}[seed%2]
		policy := [...]RefusedPolicy{RefusedDeadLetter, RefusedBlock}[seed/2%2]
		scope := [...]Scope{ScopeAll, ScopeAll, ScopeLane}[seed/4%3]
		ok := t.Run(fmt.Sprintf("%v-%v-%d", ordering, policy, seed), func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				w := &world{t: t, ordering: ordering, policy: policy, rng: rand.New(rand.NewPCG(seed, 31))}
				w.once = ordering == OrderPerLane && pick.IntN(2) == 0
				w.unique = &simUnique{w: w, scope: scope, room: [...]int{8, 50, 0}[pick.IntN(3)], letters: 1 + pick.IntN(60), stored: map[codec.Key]bool{}}
				for range 1 + pick.IntN(5)*pick.IntN(2) {
					w.lines = append(w.lines, numbered(w.pick(300), "aabDXabPaSbRaaNb"))
				}
				w.committed, w.restarts = make([]int64, len(w.lines)), make([]int, len(w.lines))
				w.deadSink = w.sink("dead letter", false)
				w.sinks = []*simSink{w.sink("sink 0", pick.IntN(4) == 0), w.sink("sink 1", pick.IntN(2) == 0)}
				for range w.pick(4) {
					w.live(time.Duration(1+w.pick(60_000)) * time.Millisecond)
					for i := range w.lines {
						w.restart(i)
					}
				}
				w.live(0)
				w.judge()
				troubles += w.troubles
			})
		})
		if !ok {
			return // one failure is enough
		}
	}
	if troubles == 0 {
		t.Error("no faults, so the test is inconclusive")
	}
}
