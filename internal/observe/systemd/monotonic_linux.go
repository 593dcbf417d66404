package systemd

import "golang.org/x/sys/unix"

// monotonicMicros returns the time of CLOCK_MONOTONIC in microseconds.
func monotonicMicros() (usec int64, ok bool) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0, false
	}
	return ts.Nano() / 1000, true
}
