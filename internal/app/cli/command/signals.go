package command

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// The times of signals. A program such as timeout sends a signal to the process
// and to its group, and a supervisor may send SIGTERM and SIGINT.
const (
	oneSignal    = 500 * time.Millisecond // signals within this time count as one
	impatience   = 5 * time.Second        // a SIGTERM this long after the first signal is a hard stop
	endsBy       = 3 * time.Second        // the process ends this long after a hard stop, even if work remains
	signalBuffer = 16
)

// A stop is what a signal asks for.
type stop uint8

const (
	noStop   stop = iota
	softStop      // finish what was read
	hardStop      // end now
)

// A stopper decides what signals mean.
type stopper struct {
	first time.Time // time of the first signal
	last  time.Time // time of the last signal that counted separately
}

// on returns what a signal at the given time asks for.
func (s *stopper) on(sig os.Signal, now time.Time) stop {
	switch {
	case s.first.IsZero():
		s.first, s.last = now, now
		return softStop
	case now.Sub(s.last) <= oneSignal:
		return noStop
	}
	s.last = now
	if sig == os.Interrupt || now.Sub(s.first) >= impatience {
		return hardStop
	}
	return noStop
}

// Signals turns the first SIGINT or SIGTERM into a soft stop and a later one
// into a hard stop, as a stopper says. It ignores SIGPIPE, so that a write to a
// closed pipe returns EPIPE instead of killing the process before its other
// outputs are cleaned up.
type Signals struct {
	Soft   context.Context // done at the soft stop
	cancel context.CancelFunc
	ch     chan os.Signal
	second chan struct{} // closed at the hard stop
	Quit   chan struct{} // closed by Stop
	exit   func(code int)
}

// embedded is the key of the context values that Embed sets.
type embedded struct{}

// Embed returns a context for a command that is a part of another program: Watch
// catches no signals for it.
func Embed(ctx context.Context) context.Context { return context.WithValue(ctx, embedded{}, true) }

// Embedded reports whether ctx comes from Embed.
func Embedded(ctx context.Context) bool { return ctx.Value(embedded{}) != nil }

// Watch catches signals until Stop is called. The end of ctx is a soft stop,
// too. It is the only soft stop if the command is embedded.
func Watch(ctx context.Context) *Signals {
	s := newSignals(ctx)
	if Embedded(ctx) {
		return s
	}
	signal.Ignore(syscall.SIGPIPE)
	signal.Notify(s.ch, os.Interrupt, syscall.SIGTERM)
	go s.wait()
	return s
}

func newSignals(ctx context.Context) *Signals {
	s := &Signals{ch: make(chan os.Signal, signalBuffer), second: make(chan struct{}), Quit: make(chan struct{}), exit: os.Exit} //nolint:forbidigo // ends a process that does not end by itself
	s.Soft, s.cancel = context.WithCancel(ctx)
	return s
}

func (s *Signals) wait() {
	var st stopper
	for {
		select {
		case sig := <-s.ch:
			switch st.on(sig, time.Now()) {
			case softStop:
				s.cancel()
			case hardStop:
				close(s.second)
				s.end()
				return
			}
		case <-s.Quit:
			return
		}
	}
}

// end ends the process if it does not end by itself. That is as safe as a crash.
func (s *Signals) end() {
	select {
	case <-time.After(endsBy):
		_, _ = fmt.Fprintln(os.Stderr, "urlfold: stopped by a second signal") //nolint:forbidigo // the command may never return to its caller
		s.exit(ExitCut)
	case <-s.Quit:
	}
}

// OnSecond calls f at the hard stop.
func (s *Signals) OnSecond(f func()) {
	select {
	case <-s.second:
		f()
	case <-s.Quit:
	}
}

// Stop stops reacting to signals. They stay caught, because the process is
// about to exit and a signal must not replace its exit code.
func (s *Signals) Stop() {
	close(s.Quit)
	s.cancel()
}
