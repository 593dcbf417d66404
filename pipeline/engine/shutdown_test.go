package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urlfold/urlfold/internal/testkit/bubble"
)

// A bench is a run in the background of a synctest bubble.
type bench struct {
	p     *Pipeline
	stop  context.CancelFunc
	ended chan error
	begin time.Time
}

func inBackground(t *testing.T, o Options) *bench {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	b := &bench{p: newPipe(t, o), stop: stop, ended: make(chan error, 1), begin: time.Now()}
	go func() { b.ended <- b.p.Run(ctx) }()
	return b
}

// endlessLines exceeds the number of lines that any test reads before it stops.
const endlessLines = 6000

// endless returns a source with more lines than any test reads. It blocks after
// the last line.
func endless(lanes int) *fakeSource {
	s := &fakeSource{readers: lanes, block: true}
	for range lanes {
		s.lanes = append(s.lanes, numbered(endlessLines, "aDX"))
	}
	return s
}

// TestBackpressure is a short form of experiment 21: while a sink accepts
// nothing, the source stops when all batches are in use, and it continues when
// the sink does.
func TestBackpressure(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		src := endless(1)
		open := make(chan struct{})
		sink := &fakeSink{submit: func(context.Context, *Batch, Ticket) error { <-open; return nil }}
		b := inBackground(t, Options{Sources: []Source{src}, Sinks: []Sink{sink}, Batches: 8, Workers: 2})
		time.Sleep(time.Hour)
		s := b.p.Snapshot()
		if s.InFlight != 8 || s.State != Running {
			t.Errorf("%d batches in flight, want 8; %v", s.InFlight, s.State)
		}
		if n := src.read(0); n == 0 || n > 8*5 {
			t.Errorf("%d lines were read into 8 batches of at most 5", n)
		}
		close(open)
		time.Sleep(time.Second)
		if src.read(0) != endlessLines {
			t.Errorf("%d lines were read after the sink was opened, want all", src.read(0))
		}
		b.stop()
		if err := <-b.ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

// TestStopWhileOpening: a soft stop ends an Open that waits for a server, and
// the run ends without an error and without reading.
func TestStopWhileOpening(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		src := endless(1)
		first, unreachable := &fakeSink{}, &fakeSink{open: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}
		b := inBackground(t, Options{Sources: []Source{src}, Sinks: []Sink{first, unreachable}, ShutdownTimeout: time.Hour})
		time.Sleep(time.Minute)
		if s := b.p.Snapshot(); s.State != Opening || s.Opening != b.p.delivery.sinks[1].name {
			t.Errorf("state %v of %q, want Opening of the second sink", s.State, s.Opening)
		}
		b.stop()
		if err := <-b.ended; err != nil {
			t.Errorf("Run: %v", err)
		}
		if d := time.Since(b.begin); d != time.Minute {
			t.Errorf("ended %v after the stop", d-time.Minute)
		}
		if first.closed != 1 || unreachable.closed != 1 || src.closed != 0 || first.cutShort {
			t.Errorf("closed %d, %d and %d times, want 1, 1 and 0; cut short: %v", first.closed, unreachable.closed, src.closed, first.cutShort)
		}
	})
}

