package file

import (
	"os"

	"golang.org/x/sys/unix"
)

// writebackStep is the number of bytes written before the system is asked to
// start writing them to disk. It is large enough for efficient disk writes, and
// small compared to the data that the final sync may have to wait for.
const writebackStep = 8 << 20

// A writeback makes the system write a large output to disk early, so that the
// final sync has less to do. It gives no guarantee; the sync does.
type writeback struct {
	f     *os.File // nil: do nothing
	asked int64    // end of the range already requested
}

// wrote reports that the file is now size bytes long. It starts the writing and
// does not wait. Calling Fd does not switch the file to blocking mode, because
// regular files are always in that mode.
func (w *writeback) wrote(size int64) {
	if w.f == nil || size-w.asked < writebackStep {
		return
	}
	_ = unix.SyncFileRange(int(w.f.Fd()), w.asked, size-w.asked, unix.SYNC_FILE_RANGE_WRITE) // best effort
	w.asked = size
}

// startWriting asks the system to start writing f to disk. It does not wait.
func startWriting(f *os.File) {
	_ = unix.SyncFileRange(int(f.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE) // best effort
}
