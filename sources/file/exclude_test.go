package file

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

func TestExclude(t *testing.T) {
	dir := write(t, map[string]string{"logs/a.log": "", "logs/error.log": "", "logs/old/a.log": "", "logs/old/error.1": "", "error.log": ""})
	t.Chdir(dir)
	f := func(paths, exclude, want string) {
		t.Helper()
		c := Config{Exclude: strings.Fields(exclude)}
		files, err := (&Config{Paths: strings.Fields(paths), AllowEmpty: false}).expand()
		if err == nil {
			files, err = c.exclude(files)
		}
		var got []string
		for _, f := range files {
			got = append(got, filepath.ToSlash(f.path))
		}
		if strings.Join(got, " ") != want || (err != nil) != (want == "") || err != nil && !errors.Is(err, ErrNoInput) {
			t.Errorf("%s without %s: %v, %v, want %s", paths, exclude, got, err, want)
		}
	}
	f("logs", "error*", "logs/a.log logs/old/a.log")
	f("logs", "**/old/**", "logs/a.log logs/error.log")
	f("logs", "old/**", "logs/a.log logs/error.log")
	f("logs", "./logs/old/*", "logs/a.log logs/error.log")
	f("logs", "error.log a.*", "logs/old/error.1")
	f("logs/*.log error.log", "error.log", "logs/a.log")
	f("logs error.log -", "*", "-")
	f("logs error.log", "none", "logs/a.log logs/error.log logs/old/a.log logs/old/error.1 error.log")
	f("logs error.log", "**/*", "")
	f("error.log", "error.log", "")
}
