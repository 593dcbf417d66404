// Command count prints figures about the size of a Go tree: lines of code
// without tests and generated files; exported identifiers by package (declared
// at package level, and exported methods), outside cmd and internal; and the
// types with the most methods, with the number of files that define these
// methods.
//
// It parses the tree without building it, so that it can count any revision. It
// counts nested modules separately:
//
//	go run ./internal/testkit/layers/count        # this tree
//	go run ./internal/testkit/layers/count DIR    # another one, such as a git worktree
package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	dir := "."
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	c := counts{lines: map[string]int{}, exported: map[string]int{}, methods: map[string]*receiver{}}
	err := c.walk(dir)
	if err == nil {
		err = c.write(os.Stdout) //nolint:forbidigo // a separate command
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "count:", err) //nolint:forbidigo // a separate command
		os.Exit(1)                             //nolint:forbidigo // a separate command
	}
}

// counts holds the figures of a tree. Its keys are paths of modules and
// packages relative to the root.
type counts struct {
	lines    map[string]int       // by module
	exported map[string]int       // by package
	methods  map[string]*receiver // by package and type
}

// A receiver is a type with methods.
type receiver struct {
	name    string
	methods int
	files   map[string]bool
}

// walk counts all files below root.
func (c *counts) walk(root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return c.file(moduleOf(root, filepath.Dir(path)), filepath.ToSlash(rel), src)
	})
}

// moduleOf returns the folder, relative to root, of the module that contains
// dir.
func moduleOf(root, dir string) string {
	for dir != root && dir != "." && dir != string(filepath.Separator) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			rel, _ := filepath.Rel(root, dir) // cannot fail: dir is in root
			return rel
		}
		dir = filepath.Dir(dir)
	}
	return "."
}

// file counts one file.
func (c *counts) file(module, path string, src []byte) error {
	f, err := parser.ParseFile(token.NewFileSet(), path, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	if ast.IsGenerated(f) {
		return nil
	}
	c.lines[module] += bytes.Count(src, []byte{'\n'})
	if module != "." {
		return nil
	}
	pkg := path[:max(0, strings.LastIndexByte(path, '/'))]
	public := f.Name.Name != "main" && !slices.ContainsFunc(strings.Split(pkg, "/"), func(e string) bool { return e == "internal" || e == "cmd" })
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
			c.method(pkg, path, typeName(fn.Recv.List[0].Type))
		}
		if public {
			c.exported[pkg] += exported(d)
		}
	}
	return nil
}

// method counts a method of a type.
func (c *counts) method(pkg, path, name string) {
	key := pkg + "." + name
	r := c.methods[key]
	if r == nil {
		r = &receiver{name: key, files: map[string]bool{}}
		c.methods[key] = r
	}
	r.methods++
	r.files[path] = true
}

// exported returns the number of exported identifiers that d declares. A method
// counts only if its receiver type is exported, too.
func exported(d ast.Decl) (n int) {
	count := func(names ...*ast.Ident) {
		for _, name := range names {
			if name.IsExported() {
				n++
			}
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil || ast.IsExported(typeName(d.Recv.List[0].Type)) {
			count(d.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				count(s.Name)
			case *ast.ValueSpec:
				count(s.Names...)
			}
		}
	}
	return n
}

// typeName returns the name of a receiver's type.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}

// mostMethods is the number of types to print.
const mostMethods = 5

// write prints the figures.
func (c *counts) write(out io.Writer) error {
	var w bytes.Buffer
	fmt.Fprintln(&w, "lines of Go without tests and generated files, by module")
	for _, m := range slices.Sorted(maps.Keys(c.lines)) {
		fmt.Fprintf(&w, "%8d  %s\n", c.lines[m], m)
	}
	fmt.Fprintln(&w, "exported identifiers and methods outside cmd and internal, by package")
	total := 0
	for _, p := range slices.Sorted(maps.Keys(c.exported)) {
		total += c.exported[p]
		fmt.Fprintf(&w, "%8d  %s\n", c.exported[p], p)
	}
	fmt.Fprintf(&w, "%8d  all\n", total)
	fmt.Fprintln(&w, "types with the most methods, and the number of files that define these")
	types := slices.SortedFunc(maps.Values(c.methods), func(a, b *receiver) int {
		return cmp.Or(cmp.Compare(b.methods, a.methods), cmp.Compare(a.name, b.name))
	})
	for _, r := range types[:min(len(types), mostMethods)] {
		fmt.Fprintf(&w, "%8d  %s in %d files\n", r.methods, r.name, len(r.files))
	}
	_, err := out.Write(w.Bytes())
	return err
}
