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
	"github.com/urlfold/urlfold/internal/storage/objects"
)

// stdinPath is the path that denotes stdin.
const stdinPath = "-"

// ErrNoInput is the error of [Source.Open] for a path that matches no file.
var ErrNoInput = errors.New("no such input")

// A found is a file that a path matches.
type found struct {
	path string
	rel  string // path relative to the folder or glob base that led to it
	err  error  // why the file cannot be read, if already known

	object *objects.Object // nil: it is a file

	archive, member string // the file is this member; empty: it is in no archive
}

// An expander turns paths into a list of files.
type expander struct {
	allowEmpty bool // as in Config
	objects    *objects.Store
	files      []found
	seen       map[string]bool // by real path: true if the path was given literally
	errs       []error
	out        error // a resource ran out, so the list is incomplete
}

// expand returns the files that paths match, in order. The error names every
// path that matches no file.
func (c *Config) expand() ([]found, error) {
	e := expander{allowEmpty: c.AllowEmpty, objects: c.Objects, seen: map[string]bool{}}
	for _, p := range c.Paths {
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
			e.errs = append(e.errs, errors.New("stdin is listed twice, but can be read only once"))
			return
		}
		e.add("", path, nil, true)
		return
	}
	if e.objects != nil && objects.Is(path) {
		e.stored(path)
		return
	}
	base := filepath.Dir(path)
	fi, err := os.Stat(path)
	switch {
	case err == nil && fi.IsDir():
		e.none(path, e.dir(path), "no files in the directory")
	case err == nil:
		e.add(base, path, nil, true)
	case isDangling(path):
		e.errs = append(e.errs, fmt.Errorf("%w: %s: %s", ErrNoInput, path, dangling))
	case !errors.Is(err, fs.ErrNotExist):
		e.add(base, path, err, true) // the file may exist: report it as unreadable, and read the others
	case e.member(path):
	case strings.ContainsAny(path, `*?[{`):
		e.glob(path)
	default:
		e.errs = append(e.errs, fmt.Errorf("%w: %s: file does not exist", ErrNoInput, path))
	}
}

// glob adds the files that match pattern.
func (e *expander) glob(pattern string) {
	names, err := glob(pattern, fault.At)
	if strings.Contains(pattern, "**") {
		names = slices.DeleteFunc(names, isFolder)
	}
	switch {
	case disk.Exhausted(err):
		e.out = err
	case err != nil:
		e.errs = append(e.errs, fmt.Errorf("%s: %w", pattern, err))
	default:
		e.none(pattern, len(names), "no files match")
	}
	slices.Sort(names)
	base, _ := doublestar.SplitPattern(filepath.ToSlash(pattern))
	for _, name := range names {
		var err error
		if isDangling(name) {
			err = errDangling
		}
		e.add(base, name, err, false)
	}
}

// none records an error if path matches no files, that is, if n is 0.
func (e *expander) none(path string, n int, why string) {
	if n == 0 && !e.allowEmpty {
		e.errs = append(e.errs, fmt.Errorf("%w: %s: %s", ErrNoInput, path, why))
	}
}

// dir adds the files below root, and links to files, and returns their number.
// It ignores anything else, such as sockets. It also adds dangling links, so that
// [Source.Skipped] names them.
func (e *expander) dir(root string) (n int) {
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			n++
			e.add(root, path, err, false)
			return nil
		}
		if d.Type()&fs.ModeSymlink != 0 {
			switch fi, err := os.Stat(path); {
			case err == nil && !fi.Mode().IsRegular():
				return nil
			case err != nil && isGone(err):
				n++
				e.add(root, path, errDangling, false)
				return nil
			}
		} else if !d.Type().IsRegular() {
			return nil
		}
		n++
		e.add(root, path, nil, false)
		return nil
	})
	return n
}

// dangling is the reason for a link that leads nowhere, or to itself.
const dangling = "broken symbolic link"

var errDangling = errors.New(dangling)

// isDangling reports whether path is a dangling link.
func isDangling(path string) bool {
	fi, err := os.Lstat(path)
	if err != nil || fi.Mode()&fs.ModeSymlink == 0 {
		return false
	}
	_, err = os.Stat(path)
	return err != nil && isGone(err)
}

// add adds a file below base unless it is already in the list. named says that
// path was given literally. See keep for the exception.
func (e *expander) add(base, path string, err error, named bool) {
	if disk.Exhausted(err) {
		e.out = err
		return
	}
	if !named && strings.HasPrefix(filepath.Base(path), disk.RecordName) {
		return
	}
	key := path
	if led, err := filepath.EvalSymlinks(path); err == nil {
		key = led
	}
	if abs, err := filepath.Abs(key); err == nil && path != stdinPath {
		key = abs
	}
	e.keep(key, named, found{path: path, rel: relative(base, path), err: err})
}

// keep appends f to the list unless the list has the file with this key. A file
// that was named before and is named again is appended again.
func (e *expander) keep(key string, named bool, f found) {
	before, there := e.seen[key]
	e.seen[key] = before || named
	if there && !(before && named) {
		return
	}
	e.files = append(e.files, f)
}
