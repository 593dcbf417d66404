//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package disk

import "golang.org/x/sys/unix"

// MaxOpen returns how many descriptors the process may have open. The Go runtime
// has raised the soft limit to the hard one when the process started. It returns 0
// if there is no limit or it is not known.
func MaxOpen() int64 {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil || uint64(l.Cur) > 1<<30 {
		return 0
	}
	return int64(l.Cur)
}
