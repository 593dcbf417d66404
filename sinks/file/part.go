package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urlfold/urlfold/internal/storage/disk"
)

// A part is the locked file NAME.part.
type part struct {
	f     *disk.File // nil when closed
	name  string
	final string
}

// target resolves symbolic links in path. It returns the resulting path and the
// file there, or nil.
func target(path string) (string, os.FileInfo, error) {
	if led, err := filepath.EvalSymlinks(path); err == nil {
		path = led
	}
	fi, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil, nil
	}
	return path, fi, err
}

// openPart creates and locks the part of the file final. old is the existing
// file at final, or nil. The part gets the permissions of old, or what the
// umask permits, limited by mode.
func openPart(final string, old os.FileInfo, inputs []string, mode os.FileMode) (*part, error) {
	if old != nil && isInput(old, inputs) {
		return nil, fmt.Errorf("%s: %w", final, ErrIsInput)
	}
	p := &part{name: final + partSuffix, final: final}
	if fi, err := os.Lstat(p.name); err == nil && isInput(fi, inputs) {
		return nil, fmt.Errorf("%s: %w", p.name, ErrIsInput)
	}
	f, err := createLocked(p.name, mode)
	if err != nil {
		return nil, err
	}
	if old != nil {
		_ = f.Chmod(allowed(old.Mode(), mode)) // best effort: not every file system supports it
	}
	p.f = f
	return p, nil
}

// createLocked creates the unfinished file name and locks it. It first removes
// a file that another run has left behind, so that no other process has the new
// file open and the requested permissions apply.
func createLocked(name string, mode os.FileMode) (*disk.File, error) {
	for range lockAttempts {
		f, err := disk.Open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if err == nil {
			f, err = lock(f, name)
			if err != nil || f != nil {
				return f, err
			}
			continue
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		old, err := openLocked(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, err
		}
		if err := errors.Join(disk.Remove(name), old.Close()); err != nil { // the lock proves that no other process uses it
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s: %w", name, ErrLocked)
}

// openLocked opens the existing file name and locks it.
func openLocked(name string) (*disk.File, error) {
	for range lockAttempts {
		f, err := disk.Open(name, os.O_RDWR, 0)
		if err != nil {
			return nil, err
		}
		if f, err = lock(f, name); err != nil || f != nil {
			return f, err
		}
	}
	return nil, fmt.Errorf("%s: %w", name, ErrLocked)
}

// lockAttempts is the number of attempts to open and lock a file that is being
// renamed or removed concurrently.
const lockAttempts = 10

// lock locks f. Another run may have renamed the opened file to its final name,
// and truncating it would then empty a finished output. lock therefore checks
// that name still refers to f. If it does not, both results are nil.
func lock(f *disk.File, name string) (*disk.File, error) {
	if errors.Is(disk.Lock(f.File), disk.ErrLocked) { // a missing lock implementation must not prevent writing
		_ = f.Close() // in use by another process
		return nil, fmt.Errorf("%s: %w", name, ErrLocked)
	}
	if isThere(f, name) {
		return f, nil
	}
	_ = f.Close() // another file has this name now
	return nil, nil
}

// isThere reports whether name refers to the open file f.
func isThere(f *disk.File, name string) bool {
	here, err1 := f.Stat()
	there, err2 := os.Lstat(name)
	return err1 == nil && err2 == nil && os.SameFile(here, there)
}

// publish renames the file to its final name. The caller has synced the file.
// The lock is held until after the rename.
func (p *part) publish() error {
	if p.f == nil {
		return fmt.Errorf("%s: output already closed", p.name)
	}
	if err := disk.Rename(p.name, p.final); err != nil {
		return err
	}
	err := p.f.Close()
	p.f = nil
	return errors.Join(err, disk.SyncDir(filepath.Dir(p.final)))
}

// abort closes the file, and removes it if empty is set.
func (p *part) abort(empty bool) error {
	if p.f == nil {
		return nil
	}
	var err error
	if empty {
		err = disk.Remove(p.name) // the lock proves that no other process uses it
	}
	err = errors.Join(err, p.f.Close())
	p.f = nil
	return err
}

// isInput reports whether fi is the file at one of paths.
func isInput(fi os.FileInfo, paths []string) bool {
	for _, path := range paths {
		if in, err := os.Stat(path); err == nil && os.SameFile(fi, in) {
			return true
		}
	}
	return false
}
