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

	"github.com/urlfold/urlfold/internal/checkpoint"
	"github.com/urlfold/urlfold/pipeline"
)

// Finish implements [pipeline.Finisher]: the file is done, which is stored before
// on_finish is applied.
func (w *Watcher) Finish(_ context.Context, lane *pipeline.Lane) error {
	w.mu.Lock()
	t := w.byLane[lane]
	if t == nil {
		w.mu.Unlock()
		return nil
	}
	if t.state == checkpoint.Reading {
		t.state, t.text = stateOf(t.verdict), ""
		if t.verdict.Kind != 0 {
			t.text = t.verdict.String()
		}
		t.finishing = t.settled && t.bound && !t.verdict.Damage() && w.cfg.OnFinish.String() != keepFile
	}
	w.mu.Unlock()
	if err := w.save(nil, nil, false, lane.ID()); err != nil {
		return err
	}
	err := w.dispose(t)
	w.mu.Lock()
	if err != nil {
		w.broken[t.path] = err.Error()
		w.mu.Unlock()
		return err
	}
	delete(w.broken, t.path)
	delete(w.byLane, lane)
	r := t.report
	w.closeContent(t)
	t.life, t.lane = over, nil
	t.head, t.last, t.csv, t.parsed = nil, nil, nil, false
	t.places = slices.Clone(t.places[max(0, len(t.places)-1):])
	w.stats.count(t)
	w.mu.Unlock()
	w.nudge()
	w.report(r)
	return nil
}

// A disposal is on_finish for a file that was done when the last process ended.
type disposal struct{ t *track }

// do implements job.
func (d *disposal) do(_ context.Context, w *Watcher) {
	err := w.dispose(d.t)
	w.mu.Lock()
	defer w.mu.Unlock()
	d.t.step = resting
	if err != nil {
		w.broken[d.t.path] = err.Error()
		return
	}
	delete(w.broken, d.t.path)
}

// dispose applies on_finish to a file, once, if it still is what was read.
func (w *Watcher) dispose(t *track) error {
	w.mu.Lock()
	due, path, rel, was := t.finishing, t.path, t.rel, t.file
	w.mu.Unlock()
	if !due {
		return nil
	}
	fi, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	case err != nil:
	default:
		if now := sight(path, rel, fi); now.id != was.id || now.size != was.size {
			break // it is another one, or there is more to read in it
		}
		if w.cfg.OnFinish.MoveTo != "" {
			err = moveFile(path, filepath.Join(w.cfg.OnFinish.MoveTo, rel))
		} else {
			err = os.Remove(path)
		}
	}
	if err != nil {
		return fmt.Errorf("on_finish: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	t.finishing, w.dirty = false, true
	return nil
}

// moveFile gives a file another path, or one like it if that is taken: a file that
// is there is never written over.
func moveFile(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	to, err := reserve(to)
	if err != nil {
		return err
	}
	if err = os.Rename(from, to); err != nil {
		err = copyFile(from, to)
	}
	if err != nil {
		_ = os.Remove(to)
		return err
	}
	return errors.Join(syncDir(filepath.Dir(to)), syncDir(filepath.Dir(from)))
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
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
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
	dst, err := os.OpenFile(aside, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, fi.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	if err == nil {
		err = dst.Sync()
	}
	err = errors.Join(err, dst.Close())
	if err == nil {
		err = os.Chtimes(aside, fi.ModTime(), fi.ModTime())
	}
	if err == nil {
		err = os.Rename(aside, to)
	}
	if err == nil {
		err = syncDir(filepath.Dir(to))
	}
	if err != nil {
		_ = os.Remove(aside)
		return err
	}
	return os.Remove(from)
}

// syncDir makes the names in a folder durable, where that can be done.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync() // some file systems cannot, and what was moved is there
	return d.Close()
}

// report tells what became of a file.
func (w *Watcher) report(r Report) {
	if w.cfg.OnReport == nil {
		return
	}
	w.tell.Lock()
	defer w.tell.Unlock()
	w.cfg.OnReport(r)
}

// flushReports tells what is still to be told.
func (w *Watcher) flushReports() {
	w.mu.Lock()
	reports := w.reports
	w.reports = nil
	w.mu.Unlock()
	for _, r := range reports {
		w.report(r)
	}
}
