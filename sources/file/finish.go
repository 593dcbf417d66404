package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// Finish implements [engine.Finisher]. It stores that the files of all lanes
// are done, in one step, and then applies on_finish.
func (w *watcher) Finish(ctx context.Context, lanes []*engine.Lane) []error {
	ids := make([]string, len(lanes))
	for i, l := range lanes {
		ids[i] = l.ID()
	}
	tracks := w.resolve(lanes)
	if err := w.progress.save(nil, checkpoint.Update{Forget: ids}); err != nil {
		return slices.Repeat([]error{err}, len(lanes))
	}
	errs := w.disposeAll(ctx, tracks)
	for i, t := range tracks {
		if t != nil {
			w.letGo(t, lanes[i], errs[i])
		}
	}
	w.crew.nudge()
	return errs
}

// resolve sets the final state of the tracks of finished lanes. It returns the
// tracks, with nil for a lane that was finished before.
func (w *watcher) resolve(lanes []*engine.Lane) []*track {
	w.mu.Lock()
	defer w.mu.Unlock()
	tracks := make([]*track, len(lanes))
	for i, l := range lanes {
		t := w.progress.byLane[l]
		if tracks[i] = t; t == nil || t.end.state != checkpoint.Reading {
			continue
		}
		t.end.state = checkpoint.Done
		if t.end.verdict.Damage() {
			t.end.state = checkpoint.Damaged // endLane has stored the text of the damage
		} else if w.cfg.queued() {
			t.sight.gone = w.bound.clock() // the queue lists it no longer
		}
		w.progress.touch(t)
		t.end.finishing = t.end.complete && t.sight.bound && t.end.verdict.Kind == compress.OK && w.cfg.OnFinish.String() != keepFile
	}
	return tracks
}

// letGo releases a track whose lane is finished. If err is not nil, it keeps the track,
// because Finish will be called for the lane again.
func (w *watcher) letGo(t *track, lane *engine.Lane, err error) {
	w.mu.Lock()
	if err != nil {
		w.broken[t.path] = err.Error()
		w.mu.Unlock()
		return
	}
	delete(w.broken, t.path)
	delete(w.progress.byLane, lane)
	r := *t.report()
	w.files.closeContent(t)
	w.reader.forgetRest(t)
	t.life, t.lane, t.end.found, t.end.reported = over, nil, nil, true
	t.read.head, t.read.last, t.read.csv, t.read.parsed = nil, nil, nil, false
	t.read.cut = cutter{off: t.read.cut.off, line: t.read.cut.line, oversize: t.read.cut.oversize, left: t.read.cut.left, begun: t.read.cut.begun, open: t.read.cut.open}
	t.positions = slices.Clone(t.positions[max(0, len(t.positions)-1):])
	w.stats.count(&r)
	w.settle(t, t.damage())
	w.mu.Unlock()
	w.news.report(r)
}

