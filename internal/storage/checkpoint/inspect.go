package checkpoint

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/urlfold/urlfold/pipeline/engine"
)

// List returns the content of a data directory, with the entries sorted by
// source and path, and the problems found in it, as Warnings does. It takes no
// lock and changes nothing, so a process may be running. See [Readable] for a
// state that cannot be read at all.
func List(dir string) (Contents, []string) {
	l, err := load(diskFolder(dir), true)
	if err != nil {
		return Contents{}, []string{err.Error()}
	}
	c, err := l.st.contents()
	if err != nil {
		return Contents{}, []string{err.Error()}
	}
	slices.SortFunc(c.Entries, func(a, b Entry) int {
		return cmp.Or(strings.Compare(a.Source, b.Source), strings.Compare(a.Path, b.Path), strings.Compare(a.ID, b.ID))
	})
	slices.SortFunc(c.Extents, func(a, b engine.Extent) int {
		return cmp.Or(strings.Compare(a.Sink, b.Sink), strings.Compare(a.Path, b.Path), strings.Compare(a.Lane, b.Lane))
	})
	return c, l.warnings
}

// Reset removes the checkpoint of every file whose path equals or matches
// pattern, and the extents of the outputs that belong to these files alone. In
// the pattern, ** matches any number of folders, and a relative pattern also
// matches below the working directory. Reset returns the number of
// files; the next run reads them from their beginning. If there are any, Reset
// also removes the description of the set of keys. It fails with ErrLocked
// while a process uses the directory.
func Reset(dir, pattern string) (n int, err error) {
	if !doublestar.ValidatePathPattern(pattern) {
		return 0, fmt.Errorf("invalid glob pattern %q", pattern)
	}
	patterns := []string{pattern}
	if abs, err := filepath.Abs(pattern); err == nil {
		patterns = append(patterns, abs)
	}
	s, err := Open(dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := s.st.contents()
	if err != nil {
		return 0, err
	}
	c, refs, gone := new(change), map[entryKey]int64{}, map[string]bool{}
	for _, e := range all.Entries {
		if slices.ContainsFunc(patterns, func(p string) bool { return e.Path == p || doublestar.PathMatchUnvalidated(p, e.Path) }) {
			c.gone = append(c.gone, item{source: e.Source, id: e.ID})
			refs[entryKey{e.Source, e.ID}] = 0
			gone[e.ID] = true
		}
	}
	for k := range s.st.extents {
		if gone[k.lane] {
			c.dropped = append(c.dropped, k)
		}
	}
	if len(c.gone) > 0 && s.st.keys != "" {
		c.keys = new("") // records that are read again must not be duplicates of themselves
	}
	return len(c.gone), s.commit(c, refs, nil)
}

// ResetKeys removes the description of the set of keys. It reports whether there
// was one. It fails with ErrLocked while a process uses the directory.
func ResetKeys(dir string) (found bool, err error) {
	s, err := Open(dir)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.st.keys == "" {
		return false, nil
	}
	return true, s.commit(&change{keys: new("")}, nil, nil)
}
