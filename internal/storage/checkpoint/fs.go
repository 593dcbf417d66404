package checkpoint

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urlfold/urlfold/internal/storage/disk"
)

// A folder is the part of a file system that snapshots and logs need. Tests
// have an implementation that loses whatever was not synced.
type folder interface {
	// create creates an empty file for writing and replaces any existing file.
	create(name string) (file, error)
	// open opens a file for reading, until release is called. The error is
	// fs.ErrNotExist if the file does not exist.
	open(name string) (file *io.SectionReader, release func() error, err error)
	rename(from, to string) error
	// link creates the additional name to for the file from.
	link(from, to string) error
	remove(name string) error
	// sync makes the names in the folder durable.
	sync() error
	// holds reports whether name still refers to the file f and has size bytes.
	holds(name string, f file, size int64) (bool, error)
}

// A file is an open file of a folder.
type file interface {
	WriteAt(p []byte, off int64) (int, error)
	Sync() error
	Truncate(size int64) error
	Close() error
}

// A diskFolder is a folder on disk.
type diskFolder string

func (d diskFolder) path(name string) string { return filepath.Join(string(d), name) }

func (d diskFolder) create(name string) (file, error) {
	if err := d.remove(name); err != nil {
		return nil, err
	}
	f, err := disk.Open(d.path(name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o640)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (d diskFolder) open(name string) (file *io.SectionReader, release func() error, err error) {
	f, err := os.Open(d.path(name))
	if err != nil {
		return nil, nil, err
	}
	fi, err := f.Stat()
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return io.NewSectionReader(f, 0, fi.Size()), f.Close, nil
}

func (d diskFolder) rename(from, to string) error {
	return disk.Rename(d.path(from), d.path(to))
}

func (d diskFolder) link(from, to string) error { return disk.Link(d.path(from), d.path(to)) }

func (d diskFolder) remove(name string) error {
	if err := disk.Remove(d.path(name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (d diskFolder) sync() error { return disk.SyncDir(string(d)) }

func (d diskFolder) holds(name string, f file, size int64) (bool, error) {
	own, err := f.(*disk.File).Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Stat(d.path(name))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return false, err
	}
	return os.SameFile(own, there) && there.Size() == size, nil
}
