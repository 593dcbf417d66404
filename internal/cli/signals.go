package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// signals turns the first SIGINT or SIGTERM into a soft stop and the second
// into a hard stop. It ignores SIGPIPE, so that a write to a closed pipe
// returns EPIPE instead of killing the process before its other outputs are
// cleaned up.
type signals struct {
	soft   context.Context // done at the first signal
	cancel context.CancelFunc
	ch     chan os.Signal
	second chan struct{} // closed at the second signal
	quit   chan struct{}
}

func watchSignals() *signals {
	s := &signals{ch: make(chan os.Signal, 2), second: make(chan struct{}), quit: make(chan struct{})}
	s.soft, s.cancel = context.WithCancel(context.Background())
	signal.Ignore(syscall.SIGPIPE)
	signal.Notify(s.ch, os.Interrupt, syscall.SIGTERM)
	go s.wait()
	return s
}

func (s *signals) wait() {
	for _, act := range []func(){s.cancel, func() { close(s.second) }} {
		select {
		case <-s.ch:
			act()
		case <-s.quit:
			return
		}
	}
}

// onSecond calls f at the second signal.
func (s *signals) onSecond(f func()) {
	select {
	case <-s.second:
		f()
	case <-s.quit:
	}
}

// stop stops reacting to signals. They stay caught, because the process is
// about to exit and a signal must not replace its exit code.
func (s *signals) stop() {
	close(s.quit)
	s.cancel()
}
