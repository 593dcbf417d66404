// Package systemd notifies systemd of the state of the daemon: ready,
// reloading, stopping, alive. It implements the protocol of sd_notify(3).
// Without NOTIFY_SOCKET in the environment, its functions do nothing and return
// nil.
package systemd

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// Ready notifies systemd that the start or a reload has finished. status is a
// line for people, or empty.
func Ready(status string) error { return notify(daemon.SdNotifyReady, statusLine(status)) }

// Stopping notifies systemd that the daemon is shutting down.
func Stopping(status string) error { return notify(daemon.SdNotifyStopping, statusLine(status)) }

// Reloading notifies systemd that the daemon reloads its configuration. The
// caller must call [Ready] afterwards, even if the reload fails. Units with
// Type=notify-reload use the timestamp in the message to distinguish reloads.
func Reloading() error {
	usec, ok := monotonicMicros()
	if !ok {
		return notify(daemon.SdNotifyReloading)
	}
	return notify(daemon.SdNotifyReloading, "MONOTONIC_USEC="+strconv.FormatInt(usec, 10))
}

// statusLine returns the STATUS assignment for text, with its line breaks
// replaced by spaces, because a line break ends an assignment.
func statusLine(text string) string {
	if text == "" {
		return ""
	}
	return "STATUS=" + strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' || r == 0 }), " ")
}

// notify sends assignments in one datagram.
func notify(lines ...string) error {
	var b strings.Builder
	for _, l := range lines {
		if l != "" {
			b.WriteString(l)
			b.WriteByte('\n')
		}
	}
	if b.Len() == 0 {
		return nil
	}
	if _, err := daemon.SdNotify(false, b.String()); err != nil {
		return fmt.Errorf("sd_notify: %w", err)
	}
	return nil
}

// Watchdog notifies systemd that the daemon is alive, twice per interval of the
// unit's WatchdogSec, until ctx is done. It skips the notification if alive
// returns an error or blocks, so that systemd kills and restarts the daemon.
// Without a watchdog it returns nil immediately. It returns an error if the
// environment is invalid.
func Watchdog(ctx context.Context, log *slog.Logger, alive func() error) error {
	interval, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		return fmt.Errorf("systemd watchdog: %w", err)
	}
	if interval == 0 {
		return nil
	}
	t := time.NewTicker(max(interval/2, time.Millisecond))
	defer t.Stop()
	for {
		if err := alive(); err != nil {
			log.Error("not alive, watchdog not notified", "error", err)
		} else if err := notify(daemon.SdNotifyWatchdog); err != nil {
			log.Warn("watchdog notification failed", "error", err)
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return nil
		}
	}
}
