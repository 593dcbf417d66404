package layers

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// leastMapped is the number of source files from which a package needs a map.
const leastMapped = 11

// fileName matches the name of a source file, or a pattern for several, in a comment.
var fileName = regexp.MustCompile(`[\w*]+\.go\b`)

// unmapped returns complaints about the maps of the packages in tree: the comment of a
// package with many source files, or another comment in its doc.go, which readers of the
// documentation do not see, names each of them in its indented lines, and no others.
func unmapped(tree fs.FS) (complaints []string, err error) {
	files := map[string][]string{} // by folder
	err = fs.WalkDir(tree, ".", func(p string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && (name == "testdata" || len(name) > 1 && strings.HasPrefix(name, ".")):
			return fs.SkipDir
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			files[path.Dir(p)] = append(files[path.Dir(p)], name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, dir := range slices.Sorted(maps.Keys(files)) {
		if len(files[dir]) < leastMapped {
			continue
		}
		var text strings.Builder
		for _, name := range files[dir] {
			src, err := fs.ReadFile(tree, path.Join(dir, name))
			if err != nil {
				return nil, err
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ParseComments)
			if err != nil {
				return nil, err
			}
			for _, c := range f.Comments {
				if name != "doc.go" && c != f.Doc {
					continue
				}
				for line := range strings.Lines(c.Text()) {
					if strings.HasPrefix(line, "\t") {
						text.WriteString(line)
					}
				}
			}
		}
		patterns := fileName.FindAllString(text.String(), -1)
		for _, name := range files[dir] {
			if name != "doc.go" && !slices.ContainsFunc(patterns, func(p string) bool { ok, _ := path.Match(p, name); return ok }) {
				complaints = append(complaints, dir+": the comment of the package does not name "+name)
			}
		}
		for _, p := range patterns {
			if !slices.ContainsFunc(files[dir], func(name string) bool { ok, _ := path.Match(p, name); return ok }) {
				complaints = append(complaints, dir+": the comment of the package names "+p+", which does not exist")
			}
		}
	}
	return complaints, nil
}

// TestMaps: the comment of each package with many files is a map of them.
func TestMaps(t *testing.T) {
	complaints, err := unmapped(os.DirFS(filepath.Join("..", "..", "..")))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range complaints {
		t.Error(c)
	}
}

// TestUnmapped: the check of TestMaps can fail.
func TestUnmapped(t *testing.T) {
	tree := fstest.MapFS{"p/doc.go": {Data: []byte("// Package p has a map.\n//\n//\ta*.go, gone.go  text\npackage p\n")}}
	for name := range strings.FieldsSeq("a1 a2 a3 a4 a5 a6 a7 a8 a9 b") {
		tree["p/"+name+".go"] = &fstest.MapFile{Data: []byte("package p\n")}
	}
	got, err := unmapped(tree)
	want := []string{"p: the comment of the package does not name b.go", "p: the comment of the package names gone.go, which does not exist"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	delete(tree, "p/a1.go")
	if got, err := unmapped(tree); err != nil || len(got) > 0 {
		t.Errorf("a package of 10 files: got %q, %v", got, err)
	}
}