// TestOpenContext: after Open, a soft stop does not cancel its context.
func TestOpenContext(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var opened context.Context
		sink := &fakeSink{open: func(ctx context.Context) error { opened = ctx; return nil }}
		sink.submit = func(context.Context, *Batch, Ticket) error { nap(5); return opened.Err() }
		b := inBackground(t, Options{Sources: []Source{endless(1)}, Sinks: []Sink{sink}})
		time.Sleep(time.Minute)
		b.stop()
		if err := <-b.ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

// TestSoftStop is the first half of experiment 23: a soft stop under load
// drains. The sink gets everything that was read exactly once, and the
// watermark covers it.
func TestSoftStop(t *testing.T) {
	f := func(ordering Ordering) {
		t.Helper()
		bubble.Test(t, func(t *testing.T) {
			src := &committing{fakeSource: *endless(3)}
			slow := func(context.Context, *Batch, Ticket) error { nap(5); return nil }
			sink, dead := &fakeSink{async: true, submit: slow}, &fakeSink{}
			b := inBackground(t, Options{Sources: []Source{src}, Sinks: []Sink{sink}, DeadLetter: dead, Ordering: ordering, Workers: 4})
			time.Sleep(time.Second)
			b.stop()
			if err := <-b.ended; err != nil {
				t.Fatalf("%v: Run: %v", ordering, err)
			}
			for i, l := range src.opened {
				n := src.read(i)
				if i == 0 && (n == 0 || n == endlessLines) {
					t.Errorf("%v: %d lines were read, so the stop was not under load", ordering, n)
				}
				read := src.lanes[i][:n]
				sameLines(t, "sink", sink.lines[l.Name()], of(read, "a"), ordering != OrderNone)
				sameLines(t, "dead letter", dead.lines[l.Name()], of(read, "X"), ordering != OrderNone)
				if got := src.last()[l.Name()].A; got != int64(n) {
					t.Errorf("%v: %s is committed up to %d, want %d", ordering, l.Name(), got, n)
				}
			}
			s := b.p.Snapshot()
			if !s.Ledger.Balanced() || s.Ledger.InFlight != 0 || s.Ledger.Abandoned != 0 {
				t.Errorf("%v: ledger %+v", ordering, s.Ledger)
			}
			checkClosed(t, b.p)
			if sink.cutShort {
				t.Errorf("%v: Close was called with a canceled context", ordering)
			}
		})
	}
	f(OrderNone)
	f(OrderPerLane)
	f(OrderInput)
}

// TestHardStop is the second half of experiment 23: the causes and times of an
// early end, and the state after it. Committed positions cover only records
// that are in the sink.
func TestHardStop(t *testing.T) {
	const timeout = 40 * time.Second
	hangInSubmit := func(ctx context.Context, _ *Batch, _ Ticket) error { <-ctx.Done(); return ctx.Err() }
	deaf := make(chan struct{}) // closed at the end of the test
	f := func(name string, ordering Ordering, sink *fakeSink, act func(b *bench), want time.Duration) {
		t.Helper()
		reason := "pipeline: shutdown deadline exceeded: "
		if want < time.Minute/2 {
			reason = "pipeline: stopped by a second signal: "
		}
		bubble.Test(t, func(t *testing.T) {
			deaf = make(chan struct{})
			src := &committing{fakeSource: *endless(3)}
			good := &fakeSink{}
			b := inBackground(t, Options{
				Sources: []Source{src}, Sinks: []Sink{good, sink}, Ordering: ordering, Workers: 4, ShutdownTimeout: timeout,
			})
			time.Sleep(time.Second)
			begin := time.Now()
			act(b)
			err := <-b.ended
			if !errors.Is(err, ErrDeadline) || strings.Contains(err.Error(), "BUG") || !strings.HasPrefix(err.Error(), reason) {
				t.Errorf("%s: Run: %v, want %s…", name, err, reason)
			}
			if d := time.Since(begin); d != want {
				t.Errorf("%s: the stop took %v, want %v", name, d, want)
			}
			s := b.p.Snapshot()
			if !s.Ledger.Balanced() {
				t.Errorf("%s: ledger %+v", name, s.Ledger)
			}
			sink.mu.Lock()
			for i, l := range src.opened {
				for _, rec := range of(src.lanes[i][:src.last()[l.Name()].A], "a") {
					found := false
					for _, got := range sink.lines[l.Name()] {
						found = found || got == rec
					}
					if !found {
						t.Fatalf("%s: %s of %s is committed but not in the sink", name, rec, l.Name())
					}
				}
			}
			sink.mu.Unlock()
			close(deaf)
			synctest.Wait()
			checkClosed(t, b.p)
		})
	}
	soft := func(b *bench) { b.stop() }
	twice := func(b *bench) { b.stop(); time.Sleep(time.Second); b.p.HardStop() }
	hard := func(b *bench) { b.p.HardStop() }
	someSubmits := func() func(context.Context, *Batch, Ticket) error {
		n := make(chan struct{}, 5)
		return func(ctx context.Context, b *Batch, t Ticket) error {
			select {
			case n <- struct{}{}:
				return nil
			default:
				return hangInSubmit(ctx, b, t)
			}
		}
	}
	never := func(*Batch, *Stream) (Result, bool) {
		return Result{Err: errSink, Class: Retryable}, true
	}
	for _, o := range []Ordering{OrderNone, OrderPerLane, OrderInput} {
		f("hangs in Submit, "+o.String(), o, &fakeSink{submit: hangInSubmit}, soft, timeout*3/4)
		f("hangs after some, "+o.String(), o, &fakeSink{submit: someSubmits()}, soft, timeout*3/4)
		f("retries for ever, "+o.String(), o, &fakeSink{answer: never}, soft, timeout*3/4)
		f("second signal, "+o.String(), o, &fakeSink{answer: never}, twice, time.Second)
		f("hard at once, "+o.String(), o, &fakeSink{answer: never}, hard, 0)
		f("answers at Close, "+o.String(), o, &fakeSink{hold: 1000}, hard, 0)
		f("deaf, "+o.String(), o, &fakeSink{submit: func(context.Context, *Batch, Ticket) error { <-deaf; return errSink }}, soft, timeout)
	}
}

// A stuckSink cannot write. Its Barrier waits until it is canceled, and Close
// answers its tickets.
type stuckSink struct{ fakeSink }

func (*stuckSink) Barrier(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestHardStopInBarrier: wherever a sink that cannot write blocks, the run ends
// with ErrDeadline and does not report a bug.
func TestHardStopInBarrier(t *testing.T) {
	f := func(sinks ...Sink) {
		t.Helper()
		bubble.Test(t, func(t *testing.T) {
			src := &committing{fakeSource: *oneLane(50, "a")}
			src.block = true
			b := inBackground(t, Options{Sources: []Source{src}, Sinks: sinks, ShutdownTimeout: 40 * time.Second})
			time.Sleep(time.Second)
			b.stop()
			if err := <-b.ended; !errors.Is(err, ErrDeadline) || strings.Contains(err.Error(), "BUG") {
				t.Errorf("Run: %v, want %v", err, ErrDeadline)
			}
			checkClosed(t, b.p)
		})
	}
	stuck := func() Sink { return &stuckSink{fakeSink{hold: 1000}} }
	f(stuck())
	f(stuck(), &fakeSink{})
	f(&fakeSink{}, stuck())
}

// TestHeldAtDeadline: batches that a sink still holds at the deadline are given up,
// which is no bug of the sink. It repeats, because at the deadline the goroutines of
// the run may have ended too.
func TestHeldAtDeadline(t *testing.T) {
	for range 100_000 {
		p := newPipe(t, Options{Sources: []Source{oneLane(1, "a")}, Sinks: []Sink{&fakeSink{}}, Workers: 1, Batches: 4, BatchBytes: 64})
		p.outstanding.Store(2)
		p.expire()
		p.end()
		if p.err != nil {
			t.Fatal(p.err)
		}
	}
}

// TestHardStopOfNothing: a hard stop when everything is durable is not an
// error.
func TestHardStopOfNothing(t *testing.T) {
	for _, closeErr := range []error{nil, errSink} {
		bubble.Test(t, func(t *testing.T) {
			src := &committing{fakeSource: *oneLane(50, "a")}
			src.block = true
			sink := &fakeSink{closeErr: closeErr}
			b := inBackground(t, Options{Sources: []Source{src}, Sinks: []Sink{sink}, CommitInterval: time.Hour})
			time.Sleep(time.Second)
			synctest.Wait()
			b.p.HardStop()
			if err := <-b.ended; errors.Is(err, ErrDeadline) != (closeErr != nil) || !errors.Is(err, closeErr) {
				t.Errorf("Run: %v, of Close: %v", err, closeErr)
			}
			if at := src.last()["lane0"].A; at != 50 || len(sink.all) != 50 {
				t.Errorf("committed %d, written %d", at, len(sink.all))
			}
			checkClosed(t, b.p)
		})
	}
}

// TestDeafSource: a source whose Run does not return cannot keep the process
// alive.
func TestDeafSource(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		b := inBackground(t, Options{Sources: []Source{deafSource{release}}, Sinks: []Sink{&fakeSink{}}, ShutdownTimeout: time.Minute})
		synctest.Wait() // everything is open
		b.stop()
		if err := <-b.ended; !errors.Is(err, ErrDeadline) {
			t.Errorf("Run: %v, want %v", err, ErrDeadline)
		}
		if d := time.Since(b.begin); d != time.Minute {
			t.Errorf("it took %v, want a minute", d)
		}
		close(release)
	})
}

