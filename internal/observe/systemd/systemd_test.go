//go:build unix

package systemd

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// listen puts a socket in the place of systemd's.
func listen(t *testing.T) *net.UnixConn {
	t.Helper()
	// Not t.TempDir: the name of a socket may have some 100 bytes.
	dir, err := os.MkdirTemp("", "sd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	t.Setenv("NOTIFY_SOCKET", path)
	t.Setenv("WATCHDOG_USEC", "")
	t.Setenv("WATCHDOG_PID", "")
	return conn
}

// receive returns the next datagram.
func receive(t *testing.T, conn *net.UnixConn) string {
	t.Helper()
	buf := make([]byte, 4096)
	if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	n, err := conn.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	return string(buf[:n])
}

func TestNotify(t *testing.T) {
	conn := listen(t)
	f := func(err error, want string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if got := receive(t, conn); got != want {
			t.Errorf("sent %q, want %q", got, want)
		}
	}
	f(Ready(""), "READY=1\n")
	f(Ready("2 sources"), "READY=1\nSTATUS=2 sources\n")
	f(Stopping("one\nREADY=1\r\n"), "STOPPING=1\nSTATUS=one READY=1\n") // a line break must not begin an assignment
}

func TestReloading(t *testing.T) {
	conn := listen(t)
	var last int64
	for range 3 {
		if err := Reloading(); err != nil {
			t.Fatal(err)
		}
		got := receive(t, conn)
		if runtime.GOOS != "linux" {
			continue
		}
		digits, ok := strings.CutPrefix(got, "RELOADING=1\nMONOTONIC_USEC=")
		usec, err := strconv.ParseInt(strings.TrimSuffix(digits, "\n"), 10, 64)
		if !ok || err != nil || usec < last || usec == 0 {
			t.Errorf("sent %q after time %d", got, last)
		}
		last = usec
	}
}

// Without systemd nothing is sent, and nothing fails.
func TestAbsent(t *testing.T) {
	conn := listen(t)
	t.Setenv("NOTIFY_SOCKET", "")
	alive := func() error { t.Error("alive was asked without a watchdog"); return nil }
	err := errors.Join(Ready("x"), Stopping("x"), Reloading(), Stopping(""),
		Watchdog(context.Background(), slog.New(slog.DiscardHandler), alive))
	if err != nil {
		t.Error(err)
	}
	t.Setenv("NOTIFY_SOCKET", conn.LocalAddr().String())
	if err := Stopping("first"); err != nil {
		t.Fatal(err)
	}
	if got := receive(t, conn); got != "STOPPING=1\nSTATUS=first\n" {
		t.Errorf("sent %q first", got)
	}
}

func TestUnreachable(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "nobody"))
	if err := Ready(""); err == nil {
		t.Error("no error, though nobody listens")
	}
}

// The watchdog is notified only while alive returns nil.
func TestWatchdog(t *testing.T) {
	conn := listen(t)
	t.Setenv("WATCHDOG_USEC", "2000")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var out bytes.Buffer
	asked := 0
	alive := func() error {
		asked++
		switch {
		case asked <= 3:
			return nil
		case asked == 6:
			cancel()
		}
		return errors.New("stuck")
	}
	if err := Watchdog(ctx, slog.New(slog.NewTextHandler(&out, nil)), alive); err != nil {
		t.Fatal(err)
	}
	if err := Stopping(""); err != nil {
		t.Fatal(err)
	}
	var got []string
	for len(got) == 0 || got[len(got)-1] != "STOPPING=1\n" {
		got = append(got, receive(t, conn))
	}
	if want := "WATCHDOG=1\n WATCHDOG=1\n WATCHDOG=1\n STOPPING=1\n"; strings.Join(got, " ") != want {
		t.Errorf("sent %q, want %q", got, want)
	}
	if n := strings.Count(out.String(), "stuck"); n < 3 {
		t.Errorf("logged %s, want the reason 3 times", &out)
	}
}

func TestWatchdogEnvironment(t *testing.T) {
	listen(t)
	f := func(usec, pid string, wrong bool) {
		t.Helper()
		t.Setenv("WATCHDOG_USEC", usec)
		t.Setenv("WATCHDOG_PID", pid)
		alive := func() error { t.Error("alive was asked"); return nil }
		if err := Watchdog(context.Background(), slog.New(slog.DiscardHandler), alive); (err != nil) != wrong {
			t.Errorf("WATCHDOG_USEC=%s WATCHDOG_PID=%s: %v", usec, pid, err)
		}
	}
	f("x", "", true)
	f("-1", "", true)
	f("1000000", "1", false) // meant for another process
}
