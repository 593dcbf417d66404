//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package disk

import "golang.org/x/sys/unix"

// MaxOpen returns the number of file descriptors that the process may have
// open, or 0 if there is no limit or it is unknown. The Go runtime raises the
// soft limit to the hard limit at the start of the process.
func MaxOpen() int64 {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil || uint64(l.Cur) > 1<<30 {
		return 0
	}
	return int64(l.Cur)
}
