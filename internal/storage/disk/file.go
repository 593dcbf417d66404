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

// This file has three parts:
//
//   - Open: which files may be written, and which are refused.
//   - File: the operations that change the content of a file.
//   - The operations that change names.
//
// The sinks, the checkpoint and the file source use only these functions to
// change files, so that a test can record every change: see record.go.

// RecordName is the name of the hidden file in a folder of outputs that records
// the finished outputs. It is not an input of any command.
const RecordName = ".urlfold-outputs"

// ErrRefused is matched by the errors of [Open] and [Check] for a path that
// must not be written: it is a link or has several names, it is not a regular
// file, or another user owns it. Retrying does not help.
var ErrRefused = errors.New("not a file that can be written safely")

// A refusal is the reason why a path is not written. It matches ErrRefused.
type refusal struct{ path, reason string }

// Error implements error.
func (r *refusal) Error() string { return "cannot write " + r.path + ": " + r.reason }

// Is reports whether target is [ErrRefused].
func (*refusal) Is(target error) bool { return target == ErrRefused }

// Open opens the named file for reading and writing, or as flag says. It
// follows symbolic links in the folders of name, but not in its last element.
// An existing file must be a regular file with exactly one name and, in a
// folder in which everybody may create files, must belong to this user;
// otherwise the error matches [ErrRefused]. With os.O_CREATE a missing file is
// created with os.O_EXCL and the permissions perm, before umask. os.O_TRUNC
// empties an existing file only after these checks.
func Open(name string, flag int, perm fs.FileMode) (*File, error) {
	const attempts = 10 // the file may appear or disappear between create and openExisting
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

// Recreate creates a new file for reading and writing. It removes the name from
// an existing file, but does not write to that file, because it may have other
// names.
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
			if bad := refuse(name, fi); bad != nil { // the file changed since Check
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
		_ = f.Close() // err is the cause
		return nil, err
	}
	w := &File{File: f, id: recorder.opened("open", name)}
	if flag&os.O_TRUNC != 0 {
		recorder.note(op{Op: "truncate", ID: w.id})
	}
	return w, nil
}

// Check returns the error with which [Open] would refuse name, and nil if name
// does not exist or is acceptable. It opens nothing, so it does not affect a
// device or pipe.
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

// refuse returns an error if the file fi, found as name, must not be written,
// else nil.
func refuse(name string, fi fs.FileInfo) error {
	kind := ""
	switch m := fi.Mode(); {
	case m&fs.ModeSymlink != 0:
		return &refusal{name, "it is a symbolic link, and links are not followed; remove the link, or write to the file that it points to"}
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
		return &refusal{name, fmt.Sprintf("it has %d hard links, so writing to it would change a file elsewhere; remove the other names, or write elsewhere", links)}
	}
	if dir, err := os.Stat(filepath.Dir(name)); foreign && err == nil && dir.Mode().Perm()&0o002 != 0 {
		return &refusal{name, "it belongs to another user and is in a folder that everybody may write to; remove it"}
	}
	return nil
}

// A File is an open file. All changes of its content go through its methods.
type File struct {
	*os.File
	id int64 // number of the file for the recorder
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

// Sync makes the content of the file durable. Use [SyncDir] to make its name
// durable.
func (f *File) Sync() error {
	defer recorder.begin()()
	err := f.File.Sync()
	if err == nil {
		recorder.note(op{Op: "sync", ID: f.id})
	}
	return err
}

// ReadFrom replaces the shortcut of os.File, which would bypass Write.
func (f *File) ReadFrom(r io.Reader) (int64, error) { return io.Copy(onlyWrite{f}, r) }

// WriteString is like Write, but writes a string.
func (f *File) WriteString(s string) (int, error) { return f.Write([]byte(s)) }

// onlyWrite hides all methods except Write.
type onlyWrite struct{ io.Writer }

// Rename renames a file. The new name is durable after [SyncDir] of both
// folders. An existing file with that name is replaced.
func Rename(from, to string) error {
	defer recorder.begin()()
	err := os.Rename(from, to) //nolint:forbidigo // this is the wrapper; Publish also syncs the folder
	if err == nil {
		recorder.note(op{Op: "rename", Path: from, To: to})
	}
	return err
}

// Publish renames a synced temporary file to its final name, replacing any
// existing file. The name is durable when Publish returns nil.
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

// Remove removes a name of a file or an empty folder.
func Remove(name string) error {
	defer recorder.begin()()
	err := os.Remove(name)
	if err == nil {
		recorder.note(op{Op: "remove", Path: name})
	}
	return err
}

// Mkdir creates a folder in an existing one. Its name is durable after
// [SyncDir] of the parent folder.
func Mkdir(dir string, perm fs.FileMode) error {
	defer recorder.begin()()
	err := os.Mkdir(dir, perm)
	if err == nil {
		recorder.note(op{Op: "mkdir", Path: dir})
	}
	return err
}

// MkdirAll creates a folder and its missing parents, and makes their names
// durable.
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

// SyncDir makes the names in a folder durable. It returns nil if the file
// system does not support that.
func SyncDir(dir string) error {
	defer recorder.begin()()
	err := syncDir(dir)
	if err == nil {
		recorder.note(op{Op: "syncdir", Path: dir})
	}
	return err
}