type deafSource struct{ release chan struct{} }

func (s deafSource) Open(context.Context, Runtime) error { return nil }
func (s deafSource) Run(context.Context) error           { <-s.release; return nil }
func (s deafSource) Close(context.Context) error         { return nil }

// TestLostBatch: the pipeline detects a source that loses a batch.
func TestLostBatch(t *testing.T) {
	p := newPipe(t, Options{Sources: []Source{&funcSource{run: func(ctx context.Context, rt Runtime) error {
		_, err := rt.Get(ctx, rt.NewLane("l", LaneLimits{}))
		return err
	}}}, Sinks: []Sink{&fakeSink{}}})
	if err := p.Run(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "BUG:") {
		t.Errorf("Run: %v, want BUG: …", err)
	}
}

// TestSourcePanics: a panic of a source is its error, with the stack and without a
// value that could quote a record.
func TestSourcePanics(t *testing.T) {
	p := newPipe(t, Options{SourceNames: []string{"in"}, Sources: []Source{&funcSource{run: func(context.Context, Runtime) error {
		panic("http://user:hunter2@h/")
	}}}, Sinks: []Sink{&fakeSink{}}})
	err := p.Run(t.Context())
	if err == nil || !strings.HasPrefix(err.Error(), "in: panic: value of type string\n") || !strings.Contains(err.Error(), "shutdown_test.go") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("Run: %v", err)
	}
}

