package unique

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/storage/keyset"
	"github.com/urlfold/urlfold/internal/testkit/bubble"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A claimWorld is the state that survives the death of processes: a stream with
// its consumer, a bucket, and the contents of the sinks. Several members run in
// it at the same time. Delays are random, some longer than ack_wait or
// claim_timeout, requests to the bucket fail before or after they have taken effect,
// sinks refuse records, members die at random moments, and the stream is
// created again.
type claimWorld struct {
	t        *testing.T
	takeOver time.Duration
	ackWait  time.Duration
	calm     bool // no long pauses, no faults
	mark     bool // duplicates are marked and kept
	willing  bool // sinks refuse nothing, and the stream stays
	together bool // all messages are delivered in the same batch
	window   *engine.Window

	mu         sync.Mutex
	rng        *rand.Rand
	epoch      int
	messages   []*simMessage // of the stream, of this epoch
	all        []*simMessage // of all epochs
	bucket     map[string]Entry
	revision   uint64
	sinks      []*claimSink // the dead letter last
	faults     int
	expired    int // entries that were forgotten
	expiry     map[string]time.Time
	refused    map[string]bool // lines that a sink has refused and whose messages are not acknowledged
	beforeDone func()          // called before a key becomes done; nil: nothing
	began      time.Time
}

// A simMessage is a message of a stream. Each line is a record. The first byte
// of a line is its key, or - for none.
type simMessage struct {
	seq      int64
	lines    []string
	acked    bool
	deadline time.Time // it is in the hands of a member until then
}

func (w *claimWorld) pick(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rng.IntN(n)
}

func (w *claimWorld) chance(percent int) bool { return w.pick(100) < percent }

// nap sleeps, most often for a short time, and sometimes for longer than
// ack_wait and claim_timeout.
func (w *claimWorld) nap() {
	switch {
	case !w.calm && w.chance(1):
		time.Sleep(min(w.takeOver, time.Minute) + time.Duration(w.pick(180))*time.Second)
	case w.chance(40):
		time.Sleep(time.Duration(w.pick(2000)) * time.Millisecond)
	}
}

// publish adds messages to the stream.
func (w *claimWorld) publish(n, keys int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for range n {
		m := &simMessage{seq: int64(len(w.messages) + 1)}
		for i := range 1 + w.rng.IntN(3)*w.rng.IntN(2) {
			key := "-"
			if w.rng.IntN(10) > 0 {
				key = string(rune('A' + w.rng.IntN(keys)))
			}
			m.lines = append(m.lines, fmt.Sprintf("%s%s:%d:%d:%d", key, [...]string{"", "", "R", "X"}[w.rng.IntN(4)], w.epoch, m.seq, i))
			if w.rng.IntN(5) == 0 { // two equal records in one message
				m.lines = append(m.lines, m.lines[len(m.lines)-1]+"b")
			}
		}
		w.messages, w.all = append(w.messages, m), append(w.all, m)
	}
}

// recreate deletes the stream and creates it again: its sequences restart.
// Messages that were not acknowledged are gone.
func (w *claimWorld) recreate(n, keys int) {
	w.mu.Lock()
	w.all = slices.DeleteFunc(w.all, func(m *simMessage) bool { return !m.acked })
	w.messages = nil
	w.epoch++
	w.mu.Unlock()
	w.publish(n, keys)
}

// finished reports whether all messages are acknowledged.
func (w *claimWorld) finished() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Since(w.began) > 1000*time.Hour {
		w.t.Error("messages are delivered again and again")
		return true
	}
	return !slices.ContainsFunc(w.messages, func(m *simMessage) bool { return !m.acked })
}

// A member is one process.
type member struct {
	w     *claimWorld
	rt    engine.Runtime
	epoch int
	dead  bool // its further actions do not count; guarded by the mutex of the world
}

// alive reports whether m is alive.
func (m *member) alive() bool {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	return !m.dead
}

// simClaims is the bucket as a member sees it.
type simClaims struct{ m *member }

var errBroken = errors.New("no answer")

// request delays a request. It returns an error if the request fails before it
// takes effect.
func (b simClaims) request(ctx context.Context) error {
	w := b.m.w
	w.nap()
	if !b.m.alive() {
		<-ctx.Done()
		return ctx.Err()
	}
	if !w.calm && w.chance(5) {
		return errBroken
	}
	return nil
}

