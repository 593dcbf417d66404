package file

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A fileID names a file on this machine for as long as it is there.
type fileID struct{ dev, ino uint64 }

// identity returns the id of a file, and when anything about it changed last, in
// nanoseconds of Unix time.
func identity(fi os.FileInfo) (id fileID, changed int64) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}, fi.ModTime().UnixNano()
	}
	return fileID{uint64(st.Dev), st.Ino}, max(st.Ctim.Nano(), fi.ModTime().UnixNano())
}

// born returns when a file was made, in nanoseconds of Unix time, or 0 if the file
// system does not know.
func born(f *os.File) int64 {
	var st unix.Statx_t
	err := unix.Statx(int(f.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_BTIME, &st)
	if err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return 0
	}
	return st.Btime.Sec*1e9 + int64(st.Btime.Nsec)
}

// stampLag returns how far the clock that the kernel takes the times of files from
// is behind: some milliseconds at most. A file that is made now has that much of an
// older time.
func stampLag() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &ts) != nil {
		return 0
	}
	return max(0, time.Since(time.Unix(ts.Unix())))
}
