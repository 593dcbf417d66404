//go:build !linux

package systemd

// monotonicMicros returns nothing: systemd is there on Linux alone.
func monotonicMicros() (usec int64, ok bool) { return 0, false }