// reply delays a reply. It returns an error if the reply is lost.
func (b simClaims) reply() error {
	b.m.w.nap()
	if !b.m.w.calm && b.m.w.chance(5) {
		return errBroken
	}
	return nil
}

func (b simClaims) Get(ctx context.Context, key string) (e Entry, err error) {
	if err := b.request(ctx); err != nil {
		return e, err
	}
	b.m.w.mu.Lock()
	e = b.m.w.entry(key)
	b.m.w.mu.Unlock()
	return e, b.reply()
}

// entry returns the entry of a key. If it has expired, there is none, or the marker
// of a deletion. The caller holds mu.
func (w *claimWorld) entry(key string) Entry {
	if end, expires := w.expiry[key]; expires && !time.Now().Before(end) {
		w.expired++
		delete(w.expiry, key)
		delete(w.bucket, key)
		if w.expired%2 == 0 {
			w.revision++
			w.bucket[key] = Entry{Revision: w.revision, Time: time.Now()}
		}
	}
	return w.bucket[key]
}

func (b simClaims) Put(ctx context.Context, key string, value []byte, last uint64, ttl time.Duration) (uint64, bool, error) {
	if ttl > 0 && !bytes.HasPrefix(value, []byte(stateDone)) {
		b.m.w.t.Errorf("%s: %q expires after %v, although no record of the key may be durable then", key, value, ttl)
	}
	return b.change(ctx, key, last, value, ttl)
}

func (b simClaims) Delete(ctx context.Context, key string, revision uint64) (bool, error) {
	_, ok, err := b.change(ctx, key, revision, nil, 0)
	return ok, err
}

func (b simClaims) Close() {}

func (b simClaims) change(ctx context.Context, key string, last uint64, value []byte, ttl time.Duration) (uint64, bool, error) {
	if err := b.request(ctx); err != nil {
		return 0, false, err
	}
	w := b.m.w
	if w.beforeDone != nil && bytes.HasPrefix(value, []byte(stateDone)) {
		w.beforeDone()
	}
	w.mu.Lock()
	before := w.entry(key)
	ok := before.Revision == last && !b.m.dead
	if ok {
		w.revision++
		if bytes.HasPrefix(before.Value, []byte(stateDone)) {
			w.t.Errorf("%s: %q replaces %q", key, value, before.Value)
		}
		if bytes.HasPrefix(value, []byte(stateDone)) {
			w.judgeDone(key, string(value))
		}
		w.bucket[key] = Entry{Value: value, Revision: w.revision, Time: time.Now()}
		if delete(w.expiry, key); ttl > 0 {
			w.expiry[key] = time.Now().Add(ttl)
		}
	}
	revision := w.revision
	w.mu.Unlock()
	return revision, ok, b.reply()
}

// judgeDone checks that a key that is done has a durable record in every sink.
// The caller holds mu.
func (w *claimWorld) judgeDone(key, value string) {
	for _, s := range w.sinks[:len(w.sinks)-1] {
		if s.keys[key] == 0 {
			w.t.Errorf("%s is done (%s), but no record of it is durable in %s", key, value, s.name)
		}
	}
}

// A claimSink is a sink of a world.
type claimSink struct {
	w    *claimWorld
	name string
	// What is durable; guarded by the mutex of the world. keys and firsts count the
	// lines without a mark.
	lines, firsts, keys map[string]int
}

// A memberSink is a sink as a member uses it.
type memberSink struct {
	*claimSink
	m    *member
	crew *crew
}

// A crew is a group of goroutines. Unlike with a [sync.WaitGroup], more of them may
// start during Wait, because the pipeline submits batches during a Barrier.
type crew struct {
	mu   sync.Mutex
	n    int
	idle *sync.Cond
}

func newCrew() *crew {
	c := new(crew)
	c.idle = sync.NewCond(&c.mu)
	return c
}

func (c *crew) add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n += n; c.n == 0 {
		c.idle.Broadcast()
	}
}

func (c *crew) Go(f func()) {
	c.add(1)
	go func() {
		defer c.add(-1)
		f()
	}()
}

func (c *crew) Wait() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.n > 0 {
		c.idle.Wait()
	}
}

