package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// This file handles the outputs of processes with another configuration. A
// checkpoint may cover their durable part, so they are finished and never
// restarted.

// Makes reports whether path can be the path of an output with these settings.
func (c *LogConfig) Makes(path string) bool {
	t, err := parseTemplate(c.Path)
	if err != nil {
		return false
	}
	_, exact := t.pattern(nil)
	return exact.MatchString(path) || exact.MatchString(unnumbered.ReplaceAllString(path, "$1"))
}

// CanCutBack reports whether outputs with these settings can be truncated when
// an input withdraws records. For that, each output must have a single input
// and get its final name only at the end of that input. ExactlyOnce is also
// required, because the checkpoint must store how much of each output it covers.
func (c *LogConfig) CanCutBack() bool {
	t, err := parseTemplate(c.Path)
	return err == nil && t.perLane() && !t.counts()
}

// unnumbered matches the number in a path whose name was already taken. See
// numbered.
var unnumbered = regexp.MustCompile(`-[0-9]+((\.[^./]*){0,2})$`)

// FinishExtent finishes an output that no sink continues. It truncates the
// output to the extent. If the output still has its unfinished name,
// FinishExtent gives it the final name; a growing output already has its final
// name. If the output no longer exists, FinishExtent does nothing.
func FinishExtent(m engine.Extent) error {
	name := m.Path + partSuffix
	f, err := openLocked(name)
	if errors.Is(err, fs.ErrNotExist) {
		name = m.Path
		f, err = openLocked(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // already synced
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	to, err := placeOf(m)
	if err != nil {
		return err
	}
	if name == m.Path && (fi.Size() < m.Length || to.endsAt(f, fi.Size())) {
		return nil // the file may have been changed after it was finished
	}
	if fi.Size() < m.Length {
		return fmt.Errorf("%s is truncated: it has %d bytes, but %d were durable", name, fi.Size(), m.Length)
	}
	tidy(m.Path)
	if err := errors.Join(cutFile(f, to), f.Sync()); err != nil {
		return err
	}
	if name == m.Path {
		return nil
	}
	return finishPart(name, m.Path)
}

// FinishWithoutExtent truncates torn ends and renames all unfinished outputs
// with these settings to their final names. They were written without
// exactly_once, so their records may have been answered. It returns their final
// names.
func (c *LogConfig) FinishWithoutExtent() (finished []string, err error) {
	s := newLog(*c)
	names, err := s.tmpl.unfinished()
	for _, final := range names {
		to, _, err := s.files.cutTorn(final + partSuffix)
		if err != nil {
			return finished, err
		}
		if to.at == 0 {
			continue // nothing of the output is usable: the next run restarts it
		}
		name, err := s.table.finishAs(final)
		if err != nil {
			return finished, err
		}
		finished = append(finished, name)
	}
	return finished, err
}

// finishAs renames an unfinished output to its final name, or to a numbered
// variant if that name is taken. It returns the new name.
func (tab *streamTable) finishAs(final string) (to string, err error) {
	to = final
	for n := 2; !tab.free(to); n++ {
		to = numbered(final, n)
	}
	err = finishPart(final+partSuffix, to)
	if err == nil && tab.cfg.published != nil {
		tab.cfg.published(to)
	}
	return to, err
}

// Existing returns the paths of all files that outputs with these settings may
// have written, finished or not. If inputs is not nil and each input has its
// own output, the result has only the outputs of these inputs. inputs maps the
// names of lanes to relative paths.
func (c *LogConfig) Existing(source string, inputs map[string]string) (paths []string, err error) {
	t, err := parseTemplate(c.Path)
	if err != nil {
		return nil, err
	}
	if inputs == nil || !t.perLane() {
		return t.outputs()
	}
	for lane, rel := range inputs {
		finished, unfinished := t.files(&values{source: source, rel: cutCompressed(rel), lane: lane})
		paths = append(append(paths, finished...), unfinished...)
	}
	slices.Sort(paths)
	return paths, nil
}

// unfinished returns the final paths of all unfinished outputs that may come
// from t.
func (t *template) unfinished() (finals []string, err error) {
	paths, err := t.outputs()
	for _, path := range paths {
		if final, part := strings.CutSuffix(path, partSuffix); part {
			finals = append(finals, final)
		}
	}
	return finals, err
}

// outputs returns the paths of all files that may come from t.
func (t *template) outputs() (paths []string, err error) {
	_, exact := t.pattern(nil)
	err = filepath.WalkDir(t.dir(), func(path string, d fs.DirEntry, err error) error {
		final := strings.TrimSuffix(path, partSuffix)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case !d.IsDir() && !strings.HasSuffix(final, unverifiedSuffix) && (exact.MatchString(final) || exact.MatchString(unnumbered.ReplaceAllString(final, "$1"))):
			paths = append(paths, path)
		}
		return nil
	})
	return paths, err
}

// finishPart durably renames an unfinished output to its final name.
func finishPart(name, final string) error {
	if err := refuseTaken(final); err != nil {
		return err
	}
	return disk.Publish(name, final)
}

// refuseTaken returns an error if a file with the final name of an output exists.
func refuseTaken(final string) error {
	if _, err := os.Lstat(final); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot rename the output to %s: %w; move the existing file away", final, fs.ErrExist)
	}
	return nil
}
