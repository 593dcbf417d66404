package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urlfold/urlfold/internal/storage/disk"
)

// A part is the file NAME.part, locked.
type part struct {
	f     *disk.File // nil once it is closed
	name  string
	final string
}

// target returns the file that path leads to, and what is there; nil if nothing is.
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

// openPart makes and locks the part of the file final, where old stands now, or
// nothing. The output gets the permissions of old, or those that the umask leaves,
// as far as mode allows them.
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
		_ = f.Chmod(allowed(old.Mode(), mode)) // a wish: not every file system can
	}
	p.f = f
	return p, nil
}

// createLocked makes the unfinished file name, and locks it. One that a run has left
// is removed first: the new one is a file that nobody else has open, with the
// permissions that are asked for.
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
		if err := errors.Join(disk.Remove(name), old.Close()); err != nil { // while it is locked: it is ours
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s: %w", name, ErrLocked)
}

// openLocked opens the file name, which is there, and locks it.
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

// lockAttempts is how often a file is opened that has lost its name before it was
// locked.
const lockAttempts = 10

// lock locks f. Between opening and locking another run may have given the file its
// final name: the file that is locked must still be the one of that name, or
// truncating it would empty a finished output. If it is not, both results are nil.
func lock(f *disk.File, name string) (*disk.File, error) {
	if errors.Is(disk.Lock(f.File), disk.ErrLocked) { // a file system without locks is no reason not to write
		_ = f.Close() // somebody else's
		return nil, fmt.Errorf("%s: %w", name, ErrLocked)
	}
	here, err1 := f.Stat()
	there, err2 := os.Lstat(name)
	if err1 == nil && err2 == nil && os.SameFile(here, there) {
		return f, nil
	}
	_ = f.Close() // not the file we want
	return nil, nil
}

// publish gives the file its name. The caller has synced it. The lock is held
// until the name is given.
func (p *part) publish() error {
	if p.f == nil {
		return fmt.Errorf("%s: the output is closed", p.name)
	}
	if err := disk.Rename(p.name, p.final); err != nil {
		return err
	}
	err := p.f.Close()
	p.f = nil
	return errors.Join(err, disk.SyncDir(filepath.Dir(p.final)))
}

// abort closes the file, and removes it if it is empty.
func (p *part) abort(empty bool) error {
	if p.f == nil {
		return nil
	}
	var err error
	if empty {
		err = disk.Remove(p.name) // while it is locked: it is ours
	}
	err = errors.Join(err, p.f.Close())
	p.f = nil
	return err
}

// refuseInputs returns ErrIsInput if f is a regular file and one of inputs:
// `urlfold a.log >> a.log` would never end.
func refuseInputs(f *os.File, inputs []string) error {
	fi, err := f.Stat()
	if err != nil || !fi.Mode().IsRegular() || !isInput(fi, inputs) {
		return nil
	}
	return ErrIsInput
}

// isInput reports whether fi is the file of one of the paths.
func isInput(fi os.FileInfo, paths []string) bool {
	for _, path := range paths {
		if in, err := os.Stat(path); err == nil && os.SameFile(fi, in) {
			return true
		}
	}
	return false
}
