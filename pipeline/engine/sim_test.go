package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/testkit/bubble"
	"github.com/urlfold/urlfold/internal/testkit/crew"
)

// A world is the state that survives the death of a process: the committed
// positions and the contents of the sinks. One pipeline after the other runs in
// it. Delays, batch sizes and faults are random: sinks that accept nothing for
// a while, refuse records or forget what they have accepted, lanes that are
// revoked, records at which the codec ends the run, and the death of the
// process.
type world struct {
	t        *testing.T
	ordering Ordering
	policy   RefusedPolicy
	routed   bool       // the codec routes records; see simRoute
	once     bool       // positions and extents are stored together; a restart truncates the sinks
	unique   *simUnique // deduplication; nil: off
	lines    [][]string

	mu        sync.Mutex
	rng       *rand.Rand
	dead      bool // the process is dead, and its further actions do not count
	life      int  // number of the process
	committed []int64
	restarts  []int // number of restarts, by lane
	sinks     []*simSink
	deadSink  *simSink
	troubles  int // number of faults
}

func (w *world) chance(percent int) bool { return w.pick(100) < percent }

func (w *world) pick(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rng.IntN(n)
}

// nap sleeps for a random time, most often for none.
func (w *world) nap() {
	if w.chance(30) {
		time.Sleep(time.Duration(w.pick(3000)) * time.Millisecond)
	}
}

func (w *world) trouble() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.troubles++
}

// A simSource reads the lanes of a world from their committed positions.
type simSource struct {
	w     *world
	life  int // the process that uses it
	rt    Runtime
	begin []int64 // positions at the start
	seen  []int64 // last commits
}

func (s *simSource) Open(_ context.Context, rt Runtime) error {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.rt, s.begin, s.seen = rt, slices.Clone(s.w.committed), slices.Clone(s.w.committed)
	return nil
}

func (s *simSource) Close(context.Context) error { return nil }

