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
	"github.com/urlfold/urlfold/pipeline"
)

// Finish implements [pipeline.Finisher]: the files are done, which is stored, of all
// of them in one step, before on_finish is applied.
func (w *watcher) Finish(_ context.Context, lanes []*pipeline.Lane) []error {
	ids := make([]string, len(lanes))
	for i, l := range lanes {
		ids[i] = l.ID()
	}
	tracks := w.resolve(lanes)
	if err := w.progress.save(nil, nil, false, ids); err != nil {
		return slices.Repeat([]error{err}, len(lanes))
	}
	errs := w.disposeAll(tracks)
	for i, t := range tracks {
		if t != nil {
			w.letGo(t, lanes[i], errs[i])
		}
	}
	w.crew.nudge()
	return errs
}

// resolve gives the tracks of lanes that are finished the states they are stored in.
// It returns them; nil for one that was finished before.
func (w *watcher) resolve(lanes []*pipeline.Lane) []*track {
	w.mu.Lock()
	defer w.mu.Unlock()
	tracks := make([]*track, len(lanes))
	for i, l := range lanes {
		t := w.progress.byLane[l]
		if tracks[i] = t; t == nil || t.state != checkpoint.Reading {
			continue
		}
		t.state = stateOf(t.verdict) // and its text is that of endLane
		w.progress.touch(t)
		t.finishing = t.complete && t.bound && t.verdict.Kind == compress.OK && w.cfg.OnFinish.String() != keepFile
	}
	return tracks
}

// letGo is the end of a track whose lane is finished, or, with an error, is to be
// finished again.
func (w *watcher) letGo(t *track, lane *pipeline.Lane, err error) {
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
	t.life, t.lane, t.found, t.told = over, nil, nil, true
	t.head, t.last, t.csv, t.parsed = nil, nil, nil, false
	t.cut = cutter{off: t.cut.off, line: t.cut.line, oversize: t.cut.oversize, left: t.cut.left, begun: t.cut.begun}
	t.positions = slices.Clone(t.positions[max(0, len(t.positions)-1):])
	w.stats.count(&r)
	w.mu.Unlock()
	w.news.report(r)
}

// disposeAll applies on_finish to the files of tracks, and then brings down the
// folders that they have left and come to.
func (w *watcher) disposeAll(tracks []*track) []error {
	errs := make([]error, len(tracks))
	taken := make([]bool, len(tracks))
	dirs := map[string]bool{} // those that have changed; true: files have come there
	for i, t := range tracks {
		if t != nil {
			taken[i], errs[i] = w.dispose(t, dirs)
		}
	}
	// The folders that files have come to are first: a power loss between the two may
	// leave a file under both names, and never under none.
	for _, came := range []bool{true, false} {
		for dir, to := range dirs {
			if to == came {
				_ = disk.SyncDir(dir) // what was moved or deleted is so; a crash that undoes it is healed by the next start
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, t := range tracks {
		if t != nil && errs[i] == nil && t.finishing {
			t.finishing = false
			w.progress.touch(t)
		}
		if taken[i] {
			t.disposed = w.clock().Add(-stampLag()).UnixNano()
			w.unbind(t)
		}
	}
	return errs
}

// A disposal is on_finish for a file that was done when the last process ended.
type disposal struct{ t *track }

// do implements job.
func (d *disposal) do(_ context.Context, w *watcher) {
	err := w.disposeAll([]*track{d.t})[0]
	w.mu.Lock()
	defer w.mu.Unlock()
	d.t.step = resting
	if err != nil {
		w.broken[d.t.path] = err.Error()
		return
	}
	delete(w.broken, d.t.path)
}

// dispose applies on_finish to a file, if it still is what was read, and reports
// whether it did. It adds the folders that have changed to dirs.
func (w *watcher) dispose(t *track, dirs map[string]bool) (taken bool, err error) {
	w.mu.Lock()
	due, path, rel, was := t.finishing, t.path, t.file.rel, t.file
	w.mu.Unlock()
	if !due {
		return false, nil
	}
	fi, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		if now := fileStateOf(path, rel, fi); now.id != was.id || !now.same(&was) {
			return false, nil // it is another one, or there may be another text in it
		}
		if dir := filepath.Dir(path); !dirs[dir] {
			dirs[dir] = false
		}
		if w.cfg.OnFinish.MoveTo != "" {
			err = moveFile(path, filepath.Join(w.cfg.OnFinish.MoveTo, rel), dirs)
		} else {
			err = disk.Remove(path)
		}
	}
	if err != nil {
		return false, fmt.Errorf("on_finish: %w", err)
	}
	return true, nil
}

// moveFile gives a file another path, or one like it if that is taken: a file that
// is there is never written over.
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

// reserve makes an empty file of that path, or with a number added to it.
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
	return "", errors.New("there is no free name")
}

// copyFile is a rename to another file system: the copy is complete and durable
// before the file is removed.
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
	dst, err := disk.Recreate(aside, 0o600) // a process may have died while it made one
	if err != nil {
		return err
	}
	_ = dst.Chmod(fi.Mode().Perm()) // a wish: not every file system can
	_, err = io.Copy(dst, src)
	if err == nil {
		err = dst.Sync()
	}
	err = errors.Join(err, dst.Close())
	if err == nil {
		err = os.Chtimes(aside, fi.ModTime(), fi.ModTime())
	}
	if err == nil {
		err = disk.Publish(aside, to) // if it fails after the rename, the copy is there and may not stay: the original does
	}
	if err != nil {
		_ = disk.Remove(aside)
		return err
	}
	return disk.Remove(from)
}

// recall is for the end of a run that has seen all of its input: what is still to be
// told are the damaged files in it that runs before have finished, for this one may
// go on where another was killed.
func (w *watcher) recall() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range w.known.tracks {
		if t.life == over && t.bound && t.state == checkpoint.Damaged && !t.told {
			w.news.reports = append(w.news.reports, Report{Path: t.path, Known: t.text})
		}
	}
}