func (s *memberSink) Open(context.Context) error    { return nil }
func (s *memberSink) Barrier(context.Context) error { s.crew.Wait(); return nil }
func (s *memberSink) Close(context.Context) error   { s.crew.Wait(); return nil }
func (s *memberSink) Caps() engine.SinkCaps         { return engine.SinkCaps{} }

func (s *memberSink) Submit(_ context.Context, b *engine.Batch, t engine.Ticket) error {
	s.crew.Go(func() {
		s.w.nap()
		dead := s.name == "dead letter"
		var r engine.Result
		s.w.mu.Lock()
		for i, rec := range t.Stream().Recs {
			line, marked := strings.CutSuffix(string(t.Stream().Bytes[rec.Off:rec.Off+rec.Len]), "~")
			line = strings.TrimSuffix(line, ".")
			// R: refused by the first sink; X: refused by a sink half of the time.
			refused := !dead && !s.w.willing && (line[1] == 'R' && s.name == "sink 0" || line[1] == 'X' && s.w.rng.IntN(2) == 0)
			if refused {
				r.Class, r.Err, r.Failed = engine.Permanent, errors.New("no"), append(r.Failed, uint32(i))
				s.w.faults++
				if !s.m.dead {
					s.w.refused[line] = true
				}
				r.Code = strconv.Itoa(s.w.faults) // the same code three times would mean a misconfigured sink
				continue
			}
			if !s.m.dead {
				s.lines[line]++
				if !marked {
					s.firsts[line]++
					s.keys[s.w.bucketKey(line)]++
				}
			}
		}
		s.w.mu.Unlock()
		s.w.nap()
		t.Done(r)
	})
	return nil
}

// keyOfLine returns the key of a line, or the zero key.
func keyOfLine(line string) (k codec.Key) {
	if line[0] != '-' {
		k = codec.KeyFromUint64s(uint64(line[0]), 1)
	}
	return k
}

var simIdentity = keyset.Identity{"by": "equivalent"}

// bucketKey returns the key of a line in the bucket.
func (w *claimWorld) bucketKey(line string) string {
	k := keyOfLine(line)
	if w.window != nil {
		t, _ := timeOfLine(line)
		k = inWindow(k, uint32(t/int64(w.window.Size)))
	}
	return (&Claims{prefix: prefixOf(simIdentity)}).keyOf(k)
}

// inWindow returns k as a key of a window, as the pipeline does.
func inWindow(k codec.Key, window uint32) codec.Key {
	hi, lo := k.Uint64s()
	b := binary.LittleEndian.AppendUint64(nil, hi)
	b = binary.LittleEndian.AppendUint64(b, lo)
	h := xxh3.Hash128(binary.LittleEndian.AppendUint32(b, window))
	return codec.KeyFromUint64s(h.Hi, h.Lo)
}

// timeOf returns the time of a message, in nanoseconds; 0: none. The messages are a
// third of a minute apart.
func timeOf(seq int64) int64 {
	if seq%11 == 0 {
		return 0
	}
	return (1_700_000_000 + 20*seq) * int64(time.Second)
}

// timeOfLine returns the time of the message of a line, and whether it has one.
func timeOfLine(line string) (int64, bool) {
	seq, _ := strconv.ParseInt(strings.Split(line, ":")[2], 10, 64)
	t := timeOf(seq)
	return t, t > 0
}

// passes reports whether a line is written whatever others are.
func (w *claimWorld) passes(line string) bool {
	if line[0] == '-' || w.window == nil {
		return line[0] == '-'
	}
	_, timed := timeOfLine(line)
	return !timed
}

// A lineCodec copies the lines of messages, with their keys.
type lineCodec struct {
	notes bool // lines end in a note
}

func lineAt(b *engine.Batch, at int) []byte {
	line, _, _ := bytes.Cut(b.In[at:], []byte("\n"))
	return line
}

func (c lineCodec) Process(b *engine.Batch) {
	for i := range b.Msgs {
		v := b.Msgs[i].Value
		for at := v.Off; at < v.Off+v.Len; {
			line := lineAt(b, int(at))
			off := uint32(len(b.Out.Bytes))
			b.Out.Bytes = append(b.Out.Bytes, line...)
			if c.notes {
				b.Out.Bytes = append(b.Out.Bytes, '.')
			}
			b.Out.Recs = append(b.Out.Recs, engine.OutRec{Span: engine.Span{Off: off, Len: uint32(len(b.Out.Bytes)) - off}, Src: at, Msg: uint32(i)})
			b.Out.IDs = append(b.Out.IDs, keyOfLine(string(line)))
			b.Stats.Records++
			b.Stats.Emitted++
			at += uint32(len(line)) + 1
		}
	}
	b.Next, b.NextMsg = len(b.In), len(b.Msgs)
}

