package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/testkit/crew"
)

// This file holds the fakes and helpers of this package's tests:
//
//   - fakeCodec: handles a record according to its first byte.
//   - fakeSource: lanes of lines, read by several goroutines.
//   - fakeSink: stores what it gets, and answers as configured.
//   - finished: one run, with checks that must hold after every run.

// A fakeCodec handles lines by their first byte: D is dropped, X becomes a dead
// letter, P panics after half of its output, F also panics in Reject, S ends
// the run, and all others are copied to the output. If pass is set, rejects
// pass through.
type fakeCodec struct {
	pass   bool
	passes bool                           // S is copied like other lines
	err    error                          // error at S
	pause  func()                         // called for each batch
	to     func(rec []byte) uint64        // sinks of a record; nil: no route
	key    func(rec []byte) codec.Key     // identity of a record; nil: no facts
	time   func(rec []byte) (int64, bool) // time of a record; nil: none has one
	notes  bool                           // records end in a note, which newFakeMark changes
	mark   struct{ out, outRecs, dead, deadRecs int }
	stats  record.Stats
}

func newFakeCodec() Codec { return &fakeCodec{} }

func firstLine(in []byte) []byte {
	if i := bytes.IndexByte(in, '\n'); i >= 0 {
		return in[:i+1]
	}
	return in
}

// add adds a record that comes from the current one of b.
func (s *Stream) add(b *Batch, rec []byte) {
	s.Recs = append(s.Recs, OutRec{Span{uint32(len(s.Bytes)), uint32(len(rec))}, uint32(b.Next), uint32(b.NextMsg)})
	s.Bytes = append(s.Bytes, rec...)
}

func (c *fakeCodec) Process(b *Batch) {
	if c.err = nil; c.pause != nil {
		c.pause()
	}
	for b.Next < len(b.In) {
		c.mark.out, c.mark.outRecs = len(b.Out.Bytes), len(b.Out.Recs)
		c.mark.dead, c.mark.deadRecs = len(b.Dead.Bytes), len(b.Dead.Recs)
		c.stats = b.Stats
		rec := firstLine(b.In[b.Next:])
		if rec[0] == 'S' && !c.passes {
			c.err = errHalt
			return
		}
		b.Stats.Records++
		switch rec[0] {
		case 'D':
			b.Stats.Dropped++
		case 'X':
			b.Stats.Dead++
			b.Dead.add(b, rec)
		case 'P', 'F':
			b.Out.add(b, rec[:len(rec)/2])
			panic("secret " + string(rec))
		default:
			c.emit(b, rec)
		}
		advance(b, rec)
	}
}

// advance passes rec, which is a message of its own if b has messages.
func advance(b *Batch, rec []byte) {
	b.Next += len(rec)
	b.NextMsg = min(b.NextMsg+1, len(b.Msgs))
}

// emit copies a record to the output, for the sinks of its route.
func (c *fakeCodec) emit(b *Batch, rec []byte) {
	to := allSinks
	if c.to != nil {
		to = c.to(rec)
	}
	if to == 0 {
		b.Stats.Filtered++
		return
	}
	b.Stats.Emitted++
	b.Out.add(b, rec)
	if c.notes {
		b.Out.addNote()
	}
	if c.to != nil {
		b.Out.To = append(b.Out.To, to)
	}
	if c.key != nil {
		b.Out.IDs = append(b.Out.IDs, c.key(rec))
		if c.time != nil {
			seconds, known := c.time(rec)
			b.Out.Times = append(b.Out.Times, record.Time{Seconds: seconds, Known: known})
		}
	}
}

// The notes of a fakeCodec.
const noteFirst, noteDuplicate = '.', '~'

// addNote adds a note to the last record.
func (s *Stream) addNote() {
	s.Bytes = append(s.Bytes[:len(s.Bytes)-1], noteFirst, '\n')
	s.Recs[len(s.Recs)-1].Len++
}

// newFakeMark is Dedupe.NewMark for records with notes.
func newFakeMark() func(s *Stream, duplicates []uint32) error {
	return func(s *Stream, duplicates []uint32) error {
		for _, i := range duplicates {
			r := s.Recs[i]
			note := &s.Bytes[r.Off+r.Len-2]
			if *note != noteFirst {
				return fmt.Errorf("record %d is marked twice", i)
			}
			*note = noteDuplicate
		}
		return nil
	}
}

// cutNote returns a line without its note, and whether it is a duplicate.
func cutNote(line string) (string, bool) {
	if line, ok := strings.CutSuffix(line, string(rune(noteDuplicate))); ok {
		return line, true
	}
	return strings.TrimSuffix(line, string(rune(noteFirst))), false
}

