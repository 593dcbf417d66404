package file

import (
	"context"
	"io"
	"io/fs"
	"math"
	"os"

	"github.com/urlfold/urlfold/internal/storage/disk"
)

// A storage is where a watcher finds its files: a file system, or a bucket whose
// objects are read as files.
type storage interface {
	// scan returns all files to read, in the order in which reading begins. A
	// file with several names is returned once for each. hidden holds the paths
	// that cannot be accessed now, with the errors.
	scan(ctx context.Context) (all []fileState, hidden map[string]error)
	// stat returns the current state of a file. If the file does not exist,
	// isGone reports true for the error.
	stat(ctx context.Context, path, rel string) (fileState, error)
	// open opens a file. It returns errMoved if the file at path has another id.
	open(path string, id fileID) (handle, error)
	// remove removes the file at path.
	remove(ctx context.Context, path string) error
	// bases returns the folders in which new files may appear, if the system sends
	// notifications about them.
	bases() []string
	// fixed reports whether a file has its id for as long as its content is the
	// same, and is complete when it appears. Then nothing but the id identifies a
	// text.
	fixed() bool
}

// A handle is an open file. ReadAt does not move the position of Read.
type handle interface {
	io.ReadSeekCloser
	io.ReaderAt
	// next reads from off on. It is quick if off is where the last call ended.
	next(p []byte, off int64) (int, error)
	stat() (fileState, error)
	// born returns the time of creation as in born, or 0.
	born() int64
	// perm returns the permissions that outputs may get, or false.
	perm() (fs.FileMode, bool)
	// again opens the file once more, at its beginning, and returns a function
	// that closes it.
	again() (io.ReadSeeker, func() error, error)
	// fixed is the same as in storage.
	fixed() bool
}

// A readFile is a file of a file system, in which tests can inject read errors.
type readFile struct {
	*os.File
	at func(point string) error
}

// Read implements io.Reader.
func (f readFile) Read(p []byte) (int, error) {
	if err := f.at("source.read"); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

// ReadAt implements io.ReaderAt.
func (f readFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.at("source.read"); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f readFile) next(p []byte, off int64) (int, error) { return f.ReadAt(p, off) }

func (f readFile) stat() (fileState, error) {
	fi, err := f.Stat()
	if err != nil {
		return fileState{}, err
	}
	return fileStateOf("", "", fi), nil
}

func (f readFile) born() int64 { return born(f.File) }

func (f readFile) perm() (fs.FileMode, bool) {
	fi, err := f.Stat()
	if err != nil {
		return 0, false
	}
	return fi.Mode(), true
}

// again returns a reader of the same open file: its path may lead to another
// file.
func (f readFile) again() (io.ReadSeeker, func() error, error) {
	return io.NewSectionReader(f, 0, math.MaxInt64), func() error { return nil }, nil
}

func (readFile) fixed() bool { return false }

// stat implements [storage].
func (s *scanner) stat(_ context.Context, path, rel string) (fileState, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return fileState{}, err
	}
	return fileStateOf(path, rel, fi), nil
}

// open implements [storage].
func (s *scanner) open(path string, id fileID) (handle, error) {
	if err := s.at("source.open"); err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f := readFile{file, s.at}
	now, err := f.stat()
	if err == nil && now.id != id {
		err = errMoved
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// remove implements [storage].
func (s *scanner) remove(_ context.Context, path string) error { return disk.Remove(path) }

// fixed implements [storage].
func (s *scanner) fixed() bool { return false }
