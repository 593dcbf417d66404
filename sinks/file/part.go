package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urlfold/urlfold/internal/disk"
)

// A part is the file NAME.part, locked.
type part struct {
	f     *os.File // nil once it is closed
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

// openPart opens and locks the part of the file final, where old stands now, or
// nothing.
func openPart(final string, old os.FileInfo, inputs []string) (*part, error) {
	if old != nil && isInput(old, inputs) {
		return nil, fmt.Errorf("%s: %w", final, ErrIsInput)
	}
	p := &part{name: final + ".part", final: final}
	if fi, err := os.Stat(p.name); err == nil && isInput(fi, inputs) {
		return nil, fmt.Errorf("%s: %w", p.name, ErrIsInput)
	}
	f, err := openLocked(p.name, 0o666, true)
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(0); err != nil {
		_ = f.Close() // err is what went wrong
		return nil, err
	}
	if old != nil {
		_ = f.Chmod(old.Mode().Perm()) // a wish: not every file system can
	}
	p.f = f
	return p, nil
}

// openLocked opens the file name, which it creates if it is told to, and locks it.
// Between the two another run may have given the file its final name: the file
// that is locked must still be the one of that name, or truncating it would
// empty a finished output.
func openLocked(name string, mode os.FileMode, create bool) (*os.File, error) {
	flags := os.O_RDWR
	if create {
		flags |= os.O_CREATE
	}
	for range 10 {
		f, err := os.OpenFile(name, flags, mode)
		if err != nil {
			return nil, err
		}
		if errors.Is(disk.Lock(f), disk.ErrLocked) { // a file system without locks is no reason not to write
			_ = f.Close() // somebody else's
			return nil, fmt.Errorf("%s: %w", name, ErrLocked)
		}
		here, err1 := f.Stat()
		there, err2 := os.Stat(name)
		if err1 == nil && err2 == nil && os.SameFile(here, there) {
			return f, nil
		}
		_ = f.Close() // not the file we want
	}
	return nil, fmt.Errorf("%s: %w", name, ErrLocked)
}

// publish gives the file its name. The caller has synced it. The lock is held
// until the name is given.
func (p *part) publish() error {
	if p.f == nil {
		return fmt.Errorf("%s: the output is closed", p.name)
	}
	if err := os.Rename(p.name, p.final); err != nil { //nolint:forbidigo // this is the helper
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
		err = os.Remove(p.name) // while it is locked: it is ours
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
