package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/urlfold/urlfold/pipeline/engine"
)

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// Keep checks that the data directory still belongs to this process, and that
// the checkpoint files are unchanged. It restores files that were removed,
// replaced or truncated. A [engine.LostError] means that the lock is gone:
// another process may hold the lock file that is there now. Any other error may
// be temporary.
func (s *Store) Keep() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return note(&s.keepErr, s.keep())
}

func (s *Store) keep() error {
	if err := s.owned(); err != nil {
		return err
	}
	w := &s.w
	if w.log == nil { // no commit since Open, or a commit failed
		if s.st.empty() && len(s.st.extents) == 0 {
			return nil
		}
		return s.compact()
	}
	for _, f := range []struct {
		name string
		file file
		size int64
	}{{snapshotName, w.snapshot, w.snapshotSize}, {logName, w.log, w.logSize}} {
		same, err := s.files.holds(f.name, f.file, f.size)
		if err != nil {
			return err
		}
		if !same {
			s.log.Warn("checkpoint file missing or changed, writing it again", "dir", s.dir, "file", f.name)
			w.snapshotBad, w.logBad = true, true // the files there now are not part of the checkpoint
			w.close()
			return s.compact()
		}
	}
	return nil
}

// owned returns an error unless the lock file in the data directory is the file
// that this process has locked. Failing to stat the file proves nothing, so
// that error may be temporary.
func (s *Store) owned() error {
	if s.lock == nil {
		return nil // tests have no lock
	}
	own, err := s.lock.Stat()
	if err != nil {
		return err
	}
	there, err := os.Stat(diskFolder(s.dir).path(lockName))
	switch {
	case isMissing(err), errors.Is(err, syscall.ENOTDIR), err == nil && !os.SameFile(own, there):
		return &engine.LostError{Err: fmt.Errorf("data directory %s: %w", s.dir, errLockGone)}
	}
	return err
}