func (s *simSource) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	errs := make([]error, len(s.w.lines))
	for i := range s.w.lines {
		l := s.rt.NewLane(strconv.Itoa(i), LaneLimits{})
		wg.Go(func() { errs[i] = s.read(ctx, l, i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// read reads a lane to its end. From time to time it loses the lane and
// restarts it at the watermark.
func (s *simSource) read(ctx context.Context, l *Lane, i int) error {
	defer s.rt.End(l)
	lines := s.w.lines[i]
	for at := s.begin[i]; at < int64(len(lines)); {
		s.w.nap()
		if s.w.revokes() && s.w.chance(2) {
			s.w.restart(i)
			l.Revoke()
			at = s.begin[i]
			if wm, ok := l.Watermark(); ok {
				at = wm.A
			}
		}
		b, err := s.rt.Get(ctx, l)
		if err != nil {
			return s.ends(ctx, err)
		}
		for range min(1+s.w.pick(9), len(lines)-int(at)) {
			b.In = append(append(b.In, lines[at]...), '\n')
			at++
		}
		if err := s.rt.Emit(ctx, b, Position{A: at}); err != nil {
			return s.ends(ctx, err)
		}
	}
	if s.w.chance(50) { // the pipeline drains lanes that the source does not drain
		return nil
	}
	if err := l.Drain(ctx); err != nil {
		return s.ends(ctx, err)
	}
	return nil
}

// Split implements Splitter. It fails at random.
func (s *simSource) Split(b *Batch, off, _ int) (Position, bool) {
	return splitLines(b, off), s.w.chance(70)
}

// ends returns the error of a lane that must end early.
func (s *simSource) ends(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, ErrStopped) {
		return nil
	}
	return err
}

// restart counts a restart of a lane.
func (w *world) restart(i int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.restarts[i]++
	w.troubles++
}

// Commit stores positions, if the process is alive, and checks that everything
// before them is durable in every sink.
func (s *simSource) Commit(_ context.Context, ups []LanePos) error {
	w := s.w
	if w.chance(10) {
		w.trouble()
		return errors.New("not now")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead || s.life != w.life {
		return nil
	}
	for _, up := range ups {
		i, _ := strconv.Atoi(up.Lane.Name())
		if up.Pos.A < s.seen[i] {
			w.t.Errorf("lane %d: %d is committed after %d", i, up.Pos.A, s.seen[i])
		}
		s.seen[i] = up.Pos.A
		w.committed[i] = up.Pos.A
		if gone := w.missing(i, int(up.Pos.A)); gone != "" {
			w.t.Errorf("lane %d is committed up to %d: %s", i, up.Pos.A, gone)
		}
	}
	return nil
}

// CommitCut implements CutCommitter: what the sinks held at the cut is stored
// together with the positions.
func (s *simSource) CommitCut(ctx context.Context, ups []LanePos, _ []Extent) error {
	if err := s.Commit(ctx, ups); err != nil {
		return err
	}
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	for _, sink := range s.w.all() {
		if !s.w.dead && s.life == s.w.life {
			sink.stored = sink.marked
		}
	}
	return nil
}

// all returns all sinks, the dead letter last.
func (w *world) all() []*simSink { return append(w.sinks[:len(w.sinks):len(w.sinks)], w.deadSink) }

// simRoute returns the sinks of a line in a world with a route.
func simRoute(rec []byte) uint64 {
	digit := bytes.TrimSuffix(rec, []byte{'\n'})
	even := digit[len(digit)-1]%2 == 0
	switch {
	case rec[0] == 'a' && even:
		return 1 << 0
	case rec[0] == 'a':
		return 1 << 1
	case rec[0] == 'b' && even:
		return 0
	}
	return allSinks
}

// wants reports whether sink k gets the line.
func (w *world) wants(k int, line string) bool {
	return !w.routed || simRoute([]byte(line))>>k&1 != 0
}

// missing describes a line before n that is not durable where it must be. The
// caller holds mu.
func (w *world) missing(i, n int) string {
	for at, line := range w.lines[i][:n] {
		switch line[0] {
		case 'D':
		case 'X', 'P':
			if !w.deadSink.durable[i][line] && !w.deadSink.dropped[i][line] {
				return fmt.Sprintf("line %d, %s, is not in the dead letter", at, line)
			}
		default:
			for k, s := range w.sinks {
				if !w.wants(k, line) {
					continue
				}
				deadLetter := w.policy == RefusedDeadLetter && w.deadSink.durable[i][line]
				if !s.durable[i][line] && !deadLetter && !s.dropped[i][line] && !w.unique.covers(s, i, line) {
					return fmt.Sprintf("line %d, %s, is not in sink %d", at, line, k)
				}
				if !w.unique.unmarked(s, i, line) {
					return fmt.Sprintf("line %d, %s, is in sink %d, but no line of its key is without a mark", at, line, k)
				}
			}
		}
	}
	return ""
}

// A simSink is a sink of a world. What it accepts becomes durable later, or
// never.
type simSink struct {
	w       *world
	name    string
	refuses bool // it permanently refuses some records
	down    time.Time
	broken  time.Time // until then it refuses all records with the same code
	repairs time.Time // until then it refuses the lines that begin with R or X

	// The fields below survive the process and are guarded by the mutex of the
	// world.
	durable []map[string]bool // by lane
	dropped []map[string]bool // by lane: refused lines, with RefusedDrop
	taken   [][]string        // by lane, in order
	marks   [][]bool          // of taken: marked as a duplicate
	firsts  []map[string]bool // durable lines without the mark, by lane
	marked  contents          // at the last cut
	stored  contents          // at the last stored cut
	crew    crew.Crew
	closed  bool // guarded as well, because after a hard stop Close and Submit can overlap
}

// contents are what a simSink holds.
type contents struct {
	taken   []int // lengths, by lane
	dropped []map[string]bool
}

// Extents implements ExtentReporter.
func (s *simSink) Extents(dst []Extent) []Extent {
	s.w.nap() // a batch that passes now would not be part of the cut
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.marked = contents{}
	for i := range s.taken {
		s.marked.taken = append(s.marked.taken, len(s.taken[i]))
		s.marked.dropped = append(s.marked.dropped, maps.Clone(s.dropped[i]))
	}
	return dst
}

// cutBack truncates the sink to the stored cut.
func (s *simSink) cutBack() {
	for i := range s.taken {
		n := 0
		clear(s.dropped[i])
		if s.stored.taken != nil {
			n, s.dropped[i] = s.stored.taken[i], maps.Clone(s.stored.dropped[i])
		}
		s.taken[i], s.marks[i] = s.taken[i][:n], s.marks[i][:n]
		clear(s.durable[i])
		clear(s.firsts[i])
		for at, line := range s.taken[i] {
			s.durable[i][line] = true
			if !s.marks[i][at] {
				s.firsts[i][line] = true
			}
		}
	}
}

func (w *world) sink(name string, refuses bool) *simSink {
	s := &simSink{w: w, name: name, refuses: refuses, taken: make([][]string, len(w.lines)), marks: make([][]bool, len(w.lines))}
	for range w.lines {
		s.durable, s.firsts = append(s.durable, map[string]bool{}), append(s.firsts, map[string]bool{})
		s.dropped = append(s.dropped, map[string]bool{})
	}
	return s
}

// Open clears the faults of the last process and sets the end of those of this
// one.
func (s *simSink) Open(context.Context) error {
	w := s.w
	if w.once {
		s.cutBack()
	}
	s.down, s.closed, s.broken, s.repairs = time.Time{}, false, time.Time{}, time.Time{}
	if s.refuses {
		s.repairs = time.Now().Add(time.Duration(w.pick(120)) * time.Second)
	}
	if s.refuses && w.chance(50) {
		s.broken = time.Now().Add(time.Duration(w.pick(60)) * time.Second)
	}
	return nil
}

func (s *simSink) Caps() SinkCaps { return SinkCaps{Ordered: true} }

// Submit accepts the lines of a batch, or answers at once that it does not.
func (s *simSink) Submit(_ context.Context, b *Batch, t Ticket) error {
	w := s.w
	w.nap()
	if time.Now().Before(s.since()) {
		w.trouble()
		t.Done(Result{Class: Retryable, Err: errors.New("down")})
		return nil
	}
	unlucky := -1
	if s.refuses && w.chance(15) {
		unlucky = w.pick(len(t.Stream().Recs))
	}
	return s.take(b, t, unlucky)
}

// refusal returns the code with which the sink refuses a line, or "". The
// caller holds the mutex of the world.
func (s *simSink) refusal(line string, unlucky bool) string {
	switch now := time.Now(); {
	case now.Before(s.broken):
		return "misconfigured"
	case now.Before(s.repairs) && (line[0] == 'R' || line[0] == 'X'):
		return "too long"
	case line[0] == 'N' && s.refuses && s.w.policy == RefusedDeadLetter && s != s.w.deadSink:
		return "never"
	case unlucky:
		return "unlucky"
	}
	return ""
}

// filter returns the lines of a batch that the sink accepts, which of them are
// marked as duplicates, and the answer for the others. The caller holds the mutex
// of the world.
func (s *simSink) filter(lane int, t Ticket, unlucky int) (lines []string, marks []bool, r Result) {
	for i, rec := range t.Stream().Recs {
		line, mark := cutNote(strings.TrimSuffix(string(t.Stream().Bytes[rec.Off:rec.Off+rec.Len]), "\n"))
		if t.Held() {
			r.Untried = append(r.Untried, uint32(i))
			continue
		}
		code := s.refusal(line, i == unlucky)
		if code == "" {
			lines, marks = append(lines, line), append(marks, mark)
			continue
		}
		t.Hold()
		s.w.troubles++
		if r.Failed == nil {
			r.Code = code
		} else if r.Code != code {
			r.Code = ""
		}
		r.Failed = append(r.Failed, uint32(i))
		if s.w.policy == RefusedDrop && !s.w.dead {
			s.dropped[lane][line] = true
		}
	}
	switch {
	case r.Failed != nil:
		r.Class, r.Err = Permanent, errors.New("no")
	case r.Untried != nil:
		r.Class, r.Err = Retryable, errors.New("not tried")
	}
	return lines, marks, r
}

// since returns the end of the period during which the sink accepts nothing.
func (s *simSink) since() time.Time {
	begins, length := s.w.chance(3), s.w.pick(2000)
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	if begins {
		s.down = time.Now().Add(time.Duration(length) * time.Millisecond)
	}
	return s.down
}

// take records the lines of a batch in the order of arrival, and answers later.
func (s *simSink) take(b *Batch, t Ticket, unlucky int) error {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	if s.closed {
		return errors.New("closed")
	}
	lane, _ := strconv.Atoi(b.Lane.Name())
	lines, marks, r := s.filter(lane, t, unlucky)
	if !s.w.dead {
		s.taken[lane], s.marks[lane] = append(s.taken[lane], lines...), append(s.marks[lane], marks...)
	}
	life := s.w.life
	s.crew.Go(func() { s.sync(life, lane, lines, marks, t, r) })
	return nil
}

// sync makes lines durable after a delay, and answers. Without an ordering, it
// may also lose the lines and ask for a retry.
func (s *simSink) sync(life, lane int, lines []string, marks []bool, t Ticket, r Result) {
	w := s.w
	w.nap()
	w.unique.hold()
	if w.ordering == OrderNone && r.Class == OK && w.chance(5) {
		w.trouble()
		t.Done(Result{Class: Retryable, Err: errors.New("forgotten")})
		return
	}
	w.mu.Lock()
	for i, line := range lines {
		if !w.dead && life == w.life {
			s.durable[lane][line] = true
			s.firsts[lane][line] = s.firsts[lane][line] || !marks[i]
		}
	}
	w.mu.Unlock()
	t.Done(r)
}

func (s *simSink) Barrier(context.Context) error { s.crew.Wait(); return nil }

// A simHandle is what one process has of a sink. After a hard stop, a process
// may still use it when the next process is running: that changes nothing.
type simHandle struct {
	*simSink
	life int
}

// Submit implements Sink.
func (h simHandle) Submit(ctx context.Context, b *Batch, t Ticket) error {
	if !h.alive() {
		return errors.New("the process is dead")
	}
	return h.simSink.Submit(ctx, b, t)
}

// Close implements Sink.
func (h simHandle) Close(context.Context) error {
	if h.alive() {
		h.w.mu.Lock()
		h.closed = true
		h.w.mu.Unlock()
	}
	h.crew.Wait()
	return nil
}

// alive reports whether no other process has started.
func (h simHandle) alive() bool {
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	return h.life == h.w.life
}

// live runs one process. It dies after the given time, or runs to its end if
// that is 0.
func (w *world) live(after time.Duration) {
	w.mu.Lock()
	w.dead = false
	w.life++
	w.mu.Unlock()
	passes := after == 0 || w.chance(50) // the records at which the codec ends the run pass
	o := Options{
		Sources: []Source{&simSource{w: w, life: w.life}}, DeadLetter: simHandle{w.deadSink, w.life}, OnRefused: w.policy, Ordering: w.ordering, Workers: 1 + w.pick(5), Batches: 8 + w.pick(30),
		NewCodec: func() Codec {
			c := &fakeCodec{pause: w.nap, passes: passes, key: w.unique.codecKey(), time: w.unique.codecTime(), notes: w.unique.marks()}
			if w.routed {
				c.to = simRoute
			}
			return c
		},
		ExactlyOnce:    w.once,
		CommitInterval: time.Duration(50+w.pick(3000)) * time.Millisecond, Logger: slog.New(slog.DiscardHandler),
	}
	for _, s := range w.sinks {
		o.Sinks = append(o.Sinks, simHandle{s, w.life})
	}
	w.unique.begin(&o, after == 0)
	p, err := New(o)
	if err != nil {
		w.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- p.Run(w.t.Context()) }()
	if w.unique != nil {
		p.SetCodec(o.NewCodec)
	}
	if after > 0 {
		time.Sleep(after)
		w.mu.Lock()
		w.dead = true
		w.mu.Unlock()
		p.HardStop()
	}
	cut := time.Now()
	err = <-ended
	switch {
	case !passes && errors.Is(err, errHalt):
		w.trouble()
	case err != nil && (after == 0 || !errors.Is(err, ErrDeadline)):
		w.t.Errorf("Run: %v", err)
	}
	// A batch that naps in a worker and in two sinks may outlast the last
	// quarter of the shutdown timeout; Run does not wait for it then. It returns
	// the error of a codec that has ended the run instead of ErrDeadline.
	expired := (errors.Is(err, ErrDeadline) || errors.Is(err, errHalt)) && time.Since(cut) >= p.o.ShutdownTimeout/4
	if s := p.Snapshot(); !s.Ledger.Balanced() || s.Ledger.InFlight != 0 && !expired {
		w.t.Errorf("ledger: %+v", s.Ledger)
	}
}

// judge checks the final state after all processes have ended.
func (w *world) judge() {
	for i, lines := range w.lines {
		if w.committed[i] != int64(len(lines)) {
			w.t.Errorf("lane %d is committed up to %d, want %d", i, w.committed[i], len(lines))
		}
		if gone := w.missing(i, len(lines)); gone != "" {
			w.t.Errorf("lane %d, at the end: %s", i, gone)
		}
		for _, s := range w.all() {
			w.judgeLane(s, i)
		}
		for k, s := range w.sinks {
			w.judgeRoute(k, s, i)
		}
	}
	w.unique.judge()
}

// judgeRoute checks that a sink holds no line of another sink and, with
// exactly_once, each of its own lines once, unless it has refused it.
func (w *world) judgeRoute(k int, s *simSink, i int) {
	count := map[string]int{}
	for _, line := range s.taken[i] {
		count[line]++
		if !w.wants(k, line) {
			w.t.Errorf("%s: %s of lane %d belongs to another sink", s.name, line, i)
		}
	}
	if !w.once {
		return
	}
	for _, line := range w.lines[i] {
		if strings.ContainsRune("DXP", rune(line[0])) || !w.wants(k, line) {
			continue
		}
		refused := w.deadSink.durable[i][line] || s.dropped[i][line]
		if n := count[line]; n > 1 || n == 0 && !refused && !w.unique.covers(s, i, line) {
			w.t.Errorf("%s: %s of lane %d was written %d times, refused %t", s.name, line, i, n, refused)
		}
	}
}

// judgeLane checks which lines have reached a sink, and in which order. The
// order may start again only as often as the lane was restarted.
func (w *world) judgeLane(s *simSink, i int) {
	last, back, twice := -1, 0, 0
	seen := map[string]bool{}
	for _, line := range s.taken[i] {
		n, err := strconv.Atoi(line[1:])
		if err != nil || n >= len(w.lines[i]) || w.lines[i][n] != line {
			w.t.Errorf("%s: %q was never written", s.name, line)
		}
		if n <= last {
			back++
		}
		if seen[line] {
			twice++
		}
		seen[line], last = true, n
	}
	if w.ordering == OrderPerLane && s != w.deadSink && back > w.restarts[i] {
		w.t.Errorf("%s: lane %d goes back %d times, but was restarted only %d times", s.name, i, back, w.restarts[i])
	}
	if w.once && (twice > 0 || back > 0 && s != w.deadSink) {
		w.t.Errorf("%s: %d lines of lane %d were duplicated, and it goes back %d times", s.name, twice, i, back)
	}
	if w.restarts[i] == 0 && w.ordering == OrderPerLane && twice > 0 {
		w.t.Errorf("%s: %d lines of lane %d were duplicated, although nothing was read twice", s.name, twice, i)
	}
}

// seedsOf returns the number of worlds to simulate; the environment can raise
// it.
func seedsOf(t *testing.T, usual int) uint64 {
	if text := os.Getenv("URLFOLD_SIM_SEEDS"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("URLFOLD_SIM_SEEDS: %v", err)
		}
		return n
	}
	if testing.Short() {
		usual /= 3
	}
	return uint64(usual)
}

// TestSim: in every simulated world, no position is committed before everything
// before it is durable everywhere, nothing is lost or invented, and in each
// sink the lines of a lane are in order between restarts. With a route, this
// holds for the lines of each sink, and with exactly_once nothing is written
// twice.
func TestSim(t *testing.T) {
	troubles, restarts := 0, 0
	for seed := range seedsOf(t, 96) {
		ordering := [...]Ordering{OrderNone, OrderPerLane}[seed%2]
		policy := [...]RefusedPolicy{RefusedDeadLetter, RefusedBlock, RefusedDrop}[seed/4%3]
		ok := t.Run(fmt.Sprintf("%v-%v-%d", ordering, policy, seed), func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				w := &world{t: t, ordering: ordering, policy: policy, rng: rand.New(rand.NewPCG(seed, 30))}
				w.routed, w.once = seed/12%2 == 1, ordering == OrderPerLane && seed/24%2 == 1
				for range 1 + w.pick(6) {
					w.lines = append(w.lines, numbered(w.pick(300), "aabDXabPaSbRa"))
				}
				w.committed, w.restarts = make([]int64, len(w.lines)), make([]int, len(w.lines))
				w.deadSink = w.sink("dead letter", seed%8 > 5)
				w.sinks = []*simSink{w.sink("sink 0", false), w.sink("sink 1", seed%4 > 1)}
				for range w.pick(4) {
					w.live(time.Duration(1+w.pick(60_000)) * time.Millisecond)
					for i := range w.lines {
						w.restart(i)
					}
				}
				w.live(0)
				w.judge()
				troubles += w.troubles
				restarts += len(w.restarts)
			})
		})
		if !ok {
			return // one failure is enough
		}
	}
	if troubles == 0 || restarts == 0 {
		t.Errorf("only %d faults and %d restarts, so the test is inconclusive", troubles, restarts)
	}
}