// markLines marks lines.
func markLines(s *engine.Stream, duplicates []uint32) error {
	for _, i := range duplicates {
		r := s.Recs[i]
		note := &s.Bytes[r.Off+r.Len-1]
		if *note != '.' {
			return fmt.Errorf("record %d is marked twice", i)
		}
		*note = '~'
	}
	return nil
}

func (lineCodec) Reject(*engine.Batch) {}
func (lineCodec) Refuse(b *engine.Batch) {
	line := lineAt(b, b.Next)
	b.Dead.Recs = append(b.Dead.Recs, engine.OutRec{Span: engine.Span{Off: uint32(len(b.Dead.Bytes)), Len: uint32(len(line))}, Src: uint32(b.Next), Msg: uint32(b.NextMsg)})
	b.Dead.Bytes = append(b.Dead.Bytes, line...)
}

// A simConsumer is the source of a member.
type simConsumer struct{ m *member }

func (s simConsumer) Open(_ context.Context, rt engine.Runtime) error { s.m.rt = rt; return nil }
func (s simConsumer) Close(context.Context) error                     { return nil }

// take returns deliverable messages.
func (s simConsumer) take(n int) (list []*simMessage) {
	w := s.m.w
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	for _, m := range w.messages {
		if len(list) == n || s.m.dead || w.epoch != s.m.epoch {
			break
		}
		if !m.acked && !now.Before(m.deadline) {
			m.deadline = now.Add(w.ackWait)
			list = append(list, m)
		}
	}
	return list
}

func (s simConsumer) Run(ctx context.Context) error {
	w := s.m.w
	for ctx.Err() == nil && !w.finished() {
		w.mu.Lock()
		s.m.epoch = w.epoch
		w.mu.Unlock()
		l := s.m.rt.NewLane("jetstream/IN/d", engine.LaneLimits{})
		l.SetID("jetstream/IN/d/" + strconv.Itoa(s.m.epoch))
		err := s.read(ctx, l)
		s.m.rt.End(l)
		if err != nil {
			return err
		}
	}
	return nil
}

// read reads one stream to its end.
func (s simConsumer) read(ctx context.Context, l *engine.Lane) error {
	w := s.m.w
	for ctx.Err() == nil && !w.finished() {
		w.nap()
		w.mu.Lock()
		other := w.epoch != s.m.epoch
		w.mu.Unlock()
		if other {
			return nil
		}
		b, err := s.m.rt.Get(ctx, l)
		if err != nil {
			return nil
		}
		n := 1 + w.pick(6)
		if w.together {
			n = len(w.messages)
		}
		list := s.take(n)
		if len(list) == 0 {
			s.m.rt.Put(b)
			time.Sleep(time.Second)
			continue
		}
		for _, m := range list {
			b.AddMessage(m.seq, timeOf(m.seq), nil, []byte(strings.Join(m.lines, "\n")+"\n"))
		}
		b.Ext = list
		if s.m.rt.Emit(ctx, b, engine.Position{A: list[len(list)-1].seq}) != nil {
			return nil
		}
	}
	return nil
}

// Resolved acknowledges messages, and checks that nothing of them is lost.
func (s simConsumer) Resolved(b *engine.Batch) {
	w := s.m.w
	w.nap()
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.m.dead {
		return
	}
	for i, m := range b.Ext.([]*simMessage) {
		if b.Delayed(i) {
			m.deadline = time.Now().Add(3 * time.Second)
			continue
		}
		if !slices.Contains(w.messages, m) {
			continue // a message of the previous stream
		}
		m.acked = true
		for _, line := range m.lines {
			delete(w.refused, line)
		}
		for _, line := range m.lines {
			if gone := w.missing(line); gone != "" {
				w.t.Errorf("message %d is acknowledged: %s", m.seq, gone)
			}
		}
	}
}

