package nats

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"
)

// Protect calls f and returns a panic of f as an error with its stack. The text
// of a panic may quote a message, so only panics of the runtime are quoted.
func Protect(f func()) (err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case runtime.Error:
			err = fmt.Errorf("panic: %w\n%s", v, debug.Stack())
		default:
			err = fmt.Errorf("panic: value of type %T\n%s", v, debug.Stack())
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
		if Pause(ctx, time.Second) != nil {
			return
		}
	}
}
