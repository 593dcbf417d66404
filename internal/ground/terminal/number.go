package terminal

import (
	"fmt"
	"strconv"
	"time"
)

// FormatSize formats a number of bytes with a binary unit: "1.5 MiB".
func FormatSize(n int64) string {
	const units = "KMGTPE"
	f, u := float64(n), -1
	for f >= 999.5 && u < len(units)-1 {
		f /= 1024
		u++
	}
	switch {
	case u < 0:
		return fmt.Sprintf("%d B", n)
	case f < 9.95:
		return fmt.Sprintf("%.1f %ciB", f, units[u])
	}
	return fmt.Sprintf("%.0f %ciB", f, units[u])
}

// FormatCount formats a count with commas between thousands.
func FormatCount(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// FormatDuration formats a duration with about three digits: "1m20s", "3.21s",
// "87ms".
func FormatDuration(d time.Duration) string {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(time.Millisecond / 10).String()
	}
	return d.Round(time.Microsecond).String()
}

// PerSecond returns the rate of n events in d per second, or 0 if d is too
// short to tell.
func PerSecond(n int64, d time.Duration) int64 {
	if d < time.Millisecond {
		return 0
	}
	return int64(float64(n) / d.Seconds())
}

// Plural returns n followed by one if n is 1, else by many: "1 record", "2
// records".
func Plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return FormatCount(n) + " " + many
}
