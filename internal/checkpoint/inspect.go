package checkpoint

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/urlfold/urlfold/pipeline"
)

// List returns what is stored in a data directory, the entries sorted by source
// and path, and what is wrong with it, as Warnings does. It takes no lock and
// changes nothing: a running process does not mind, nor is it minded.
func List(dir string) (Contents, []string) {
	c, warnings, _, _ := load(dir)
	slices.SortFunc(c.Entries, func(a, b Entry) int {
		if a.Source != b.Source {
			return strings.Compare(a.Source, b.Source)
		}
		return strings.Compare(a.Path, b.Path)
	})
	return c, warnings
}

// Reset forgets the progress of all files whose path is pattern or matches it (a
// glob, with ** for any number of folders), and the marks of the outputs of their
// own. It returns how many there were. They are read from their beginning by the
// next run. It fails with ErrLocked while a process runs.
func Reset(dir, pattern string) (n int, err error) {
	if !doublestar.ValidatePathPattern(pattern) {
		return 0, fmt.Errorf("%q is no glob", pattern)
	}
	s, err := Open(dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	s.mu.Lock()
	defer s.mu.Unlock()
	gone := map[string]bool{}
	for source, entries := range s.sources {
		s.sources[source] = slices.DeleteFunc(entries, func(e Entry) bool {
			match := e.Path == pattern || doublestar.PathMatchUnvalidated(pattern, e.Path)
			if match {
				gone[e.ID] = true
				n++
			}
			return match
		})
	}
	if n == 0 {
		return 0, nil
	}
	s.marks = slices.DeleteFunc(s.marks, func(m pipeline.Mark) bool { return gone[m.Lane] })
	_, err = s.commit(nil, s.marks)
	return n, err
}