func (c *fakeCodec) Reject(b *Batch) {
	b.Out.Bytes, b.Out.Recs = b.Out.Bytes[:c.mark.out], b.Out.Recs[:c.mark.outRecs]
	b.Dead.Bytes, b.Dead.Recs = b.Dead.Bytes[:c.mark.dead], b.Dead.Recs[:c.mark.deadRecs]
	b.Stats = c.stats
	b.Out.To = b.Out.To[:min(len(b.Out.To), len(b.Out.Recs))]
	b.Out.IDs, b.Out.Times = front(b.Out.IDs, len(b.Out.Recs)), front(b.Out.Times, len(b.Out.Recs))
	rec := firstLine(b.In[b.Next:])
	if rec[0] == 'F' {
		panic("secret " + string(rec))
	}
	b.Stats.Records++
	b.Stats.Panics++
	if c.pass {
		c.emit(b, rec)
	} else {
		b.Stats.Dead++
		b.Dead.add(b, rec)
	}
	advance(b, rec)
}

var errHalt = errors.New("a record at which the run is to end")

func (c *fakeCodec) Err() error { return c.err }

func (c *fakeCodec) Refuse(b *Batch) { b.Dead.add(b, firstLine(b.In[b.Next:])) }

// A fakeSource reads lanes of lines in order, several lanes concurrently, in
// batches of a random number of lines.
type fakeSource struct {
	lanes   [][]string
	readers int
	limits  LaneLimits
	perCall int  // maximum lines per batch; default 5
	block   bool // wait for ctx after the last lane, as a daemon does
	whole   bool // lanes are complete at their end

	rt     Runtime
	mu     sync.Mutex
	opened []*Lane
	taken  []int // emitted lines, by lane
	closed int
}

func (s *fakeSource) Open(_ context.Context, rt Runtime) error { s.rt = rt; return nil }
func (s *fakeSource) Close(context.Context) error              { s.closed++; return nil }

func (s *fakeSource) Run(ctx context.Context) error {
	s.mu.Lock()
	s.taken = make([]int, len(s.lanes))
	s.mu.Unlock()
	next := make(chan int)
	var wg sync.WaitGroup
	errs := make([]error, max(1, s.readers))
	lanes := make([]*Lane, len(s.lanes))
	for r := range errs {
		wg.Go(func() {
			for i := range next {
				if errs[r] == nil {
					errs[r] = s.readLane(ctx, lanes[i], i)
				}
			}
		})
	}
	for i := range s.lanes {
		lanes[i] = s.rt.NewLane(fmt.Sprintf("lane%d", i), s.limits)
		s.mu.Lock()
		s.opened = append(s.opened, lanes[i])
		s.mu.Unlock()
		next <- i
	}
	close(next)
	wg.Wait()
	if s.block && ctx.Err() == nil {
		<-ctx.Done()
	}
	return errors.Join(errs...)
}

// read returns the number of emitted lines of a lane.
func (s *fakeSource) read(i int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken[i]
}

func (s *fakeSource) readLane(ctx context.Context, l *Lane, i int) error {
	defer s.rt.End(l)
	lines := s.lanes[i]
	rng := rand.New(rand.NewPCG(uint64(i), 1))
	for at := 0; at < len(lines); {
		b, err := s.rt.Get(ctx, l)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		if rng.IntN(10) == 0 { // put the batch back unused
			s.rt.Put(b)
			continue
		}
		n := min(1+rng.IntN(max(5, s.perCall)), len(lines)-at)
		b.Line = int64(at + 1)
		for _, rec := range lines[at : at+n] {
			b.In = append(append(b.In, rec...), '\n')
		}
		at += n
		if err := s.rt.Emit(ctx, b, Position{A: int64(at)}); err != nil {
			if errors.Is(err, ErrStopped) {
				return nil
			}
			return err
		}
		s.mu.Lock()
		s.taken[i] = at
		s.mu.Unlock()
	}
	if s.whole {
		l.Complete()
	}
	return nil
}

// A fakeSink stores the lines that it gets, by lane, in order.
type fakeSink struct {
	mu       sync.Mutex
	lines    map[string][]string
	all      []string // lane:line, over all lanes
	opened   int
	closed   int
	cutShort bool // Close was called with a canceled context
	held     []held
	tickets  int

	hold                int  // number of tickets that it holds until Barrier
	async               bool // answer from a goroutine after a delay
	crew                crew.Crew
	answer              func(b *Batch, s *Stream) (Result, bool)            // false: no answer
	submit              func(ctx context.Context, b *Batch, t Ticket) error // called first
	open                func(ctx context.Context) error                     // replaces openErr
	openErr, barrierErr error
	closeErr            error
}

type held struct {
	t Ticket
	r Result
}

func (s *fakeSink) Caps() SinkCaps { return SinkCaps{Ordered: true} }

func (s *fakeSink) Open(ctx context.Context) error {
	s.opened++
	if s.open != nil {
		return s.open(ctx)
	}
	return s.openErr
}

