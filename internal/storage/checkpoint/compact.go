package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
)

// A writer describes the files that commits are written to. The zero writer
// holds no files: the first commit writes a snapshot of the loaded state.
type writer struct {
	gen, seq uint64 // generation and sequence number of the last commit
	last     uint64 // the greatest generation ever seen
	epoch    uint64 // see Store.Epoch

	log          file // nil: a commit needs a new snapshot and a new log first
	snapshot     file // kept open to recognize the file; nil if log is nil
	logSize      int64
	snapshotSize int64
	compactAt    int64 // size of the log that triggers a compaction

	unsure      bool // a restart may find a commit that was reported as failed
	stored      bool // files of a state exist
	hadLog      bool // a log exists or existed
	snapshotBad bool // checkpoint is missing or cannot be used
	logBad      bool
}

// leastLog is the minimum size in bytes of a log that is compacted.
const leastLog = 1 << 20

// close closes the files. The next commit creates new ones.
func (w *writer) close() {
	if w.log != nil {
		_ = w.log.Close() // already synced, or abandoned
		_ = w.snapshot.Close()
	}
	w.log, w.snapshot = nil, nil
}

// append writes a commit to the log and syncs it. If the write fails, it
// truncates the log to its old length. If the truncation or the sync fails, the
// end of the log is unknown, and the next commit starts a new log.
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

// compact starts a new generation: a snapshot of the stored state and an empty
// log. The package comment describes the order of the steps. If a step before
// the rename of the snapshot fails, the old log stays in use. If that rename or
// a later step fails, the old log is closed, and the next commit begins with
// another compaction.
func (s *Store) compact() error {
	w := &s.w
	if w.log == nil { // the renames of a failed compaction may not be durable
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
	w.close() // once the new snapshot takes effect, commits to the old log are ignored
	if err := s.publish(); err != nil {
		next.close()
		return err
	}
	if next.gen, next.seq = gen, 0; !w.snapshotBad && !w.logBad {
		next.epoch++ // otherwise the previous files still belong to an older generation
	}
	next.unsure, next.stored, next.hadLog, next.snapshotBad, next.logBad = false, true, true, false, false
	next.compactAt = max(leastLog, next.snapshotSize)
	*w = next
	s.count(func(n *Stats) { n.Compactions++ })
	return nil
}

// writeAside writes and syncs the snapshot and the log of generation gen under
// temporary names.
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
			_ = s.files.remove(asideName) // the next compaction overwrites what remains
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

// keepPrevious links the current snapshot and log under the names of the
// previous snapshot and log. Damaged files get other names instead, because they are
// worth less than the previous files.
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

// also links name as other, replacing any file with that name. It does nothing
// if name does not exist.
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
		// The file system does not support links. The loader finds a file by
		// its generation.
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

// publish renames the files of the new generation to their final names: first
// the snapshot, which is sufficient by itself, and the log once that rename is
// durable.
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
			return fmt.Errorf("compact the checkpoint: %w", err)
		}
	}
	return s.fault("after_compaction")
}

var errLockGone = errors.New("lock file was removed or replaced; another process may be using the directory")
