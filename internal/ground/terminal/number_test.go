package terminal

import (
	"testing"
	"time"
)

func TestFormat(t *testing.T) {
	f := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f(FormatSize(0), "0 B")
	f(FormatSize(999), "999 B")
	f(FormatSize(1000), "1.0 KiB")
	f(FormatSize(1536), "1.5 KiB")
	f(FormatSize(10<<20), "10 MiB")
	f(FormatSize(1<<62), "4.0 EiB")
	f(FormatCount(0), "0")
	f(FormatCount(999), "999")
	f(FormatCount(1000), "1,000")
	f(FormatCount(-1234567), "-1,234,567")
	f(FormatCount(-100), "-100")
	f(FormatDuration(1500*time.Nanosecond), "2µs")
	f(FormatDuration(87654*time.Microsecond), "87.7ms")
	f(FormatDuration(3214*time.Millisecond), "3.21s")
	f(FormatDuration(80400*time.Millisecond), "1m20s")
	f(Plural(1, "byte", "bytes"), "1 byte")
	f(Plural(2000, "byte", "bytes"), "2,000 bytes")
	if n := PerSecond(5, time.Microsecond); n != 0 {
		t.Errorf("a rate in no time: %d", n)
	}
	if n := PerSecond(500, 2*time.Second); n != 250 {
		t.Errorf("PerSecond: %d", n)
	}
}
