package nats

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/urlfold/urlfold/internal/ground/pause"
	"github.com/urlfold/urlfold/internal/ground/redact"
)

// Protect calls f and returns a panic of f as an error with its stack. The text
// of a panic may quote a message, so only panics of the runtime are quoted.
func Protect(f func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %s\n%s", redact.Panic(v), debug.Stack())
		}
	}()
	f()
	return nil
}

// Keep calls f, which returns when ctx is done. After a panic of f, Keep
// reports the panic and calls f again.
func Keep(ctx context.Context, report func(error), f func(context.Context)) {
	for {
		err := Protect(func() { f(ctx) })
		if err == nil {
			return
		}
		report(err)
		if pause.For(ctx, time.Second) != nil {
			return
		}
	}
}
