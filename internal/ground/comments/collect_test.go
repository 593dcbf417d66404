package comments

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// collect returns the doc comments of configuration structs in dirs, which are not available
// at run time: those of all fields with a tag yaml or flag, and of the structs that have such
// fields, by PACKAGE.STRUCT and PACKAGE.STRUCT.FIELD. DIR/... means the directory and all its
// subdirectories. The error joins one for each field without a comment.
func collect(dirs []string) (map[string]string, error) {
	c := collector{all: map[string]string{}, fset: token.NewFileSet()}
	for _, dir := range dirs {
		root, below := strings.CutSuffix(dir, "/...")
		err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && name != root && (!below || d.Name() == "testdata"):
				return filepath.SkipDir
			case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
				return nil
			}
			return c.file(name)
		})
		c.errs = append(c.errs, err)
	}
	return c.all, errors.Join(c.errs...)
}

type collector struct {
	all  map[string]string
	fset *token.FileSet
	errs []error
}

// file collects the comments of a file.
func (c *collector) file(name string) error {
	f, err := parser.ParseFile(c.fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	pkg, err := importPath(filepath.Dir(name))
	if err != nil {
		return err
	}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range g.Specs {
			if t, ok := s.(*ast.TypeSpec); ok {
				if st, ok := t.Type.(*ast.StructType); ok {
					c.structure(pkg+"."+t.Name.Name, st, cmpDoc(t.Doc, g.Doc))
				}
			}
		}
	}
	return nil
}

func cmpDoc(a, b *ast.CommentGroup) *ast.CommentGroup {
	if a != nil {
		return a
	}
	return b
}

// structure collects the comments of the fields of a struct that have a key.
func (c *collector) structure(name string, st *ast.StructType, doc *ast.CommentGroup) {
	for _, f := range st.Fields.List {
		key, ok := keyOf(f)
		if !ok {
			continue
		}
		for _, n := range f.Names {
			text := oneLine(cmpDoc(f.Doc, f.Comment))
			if rest, ok := strings.CutPrefix(text, n.Name+" "); ok {
				text = key + " " + rest // users know the field by its key
			}
			if text == "" {
				c.errs = append(c.errs, fmt.Errorf("%v: %s.%s has a tag but no comment", c.fset.Position(n.Pos()), name, n.Name))
			}
			c.all[name+"."+n.Name] = text
			c.all[name] = oneLine(doc)
		}
		if t, ok := unnamed(f.Type); ok {
			c.errs = append(c.errs, fmt.Errorf("%v: anonymous structs are not supported, because they have no name for their comments", c.fset.Position(t.Pos())))
		}
	}
}

// unnamed returns the anonymous struct in a type, if there is one.
func unnamed(t ast.Expr) (st *ast.StructType, found bool) {
	ast.Inspect(t, func(n ast.Node) bool {
		if s, ok := n.(*ast.StructType); ok {
			st, found = s, true
		}
		return !found
	})
	return st, found
}

// keyOf returns the key in the yaml tag of a field, or the name in its flag tag, if it
// has one.
func keyOf(f *ast.Field) (key string, ok bool) {
	if f.Tag == nil {
		return "", false
	}
	tag, err := strconv.Unquote(f.Tag.Value)
	if key, ok = reflect.StructTag(tag).Lookup("yaml"); !ok {
		key, ok = reflect.StructTag(tag).Lookup("flag")
	}
	key, _, _ = strings.Cut(key, ",")
	return key, err == nil && ok && key != "-"
}

// oneLine returns a comment on one line.
func oneLine(g *ast.CommentGroup) string {
	text := strings.Join(strings.Fields(g.Text()), " ")
	// For readers of the Go API only.
	return strings.TrimSuffix(text, " Not covered by the stability page.")
}

// importPath returns the import path of the package in dir, based on the go.mod
// of the module.
func importPath(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	var below []string
	for root := abs; ; root = filepath.Dir(root) {
		data, err := os.ReadFile(filepath.Join(root, "go.mod"))
		if err == nil {
			slices.Reverse(below)
			return path.Join(append([]string{moduleOf(string(data))}, below...)...), nil
		}
		if root == filepath.Dir(root) {
			return "", errors.New("no go.mod in " + dir + " or its parents")
		}
		below = append(below, filepath.Base(root))
	}
}

// moduleOf returns the module path in a go.mod file.
func moduleOf(gomod string) string {
	for line := range strings.Lines(gomod) {
		if name, ok := strings.CutPrefix(line, "module "); ok {
			return strings.TrimSpace(name)
		}
	}
	return ""
}
