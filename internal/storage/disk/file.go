package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// This file is structured in the following way:
//
//   - Open: what a program may write to, and what it refuses.
//   - File: the operations that change a file.
//   - The operations that change names.
//
// The sinks, the checkpoint and the source of files change files by these
// functions alone, so that a test can record all that they do: see record.go.

// ErrRefused is in the error of [Open] and [Check] for what is not written to: it
// has a name that leads elsewhere, or is no regular file. It does not pass by
// itself.
var ErrRefused = errors.New("not a file that can be written safely")

// A refusal says why a path is not written to. It is an ErrRefused.
type refusal struct{ path, reason string }

// Error implements error.
func (r *refusal) Error() string { return "cannot write " + r.path + ": " + r.reason }

// Is makes a refusal an [ErrRefused].
func (*refusal) Is(target error) bool { return target == ErrRefused }

// Open opens the file name for reading and writing, or for what flag says. The last
// element of name is not followed if it is a symbolic link; folders before it
// are. What is there must be a regular file with exactly one name, and, in a folder
// where everybody may make files, one of this user: else the error is an
// [ErrRefused]. With os.O_CREATE a file that is not there is made with os.O_EXCL,
// with the permissions perm less the umask. os.O_TRUNC empties a file that was
// found only after it was accepted.
func Open(name string, flag int, perm fs.FileMode) (*File, error) {
	const attempts = 10 // the file may come and go between the two ways to open it
	for range attempts {
		if flag&os.O_CREATE != 0 {
			f, err := create(name, flag|os.O_EXCL, perm)
			if err == nil || flag&os.O_EXCL != 0 || !errors.Is(err, fs.ErrExist) {
				return f, err
			}
		}
		f, err := openExisting(name, flag)
		if err == nil || flag&os.O_CREATE == 0 || !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	return nil, &os.PathError{Op: "open", Path: name, Err: syscall.EAGAIN}
}

// Recreate makes a new file for reading and writing. A file that has the name loses
// it, and is not written to: it may have other names.
func Recreate(name string, perm fs.FileMode) (*File, error) {
	if err := Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return Open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
}

func create(name string, flag int, perm fs.FileMode) (*File, error) {
	defer recorder.begin()()
	f, err := os.OpenFile(name, flag&^os.O_TRUNC|openFlags, perm)
	if err != nil {
		return nil, err
	}
	return &File{File: f, id: recorder.opened("create", name)}, nil
}

func openExisting(name string, flag int) (*File, error) {
	if err := Check(name); err != nil {
		return nil, err
	}
	defer recorder.begin()()
	f, err := os.OpenFile(name, flag&^(os.O_CREATE|os.O_TRUNC)|openFlags, 0)
	if err != nil {
		if fi, statErr := os.Lstat(name); statErr == nil {
			if bad := refuse(name, fi); bad != nil { // it has changed since Check
				return nil, bad
			}
		}
		return nil, err
	}
	fi, err := f.Stat()
	if err == nil {
		err = refuse(name, fi)
	}
	if err == nil && flag&os.O_TRUNC != 0 {
		err = f.Truncate(0)
	}
	if err != nil {
		_ = f.Close() // err is what went wrong
		return nil, err
	}
	w := &File{File: f, id: recorder.opened("open", name)}
	if flag&os.O_TRUNC != 0 {
		recorder.note(op{Op: "truncate", ID: w.id})
	}
	return w, nil
}

// Check returns the error that [Open] would refuse what is there under that name
// with: nil if nothing is, or nothing is wrong with it. fs.ErrNotExist is no error
// here. It opens nothing, so a device or a pipe does not notice.
func Check(name string) error {
	fi, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return refuse(name, fi)
}

// refuse returns why the file fi, found under that name, is not written to.
func refuse(name string, fi fs.FileInfo) error {
	kind := ""
	switch m := fi.Mode(); {
	case m&fs.ModeSymlink != 0:
		return &refusal{name, "it is a symbolic link, which is not followed; remove the link, or write to the file that it leads to"}
	case m.IsDir():
		return &refusal{name, "it is a directory"}
	case m&fs.ModeNamedPipe != 0:
		kind = "a pipe"
	case m&fs.ModeSocket != 0:
		kind = "a socket"
	case m&(fs.ModeDevice|fs.ModeCharDevice) != 0:
		kind = "a device"
	case !m.IsRegular():
		kind = "a special file"
	}
	if kind != "" {
		return &refusal{name, "it is " + kind + ", not a regular file"}
	}
	links, foreign := ownership(fi)
	if links > 1 {
		return &refusal{name, fmt.Sprintf("it has %d hard links, so writing to it changes a file elsewhere; remove the other names, or write elsewhere", links)}
	}
	if dir, err := os.Stat(filepath.Dir(name)); foreign && err == nil && dir.Mode().Perm()&0o002 != 0 {
		return &refusal{name, "it belongs to another user, in a folder where everybody may make files; remove it"}
	}
	return nil
}

// A File is an open file, and the place where all changes of its content pass.
type File struct {
	*os.File
	id int64 // for the recorder
}

// Write implements io.Writer.
func (f *File) Write(p []byte) (int, error) {
	if !recording {
		return f.File.Write(p)
	}
	off, err := f.Seek(0, 1)
	if err != nil {
		return 0, err
	}
	defer recorder.begin()()
	n, err := f.File.Write(p)
	recorder.note(op{Op: "write", ID: f.id, Off: off, Data: p[:n]})
	return n, err
}

// WriteAt implements io.WriterAt.
func (f *File) WriteAt(p []byte, off int64) (int, error) {
	if !recording {
		return f.File.WriteAt(p, off)
	}
	defer recorder.begin()()
	n, err := f.File.WriteAt(p, off)
	recorder.note(op{Op: "write", ID: f.id, Off: off, Data: p[:n]})
	return n, err
}

// Truncate changes the size of the file.
func (f *File) Truncate(size int64) error {
	defer recorder.begin()()
	err := f.File.Truncate(size)
	if err == nil {
		recorder.note(op{Op: "truncate", ID: f.id, Off: size})
	}
	return err
}

// Sync makes the content of the file durable. Its name is another matter: see
// [SyncDir].
func (f *File) Sync() error {
	defer recorder.begin()()
	err := f.File.Sync()
	if err == nil {
		recorder.note(op{Op: "sync", ID: f.id})
	}
	return err
}

// ReadFrom hides the shortcut of os.File, which would pass by Write.
func (f *File) ReadFrom(r io.Reader) (int64, error) { return io.Copy(onlyWrite{f}, r) }

// WriteString is Write, for a string.
func (f *File) WriteString(s string) (int, error) { return f.Write([]byte(s)) }

// onlyWrite hides all methods but Write.
type onlyWrite struct{ io.Writer }

// Rename gives a file another name, which is durable after [SyncDir] of both
// folders. What had the name before is gone.
func Rename(from, to string) error {
	defer recorder.begin()()
	err := os.Rename(from, to) //nolint:forbidigo // this is the helper; Publish syncs the folder, too
	if err == nil {
		recorder.note(op{Op: "rename", Path: from, To: to})
	}
	return err
}

// Publish gives a file that was written aside and synced its final name, which is
// durable when Publish returns nil. What had the name before is gone.
func Publish(from, to string) error {
	if err := Rename(from, to); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(to))
}

