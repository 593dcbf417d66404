package apinames

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/urlfold/urlfold/"

// aliases are the covered names of types of an uncovered package, each with
// a reason.
var aliases = map[string]string{
	"pipeline.ContractError": "errors.As must find the errors of the engine",
}

// TestSignatures: what the stability page covers names no type of a package that it does
// not cover: neither in parameters and results, nor in exported fields, methods of
// interfaces and aliases.
func TestSignatures(t *testing.T) {
	tr := public(t)
	covered := map[string]bool{}
	for _, n := range tr.covered() {
		covered[n.String()] = true
	}
	checked := 0
	for pkg := range tr.uncovered {
		files, err := filepath.Glob(filepath.Join(root, pkg, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			hidden := hiddenImports(f, tr)
			check := func(id string, e ast.Expr) {
				id = pkg + "." + id
				if e == nil || !covered[id] || aliases[id] != "" {
					return
				}
				checked++
				for _, p := range foreign(e, hidden) {
					t.Errorf("%s names a type of %s, which the stability page does not cover", id, p)
				}
			}
			for _, d := range f.Decls {
				signatures(d, check)
			}
		}
	}
	if checked < 400 {
		t.Errorf("only %d signatures were checked", checked)
	}
}

// hiddenImports returns the imports of f that are not covered, by their names in f.
func hiddenImports(f *ast.File, tr *tree) map[string]string {
	hidden := map[string]string{}
	for _, i := range f.Imports {
		path := strings.Trim(i.Path.Value, `"`)
		pkg, ours := strings.CutPrefix(path, module)
		if !ours || !strings.Contains(path, "/internal/") && !tr.uncovered[pkg] {
			continue
		}
		name := path[strings.LastIndexByte(path, '/')+1:]
		if i.Name != nil {
			name = i.Name.Name
		}
		hidden[name] = pkg
	}
	return hidden
}

// foreign returns the hidden packages whose types occur in e, in what others can see of it.
func foreign(e ast.Expr, hidden map[string]string) (pkgs []string) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.StructType:
			for _, f := range n.Fields.List {
				if len(f.Names) == 0 || f.Names[0].IsExported() {
					pkgs = append(pkgs, foreign(f.Type, hidden)...)
				}
			}
			return false
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && hidden[x.Name] != "" {
				pkgs = append(pkgs, hidden[x.Name])
			}
		}
		return true
	})
	return pkgs
}

// signatures calls check for each declared name and the type that it shows.
func signatures(d ast.Decl, check func(id string, e ast.Expr)) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		id := d.Name.Name
		if d.Recv != nil {
			id = typeName(d.Recv.List[0].Type) + "." + id
		}
		check(id, d.Type)
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				check(s.Name.Name, s.Type)
			case *ast.ValueSpec:
				for _, id := range s.Names {
					check(id.Name, s.Type)
				}
			}
		}
	}
}

// TestForeign: what the checker sees of a type.
func TestForeign(t *testing.T) {
	hidden := map[string]string{"engine": "pipeline/engine"}
	for text, want := range map[string]int{
		"struct{ A engine.X }":                      1,
		"struct{ a engine.X }":                      0,
		"struct{ A, B int; C func(x engine.X) }":    1,
		"interface{ Do(engine.X) []engine.Y }":      2,
		"func(a map[string]*engine.X) other.Y":      1,
		"func(f func() engine.X) (n int)":           1,
		"engine.X":                                  1,
		"struct{ A other.X; b func(engine.Y) int }": 0,
	} {
		e, err := parser.ParseExpr(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := foreign(e, hidden); len(got) != want {
			t.Errorf("%s: %q, want %d", text, got, want)
		}
	}
}
