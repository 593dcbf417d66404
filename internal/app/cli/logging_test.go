package cli

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"syscall"
	"testing"
)

// What says that the reader of the output has gone is not logged.
func TestLogger(t *testing.T) {
	var out bytes.Buffer
	log := newLogger(&out, slog.LevelWarn)
	log.Error("the run fails", "error", errors.Join(errors.New("writing"), syscall.EPIPE))
	log.With("component", "stdout").WithGroup("g").Error("the run fails", "error", syscall.EPIPE)
	log.Info("not at this level")
	if out.Len() > 0 {
		t.Errorf("logged %q", out.String())
	}
	log.Warn("a sink is slow", "error", errors.New("busy"))
	if !strings.Contains(out.String(), "a sink is slow") {
		t.Errorf("logged %q", out.String())
	}
}
