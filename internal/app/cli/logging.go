package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"syscall"
)

// newLogger returns a logger that writes messages of at least level to w.
func newLogger(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(pipeHandler{slog.NewTextHandler(w, &slog.HandlerOptions{Level: level})})
}

// A pipeHandler drops records about EPIPE: it is no error for a filter if the
// reader of its output goes away.
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
