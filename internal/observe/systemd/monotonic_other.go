//go:build !linux

package systemd

// monotonicMicros reports false: systemd exists only on Linux.
func monotonicMicros() (usec int64, ok bool) { return 0, false }
