package cli

import (
	"io"
	"log/slog"
	"syscall"

	"github.com/urlfold/urlfold/internal/ground/logging"
)

// newLogger returns a logger that writes messages of at least level to w, but none about
// EPIPE: it is no error for a filter if the reader of its output goes away.
func newLogger(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(logging.Except(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}), syscall.EPIPE))
}
