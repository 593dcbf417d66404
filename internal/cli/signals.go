package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// signals turns SIGINT and SIGTERM into a soft stop, and the second of them into
// a hard one. A closed pipe becomes an error of its write (EPIPE), and not the
// end of the process, so that a file that is written beside it is cared for.
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

// stop ends the watching. The signals stay caught: the process ends with its exit
// code next, and a signal on the way there must not replace that code.
func (s *signals) stop() {
	close(s.quit)
	s.cancel()
}