// missing describes a line of an acknowledged message that is lost: neither it
// nor another line of its key is durable in a sink, and it is no dead letter.
// The caller holds mu.
func (w *claimWorld) missing(line string) string {
	if w.mark {
		return w.missingMark(line)
	}
	for _, s := range w.sinks[:len(w.sinks)-1] {
		if s.lines[line] == 0 && (w.passes(line) || s.keys[w.bucketKey(line)] == 0) && w.sinks[len(w.sinks)-1].lines[line] == 0 {
			return fmt.Sprintf("%s is not in %s", line, s.name)
		}
	}
	return ""
}

// missingMark is missing in a world in which duplicates are marked and kept: each
// line is durable in each sink, or a dead letter, and so is a line of its key
// without a mark, unless a sink has refused one whose message is not acknowledged.
// The caller holds mu.
func (w *claimWorld) missingMark(line string) string {
	letters := w.sinks[len(w.sinks)-1]
	refused := false
	for other := range w.refused {
		refused = refused || other[0] == line[0]
	}
	for _, s := range w.sinks[:len(w.sinks)-1] {
		switch {
		case s.lines[line]+letters.lines[line] == 0:
			return fmt.Sprintf("%s is not in %s", line, s.name)
		case line[0] == '-' && s.lines[line] > s.firsts[line]:
			return fmt.Sprintf("%s is marked in %s", line, s.name)
		case line[0] != '-' && !refused && s.keys[w.bucketKey(line)]+letters.keys[w.bucketKey(line)] == 0:
			return fmt.Sprintf("%s is in %s, but no line of its key is without a mark", line, s.name)
		}
	}
	return ""
}

// judgeMarks checks that each line has the same mark each time it was written, and
// that one line of each key has none. The caller holds mu.
func (w *claimWorld) judgeMarks() {
	for _, s := range w.sinks[:len(w.sinks)-1] {
		first := map[string]string{}
		for line, n := range s.lines {
			k := s.firsts[line]
			if k > 0 && k < n {
				w.t.Errorf("%s: %s was written %d times, %d times without a mark", s.name, line, n, k)
			}
			if k > 0 && line[0] != '-' {
				if other := first[line[:1]]; other != "" {
					w.t.Errorf("%s: both %s and %s are without a mark", s.name, line, other)
				}
				first[line[:1]] = line
			}
		}
	}
}

func (s simConsumer) Abandoned(b *engine.Batch, _ error) {
	s.m.w.mu.Lock()
	defer s.m.w.mu.Unlock()
	if s.m.dead {
		return
	}
	for _, m := range b.Ext.([]*simMessage) {
		m.deadline = time.Now()
	}
}

// live runs a member until it dies after the given time, or until everything is
// acknowledged if that is 0.
func (w *claimWorld) live(after time.Duration) *Claims {
	m := &member{w: w}
	claims := NewClaims(simClaims{m}, ClaimOptions{Identity: simIdentity, TakeOver: w.takeOver, Remember: w.remember()})
	o := engine.Options{
		Sources: []engine.Source{simConsumer{m}}, Workers: 1 + w.pick(3), Batches: 8 + w.pick(10), Dedupe: &engine.Dedupe{Claims: claims, Window: w.window},
		NewCodec: func() engine.Codec { return lineCodec{notes: w.mark} }, Logger: slog.New(slog.DiscardHandler), ShutdownTimeout: time.Hour,
	}
	if w.mark {
		o.Dedupe.NewMark = func() func(*engine.Stream, []uint32) error { return markLines }
	}
	for _, s := range w.sinks[:len(w.sinks)-1] {
		o.Sinks = append(o.Sinks, &memberSink{claimSink: s, m: m, crew: newCrew()})
	}
	o.DeadLetter = &memberSink{claimSink: w.sinks[len(w.sinks)-1], m: m, crew: newCrew()}
	p, err := engine.New(o)
	if err != nil {
		w.t.Error(err)
		return claims
	}
	ended := make(chan error, 1)
	go func() { ended <- p.Run(context.Background()) }()
	if after > 0 {
		time.Sleep(after)
		w.mu.Lock()
		m.dead = true
		w.faults++
		w.mu.Unlock()
		p.HardStop()
	}
	if err := <-ended; err != nil && (after == 0 || !errors.Is(err, engine.ErrDeadline)) {
		w.t.Errorf("Run: %v", err)
	}
	if l := p.Snapshot().Ledger; !l.Balanced() || after == 0 && l.InFlight != 0 {
		w.t.Errorf("ledger: %+v", l)
	}
	return claims
}

