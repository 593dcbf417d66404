package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/config"
	sinkfile "github.com/urlfold/urlfold/sinks/file"
	"github.com/urlfold/urlfold/sources/file"
)

var (
	errOutputIsInput = errors.New("a source of files includes this: it would read what is written; write elsewhere, or exclude it there")
	errMoveIsInput   = errors.New("a source of files includes this: it would read what is finished; move files elsewhere, or exclude it there")
	errSameOutput    = errors.New("another output has this path: each needs its own")
)

// checkPaths refuses outputs and a data directory that a source would read, and one
// path for two outputs. It goes by names: a link can still lead astray.
func (p *plan) checkPaths(sound func(path string) bool) error {
	var errs []error
	reads := p.reader(sound)
	known := sound("data_dir") || p.file.DataDir == config.Default().DataDir // a section that is not written is not sound
	if p.files && known && reads(filepath.Join(p.file.DataDir, "checkpoint")) {
		errs = append(errs, p.file.ErrorAt("data_dir", errOutputIsInput))
	}
	errs = append(errs, p.checkMoves(sound, reads))
	seen := map[string]bool{}
	for _, c := range p.outputs() {
		l, ok := c.Config.(*sinkfile.LogConfig)
		if !ok || !isSound(c, sound, "path") || special(l.Path) {
			continue
		}
		path := absolute(l.Path)
		if seen[path] {
			errs = append(errs, p.file.ErrorAt(c.Path()+".path", errSameOutput))
		}
		seen[path] = true
		if reads(variable.ReplaceAllLiteralString(l.Path, "0")) {
			errs = append(errs, p.file.ErrorAt(c.Path()+".path", errOutputIsInput))
		}
	}
	return errors.Join(errs...)
}

// checkMoves refuses folders for finished files that a source would read.
func (p *plan) checkMoves(sound, reads func(path string) bool) error {
	var errs []error
	for i := range p.file.Sources {
		c := &p.file.Sources[i]
		s, ok := c.Config.(*file.Settings)
		if !ok || s.OnFinish.MoveTo == "" || !isSound(c, sound, "include", "exclude", "on_finish") {
			continue
		}
		again := func(pattern string) bool {
			return reads(filepath.Join(s.OnFinish.MoveTo, wildcards.Replace(filepath.Base(pattern))))
		}
		if slices.ContainsFunc(s.Include, again) {
			errs = append(errs, p.file.ErrorAt(c.Path()+".on_finish.move_to", errMoveIsInput))
		}
	}
	return errors.Join(errs...)
}

// wildcards makes a name of the last part of a pattern. Any that matches does: what
// matters is the folder.
var wildcards = strings.NewReplacer("*", "0", "?", "0")

// variable is one of the path of an output. Any text does in its place: what matters
// is the folder, and how the name ends.
var variable = regexp.MustCompile(`\{[^{}]*\}`)

// reader returns a function that reports whether a source of files would read a file of
// this name.
func (p *plan) reader(sound func(path string) bool) func(path string) bool {
	var list []*file.Settings
	for i := range p.file.Sources {
		c := &p.file.Sources[i]
		if s, ok := c.Config.(*file.Settings); ok && isSound(c, sound, "include", "exclude") {
			list = append(list, s)
		}
	}
	return func(path string) bool {
		return slices.ContainsFunc(list, func(s *file.Settings) bool { return s.Covers(path) })
	}
}

// special reports whether path is there and no regular file, such as /dev/null: any
// number of outputs may write to it.
func special(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && !fi.Mode().IsRegular()
}

// absolute returns path from the root, or as it is if the working directory has
// gone.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