// A funcSource implements Source with a function.
type funcSource struct {
	rt  Runtime
	run func(context.Context, Runtime) error
}

func (s *funcSource) Open(_ context.Context, rt Runtime) error { s.rt = rt; return nil }
func (s *funcSource) Run(ctx context.Context) error            { return s.run(ctx, s.rt) }
func (s *funcSource) Close(context.Context) error              { return nil }

// TestPutTwice: a source that puts a batch back twice ends the run.
func TestPutTwice(t *testing.T) {
	skipIfPanics(t)
	src := &funcSource{run: func(ctx context.Context, rt Runtime) error {
		b, err := rt.Get(ctx, rt.NewLane("l", LaneLimits{}))
		if err != nil {
			return err
		}
		rt.Put(b)
		rt.Put(b)
		return nil
	}}
	p := newPipe(t, Options{Sources: []Source{src}, Sinks: []Sink{&fakeSink{}}})
	if err := p.Run(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "BUG:") {
		t.Errorf("Run: %v, want BUG: …", err)
	}
}

// TestIntake: the Runtime rejects invalid calls.
func TestIntake(t *testing.T) {
	f := func(name string, run func(ctx context.Context, rt Runtime) error, want error, bug bool) {
		t.Helper()
		p := newPipe(t, Options{Sources: []Source{&funcSource{run: run}}, Sinks: []Sink{&fakeSink{}}})
		err := p.Run(t.Context())
		if want != nil && !errors.Is(err, want) || bug != (err != nil && strings.HasPrefix(err.Error(), "BUG:")) || want == nil && !bug && err != nil {
			t.Errorf("%s: Run: %v", name, err)
		}
	}
	f("Get after End", func(ctx context.Context, rt Runtime) error {
		l := rt.NewLane("l", LaneLimits{})
		rt.End(l)
		_, err := rt.Get(ctx, l)
		return err
	}, ErrEnded, false)
	f("Emit after End", func(ctx context.Context, rt Runtime) error {
		l := rt.NewLane("l", LaneLimits{})
		b, err := rt.Get(ctx, l)
		if err != nil {
			return err
		}
		rt.End(l)
		return rt.Emit(ctx, b, Position{})
	}, ErrEnded, false)
	f("Emit after Revoke", func(ctx context.Context, rt Runtime) error {
		l := rt.NewLane("l", LaneLimits{})
		b, err := rt.Get(ctx, l)
		if err != nil {
			return err
		}
		l.Revoke()
		return rt.Emit(ctx, b, Position{})
	}, ErrRevoked, false)
	f("an empty batch moves the watermark", func(ctx context.Context, rt Runtime) error {
		l := rt.NewLane("l", LaneLimits{Batches: 1})
		for i := range 3 {
			b, err := rt.Get(ctx, l)
			if err != nil {
				return err
			}
			if err := rt.Emit(ctx, b, Position{A: int64(i + 1)}); err != nil {
				return err
			}
		}
		if err := l.Drain(ctx); err != nil {
			return err
		}
		if wm, ok := l.Watermark(); wm.A != 3 || !ok {
			return errors.New("the watermark did not move")
		}
		return nil
	}, nil, false)
	f("Run fails", func(context.Context, Runtime) error { return errSink }, errSink, false)
}
