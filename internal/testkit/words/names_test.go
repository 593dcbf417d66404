package words

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// sourceName matches the name of a Go file in a text, with the folders before it.
var sourceName = regexp.MustCompile(`[\w./-]*\b\w+\.go\b`)

// TestNames checks the names in comments and in the documents about the design: a doc
// comment that begins with the name of its function or type spells it as the code does, and
// a Go file that is mentioned exists. Both go stale when code moves.
func TestNames(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	exists := map[string]bool{} // base names of the Go files of the repository
	var sources, documents []string
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && name != root || d.Name() == "testdata" || d.Name() == "out"):
			return filepath.SkipDir
		case strings.HasSuffix(name, ".go"):
			exists[d.Name()] = true
			sources = append(sources, name)
		case strings.HasSuffix(name, ".md") && strings.Contains(filepath.ToSlash(name), "docs/design"):
			documents = append(documents, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(sources) < 500 || len(documents) < 5 {
		t.Errorf("checked only %d source files and %d documents", len(sources), len(documents))
	}
	for _, name := range sources {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		complaints, err := misnamed(src, exists)
		if err != nil {
			t.Error(err)
		}
		for _, c := range complaints {
			t.Errorf("%s:%s", name, c)
		}
	}
	for _, name := range documents {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range bytes.Split(text, []byte("\n")) {
			for _, c := range missing(string(line), exists) {
				t.Errorf("%s:%d: %s", name, i+1, c)
			}
		}
	}
}

// TestMisnamed shows that TestNames can fail.
func TestMisnamed(t *testing.T) {
	src := "package p\n\n// Find searches: see gone.go and here.go.\nfunc find() {}\n\n// Found is right.\ntype Found int\n"
	got, err := misnamed([]byte(src), map[string]bool{"here.go": true, "y.go": true})
	if err != nil {
		t.Fatal(err)
	}
	want := `[3: no file gone.go 3: the comment calls find "Find"]`
	if fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// misnamed returns complaints about the comments of a Go file.
func misnamed(src []byte, exists map[string]bool) (complaints []string, err error) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "", src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	line := func(p token.Pos) int { return files.Position(p).Line }
	for _, group := range f.Comments {
		for _, c := range group.List {
			for _, m := range missing(c.Text, exists) {
				complaints = append(complaints, fmt.Sprintf("%d: %s", line(c.Pos()), m))
			}
		}
	}
	check := func(doc *ast.CommentGroup, name *ast.Ident) {
		first, _, _ := strings.Cut(doc.Text(), " ")
		if first != name.Name && strings.EqualFold(first, name.Name) && len(first) > 1 {
			complaints = append(complaints, fmt.Sprintf("%d: the comment calls %s %q", line(doc.Pos()), name.Name, first))
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			check(d.Doc, d.Name)
		case *ast.GenDecl:
			if spec, ok := d.Specs[0].(*ast.TypeSpec); ok && len(d.Specs) == 1 {
				check(d.Doc, spec.Name)
			}
		}
	}
	return complaints, nil
}

// missing returns complaints about the Go files in a text that do not exist. A pattern, and
// the name of a file that a program writes, is none.
func missing(text string, exists map[string]bool) (complaints []string) {
	for _, at := range sourceName.FindAllStringIndex(text, -1) {
		name := text[at[0]:at[1]]
		if base := path.Base(name); !exists[base] && (at[0] == 0 || text[at[0]-1] != '*') {
			complaints = append(complaints, "no file "+name)
		}
	}
	return complaints
}
