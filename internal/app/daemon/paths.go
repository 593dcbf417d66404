package daemon

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/sources/file"
	"github.com/urlfold/urlfold/sources/s3"
)

// outputIsInput is the error about an output that is an input.
const outputIsInput = "matches the include patterns of a source, which would read it as input; change the path or exclude it in the source"

// checkPaths rejects outputs and a data directory that a source would read, and
// outputs with the same path. It compares names only and does not resolve
// links.
func (k *checker) checkPaths() {
	list := k.fileSources()
	reads := func(path string) bool {
		return slices.ContainsFunc(list, func(s *file.Settings) bool { return s.Covers(path) })
	}
	known := k.sound("data_dir") || k.file.DataDir == config.Default().DataDir // an absent section is not sound
	if k.files() && known && reads(filepath.Join(k.file.DataDir, "checkpoint")) {
		k.wrong("data_dir", outputIsInput)
	}
	k.checkMoves(reads)
	// Collect one possible input name for each include pattern, and one for
	// the lanes of other sources.
	names := []string{"0"}
	for _, s := range list {
		for _, pattern := range s.Include {
			names = append(names, sampleName(pattern))
		}
	}
	seen := map[string]bool{}
	for _, c := range k.outputs() {
		l, ok := k.logOf(c)
		if !ok || !k.isSound(c, "path") || special(l.Path) {
			continue
		}
		path := filepath.Clean(l.Path)
		if seen[path] {
			k.wrong(c.Path()+".path", "duplicate output path: each output needs its own")
		}
		seen[path] = true
		if slices.ContainsFunc(names, func(name string) bool { return reads(l.PathFor(name)) || reads(l.ObjectFor(name)) }) {
			k.wrong(c.Path()+".path", outputIsInput)
		}
	}
}

// checkMoves rejects directories for finished files that a source would read.
func (k *checker) checkMoves(reads func(path string) bool) {
	for _, c := range each(k.file.Sources) {
		s, ok := c.Config.(*file.Settings)
		if !ok || s.OnFinish.MoveTo == "" || !k.isSound(c, "include", "exclude", "on_finish") {
			continue
		}
		again := func(pattern string) bool {
			return reads(filepath.Join(s.OnFinish.MoveTo, sampleName(pattern)))
		}
		if slices.ContainsFunc(s.Include, again) {
			k.wrong(c.Path()+".on_finish.move_to", "matches the include patterns of a file source, which would read moved files again; change the path or exclude it in the source")
		}
	}
}

// sampleName returns a name that the last element of a pattern matches. Any such name
// suffices, because only the directory and the extension matter.
func sampleName(pattern string) string {
	return wildcards.Replace(alternatives().ReplaceAllString(filepath.Base(pattern), "$1"))
}

var (
	wildcards    = strings.NewReplacer("*", "0", "?", "0")
	alternatives = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{([^{},]*)[^{}]*\}`) })
)

// fileSources returns the settings of the file sources whose patterns are valid.
func (k *checker) fileSources() (list []*file.Settings) {
	for _, c := range each(k.file.Sources) {
		if !k.isSound(c, "include", "exclude") {
			continue
		}
		switch s := c.Config.(type) {
		case *file.Settings:
			list = append(list, s)
		case *s3.Config:
			list = append(list, s.Files())
		}
	}
	return list
}

// special reports whether path exists and is not a regular file, such as
// /dev/null. Any number of outputs may write to it.
func special(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && !fi.Mode().IsRegular()
}
