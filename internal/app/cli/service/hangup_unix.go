//go:build unix

package service

import (
	"os"
	"os/signal"
	"syscall"
)

// onHangup calls f at every SIGHUP until stop is called. After that, SIGHUP has
// no effect: it must not kill a process that is about to exit with its own
// code.
func onHangup(f func()) (stop func()) {
	ch := make(chan os.Signal, 1)
	quit := make(chan struct{})
	signal.Notify(ch, syscall.SIGHUP)
	go func() {
		for {
			select {
			case <-ch:
				f()
			case <-quit:
				return
			}
		}
	}()
	return func() { close(quit) }
}
