package file

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// exclude returns the files that no pattern of Config.Exclude matches. If all
// files are excluded, it returns an error unless c allows that.
func (c *Config) exclude(files []found) ([]found, error) {
	all := len(files)
	files = slices.DeleteFunc(files, func(f found) bool {
		return f.path != stdinPath && excludes(c.Exclude, filepath.ToSlash(f.rel), filepath.ToSlash(filepath.Clean(f.path)))
	})
	if all > 0 && len(files) == 0 && !c.AllowEmpty {
		return nil, fmt.Errorf("%w: all files are excluded", ErrNoInput)
	}
	return files, nil
}

// excludes reports whether a pattern matches a file. A pattern without a slash
// applies to the name of the file. A pattern with a slash applies to the path full
// and to the relative path rel.
func excludes(patterns []string, rel, full string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if !strings.Contains(pattern, "/") {
			return doublestar.MatchUnvalidated(pattern, path.Base(full))
		}
		pattern = path.Clean(pattern)
		return doublestar.MatchUnvalidated(pattern, rel) || doublestar.MatchUnvalidated(pattern, full)
	})
}
