package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/testkit"
)

func TestExpand(t *testing.T) {
	dir := write(t, map[string]string{
		"b.log": "", "a.log": "", "sub/c.log": "", "sub/deep/d.log": "", "sub/e.txt": "", "x[1].log": "", "empty/.keep": "",
	})
	if err := os.Symlink(filepath.Join(dir, "a.log"), filepath.Join(dir, "link.log")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "sub", "dead")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	f := func(paths, want string) {
		t.Helper()
		files, err := (&Config{Paths: strings.Fields(paths), AllowEmpty: false}).expand()
		var got []string
		for _, f := range files {
			got = append(got, filepath.ToSlash(f.path))
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %v, %v, want %s", paths, got, err, want)
		}
	}
	f("b.log a.log", "b.log a.log")
	f("sub", "sub/c.log sub/dead sub/deep/d.log sub/e.txt")
	if err := os.Remove("sub/dead"); err != nil {
		t.Fatal(err)
	}
	f("*.log", "a.log b.log x[1].log") // link.log is a.log
	f("**/*.log", "a.log b.log sub/c.log sub/deep/d.log x[1].log")
	f("{b,a}.log", "a.log b.log")
	f("sub", "sub/c.log sub/deep/d.log sub/e.txt")
	for _, loop := range []string{"sub/up", "sub/and-up"} { // following these links would yield 2^40 paths
		if err := os.Symlink(dir, loop); err != nil {
			t.Fatal(err)
		}
	}
	f("**/*.log", "a.log b.log sub/c.log sub/deep/d.log x[1].log")
	f("**", "a.log b.log empty/.keep sub/c.log sub/deep/d.log sub/e.txt x[1].log")
	f("sub/up/a.*", "sub/up/a.log")
	f("sub/*/b.log", "sub/and-up/b.log")
	f("sub", "sub/c.log sub/deep/d.log sub/e.txt")
	f("sub/ *.log", "sub/c.log sub/deep/d.log sub/e.txt a.log b.log x[1].log")
	f("x[1].log", "x[1].log") // an existing file takes precedence over a pattern
	f("a.log a.log", "a.log a.log")
	f("*.log a.log", "a.log b.log x[1].log")
	f("b.log *.log", "b.log a.log x[1].log")
	f("a.log *.log a.log", "a.log b.log x[1].log a.log")
	f("link.log a.log", "link.log a.log")
	f("./a.log sub/../*.log", "./a.log b.log x[1].log")
	f("- a.log", "- a.log")
	f("empty", "empty/.keep")
}

func TestExpandErrors(t *testing.T) {
	dir := write(t, map[string]string{"a.log": ""})
	paths := []string{filepath.Join(dir, "a.log"), filepath.Join(dir, "gone.log"), filepath.Join(dir, "*.txt"), "-", "-", filepath.Join(dir, "[")}
	s, err := New(Config{Paths: paths, Stdin: strings.NewReader(""), Framing: lines{}})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Open(context.Background(), testkit.NewRuntime(1, small))
	if !errors.Is(err, ErrNoInput) {
		t.Fatalf("Open: %v", err)
	}
	text := err.Error()
	for _, want := range []string{"gone.log: file does not exist", "*.txt: no files match", "stdin is listed twice", "[: syntax error"} {
		if !strings.Contains(text, want) {
			t.Errorf("error does not contain %q: %v", want, err)
		}
	}
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// TestExpandEmpty checks what counts as a path that matches no files.
func TestExpandEmpty(t *testing.T) {
	t.Chdir(write(t, map[string]string{"a.log": "", "sub/b.log": ""}))
	for _, dir := range []string{"empty/deep", "linked"} {
		if err := os.MkdirAll(dir, 0o750); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"linked/up": "..", "dangling/gone": "nothing"} {
		if err := os.MkdirAll(filepath.Dir(link), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, link); err != nil {
			t.Skip(err)
		}
	}
	f := func(paths, want string, allowEmpty bool) {
		t.Helper()
		_, err := (&Config{Paths: strings.Fields(paths), AllowEmpty: allowEmpty}).expand()
		if text := fmt.Sprint(err); (err != nil) != (want != "") || !strings.Contains(text, want) || want != "" && !errors.Is(err, ErrNoInput) {
			t.Errorf("%s: %v, want %q", paths, err, want)
		}
	}
	for _, path := range []string{"empty", "linked"} {
		f(path, path+": no files in the directory", false)
		f("a.log "+path, path+": no files in the directory", false)
		f(path, "", true)
	}
	for _, path := range []string{"empty/*", "linked/**", "*.none"} {
		f(path, path+": no files match", false)
		f(path, "", true)
	}
	f("dangling", "", false) // the link is reported as unreadable
	f("sub/b.log sub", "", false)
	f("sub sub/*", "", false)
	f("gone", "gone: file does not exist", true)
}

func TestPaths(t *testing.T) {
	dir := write(t, map[string]string{"a": "", "b": ""})
	s, err := New(Config{Paths: []string{dir}, Framing: lines{}})
	if err != nil {
		t.Fatal(err)
	}
	first, err := s.Paths()
	if err != nil || len(first) != 2 {
		t.Fatalf("%v, %v", first, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "c"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	rt := testkit.NewRuntime(1, small)
	if err := s.Open(context.Background(), rt); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(rt.Lanes(), first) {
		t.Errorf("Paths returned %v, but Run read %v", first, rt.Lanes())
	}
}
