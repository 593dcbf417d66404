package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/pipeline"
)

// This file is for what a process with another configuration has left. What is durable
// in it is covered by the checkpoint, or may be, so it is finished and never begun anew.

// Makes reports whether an output with these settings may have this path.
func (c *LogConfig) Makes(path string) bool {
	t, err := parseTemplate(c.Path)
	if err != nil {
		return false
	}
	_, exact := t.pattern(nil)
	return exact.MatchString(path) || exact.MatchString(unnumbered.ReplaceAllString(path, "$1"))
}

// CanCutBack reports whether outputs with these settings can be cut back when an input
// withdraws records: each has one input, and is not named before that is at its end.
// With that goes ExactlyOnce, which stores how far they are covered.
func (c *LogConfig) CanCutBack() bool {
	t, err := parseTemplate(c.Path)
	return err == nil && t.perLane && !t.counts
}

// unnumbered is the number that a path has got because its name was taken: see
// numbered.
var unnumbered = regexp.MustCompile(`-[0-9]+((\.[^./]*){0,2})$`)

// FinishExtent gives an output its final name that no sink goes on with, as it was when
// the checkpoint was stored. If it has that name already, or is gone, there is nothing to
// do.
func FinishExtent(m pipeline.Extent) error {
	name := m.Path + partSuffix
	f, err := openLocked(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it is synced
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	if fi.Size() < m.Length {
		return fmt.Errorf("%s has %d bytes, and %d were durable", name, fi.Size(), m.Length)
	}
	tidy(m.Path)
	if err := errors.Join(f.Truncate(m.Length), f.Sync()); err != nil {
		return err
	}
	return finishPart(name, m.Path)
}

// FinishWithoutExtent gives their final names to all unfinished outputs with these settings
// but those of the extents: they were written without exactly_once, so what is in them was
// perhaps answered. It returns these names. Torn ends are cut off.
func (c *LogConfig) FinishWithoutExtent(extents []pipeline.Extent) (finished []string, err error) {
	s := newLog(*c)
	for _, m := range extents {
		s.table.taken[m.Path] = true
	}
	names, err := s.tmpl.unfinished()
	for _, final := range names {
		if s.table.taken[final] {
			continue
		}
		size, _, err := s.files.cutTorn(final + partSuffix)
		if err != nil {
			return finished, err
		}
		if size == 0 {
			continue // it is begun anew
		}
		to, err := s.table.finishAs(final)
		if err != nil {
			return finished, err
		}
		finished = append(finished, to)
	}
	return finished, err
}

// finishAs gives an unfinished output its final name, with a number if that is taken,
// and returns it.
func (tab *streamTable) finishAs(final string) (to string, err error) {
	to = final
	for n := 2; !tab.free(to); n++ {
		to = numbered(final, n)
	}
	return to, finishPart(final+partSuffix, to)
}

// unfinished returns the final paths of all unfinished outputs that t may have made.
func (t *template) unfinished() (finals []string, err error) {
	_, exact := t.pattern(nil)
	err = filepath.WalkDir(t.dir(), func(path string, d fs.DirEntry, err error) error {
		final, part := strings.CutSuffix(path, partSuffix)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case part && !d.IsDir() && !strings.HasSuffix(final, unverifiedSuffix) && (exact.MatchString(final) || exact.MatchString(unnumbered.ReplaceAllString(final, "$1"))):
			finals = append(finals, final)
		}
		return nil
	})
	return finals, err
}

// finishPart gives an unfinished output its final name, which is durable then.
func finishPart(name, final string) error {
	if _, err := os.Lstat(final); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is there already, and is not overwritten: %w", final, fs.ErrExist)
	}
	return disk.Publish(name, final)
}
