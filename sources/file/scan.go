package file

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/urlfold/urlfold/internal/storage/disk"
)

// A fileState is a file as a scan saw it.
type fileState struct {
	path, rel string
	id        fileID
	size      int64
	mtime     int64 // Unix time in nanoseconds
	changed   int64 // the same, of whatever changed last
}

// same reports whether s and o show no change of the file.
func (s *fileState) same(o *fileState) bool { return s.size == o.size && s.mtime == o.mtime }

// fileStateOf returns the state of the file that fi describes.
func fileStateOf(path, rel string, fi fs.FileInfo) fileState {
	id, changed := identity(fi)
	return fileState{path, rel, id, fi.Size(), fi.ModTime().UnixNano(), changed}
}

// A scanner finds the files that patterns name.
type scanner struct {
	include, exclude []string
	at               func(point string) error // fault.At, but in tests
}

// scan returns all files, sorted by path. One that has several names is returned
// for each of them. What cannot be looked at may be there: hidden has the files of
// that kind, and folders that patterns begin with, with the errors. A folder further
// below that cannot be read has no files.
func (s *scanner) scan() (all []fileState, hidden map[string]error) {
	hidden = map[string]error{}
	seen := map[string]bool{}
	for _, pattern := range s.include {
		base, names, err := lookUp(pattern, s.at)
		if err != nil {
			hidden[base] = err
		}
		for _, path := range names {
			if seen[path] || s.excluded(path) {
				continue
			}
			seen[path] = true
			switch fi, err := os.Stat(path); {
			case err == nil && fi.Mode().IsRegular():
				all = append(all, fileStateOf(path, relative(base, path), fi))
			case err != nil && !isGone(err):
				hidden[path] = err
			}
		}
	}
	slices.SortFunc(all, func(a, b fileState) int { return strings.Compare(a.path, b.path) })
	return all, hidden
}

// isGone reports whether err says that there is no such file: any other error says
// nothing about that.
func isGone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)
}

// lookUp returns the paths that pattern stands for, and its fixed part, with an error
// if that cannot be looked at.
func lookUp(pattern string, at func(string) error) (base string, names []string, err error) {
	fi, err := os.Stat(pattern) // it may have the name of a file though it looks like a glob
	switch {
	case err == nil && !fi.IsDir():
		return filepath.Dir(pattern), []string{filepath.Clean(pattern)}, nil
	case err == nil:
		base, pattern = filepath.Clean(pattern), filepath.Join(pattern, "**")
	case !isGone(err):
		return pattern, nil, err
	default:
		base, _ = doublestar.SplitPattern(filepath.ToSlash(pattern))
		base = filepath.FromSlash(base)
	}
	names, err = glob(pattern, at)
	if err == nil {
		err = readable(base)
	}
	return base, names, err
}

// readable returns the error of reading the folder dir, if it is there.
func readable(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		if isGone(err) {
			return nil
		}
		return err
	}
	return d.Close()
}

// glob returns the files that a glob matches. "**" does not go into linked folders, as
// the walk of a folder does not: two links to a folder above them make more paths than
// can ever be walked. A folder that must not be read has no files; for one that cannot
// be read now, since there are no descriptors or the share does not answer, there is an
// error beside the files that were found. With "**" links to folders are among them.
func glob(pattern string, at func(string) error) ([]string, error) {
	pattern = filepath.ToSlash(filepath.Clean(pattern))
	base, rest := doublestar.SplitPattern(pattern)
	if rest == "" || rest == "." || rest == ".." {
		return doublestar.FilepathGlob(pattern, doublestar.WithFilesOnly())
	}
	tree := &folders{FS: os.DirFS(filepath.FromSlash(base)), at: at}
	opts := []doublestar.GlobOption{doublestar.WithFilesOnly()}
	if strings.Contains(pattern, "**") {
		opts = append(opts, doublestar.WithNoFollow())
	}
	names, err := doublestar.Glob(tree, rest, opts...)
	for i := range names {
		names[i] = filepath.FromSlash(path.Join(base, names[i]))
	}
	return names, errors.Join(err, tree.err)
}

// A folders is a tree that notes which error kept a folder from being read now.
type folders struct {
	fs.FS
	at  func(point string) error
	err error
}

// ReadDir implements fs.ReadDirFS.
func (f *folders) ReadDir(name string) ([]fs.DirEntry, error) {
	err := f.at("source.list")
	var list []fs.DirEntry
	if err == nil {
		list, err = fs.ReadDir(f.FS, name)
	}
	if disk.Exhausted(err) || disk.Unreachable(err) {
		f.err = err
	}
	return list, err
}

// Stat implements fs.StatFS.
func (f *folders) Stat(name string) (fs.FileInfo, error) {
	fi, err := fs.Stat(f.FS, name)
	if disk.Exhausted(err) || disk.Unreachable(err) {
		f.err = err
	}
	return fi, err
}

// isFolder reports whether path leads to a folder: that of a link may.
func isFolder(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}

func (s *scanner) excluded(path string) bool {
	return slices.ContainsFunc(s.exclude, func(p string) bool { return doublestar.PathMatchUnvalidated(p, path) })
}

// Covers reports whether a file of this name would be read, if it were there. It
// goes by names alone, and follows no links.
func (s *Settings) Covers(path string) bool {
	included := slices.ContainsFunc(s.Include, func(pattern string) bool {
		path := likewise(pattern, path)
		below, err := filepath.Rel(pattern, path)
		return err == nil && filepath.IsLocal(below) || matches(pattern, path) // the first: that file, or in that folder
	})
	return included && !slices.ContainsFunc(s.Exclude, func(pattern string) bool { return matches(pattern, likewise(pattern, path)) })
}

// matches reports whether a glob matches a clean path.
func matches(pattern, path string) bool {
	above := filepath.IsLocal(pattern) && !filepath.IsLocal(path) // a glob does not go up by itself
	return !above && doublestar.PathMatchUnvalidated(filepath.Clean(pattern), path)
}

// likewise returns path from the root or from the working directory, as pattern is.
func likewise(pattern, path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if filepath.IsAbs(pattern) {
		return abs
	}
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(wd, abs); err == nil {
		return rel
	}
	return path
}

// relative returns path below base.
func relative(base, path string) string {
	rel, err := filepath.Rel(base, path)
	if err != nil || rel == "." || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return filepath.Base(path)
	}
	return rel
}

// bases returns the folders that patterns begin with: where new files come up.
func (s *scanner) bases() []string {
	var dirs []string
	for _, pattern := range s.include {
		base := filepath.Dir(pattern)
		if fi, err := os.Stat(pattern); err == nil && fi.IsDir() {
			base = pattern
		} else if err != nil {
			base, _ = doublestar.SplitPattern(filepath.ToSlash(pattern))
		}
		dirs = append(dirs, filepath.FromSlash(base))
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}
