package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
)

// A writer is what is known of the files that commits go to. The zero writer has
// none: the first commit makes a snapshot of what was loaded.
type writer struct {
	gen, seq uint64 // of the last commit
	last     uint64 // the greatest generation that was ever seen

	log          file // nil: a commit needs a new snapshot and a new log first
	snapshot     file // kept open to know it again; nil if log is
	logSize      int64
	snapshotSize int64
	compactAt    int64 // size of the log

	unsure      bool // a commit that has failed may be found after a crash
	stored      bool // there are files of a state
	hadLog      bool // there is a log, or there was one
	snapshotBad bool // checkpoint is there and cannot be used, or is not there
	logBad      bool
}

// leastLog is the least size of a log that is compacted.
const leastLog = 1 << 20

// due reports whether the log is so long that a snapshot is cheaper than what it
// costs to read it, and to keep it.
func (w *writer) due() bool { return w.log != nil && w.logSize >= w.compactAt }

// close lets go of the files. The next commit makes new ones.
func (w *writer) close() {
	if w.log != nil {
		_ = w.log.Close() // it was synced, or is given up
		_ = w.snapshot.Close()
	}
	w.log, w.snapshot = nil, nil
}

// append writes a commit to the log and syncs it. What is not acknowledged is cut
// off again. If that fails too, or the sync does, the end of the log is not
// known: the next commit begins a new one.
func (s *Store) append(c *change) error {
	w := &s.w
	text, err := appendChange(beginFrame(nil), c)
	if err == nil {
		text, err = endFrame(text, 0, w.gen, w.seq+1)
	}
	if err == nil {
		err = s.fault("before_append")
	}
	if err != nil {
		return err
	}
	w.unsure = true
	_, err = w.log.WriteAt(text, w.logSize)
	if err == nil {
		err = s.fault("after_append")
	}
	if err != nil {
		if w.log.Truncate(w.logSize) != nil {
			w.close()
		}
		return err
	}
	if err = w.log.Sync(); err == nil {
		err = s.fault("after_sync")
	}
	if err != nil {
		w.close()
		return err
	}
	w.seq++
	w.logSize += int64(len(text))
	w.unsure = false
	return nil
}

// makeSure makes durable that the last commit has failed.
func (s *Store) makeSure() error {
	if !s.w.unsure {
		return nil // a compaction has done it
	}
	if err := s.w.log.Sync(); err != nil {
		s.w.close()
		return err
	}
	s.w.unsure = false
	return nil
}

// compactLater compacts a log that works: if that fails, commits still go to the
// log, and it is attempted again when that has grown.
func (s *Store) compactLater() {
	old := s.w.log
	err := s.compact()
	if err == nil {
		return
	}
	s.log.Warn("checkpoint compaction failed, retrying", "dir", s.dir, "error", err)
	if s.w.log == old {
		s.w.compactAt = s.w.logSize + s.w.logSize/4
	}
}

// compact begins a new generation: a snapshot of the state as it is stored, and
// an empty log. See the package comment for the order of the steps. Up to the
// step that gives the snapshot its name a failure leaves the log in use; after
// that the log is closed, and commits need another compaction.
func (s *Store) compact() error {
	w := &s.w
	if w.log == nil { // the names that a failed compaction gave may not be durable
		if err := s.files.sync(); err != nil {
			return err
		}
	}
	next := *w
	next.last++
	gen := next.last
	w.last = gen // a generation is never used twice
	if err := s.writeAside(&next, gen); err != nil {
		return err
	}
	if err := s.keepPrevious(); err != nil {
		next.close()
		return err
	}
	w.close() // a snapshot that takes effect makes commits to the old log void
	if err := s.publish(); err != nil {
		next.close()
		return err
	}
	next.gen, next.seq = gen, 0
	next.unsure, next.stored, next.hadLog, next.snapshotBad, next.logBad = false, true, true, false, false
	next.compactAt = max(leastLog, next.snapshotSize)
	*w = next
	s.count(func(n *Stats) { n.Compactions++ })
	return nil
}

// writeAside writes the snapshot and the log of the generation gen under other
// names, and syncs them.
func (s *Store) writeAside(next *writer, gen uint64) (err error) {
	next.log, next.snapshot = nil, nil
	if err := s.fault("before_snapshot"); err != nil {
		return err
	}
	snapshot, err := s.files.create(asideName)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = snapshot.Close()
			_ = s.files.remove(asideName) // or it is written over by the next one
			_ = s.files.remove(asideLogName)
		}
	}()
	next.snapshotSize = 0
	err = writeSnapshot(s.st, gen, !s.w.hadLog, func(p []byte) error {
		_, err := snapshot.WriteAt(p, next.snapshotSize)
		next.snapshotSize += int64(len(p))
		return err
	})
	if err == nil {
		err = snapshot.Sync()
	}
	if err == nil {
		err = s.fault("after_snapshot")
	}
	if err != nil {
		return err
	}
	log, err := s.files.create(asideLogName)
	if err != nil {
		return err
	}
	text, err := appendHeader(nil, header{Kind: logKind, PrevGen: s.w.gen, PrevSeq: s.w.seq}, gen)
	if err == nil {
		_, err = log.WriteAt(text, 0)
	}
	if err == nil {
		err = log.Sync()
	}
	if err == nil {
		err = s.fault("after_log")
	}
	if err != nil {
		_ = log.Close()
		return err
	}
	next.log, next.snapshot, next.logSize = log, snapshot, int64(len(text))
	return nil
}

// keepPrevious gives the snapshot and the log that are in use the names of the
// previous ones, beside their own. Damaged ones are kept under other names: the
// previous ones are worth more.
func (s *Store) keepPrevious() error {
	w := &s.w
	if !w.stored {
		return nil
	}
	names := [][2]string{{logName, previousLogName}, {snapshotName, previousName}}
	if w.snapshotBad || w.logBad {
		names = [][2]string{{logName, badLogName}, {snapshotName, badName}}
		if !w.snapshotBad {
			names[1][1] = previousName
		}
	}
	for _, n := range names {
		if err := s.also(n[0], n[1]); err != nil {
			return err
		}
	}
	if err := s.files.sync(); err != nil {
		return err
	}
	return s.fault("after_keep")
}

// also gives a file another name, in the place of the file that has it. One that
// is not there has none to lose.
func (s *Store) also(name, other string) error {
	aside := other + ".new"
	if err := s.files.remove(aside); err != nil {
		return err
	}
	err := s.files.link(name, aside)
	switch {
	case isMissing(err):
		return nil
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, fs.ErrPermission):
		// A file system without links. The loader finds a file by its generation.
		err = s.files.rename(name, other)
		if isMissing(err) {
			err = nil
		}
		return err
	case err != nil:
		return err
	}
	return s.files.rename(aside, other)
}

// publish gives the files of the new generation their names: first the snapshot,
// which is all that is needed, and when that is durable the log.
func (s *Store) publish() error {
	for _, n := range [][3]string{{asideName, snapshotName, "after_snapshot_rename"}, {asideLogName, logName, "after_log_rename"}} {
		if err := s.fault("before_rename"); err != nil {
			return err
		}
		err := s.files.rename(n[0], n[1])
		if err == nil {
			err = s.fault(n[2])
		}
		if err == nil {
			err = s.files.sync()
		}
		if err != nil {
			return fmt.Errorf("a compaction: %w", err)
		}
	}
	return s.fault("after_compaction")
}

var errLockGone = errors.New("its lock file was removed or replaced; another process may be using it")
