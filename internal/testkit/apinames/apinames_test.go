package apinames

import (
	"bufio"
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// notCovered ends the comment of a package or a name that may change at any time.
const notCovered = "Not covered by the stability page."

// isCovered ends the comment of a function that is covered, in a package that is not.
const isCovered = "Covered by the stability page."

// mostCovered is the number of covered names: identifiers, methods, and methods of
// interfaces. It may only fall: a new name needs a task of users.
const mostCovered = 674

//go:embed reasons.txt
var reasons string

// A name is an exported identifier, or a method as Type.Method.
type name struct {
	pkg, id, doc string
	typ          string // of a constant, if it is written
}

func (n name) String() string { return n.pkg + "." + n.id }

// A tree is the public packages of the module.
type tree struct {
	packages  map[string]string // comments
	names     []name
	uncovered map[string]bool
}

const root = "../../.."

// public reads the packages that others can import.
func public(t *testing.T) *tree {
	t.Helper()
	tr := &tree{packages: map[string]string{}, uncovered: map[string]bool{}}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		skip := []string{"testdata", "internal", "bench", "bindings", "chaos", "cmd", "deploy", "docs"}
		if p != root && (strings.HasPrefix(d.Name(), ".") || slices.Contains(skip, d.Name())) {
			return filepath.SkipDir
		}
		rel, err := filepath.Rel(root, p)
		if err == nil {
			err = tr.read(p, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil || len(tr.packages) < 15 {
		t.Fatalf("%d packages, %v", len(tr.packages), err)
	}
	return tr
}

// read adds the names of the package in dir.
func (tr *tree) read(dir, pkg string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return err
	}
	if pkg == "." {
		return nil
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		tr.packages[pkg] += f.Doc.Text()
		for _, d := range f.Decls {
			tr.declared(pkg, d)
		}
	}
	if tr.packages[pkg] == "" {
		return nil // a folder of folders
	}
	tr.uncovered[pkg] = strings.HasSuffix(strings.TrimSpace(tr.packages[pkg]), notCovered)
	return nil
}

// declared adds the exported names of a declaration.
func (tr *tree) declared(pkg string, d ast.Decl) {
	add := func(id, doc, typ string) {
		n := name{pkg, id, doc, typ}
		if ast.IsExported(id[strings.IndexByte(id, '.')+1:]) && !slices.ContainsFunc(tr.names, func(o name) bool { return o.pkg == pkg && o.id == id }) {
			tr.names = append(tr.names, n)
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			add(d.Name.Name, d.Doc.Text(), "")
		} else if typ := typeName(d.Recv.List[0].Type); ast.IsExported(typ) {
			add(typ+"."+d.Name.Name, d.Doc.Text(), "")
		}
	case *ast.GenDecl:
		typ := ""
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				if s.Type != nil || len(s.Values) > 0 {
					typ = typeName(s.Type)
				}
				for _, id := range s.Names {
					add(id.Name, s.Doc.Text()+s.Comment.Text(), typ)
				}
			case *ast.TypeSpec:
				add(s.Name.Name, d.Doc.Text()+s.Doc.Text(), "")
				if i, ok := s.Type.(*ast.InterfaceType); ok && s.Name.IsExported() {
					for _, m := range i.Methods.List {
						for _, id := range m.Names {
							add(s.Name.Name+"."+id.Name, m.Doc.Text(), "")
						}
					}
				}
			}
		}
	}
}

// typeName returns the name of the type in e, without pointer and parameters.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// covered returns the names that the stability page covers. The methods and the constants
// of a type are covered if the type is.
func (tr *tree) covered() []name {
	marked := func(n name) bool {
		doc := strings.Join(strings.Fields(n.doc), " ") // of any width
		return strings.HasSuffix(doc, notCovered) || tr.uncovered[n.pkg] && !strings.HasSuffix(doc, isCovered)
	}
	types := map[string]bool{}
	for _, n := range tr.names {
		types[n.String()] = marked(n)
	}
	return slices.DeleteFunc(slices.Clone(tr.names), func(n name) bool {
		typ, _, isMethod := strings.Cut(n.id, ".")
		return marked(n) || isMethod && types[n.pkg+"."+typ] || n.typ != "" && types[n.pkg+"."+n.typ]
	})
}

// TestPage: the stability page lists each package whose comment does not say that it is
// not covered, and no others.
func TestPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/reference/stability.md"))
	if err != nil {
		t.Fatal(err)
	}
	for pkg, uncovered := range public(t).uncovered {
		if listed := strings.Contains(string(page), "`"+pkg+"`"); listed == uncovered {
			t.Errorf("%s: listed by docs/reference/stability.md: %v; its comment ends with %q: %v", pkg, listed, notCovered, uncovered)
		}
	}
}

