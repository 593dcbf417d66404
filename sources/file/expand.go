package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// stdinPath is the path that means stdin.
const stdinPath = "-"

// ErrNoInput is in the error of Open if a path names nothing.
var ErrNoInput = errors.New("no such input")

// A found is a file that a path stands for.
type found struct {
	path string
	err  error // why it cannot be read, if that is known already
}

// An expander turns paths into files.
type expander struct {
	files []found
	seen  map[string]bool // by real path: true if it was named as it is
	errs  []error
}

// expand returns the files that paths stand for, in order. The error names all
// paths that stand for nothing.
func expand(paths []string) ([]found, error) {
	e := expander{seen: map[string]bool{}}
	for _, p := range paths {
		e.path(p)
	}
	return e.files, errors.Join(e.errs...)
}

func (e *expander) path(path string) {
	if path == stdinPath {
		if e.seen[stdinPath] {
			e.errs = append(e.errs, errors.New("stdin is named twice: it can be read once"))
			return
		}
		e.add(path, nil, true)
		return
	}
	fi, err := os.Stat(path)
	switch {
	case err == nil && fi.IsDir():
		e.dir(path)
	case err == nil:
		e.add(path, nil, true)
	case !errors.Is(err, fs.ErrNotExist):
		e.add(path, err, true) // it may well be there: a verdict, and the others are read
	case strings.ContainsAny(path, `*?[{`):
		e.glob(path)
	default:
		e.errs = append(e.errs, fmt.Errorf("%w: %s: no such file", ErrNoInput, path))
	}
}

// glob adds the files that match pattern.
func (e *expander) glob(pattern string) {
	names, err := glob(pattern)
	switch {
	case err != nil:
		e.errs = append(e.errs, fmt.Errorf("%s: %w", pattern, err))
	case len(names) == 0:
		e.errs = append(e.errs, fmt.Errorf("%w: %s: no file matches", ErrNoInput, pattern))
	}
	slices.Sort(names)
	for _, name := range names {
		e.add(name, nil, false)
	}
}

// dir adds the files below root, and links to files. What is neither is passed
// over: nobody who names a folder means its sockets. A link to nothing is added,
// because it may have meant something.
func (e *expander) dir(root string) {
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			e.add(path, err, false)
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
		e.add(path, nil, false)
		return nil
	})
}

// add adds a file that was named as it is, or else that was found, unless it is
// there already.
func (e *expander) add(path string, err error, named bool) {
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
	e.files = append(e.files, found{path, err})
}
