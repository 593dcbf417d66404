package main

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
	f(formatSize(0), "0 B")
	f(formatSize(999), "999 B")
	f(formatSize(1000), "1.0 KiB")
	f(formatSize(1536), "1.5 KiB")
	f(formatSize(10<<20), "10 MiB")
	f(formatSize(1<<62), "4.0 EiB")
	f(formatCount(0), "0")
	f(formatCount(999), "999")
	f(formatCount(1000), "1,000")
	f(formatCount(-1234567), "-1,234,567")
	f(formatCount(-100), "-100")
	f(formatDuration(1500*time.Nanosecond), "2µs")
	f(formatDuration(87654*time.Microsecond), "87.7ms")
	f(formatDuration(3214*time.Millisecond), "3.21s")
	f(formatDuration(80400*time.Millisecond), "1m20s")
	f(formatRate(999), "999")
	f(formatRate(48_500), "48k")
	f(formatRate(1_250_000), "1.2M")
	f(formatRate(12_500_000), "12M")
	f(plural(1, "byte", "bytes"), "1 byte")
	f(plural(2000, "byte", "bytes"), "2,000 bytes")
	if n := perSecond(5, time.Microsecond); n != 0 {
		t.Errorf("a rate in no time: %d", n)
	}
	if n := perSecond(500, 2*time.Second); n != 250 {
		t.Errorf("perSecond: %d", n)
	}
}
