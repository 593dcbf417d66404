package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"syscall"
)

// newLogger returns the logger of a run.
func newLogger(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(pipeHandler{slog.NewTextHandler(w, &slog.HandlerOptions{Level: level})})
}

// A pipeHandler leaves out what says that the reader of our output has gone: for
// a filter that is no error.
type pipeHandler struct{ slog.Handler }

// Handle implements slog.Handler.
func (h pipeHandler) Handle(ctx context.Context, r slog.Record) error {
	closed := false
	r.Attrs(func(a slog.Attr) bool {
		err, ok := a.Value.Any().(error)
		closed = ok && errors.Is(err, syscall.EPIPE)
		return !closed
	})
	if closed {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}
