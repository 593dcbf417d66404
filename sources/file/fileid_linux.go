package file

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A fileID identifies a file on this machine while it exists.
type fileID struct{ dev, ino uint64 }

// identity returns the id of a file and the time of the last change of its
// content or metadata, in nanoseconds of Unix time.
func identity(fi os.FileInfo) (id fileID, changed int64) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}, fi.ModTime().UnixNano()
	}
	return fileID{uint64(st.Dev), st.Ino}, max(st.Ctim.Nano(), fi.ModTime().UnixNano())
}

// born returns the creation time of a file in nanoseconds of Unix time, or 0 if
// the file system does not record it.
func born(f *os.File) int64 {
	var st unix.Statx_t
	err := unix.Statx(int(f.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_BTIME, &st)
	if err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return 0
	}
	return st.Btime.Sec*1e9 + int64(st.Btime.Nsec)
}

// stampLag returns how far the clock from which the kernel takes file times
// lags behind: a few milliseconds at most. A file created now has a time that
// is older by that much.
func stampLag() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &ts) != nil {
		return 0
	}
	return max(0, time.Since(time.Unix(ts.Unix())))
}
