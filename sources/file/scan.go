package file

import (
	"context"
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
	"github.com/urlfold/urlfold/internal/storage/fault"
	"github.com/urlfold/urlfold/internal/storage/objects"
)

// A fileState is the state of a file as a scan saw it.
type fileState struct {
	path, rel string
	id        fileID
	stamps
}

// stamps are the parts of the state of a file that change.
type stamps struct {
	size    int64
	mtime   int64 // Unix time in nanoseconds
	changed int64 // time of the last change of any kind, in the same unit
}

// same reports whether s and o have the same size and modification time.
func (s *fileState) same(o *fileState) bool { return s.size == o.size && s.mtime == o.mtime }

// at returns s with a path.
func (s fileState) at(path, rel string) fileState {
	s.path, s.rel = path, rel
	return s
}

// fileStateOf returns the state of the file that fi describes.
func fileStateOf(path, rel string, fi fs.FileInfo) fileState {
	id, changed := identity(fi)
	return fileState{path, rel, id, stamps{fi.Size(), fi.ModTime().UnixNano(), changed}}
}

// A scanner finds the files that match patterns.
type scanner struct {
	include, exclude []string
	share            Share
	at               func(point string) error // fault.At, except in tests
}

// scan implements [storage]. Files, and base folders of patterns, that cannot be
// accessed may still exist: hidden holds them with their errors. An unreadable
// folder below a base folder counts as empty.
func (s *scanner) scan(context.Context) (all []fileState, hidden map[string]error) {
	hidden = map[string]error{}
	seen := map[string]bool{}
	for _, pattern := range s.include {
		base, names, err := lookUp(pattern, s.at)
		if err != nil {
			hidden[base] = err
		}
		for _, path := range names {
			if seen[path] {
				continue
			}
			seen[path] = true // the first pattern that matches decides about the share
			rel := relative(base, path)
			if !s.share.Owns(filepath.ToSlash(rel)) || excludes(s.exclude, filepath.ToSlash(path), filepath.ToSlash(path)) {
				continue
			}
			switch fi, err := os.Stat(path); {
			case err == nil && fi.Mode().IsRegular():
				all = append(all, fileStateOf(path, rel, fi))
			case err != nil && !isGone(err):
				hidden[path] = err
			}
		}
	}
	slices.SortFunc(all, func(a, b fileState) int { return strings.Compare(a.path, b.path) })
	return all, hidden
}

// isGone reports whether err means that the file does not exist. Any other
// error leaves that open.
func isGone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)
}

// literal returns the path that a pattern without wildcards names, and any other
// pattern unchanged. A wildcard after a backslash is an ordinary character.
func literal(pattern string) string {
	if path, rest := doublestar.SplitPattern(filepath.ToSlash(pattern) + "/"); rest == "" {
		return filepath.FromSlash(path)
	}
	return pattern
}

// Single reports whether s reads at most one file.
func (s *Settings) Single() bool {
	if len(s.Include) != 1 {
		return false
	}
	if fi, err := os.Stat(literal(s.Include[0])); err == nil {
		return !fi.IsDir()
	}
	_, wild := doublestar.SplitPattern(filepath.ToSlash(s.Include[0]) + "/")
	return wild == ""
}

// lookUp returns the paths that match pattern and its fixed part. The error
// says that a folder cannot be accessed.
func lookUp(pattern string, at func(string) error) (base string, names []string, err error) {
	path := literal(pattern)
	fi, err := os.Stat(path) // the name of a file may look like a glob
	switch {
	case err == nil && !fi.IsDir():
		return filepath.Dir(path), []string{filepath.Clean(path)}, nil
	case err == nil:
		base, pattern = filepath.Clean(path), filepath.Join(pattern, "**")
	case !isGone(err):
		return path, nil, err
	default:
		base, _ = doublestar.SplitPattern(filepath.ToSlash(pattern))
		base = filepath.FromSlash(base)
	}
	names, err = glob(pattern, at)
	if err == nil {
		var d *os.File
		if d, err = os.Open(base); err == nil {
			err = d.Close()
		} else if isGone(err) {
			err = nil
		}
	}
	return base, names, err
}

// glob returns the files that match a glob. Like filepath.WalkDir, "**" does
// not follow links to folders: two links to a parent folder make more paths
// than can be walked. A folder without read permission counts as empty. If a
// folder cannot be read now, because descriptors ran out or a share does not
// respond, glob returns an error with the files that it found. With "**", the
// result includes links to folders.
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

// A folders is a file tree that records the error of a folder that could not be
// read for a temporary reason.
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

// isFolder reports whether path is a folder or a link to one.
func isFolder(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}

// Covers reports whether a file with this path would be read if it existed. Covers
// compares only names and does not follow links.
func (s *Settings) Covers(path string) bool {
	full, err := filepath.Abs(path)
	if err != nil || objects.Is(path) {
		full = path
	}
	included := slices.ContainsFunc(s.Include, func(pattern string) bool {
		if objects.Is(pattern) || objects.Is(path) {
			return objects.Is(pattern) && objects.Is(path) &&
				(path == pattern || strings.HasPrefix(path, strings.TrimSuffix(pattern, "/")+"/") || doublestar.MatchUnvalidated(pattern, path))
		}
		if abs, err := filepath.Abs(pattern); err == nil {
			pattern = abs
		}
		below, err := filepath.Rel(literal(pattern), full)
		return err == nil && filepath.IsLocal(below) || doublestar.PathMatchUnvalidated(pattern, full) // the first operand: full is the pattern itself, or in the folder of that name
	})
	full = filepath.ToSlash(full)
	return included && !excludes(s.Exclude, full, full)
}

// Inputs returns the relative paths of the files that s reads and that exist now, by their
// paths, or nil if a file or a folder cannot be accessed.
func (s *Settings) Inputs() map[string]string {
	files := scanner{s.Include, s.Exclude, s.Shard, fault.At}
	list, hidden := files.scan(context.Background())
	if len(hidden) > 0 {
		return nil
	}
	inputs := make(map[string]string, len(list))
	for _, f := range list {
		inputs[f.path] = f.rel
	}
	return inputs
}

// relative returns path relative to base.
func relative(base, path string) string {
	rel, err := filepath.Rel(base, path)
	if err != nil || rel == "." || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return filepath.Base(path)
	}
	return rel
}

// bases returns the fixed folders of the patterns, in which new files may
// appear.
func (s *scanner) bases() []string {
	var dirs []string
	for _, pattern := range s.include {
		path := literal(pattern)
		base := filepath.Dir(path)
		if fi, err := os.Stat(path); err == nil && fi.IsDir() {
			base = path
		} else if err != nil {
			base, _ = doublestar.SplitPattern(filepath.ToSlash(pattern))
		}
		dirs = append(dirs, filepath.FromSlash(base))
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}
