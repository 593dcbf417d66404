package daemon

import (
	"context"
	"errors"
	"log/slog"

	sinkfile "github.com/urlfold/urlfold/sinks/file"
)

// A pipeHandler drops records about a closed stdout. That is the normal end of
// a filter, and the daemon logs it once itself.
type pipeHandler struct{ slog.Handler }

// Handle implements [slog.Handler].
func (h pipeHandler) Handle(ctx context.Context, r slog.Record) error {
	closed := false
	r.Attrs(func(a slog.Attr) bool {
		err, ok := a.Value.Any().(error)
		closed = ok && errors.Is(err, sinkfile.ErrClosedPipe)
		return !closed
	})
	if closed {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (h pipeHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return pipeHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements [slog.Handler].
func (h pipeHandler) WithGroup(name string) slog.Handler {
	return pipeHandler{h.Handler.WithGroup(name)}
}
