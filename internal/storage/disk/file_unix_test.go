//go:build unix

package disk

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestOpen checks that a file is opened for writing only if it is a regular
// file with one name.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(path("plain"), []byte("text"), 0o644))
	must(os.WriteFile(path("twice"), []byte("text"), 0o644))
	must(os.Link(path("twice"), path("second")))
	must(os.Symlink("plain", path("link")))
	must(os.Symlink("none", path("dangling")))
	must(os.Mkdir(path("folder"), 0o755))
	must(syscall.Mkfifo(path("pipe"), 0o644))
	for name, want := range map[string]string{
		"plain": "", "twice": "it has 2 hard links", "second": "it has 2 hard links", "link": "it is a symbolic link",
		"dangling": "it is a symbolic link", "folder": "it is a directory", "pipe": "it is a pipe",
	} {
		for _, flag := range []int{os.O_RDWR, os.O_RDWR | os.O_CREATE, os.O_RDWR | os.O_CREATE | os.O_TRUNC} {
			f, err := Open(path(name), flag, 0o644)
			if err == nil {
				must(f.Close())
			}
			checked := Check(path(name))
			if want == "" {
				if err != nil || checked != nil {
					t.Errorf("%s: %v, %v", name, err, checked)
				}
				continue
			}
			for _, err := range []error{err, checked} {
				if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path(name)) {
					t.Errorf("%s: error is %v, want %q", name, err, want)
				}
			}
		}
	}
	if text, err := os.ReadFile(path("twice")); string(text) != "text" || err != nil {
		t.Errorf("the refused file contains %q, %v", text, err)
	}
	if _, err := Open(path("none"), os.O_RDWR, 0); !errors.Is(err, fs.ErrNotExist) || Check(path("none")) != nil {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := os.Lstat(path("none")); err == nil {
		t.Error("a file was created through a link")
	}
	f, err := Recreate(path("second"), 0o600)
	must(err)
	_, err = f.WriteString("new")
	must(errors.Join(err, f.Close()))
	if text, err := os.ReadFile(path("twice")); string(text) != "text" || err != nil {
		t.Errorf("the other name of the recreated file contains %q, %v", text, err)
	}
}

// changing are the functions of package os that change the content of a disk.
var changing = []string{
	"Rename", "Remove", "RemoveAll", "Link", "Symlink", "Mkdir", "MkdirAll", "MkdirTemp", "Create", "CreateTemp", "WriteFile", "Truncate", "OpenFile",
}

// TestNothingPassesBy checks that packages whose files must survive a crash
// change them only through this package. Otherwise a record of their operations
// would be incomplete.
func TestNothingPassesBy(t *testing.T) {
	for _, dir := range []string{"../../../sinks/file", "../../../sources/file", "../checkpoint"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", dir, len(files), err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			function := ""
			ast.Inspect(file, func(n ast.Node) bool {
				if f, ok := n.(*ast.FuncDecl); ok {
					function = f.Name.Name
				}
				sel, ok := n.(*ast.SelectorExpr)
				if !ok || function == "openDirect" { // opens a pipe or a device
					return true
				}
				if x, ok := sel.X.(*ast.Ident); ok && x.Name == "os" && slices.Contains(changing, sel.Sel.Name) {
					t.Errorf("%v: os.%s: use package disk", fset.Position(n.Pos()), sel.Sel.Name)
				}
				return true
			})
		}
	}
}

// TestSync checks that Sync reaches the system, which cannot sync a pipe.
func TestSync(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = errors.Join(r.Close(), w.Close()) }() // nothing was written
	if err := (&File{File: w}).Sync(); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("%v, want %v", err, syscall.EINVAL)
	}
}