func (s *fakeSink) Submit(ctx context.Context, b *Batch, t Ticket) error {
	if s.submit != nil {
		if err := s.submit(ctx, b, t); err != nil {
			return err
		}
	}
	var r Result
	if s.answer != nil {
		var ok bool
		s.mu.Lock()
		r, ok = s.answer(b, t.Stream())
		s.mu.Unlock()
		if !ok {
			s.mu.Lock()
			s.tickets++
			s.mu.Unlock()
			return nil
		}
	}
	s.keep(b, t.Stream(), r)
	s.mu.Lock()
	hold, late := s.hold, s.closed > 0 // after a hard stop, nobody releases held tickets
	if late {
		hold = 0
	}
	if s.async && !late {
		s.crew.Go(func() { nap(3); t.Done(r) })
		s.mu.Unlock()
		return nil
	}
	s.held = append(s.held, held{t, r})
	s.mu.Unlock()
	s.release(hold)
	return nil
}

// keep stores the accepted records.
func (s *fakeSink) keep(b *Batch, st *Stream, r Result) {
	if r.Class == Retryable || r.Class == Permanent && r.Failed == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lines == nil {
		s.lines = make(map[string][]string)
	}
	name := b.Lane.Name()
	for i, o := range st.Recs {
		if !slices.Contains(r.Failed, uint32(i)) {
			rec := strings.TrimSuffix(string(st.Bytes[o.Off:o.Off+o.Len]), "\n")
			s.lines[name] = append(s.lines[name], rec)
			s.all = append(s.all, name+":"+rec)
		}
	}
}

func (s *fakeSink) Barrier(context.Context) error {
	s.release(0)
	s.crew.Wait()
	return s.barrierErr
}

func (s *fakeSink) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed++
	s.cutShort = ctx.Err() != nil
	s.mu.Unlock()
	s.release(0)
	s.crew.Wait()
	return s.closeErr
}

// release answers the oldest tickets until n are left.
func (s *fakeSink) release(n int) {
	for {
		s.mu.Lock()
		if len(s.held) <= n {
			s.mu.Unlock()
			return
		}
		h := s.held[0]
		s.held = s.held[1:]
		s.mu.Unlock()
		h.t.Done(h.r)
	}
}

// numbered returns n lines whose first bytes cycle through kinds.
func numbered(n int, kinds string) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("%c%d", kinds[i%len(kinds)], i)
	}
	return lines
}

// of returns the lines whose first byte is in kinds.
func of(lines []string, kinds string) []string {
	var out []string
	for _, l := range lines {
		if strings.IndexByte(kinds, l[0]) >= 0 {
			out = append(out, l)
		}
	}
	return out
}

// newPipe returns a pipeline, with a fake codec unless o has one.
func newPipe(t testing.TB, o Options) *Pipeline {
	t.Helper()
	if o.NewCodec == nil {
		o.NewCodec = newFakeCodec
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// finished runs p to its end, and checks what must hold after every complete
// run: the ledger balances, and everything was closed once.
func finished(ctx context.Context, t testing.TB, p *Pipeline) Snapshot {
	t.Helper()
	if err := p.Run(ctx); err != nil {
		t.Fatalf("Run: %v", err)
	}
	s := p.Snapshot()
	if !s.Ledger.Balanced() || s.Ledger.InFlight != 0 || s.Ledger.Abandoned != 0 {
		t.Errorf("ledger after a whole run: %+v", s.Ledger)
	}
	if s.State != Closed || s.InFlight != 0 || s.Waiting != 0 || len(s.Lanes) != 0 {
		t.Errorf("after the run: state %v, %d in flight, %d waiting, %d lanes", s.State, s.InFlight, s.Waiting, len(s.Lanes))
	}
	if !s.Stats.Balanced() {
		t.Errorf("stats do not balance: %+v", s.Stats)
	}
	checkClosed(t, p)
	return s
}

func checkClosed(t testing.TB, p *Pipeline) {
	t.Helper()
	for _, sink := range p.delivery.sinks {
		if s, ok := sink.Sink.(*fakeSink); ok && (s.opened != 1 || s.closed != 1) {
			t.Errorf("%s: opened %d times, closed %d times", sink.name, s.opened, s.closed)
		}
	}
	if s, ok := p.o.Sources[0].(*fakeSource); ok && s.closed != 1 {
		t.Errorf("source closed %d times", s.closed)
	}
}

// sameLines compares lines, with or without regard to their order.
func sameLines(t testing.TB, what string, got, want []string, ordered bool) {
	t.Helper()
	if !ordered {
		got, want = slices.Clone(got), slices.Clone(want)
		slices.Sort(got)
		slices.Sort(want)
	}
	if !slices.Equal(got, want) {
		i := 0
		for i < min(len(got), len(want)) && got[i] == want[i] {
			i++
		}
		t.Errorf("%s: %d lines, want %d; the first difference is line %d", what, len(got), len(want), i)
	}
}

// skipIfPanics skips the test of an error for which a build with the tag
// invariants panics: see invariants_test.go.
func skipIfPanics(t *testing.T) {
	t.Helper()
	if invariants {
		t.Skip("this build panics where the contract is broken")
	}
}