// remember returns how long a key is remembered after it is done.
func (w *claimWorld) remember() time.Duration {
	if w.window == nil {
		return 0
	}
	return w.window.Size + w.window.Lateness
}

func newClaimWorld(t *testing.T, seed uint64) *claimWorld {
	w := &claimWorld{t: t, rng: rand.New(rand.NewPCG(seed, 5)), began: time.Now(), refused: map[string]bool{}, expiry: map[string]time.Time{}, bucket: map[string]Entry{}, takeOver: time.Minute, ackWait: 30 * time.Second}
	for _, name := range []string{"sink 0", "sink 1", "dead letter"} {
		w.sinks = append(w.sinks, &claimSink{w: w, name: name, lines: map[string]int{}, firsts: map[string]int{}, keys: map[string]int{}})
	}
	return w
}

// TestSimClaims: in every simulated world, at each acknowledgment and at the
// end, a record that was dropped has another record of its key in every sink, or
// is a dead letter; a key that is done has a durable record in every sink, and
// is never claimed again.
func TestSimClaims(t *testing.T) { simClaimWorlds(t, false, nil) }

// TestSimClaimsWindows is TestSimClaims with windows: a line is dropped only if
// another one of its window is durable, a line without a time is written, and only
// keys that are done expire.
func TestSimClaimsWindows(t *testing.T) {
	simClaimWorlds(t, false, &engine.Window{Size: 3 * time.Minute, Lateness: 20 * time.Second, ByMessage: true})
}

// TestSimClaimsMark is TestSimClaims with duplicates that are marked and kept: at
// each acknowledgment, the line is in every sink, and so is a line of its key
// without a mark, or they are dead letters. If nothing is refused and no claim is
// taken over, each line has the same mark each time it is delivered.
func TestSimClaimsMark(t *testing.T) { simClaimWorlds(t, true, nil) }

func simClaimWorlds(t *testing.T, mark bool, window *engine.Window) {
	seeds := uint64(60)
	if testing.Short() {
		seeds = 20
	}
	if text := os.Getenv("URLFOLD_SIM_SEEDS"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("URLFOLD_SIM_SEEDS: %v", err)
		}
		seeds = n
	}
	faults, steady, expired := 0, 0, 0
	var takeovers, again int64
	for seed := range seeds {
		ok := t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				w := newClaimWorld(t, seed)
				w.mark, w.window = mark, window
				w.willing, w.together = mark && seed%2 == 0, seed%7 == 6
				if w.willing && seed%4 == 0 {
					w.takeOver = 10_000 * time.Hour
				}
				keys := 1 + w.pick(25)
				w.publish(20+w.pick(60), keys)
				var wg sync.WaitGroup
				var mu sync.Mutex
				for range 1 + w.pick(4) {
					deaths := w.pick(4)
					wg.Go(func() {
						for n := range deaths + 1 {
							after := time.Duration(1+w.pick(90_000)) * time.Millisecond
							if n == deaths {
								after = 0
							}
							c := w.live(after)
							mu.Lock()
							takeovers += c.takeovers.Load()
							again += c.again.Load()
							mu.Unlock()
						}
					})
				}
				if !w.willing && w.chance(30) {
					wg.Go(func() {
						time.Sleep(time.Duration(w.pick(60)) * time.Second)
						w.recreate(20, keys)
					})
				}
				wg.Wait()
				w.live(0) // one more life, for the messages of a new stream
				for _, m := range w.all {
					if !m.acked && slices.Contains(w.messages, m) {
						t.Errorf("message %d was never acknowledged", m.seq)
					}
					for _, line := range m.lines {
						if gone := w.missing(line); m.acked && gone != "" {
							t.Error(gone)
						}
					}
				}
				if w.willing && w.takeOver > time.Hour {
					w.judgeMarks()
					steady++
				}
				faults, expired = faults+w.faults, expired+w.expired
			})
		})
		if !ok {
			return // one failure is enough
		}
	}
	t.Logf("%d faults, %d takeovers, %d claims found again, %d keys forgotten", faults, takeovers, again, expired)
	if faults == 0 || window != nil && expired == 0 || mark && steady == 0 || takeovers == 0 || again == 0 {
		t.Error("the test is inconclusive")
	}
}
