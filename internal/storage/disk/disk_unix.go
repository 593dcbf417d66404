//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package disk

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Lock locks f. The lock ends when f is closed or the process exits. Lock does
// not wait: it returns [ErrLocked] if the lock is taken, and another error if
// the file system does not support locks.
func Lock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}

// syncDir is the part of SyncDir that is not recorded.
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

// Writable returns an error if this process may not create files in dir.
func Writable(dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return &os.PathError{Op: "access", Path: dir, Err: err}
	}
	return nil
}

// openFlags prevent Open from following a link, and from blocking on a pipe
// that replaced a file.
const openFlags = unix.O_NOFOLLOW | unix.O_NONBLOCK

// ownership returns the number of hard links of a file, and whether it belongs
// to another user.
func ownership(fi os.FileInfo) (links uint64, foreign bool) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 1, false
	}
	return uint64(st.Nlink), int(st.Uid) != os.Geteuid() //nolint:unconvert // the type of Nlink differs between systems
}

// owner returns the user and the group of a file.
func owner(fi os.FileInfo) (uid, gid int, known bool) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(st.Uid), int(st.Gid), true
}
