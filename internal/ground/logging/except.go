package logging

import (
	"context"
	"errors"
	"log/slog"
)

// Except returns a handler that passes to h all records except those with an
// attribute that wraps the error.
func Except(h slog.Handler, err error) slog.Handler { return exceptHandler{h, err} }

type exceptHandler struct {
	slog.Handler
	err error
}

// Handle implements [slog.Handler].
func (h exceptHandler) Handle(ctx context.Context, r slog.Record) error {
	drop := false
	r.Attrs(func(a slog.Attr) bool {
		err, ok := a.Value.Any().(error)
		drop = ok && errors.Is(err, h.err)
		return !drop
	})
	if drop {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (h exceptHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return exceptHandler{h.Handler.WithAttrs(attrs), h.err}
}

// WithGroup implements [slog.Handler].
func (h exceptHandler) WithGroup(name string) slog.Handler {
	return exceptHandler{h.Handler.WithGroup(name), h.err}
}
