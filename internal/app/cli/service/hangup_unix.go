//go:build unix

package service

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/urlfold/urlfold/internal/app/cli/command"
)

// onHangup calls f at every SIGHUP until stop is called, unless the command is
// embedded. After that, SIGHUP does nothing: it must not kill a process that is
// about to exit with its own code.
func onHangup(ctx context.Context, f func()) (stop func()) {
	if command.Embedded(ctx) {
		return func() {}
	}
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
