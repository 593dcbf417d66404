package cli

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"syscall"
	"testing"

	"github.com/urlfold/urlfold/pipeline/engine"
)

// The error of the run is reported by the command, and not logged.
func TestLogger(t *testing.T) {
	var out bytes.Buffer
	log := newLogger(&out, slog.LevelWarn)
	log.Error(engine.RunFailed, "error", errors.New("disk full"))
	log.With("component", "stdout").WithGroup("g").Error(engine.RunFailed, "error", syscall.EPIPE)
	log.Info("not at this level")
	if out.Len() > 0 {
		t.Errorf("logged %q", out.String())
	}
	log.Warn("a sink is slow", "error", errors.New("busy"))
	if !strings.Contains(out.String(), "a sink is slow") {
		t.Errorf("logged %q", out.String())
	}
}
