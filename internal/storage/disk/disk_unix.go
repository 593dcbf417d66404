//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package disk

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Lock takes the lock on f, which ends with the process or with f. It does not
// wait: the error is [ErrLocked] if another one has it, and anything else if the
// file system has no locks.
func Lock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}

// syncDir is SyncDir, unrecorded.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

// Writable returns an error if this process may not make files in dir.
func Writable(dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return &os.PathError{Op: "access", Path: dir, Err: err}
	}
	return nil
}

// openFlags keep Open from following a link, and from waiting for the other end of
// a pipe that took the place of a file.
const openFlags = unix.O_NOFOLLOW | unix.O_NONBLOCK

// ownership returns how many names a file has, and whether it belongs to another
// user.
func ownership(fi os.FileInfo) (links uint64, foreign bool) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 1, false
	}
	return uint64(st.Nlink), int(st.Uid) != os.Geteuid() //nolint:unconvert // its type differs between systems
}
