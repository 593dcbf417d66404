// Package systemd tells systemd how the daemon stands: ready, reloading, stopping,
// alive. Without systemd, which is without NOTIFY_SOCKET in the environment, its
// functions do nothing and succeed. The protocol is that of sd_notify(3).
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

// Ready says that the start, or a reload, is over, and what the daemon does now:
// one line for people, or empty.
func Ready(status string) error { return notify(daemon.SdNotifyReady, statusLine(status)) }

// Stopping says that the daemon is on its way down.
func Stopping(status string) error { return notify(daemon.SdNotifyStopping, statusLine(status)) }

// Status says what the daemon does now: one line for people.
func Status(status string) error { return notify(statusLine(status)) }

// Reloading says that the configuration is read again. [Ready] follows, whether the
// new one could be used or not. A unit of Type=notify-reload needs the time that is
// sent along, to tell this reload from the one before.
func Reloading() error {
	usec, ok := monotonicMicros()
	if !ok {
		return notify(daemon.SdNotifyReloading)
	}
	return notify(daemon.SdNotifyReloading, "MONOTONIC_USEC="+strconv.FormatInt(usec, 10))
}

// statusLine returns the assignment for text, in which a line break would end it.
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
		return fmt.Errorf("telling systemd: %w", err)
	}
	return nil
}

// Watchdog tells systemd that the daemon is alive, twice in each interval of the
// unit's WatchdogSec, until ctx is done. It does so only while alive returns nil, so
// that systemd kills a daemon that says otherwise, or whose alive does not return.
// Without a watchdog it returns at once; the error says that the environment makes no
// sense.
func Watchdog(ctx context.Context, log *slog.Logger, alive func() error) error {
	interval, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		return fmt.Errorf("systemd's watchdog: %w", err)
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
