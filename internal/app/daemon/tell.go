package daemon

import (
	"context"
	"io"
	"time"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/ground/logging"
	"github.com/urlfold/urlfold/internal/observe/systemd"
	"github.com/urlfold/urlfold/internal/observe/web"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// This file logs the state of the daemon: whether it is ready, and how many rejected
// records were dropped.

const (
	// startPoll is how often tell looks whether the first pipeline is running,
	// and readyPoll how often it looks afterwards whether the daemon is ready.
	startPoll, readyPoll = 50 * time.Millisecond, time.Second
	// dropInterval is the interval over which dropped records are added up, so
	// that not every dropped record makes a log line.
	dropInterval = 10 * time.Second
)

// tell notifies systemd once, when the first pipeline is running. It logs
// changes of readiness, and dropped records, until ctx is done.
func (d *Daemon) tell(ctx context.Context) {
	t := time.NewTicker(startPoll)
	defer t.Stop()
	var running, ready bool
	last := time.Now()
	for {
		if d.totals.Snapshot().State == engine.Running {
			if !running {
				running = true
				t.Reset(readyPoll)
				if err := systemd.Ready("running"); err != nil {
					d.log.Warn("sd_notify failed", "error", err)
				}
			}
			ok, checks := d.server.Ready()
			if ok && !ready {
				d.events.Info("ready")
			} else if ready && !ok {
				d.events.Warn("not ready", "error", firstFailure(checks))
			}
			ready = ok
		}
		if time.Since(last) >= dropInterval {
			last = time.Now()
			d.tellDropped()
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
	}
}

// LogExit writes the reason why the process exits to w, as a JSON line, because
// readers of the log of f expect no other lines.
func LogExit(f *config.File, w io.Writer, code int, err error) {
	m := new(logging.Masker)
	m.Add(secretsOf(f)...)
	logging.New(w, logging.Options{JSON: true, Masker: m}).Error("exiting", "error", err, "exit_code", code)
}

func firstFailure(checks []web.Check) string {
	for _, c := range checks {
		if !c.OK {
			return c.Name + ": " + c.Reason
		}
	}
	return ""
}

// A cause names a source and the reason why some of its records were dropped.
type cause struct {
	source string
	reason record.Reason
}

// tellDropped logs the rejected records that were dropped since its last call.
// The pipeline itself logs records that a sink refused.
func (d *Daemon) tellDropped() {
	s := d.totals.Snapshot()
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range s.Sources {
		for r, n := range s.Sources[i].Stats.Discards {
			at := cause{s.Sources[i].Name, record.Reason(r)}
			if lost := n - d.dropped[at]; lost > 0 && at.reason != record.Refused {
				d.dropped[at] = n
				d.events.Error("records dropped", "component", at.source, "reason", at.reason.String(), "lost_records", lost)
			}
		}
	}
}
