package logging

import (
	"context"
	"errors"
	"log/slog"
)

// Except returns a handler that passes to h all records but those that drop reports.
func Except(h slog.Handler, drop func(slog.Record) bool) slog.Handler { return exceptHandler{h, drop} }

// Wraps returns a function that reports whether an attribute of a record wraps err.
func Wraps(err error) func(slog.Record) bool {
	return func(r slog.Record) (found bool) {
		r.Attrs(func(a slog.Attr) bool {
			other, ok := a.Value.Any().(error)
			found = ok && errors.Is(other, err)
			return !found
		})
		return found
	}
}

type exceptHandler struct {
	slog.Handler
	drop func(slog.Record) bool
}

// Handle implements [slog.Handler].
func (h exceptHandler) Handle(ctx context.Context, r slog.Record) error {
	if h.drop(r) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (h exceptHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return exceptHandler{h.Handler.WithAttrs(attrs), h.drop}
}

// WithGroup implements [slog.Handler].
func (h exceptHandler) WithGroup(name string) slog.Handler {
	return exceptHandler{h.Handler.WithGroup(name), h.drop}
}