// TestNumber: the covered names get no more.
func TestNumber(t *testing.T) {
	names := public(t).covered()
	count := map[string]int{}
	for _, n := range names {
		count[n.pkg]++
	}
	if len(names) > mostCovered {
		t.Errorf("%d covered names, mostCovered is %d: keep the new name out of the API, end its comment with %q, or raise mostCovered and say in the commit who needs the name\n%v", len(names), mostCovered, notCovered, count)
	}
}

// shared are the covered names that several packages have, each with what it means in all of
// them.
var shared = map[string]string{
	"Append":      "a function that appends to dst",
	"Compile":     "a function that checks and prepares a list",
	"Create":      "a function that makes a file or a folder",
	"New":         "a function that makes the main type of its package",
	"NewReader":   "a function that makes a Reader",
	"Open":        "a function that opens a file or a folder",
	"DamageError": "an error about stored bytes that are damaged",
	"Define":      "a function that makes a Type",
	"Env":         "what a configuration gives to a component",
	"Error":       "the error of its package",
	"Options":     "the settings of the main function of its package",
	"Reader":      "a reader of records: of a stream, or of files",
	"Set":         "a set of keys: in memory, or on disk",
	"Type":        "a type of component that a configuration can name",
}

// TestOneMeaning: no covered name means different things in different packages.
func TestOneMeaning(t *testing.T) {
	packages := map[string]int{}
	for _, n := range public(t).covered() {
		if packages[n.id]++; packages[n.id] == 2 && !strings.Contains(n.id, ".") && shared[n.id] == "" {
			t.Errorf("%v: another package has this name: choose a different one or, if they mean the same, add it to shared", n)
		}
	}
	for id := range shared {
		if packages[id] < 2 {
			t.Errorf("%s is in fewer than two packages: remove it from shared", id)
		}
	}
}

// TestComments: no comment of a covered name sends its reader to a source file.
func TestComments(t *testing.T) {
	file := regexp.MustCompile(`\b[a-z_0-9]+\.go\b`)
	for _, n := range public(t).covered() {
		if at := file.FindString(n.doc); at != "" {
			t.Errorf("%v: its comment names the file %s, which a reader of the documentation does not see", n, at)
		}
	}
}

// TestUsed: each covered name is in an example, a page of docs or deploy/custom, or
// reasons.txt has a pattern and a reason for it.
func TestUsed(t *testing.T) {
	used := usedWords(t)
	type rule struct {
		pattern string
		needed  bool
	}
	var rules []rule
	lines := bufio.NewScanner(strings.NewReader(reasons))
	for lines.Scan() {
		if line := lines.Text(); line != "" && !strings.HasPrefix(line, "#") {
			patterns, reason, found := strings.Cut(line, ": ")
			if !found || reason == "" {
				t.Fatalf("reasons.txt: %q has no reason", line)
			}
			for p := range strings.FieldsSeq(patterns) {
				rules = append(rules, rule{pattern: p})
			}
		}
	}
	for _, n := range public(t).covered() {
		if used[n.id[strings.IndexByte(n.id, '.')+1:]] {
			continue
		}
		found := false
		for i := range rules {
			if matches(rules[i].pattern, n) {
				found, rules[i].needed = true, true
			}
		}
		if !found {
			t.Errorf("%v is in no example, page or custom build, and reasons.txt has no reason for it", n)
		}
	}
	for _, r := range rules {
		if !r.needed {
			t.Errorf("reasons.txt: no unused name matches %s", r.pattern)
		}
	}
}

// matches reports whether a pattern is about n: "pkg.Name" with * for any text, or
// "pkg(Type)" for the constants of a type.
func matches(pattern string, n name) bool {
	for _, text := range []string{n.String(), fmt.Sprintf("%s(%s)", n.pkg, n.typ)} {
		// * stands for a part of a name, and not for a package.
		if ok, err := path.Match(pattern, text); err == nil && ok {
			return true
		}
	}
	return false
}

// usedWords returns the words of all examples, pages and custom builds.
func usedWords(t *testing.T) map[string]bool {
	t.Helper()
	used := map[string]bool{}
	word := regexp.MustCompile(`[A-Za-z_][A-Za-z_0-9]*`)
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		base, slash := d.Name(), filepath.ToSlash(p)
		example := strings.HasPrefix(base, "example") && strings.HasSuffix(base, "_test.go") || strings.HasSuffix(base, "_example_test.go")
		page := strings.HasSuffix(base, ".md") && (strings.HasPrefix(slash, root+"/docs/guide") || strings.HasPrefix(slash, root+"/docs/how-to"))
		custom := strings.HasSuffix(base, ".go") && strings.HasPrefix(slash, root+"/deploy/custom")
		if !example && !page && !custom {
			return nil
		}
		text, err := os.ReadFile(p)
		for _, w := range word.FindAll(text, -1) {
			used[string(w)] = true
		}
		return err
	})
	if err != nil || len(used) < 500 {
		t.Fatalf("%d words, %v", len(used), err)
	}
	return used
}