// disposeAll applies on_finish to the files of tracks, and then syncs the
// folders that files were moved or deleted from and moved to.
func (w *watcher) disposeAll(ctx context.Context, tracks []*track) []error {
	errs := make([]error, len(tracks))
	taken := make([]bool, len(tracks))
	dirs := map[string]bool{} // changed folders; true: files were moved there
	for i, t := range tracks {
		if t != nil {
			taken[i], errs[i] = w.dispose(ctx, t, dirs)
		}
	}
	// Sync the target folders before the source folders: then a power loss in
	// between may leave a file under both names, but never under none.
	for _, came := range []bool{true, false} {
		for dir, to := range dirs {
			if to == came {
				_ = disk.SyncDir(dir) // best effort: if a crash undoes the move or deletion, the next start repeats it
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, t := range tracks {
		if t != nil && errs[i] == nil && t.end.finishing {
			t.end.finishing = false
			w.progress.touch(t)
		}
		if taken[i] {
			t.sight.disposed = w.bound.clock().Add(-stampLag()).UnixNano()
			w.bound.unbind(t)
		}
	}
	return errs
}

// A disposal is the job of applying on_finish to a file that was done when the
// last process ended.
type disposal struct{ t *track }

// do implements job.
func (d *disposal) do(ctx context.Context, w *watcher) {
	err := w.disposeAll(ctx, []*track{d.t})[0]
	w.mu.Lock()
	defer w.mu.Unlock()
	d.t.step = resting
	if err != nil {
		w.broken[d.t.path] = err.Error()
		return
	}
	delete(w.broken, d.t.path)
}

// dispose applies on_finish to a file if it is still the file that was read,
// and reports whether it did. It adds the changed folders to dirs.
func (w *watcher) dispose(ctx context.Context, t *track, dirs map[string]bool) (taken bool, err error) {
	w.mu.Lock()
	due, path, rel, was := t.end.finishing, t.path, t.sight.file.rel, t.sight.file
	w.mu.Unlock()
	if !due {
		return false, nil
	}
	now, err := w.store.stat(ctx, path, rel)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		if now.id != was.id || !now.same(&was) {
			return false, nil // the path leads to another file, or the text may have changed
		}
		if dir := filepath.Dir(path); !dirs[dir] && !w.store.fixed() {
			dirs[dir] = false
		}
		if w.cfg.OnFinish.MoveTo != "" {
			err = moveFile(path, filepath.Join(w.cfg.OnFinish.MoveTo, rel), dirs)
		} else {
			err = w.store.remove(ctx, path)
		}
	}
	if err != nil {
		return false, fmt.Errorf("on_finish: %w", err)
	}
	return true, nil
}

// moveFile moves a file to the path to. If a file with this path exists, moveFile adds
// a number instead of overwriting the file.
func moveFile(from, to string, dirs map[string]bool) error {
	if err := disk.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	dirs[filepath.Dir(to)] = true
	to, err := reserve(to)
	if err != nil {
		return err
	}
	if err = disk.Rename(from, to); err != nil {
		err = copyFile(from, to)
	}
	if err != nil {
		_ = disk.Remove(to)
	}
	return err
}

// reserve creates an empty file at path, or, if that exists, at path with a
// number added. It returns the path.
func reserve(path string) (string, error) {
	ext := filepath.Ext(path)
	stem := path[:len(path)-len(ext)]
	for n := range 1 << 20 {
		name := path
		if n > 0 {
			name = stem + "." + strconv.Itoa(n) + ext
		}
		f, err := disk.Open(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			return name, f.Close()
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	return "", errors.New("cannot find an unused file name")
}

// copyFile moves a file to another file system. It removes the original when
// the copy is complete and durable.
func copyFile(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }()
	fi, err := src.Stat()
	if err != nil {
		return err
	}
	aside := to + ".part"
	dst, err := disk.Recreate(aside, 0o600) // a process may have died while writing it
	if err != nil {
		return err
	}
	_ = dst.Chmod(fi.Mode().Perm()) // best effort: not every file system supports it
	_, err = io.Copy(dst, src)
	if err == nil {
		err = dst.Sync()
	}
	err = errors.Join(err, dst.Close())
	if err == nil {
		err = os.Chtimes(aside, fi.ModTime(), fi.ModTime())
	}
	if err == nil {
		err = disk.Publish(aside, to) // if it fails after the rename, the copy must be removed because the original stays
	}
	if err != nil {
		_ = disk.Remove(aside)
		return err
	}
	return disk.Remove(from)
}

// recall is called at the end of a run that has read all of its input. It
// queues reports on damaged files in the input that earlier runs finished,
// because this run may continue one that was killed.
func (w *watcher) recall() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range w.known.tracks {
		if t.life == over && t.sight.bound && t.end.state == checkpoint.Damaged && !t.end.reported {
			w.news.reports = append(w.news.reports, Report{Path: t.path, Known: t.end.text})
		}
	}
}