// Link gives a file a second name.
func Link(from, to string) error {
	defer recorder.begin()()
	err := os.Link(from, to)
	if err == nil {
		recorder.note(op{Op: "link", Path: from, To: to})
	}
	return err
}

// Remove removes a name of a file, or an empty folder.
func Remove(name string) error {
	defer recorder.begin()()
	err := os.Remove(name)
	if err == nil {
		recorder.note(op{Op: "remove", Path: name})
	}
	return err
}

// Mkdir makes a folder in one that is there. Its name is durable after [SyncDir] of
// that.
func Mkdir(dir string, perm fs.FileMode) error {
	defer recorder.begin()()
	err := os.Mkdir(dir, perm)
	if err == nil {
		recorder.note(op{Op: "mkdir", Path: dir})
	}
	return err
}

// MkdirAll makes a folder with all that lead to it, and makes their names durable.
func MkdirAll(dir string, perm fs.FileMode) error {
	fi, err := os.Stat(dir)
	switch {
	case err == nil && fi.IsDir():
		return nil
	case err == nil:
		return fmt.Errorf("%s: %w", dir, syscall.ENOTDIR)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	parent := filepath.Dir(dir)
	if err := MkdirAll(parent, perm); err != nil {
		return err
	}
	if err := Mkdir(dir, perm); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return SyncDir(parent)
}

// SyncDir makes the names in a folder durable. A file system that cannot do that is
// no error.
func SyncDir(dir string) error {
	defer recorder.begin()()
	err := syncDir(dir)
	if err == nil {
		recorder.note(op{Op: "syncdir", Path: dir})
	}
	return err
}
