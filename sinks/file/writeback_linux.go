package file

import (
	"os"

	"golang.org/x/sys/unix"
)

// writebackStep is how much is written before the system is asked to bring it to
// the disk: enough for the disk to work in one go, little beside what the last
// sync may wait for.
const writebackStep = 8 << 20

// A writeback keeps the system from leaving all of a large output to the last
// sync. It promises nothing: that is what the sync is for.
type writeback struct {
	f     *os.File // nil: nothing to do
	asked int64    // the system was asked for all before this offset
}

// wrote says that the file is now size bytes long. It only starts the writing.
// Fd switches no file to blocking mode here: a regular file is.
func (w *writeback) wrote(size int64) {
	if w.f == nil || size-w.asked < writebackStep {
		return
	}
	_ = unix.SyncFileRange(int(w.f.Fd()), w.asked, size-w.asked, unix.SYNC_FILE_RANGE_WRITE) // a wish
	w.asked = size
}

// startWriting asks the system to bring all of f to the disk, and does not wait.
func startWriting(f *os.File) {
	_ = unix.SyncFileRange(int(f.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE) // a wish
}
