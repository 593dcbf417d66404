package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/internal/storage/fault"
)

// stdinPath is the path that means stdin.
const stdinPath = "-"

// ErrNoInput is in the error of Open if a path names nothing.
var ErrNoInput = errors.New("no such input")

// A found is a file that a path stands for.
type found struct {
	path string
	rel  string // the same relative to what named it
	err  error  // why it cannot be read, if that is known already
}

// An expander turns paths into files.
type expander struct {
	files []found
	seen  map[string]bool // by real path: true if it was named as it is
	errs  []error
	out   error // the process or the machine has run out of something: not all was seen
}

// expand returns the files that paths stand for, in order. The error names all
// paths that stand for nothing.
func expand(paths []string) ([]found, error) {
	e := expander{seen: map[string]bool{}}
	for _, p := range paths {
		e.path(p)
	}
	if e.out != nil {
		return nil, e.out
	}
	return e.files, errors.Join(e.errs...)
}

func (e *expander) path(path string) {
	if path == stdinPath {
		if e.seen[stdinPath] {
			e.errs = append(e.errs, errors.New("stdin is named twice: it can be read once"))
			return
		}
		e.add("", path, nil, true)
		return
	}
	base := filepath.Dir(path)
	fi, err := os.Stat(path)
	switch {
	case err == nil && fi.IsDir():
		e.dir(path)
	case err == nil:
		e.add(base, path, nil, true)
	case !errors.Is(err, fs.ErrNotExist):
		e.add(base, path, err, true) // it may well be there: a verdict, and the others are read
	case strings.ContainsAny(path, `*?[{`):
		e.glob(path)
	default:
		e.errs = append(e.errs, fmt.Errorf("%w: %s: no such file", ErrNoInput, path))
	}
}

// glob adds the files that match pattern.
func (e *expander) glob(pattern string) {
	names, err := glob(pattern, fault.At)
	switch {
	case disk.Exhausted(err):
		e.out = err
	case err != nil:
		e.errs = append(e.errs, fmt.Errorf("%s: %w", pattern, err))
	case len(names) == 0:
		e.errs = append(e.errs, fmt.Errorf("%w: %s: no file matches", ErrNoInput, pattern))
	}
	if strings.Contains(pattern, "**") {
		names = slices.DeleteFunc(names, isFolder)
	}
	slices.Sort(names)
	base, _ := doublestar.SplitPattern(filepath.ToSlash(pattern))
	for _, name := range names {
		e.add(base, name, nil, false)
	}
}

// dir adds the files below root, and links to files. What is neither is passed
// over: nobody who names a folder means its sockets. A link to nothing is added,
// because it may have meant something.
func (e *expander) dir(root string) {
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			e.add(root, path, err, false)
			return nil
		}
		if d.Type()&fs.ModeSymlink != 0 {
			fi, err := os.Stat(path)
			if err == nil && !fi.Mode().IsRegular() {
				return nil
			}
		} else if !d.Type().IsRegular() {
			return nil
		}
		e.add(root, path, nil, false)
		return nil
	})
}

// add adds a file below base that was named as it is, or else that was found,
// unless it is there already.
func (e *expander) add(base, path string, err error, named bool) {
	if disk.Exhausted(err) {
		e.out = err
		return
	}
	key := path
	if led, err := filepath.EvalSymlinks(path); err == nil {
		key = led
	}
	if abs, err := filepath.Abs(key); err == nil && path != stdinPath {
		key = abs
	}
	before, there := e.seen[key]
	e.seen[key] = before || named
	if there && !(before && named) {
		return
	}
	e.files = append(e.files, found{path, relative(base, path), err})
}
