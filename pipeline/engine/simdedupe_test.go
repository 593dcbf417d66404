package engine

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
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
	window  *Window
	mark    bool // duplicates are marked and kept

	// Guarded by the mutex of the world.
	stored simSet // stored with the positions
	sealed simSet // what CommitKeys is to store
	slow   bool   // one batch is to be held for an hour
	forgot int    // keys that were forgotten
	marked int    // lines that are marked at the end
}

// A simSet is a set of keys with their windows.
type simSet struct {
	keys  map[codec.Key]uint32
	state []byte // of the windows
}

func (s simSet) clone() simSet { return simSet{maps.Clone(s.keys), s.state} }

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
	return codec.KeyFromUint64s(1+h.Sum64()%uint64(u.letters), 7)
}

// in returns the key of a line in its window and the scope of its lane.
func (u *simUnique) in(lane int, line string) codec.Key {
	k := u.keyOf(line)
	if k == (codec.Key{}) {
		return k
	}
	if u.window != nil {
		t, ok := u.timeOf(line)
		if !ok {
			return codec.Key{}
		}
		window, _ := u.window.of(t)
		k = inWindow(k, window)
	}
	if u.scope == ScopeAll {
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
	if u == nil || u.mark || u.in(lane, line) == (codec.Key{}) {
		return false
	}
	k := u.in(lane, line)
	for i := range u.w.lines {
		for other := range s.durable[i] {
			if u.in(i, other) == k {
				return true
			}
		}
	}
	return false
}

// marks reports whether duplicates are marked and kept.
func (u *simUnique) marks() bool { return u != nil && u.mark }

// unmarked reports whether a sink holds a line with the key of line that is not
// marked, or the key has a dead letter. The caller holds the mutex of the world.
func (u *simUnique) unmarked(s *simSink, lane int, line string) bool {
	if !u.marks() || s.firsts[lane][line] || u.w.deadSink.durable[lane][line] {
		return true
	}
	k := u.in(lane, line)
	if k == (codec.Key{}) {
		return false
	}
	for _, lines := range [][]map[string]bool{s.firsts, u.w.deadSink.durable} {
		for i := range lines {
			for other, is := range lines[i] {
				if is && u.in(i, other) == k {
					return true
				}
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
	o.Dedupe = &Dedupe{Set: &simKeys{u: u, members: u.stored.clone()}, Scope: u.scope, Room: u.room, Window: u.window}
	if u.mark {
		o.Dedupe.NewMark = newFakeMark
	}
}

// A simKeys is the set of keys of one process.
type simKeys struct {
	u       *simUnique
	members simSet      // guarded by the mutex of the world
	next    simSet      // what Stored makes the set
	last    []codec.Key // of the last Seal, if it was not stored
}

func (s *simKeys) Has(k codec.Key) (bool, error) {
	w := s.u.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if k == (codec.Key{}) {
		w.t.Error("the set was asked for the zero key")
	}
	_, ok := s.members.keys[k]
	return ok, nil
}

// Seal implements KeySet.
func (s *simKeys) Seal(keys []codec.Key) ([]byte, error) { return s.SealWindows(keys, WindowCut{}) }

// WindowState implements WindowKeySet.
func (s *simKeys) WindowState() []byte { return s.members.state }

// SealWindows implements WindowKeySet.
func (s *simKeys) SealWindows(keys []codec.Key, cut WindowCut) ([]byte, error) {
	w := s.u.w
	if len(keys) < len(s.last) || !slices.Equal(keys[:len(s.last)], s.last) {
		w.t.Errorf("Seal(%v) after %v was not stored", keys, s.last)
	}
	if s.u.window != nil && len(cut.Windows) != len(keys) {
		w.t.Errorf("%d windows of %d keys", len(cut.Windows), len(keys))
	}
	if len(keys) == 0 && string(cut.State) == string(s.members.state) {
		return nil, nil
	}
	if w.chance(5) {
		w.trouble()
		return nil, errors.New("disk full")
	}
	s.last = slices.Clone(keys)
	w.mu.Lock()
	defer w.mu.Unlock()
	s.next = simSet{maps.Clone(s.members.keys), cut.State}
	for i, k := range keys {
		s.next.keys[k] = 0
		if s.u.window != nil {
			s.next.keys[k] = cut.Windows[i]
		}
	}
	maps.DeleteFunc(s.next.keys, func(_ codec.Key, window uint32) bool { return window < cut.Least })
	s.u.forgot += len(s.members.keys) + len(keys) - len(s.next.keys)
	s.u.sealed = s.next.clone()
	return []byte("keys"), nil
}

// Stored implements KeySet.
func (s *simKeys) Stored() error {
	s.u.w.mu.Lock()
	defer s.u.w.mu.Unlock()
	if s.next.keys != nil {
		s.members = s.next
	}
	s.last, s.next = nil, simSet{}
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
		w.unique.stored = w.unique.sealed.clone()
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
				if s.durable[i][line] && !s.marks[i][at] {
					there[u.in(i, line)] = true
				}
			}
		}
		for key := range u.stored.keys {
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
	quiet := w.ordering == OrderPerLane && // without an order, sinks forget what they took
		!slices.ContainsFunc(w.restarts, func(n int) bool { return n > 0 })
	for _, s := range w.sinks {
		count := map[codec.Key]int{}
		for i := range w.lines {
			for at, line := range s.taken[i] {
				if s.marks[i][at] {
					u.marked++
				} else if !w.deadSink.durable[i][line] { // after a line that a sink has refused, another one comes first
					count[u.in(i, line)]++
				}
			}
		}
		delete(count, codec.Key{})
		for k, n := range count {
			if n > 1 && (quiet || w.once) && u.window == nil {
				w.t.Errorf("%s: key %v comes %d times, want once", s.name, k, n)
			}
		}
		if w.policy == RefusedBlock && len(w.lines) == 1 {
			u.judgeFirsts(s)
		}
	}
}

// judgeFirsts checks that a sink holds the lines that a process without faults
// writes, with the same marks, for a world with one lane: with exactly_once, in the
// same order.
// Otherwise, what is read again comes again.
func (u *simUnique) judgeFirsts(s *simSink) {
	var want []string
	seen := map[codec.Key]bool{{}: false}
	var times simTimes
	for _, line := range u.w.lines[0] {
		if !written(line) {
			continue
		}
		k := u.in(0, line)
		if u.window != nil && u.keyOf(line) != (codec.Key{}) && times.passes(u.window, line) {
			k = codec.Key{}
		}
		switch {
		case !seen[k]:
			want = append(want, line)
			seen[k] = k != codec.Key{}
		case u.mark:
			want = append(want, line+" duplicate")
		}
	}
	var got []string
	for i, line := range s.taken[0] {
		if s.marks[0][i] {
			line += " duplicate"
		}
		got = append(got, line)
	}
	if u.w.revokes() { // keys may be stored without the position of a lane that was revoked
		got = slices.DeleteFunc(got, func(line string) bool {
			line, mark := strings.CutSuffix(line, " duplicate")
			return mark && s.firsts[0][line]
		})
	}
	if !u.w.once {
		slices.Sort(want)
		got = slices.Compact(slices.Sorted(slices.Values(got)))
	}
	sameLines(u.w.t, s.name+", the first line of each key", got, want, true)
}

// timeOf returns the time of a line: lines are a minute apart, some are hours
// late, some are years ahead, some have no time, and in the middle of the lane
// some days are missing.
func (u *simUnique) timeOf(line string) (int64, bool) { return simTime(line) }

// simTime implements timeOf.
func simTime(line string) (int64, bool) {
	n, _ := strconv.Atoi(line[1:])
	h := fnv.New64a()
	_, _ = h.Write([]byte(line))
	t := 1_700_000_000 + int64(n)*60
	if n > 150 {
		t += 3 * 86400
	}
	switch h.Sum64() % 16 {
	case 0:
		return 0, false
	case 1:
		t += 5 * 365 * 86400
	case 2, 3:
		t -= int64(h.Sum64()>>8%5) * 3600
	}
	return t, true
}

// codecTime returns the function of the codec that reads times.
func (u *simUnique) codecTime() func(rec []byte) (int64, bool) {
	if u == nil {
		return nil
	}
	return func(rec []byte) (int64, bool) { return u.timeOf(string(rec[:len(rec)-1])) }
}

// simTimes is the model of the times of a single lane.
type simTimes struct {
	all    []int64
	latest int64
}

// passes reports whether the line passes because of its time.
func (m *simTimes) passes(window *Window, line string) bool {
	t, ok := simTime(line)
	if !ok {
		return true
	}
	size, lateness := int64(window.Size/time.Second), int64(window.Lateness/time.Second)
	if (t/size+1)*size+lateness <= m.latest {
		m.all = append(m.all, t)
		return true
	}
	m.all = append(m.all, t)
	last := slices.Sorted(slices.Values(m.all[max(0, len(m.all)-15):]))
	if len(last) < 3 || t <= m.latest {
		return false
	}
	limit := last[(len(last)-1)/2] + size + lateness
	if t > limit {
		return true
	}
	if m.latest == 0 {
		last = slices.DeleteFunc(last, func(t int64) bool { return t > limit })
		t = last[len(last)-1]
	}
	m.latest = t
	return false
}

// TestSimDedupe: in every simulated world with deduplication, at each commit and
// at the end, a line that was dropped has another line of its key in every sink,
// or is a dead letter; the stored keys are exactly those that the stored
// positions cover; with exactly_once each key comes once, and with one lane the
// output is that of a run without faults.
func TestSimDedupe(t *testing.T) { simDedupe(t, simDedupeOptions{lanes: 5}) }

// TestSimDedupeWindows is TestSimDedupe with windows, in which the lanes have
// records that are late, far ahead, or without a time, and lack some days.
func TestSimDedupeWindows(t *testing.T) {
	window := &Window{Size: 20 * time.Minute, Lateness: 10 * time.Minute, Idle: 5 * time.Second}
	if n, _ := simDedupe(t, simDedupeOptions{window: window, lanes: 3}); n == 0 && !t.Failed() {
		t.Error("no key was forgotten, so the test is inconclusive")
	}
}

// TestSimMark is TestSimDedupe with duplicates that are marked and kept: at each
// commit and at the end, a line that is marked has another line of its key without
// a mark in every sink, or a dead letter; with exactly_once, one line of each key
// is without a mark, and with one lane the output is that of a run without faults.
func TestSimMark(t *testing.T) {
	if _, marked := simDedupe(t, simDedupeOptions{mark: true, lanes: 4}); marked == 0 && !t.Failed() {
		t.Error("no line was marked, so the test is inconclusive")
	}
}

type simDedupeOptions struct {
	window *Window
	mark   bool
	lanes  int
}

// simDedupe returns how many keys were forgotten, and how many lines are marked.
func simDedupe(t *testing.T, o simDedupeOptions) (forgot, marked int) {
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
				w.unique = &simUnique{w: w, scope: scope, window: o.window, mark: o.mark || o.window != nil && seed%5 == 0, room: [...]int{8, 50, 0}[pick.IntN(3)], letters: 1 + pick.IntN(60), stored: simSet{keys: map[codec.Key]uint32{}}}
				for range 1 + pick.IntN(o.lanes)*pick.IntN(2) {
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
				forgot, marked = forgot+w.unique.forgot, marked+w.unique.marked
			})
		})
		if !ok {
			return 0, 0 // one failure is enough
		}
	}
	if troubles == 0 {
		t.Error("no faults, so the test is inconclusive")
	}
	return forgot, marked
}
