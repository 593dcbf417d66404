package words

// This file is structured in the following way:
//
//   - The phrases.
//   - TestWords, which checks the files of the repository, and TestFind, which
//     shows that find detects phrases.
//   - find and the functions that extract text from Go files and others.

import (
	"flag"
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
	"strconv"
	"strings"
	"testing"
)

var places = flag.Bool("places", false, "log the place of each reported phrase")

// A phrase is matched as whole words, in any case, across line breaks.
type phrase struct {
	name string
	re   *regexp.Regexp
}

// space separates two words: blanks, or one line break.
const space = `(?:[ \t]+|[ \t]*[\r\n][ \t]*)`

// phrases compiles phrases. In a phrase, "…" stands for one to six words.
func phrases(names ...string) (list []phrase) {
	for _, name := range names {
		pattern := strings.Join(strings.Fields(name), space)
		pattern = strings.ReplaceAll(pattern, `…`, `\S+(?:`+space+`\S+){0,5}`)
		list = append(list, phrase{name, regexp.MustCompile(`(?i)\b` + pattern + `\b`)})
	}
	return list
}

var (
	// forbidden phrases fail the test.
	forbidden = phrases("is told", "are told", "tells that", "told from", "anew", "as it must be", "is none of",
		"of no … that there is", "but for", "so many of", "is of", "brings down", "puts aside", "it is tried again")

	// suspects are often a sign of a sentence to rewrite. They are only counted.
	suspects = phrases("behind", "goes on", "stands", "of which", "what is", "that there is", "comes to", "looked at", "made of", "so far")
)

// pending are trees that are not rewritten yet. Their forbidden phrases are only
// logged. A tree is removed from the list when it has none.
var pending = []string{
	"codec", "internal/client", "pipeline", "sinks", "sources",
}

// exempt are files whose words belong to somebody else: this test, and the
// history, which quotes messages of earlier versions.
var exempt = []string{"internal/testkit/words/words_test.go", "CHANGELOG.md"}

func TestWords(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	files := 0
	found := map[string]int{}  // forbidden phrases in pending trees
	counts := map[string]int{} // suspects
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel != "." && strings.HasPrefix(d.Name(), ".") && rel != ".ci" && rel != ".github" {
				return filepath.SkipDir
			}
			return nil
		}
		extract := extractor(rel)
		if extract == nil || slices.Contains(exempt, rel) {
			return nil
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		texts, err := extract(rel, src)
		if err != nil {
			return err
		}
		files++
		tree := pendingTree(rel)
		for _, h := range find(texts, forbidden) {
			if tree == "" {
				t.Errorf("%s:%d: forbidden phrase %q", rel, h.line, h.phrase)
				continue
			}
			found[tree]++
			t.Logf("%s:%d: forbidden phrase %q (pending)", rel, h.line, h.phrase)
		}
		for _, h := range find(texts, suspects) {
			counts[h.phrase]++
			if *places {
				t.Logf("%s:%d: %q", rel, h.line, h.phrase)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 500 {
		t.Errorf("checked only %d files", files)
	}
	for _, tree := range pending {
		t.Logf("pending: %s: %d forbidden phrases", tree, found[tree])
	}
	for _, p := range suspects {
		t.Logf("to look at: %-14q %5d", p.name, counts[p.name])
	}
}

// pendingTree returns the pending tree that contains a file, or an empty string.
func pendingTree(file string) string {
	for _, tree := range pending {
		if file == tree || strings.HasPrefix(file, tree+"/") {
			return tree
		}
	}
	return ""
}

// TestFind checks phrases in each kind of text.
func TestFind(t *testing.T) {
	f := func(name, src string, want ...string) {
		t.Helper()
		texts, err := extractor(name)(name, []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range find(texts, slices.Concat(forbidden, suspects)) {
			got = append(got, fmt.Sprintf("%d %s", h.line, h.phrase))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q\n%s", name, got, want, src)
		}
	}
	f("a.md", "It begins anew.\nThe pattern is of no host that there is.\n",
		"1 anew", "2 is of", "2 of no … that there is", "2 that there is")
	f("a.md", "A sink is\n  told. Anewer, renew and butfor are other words.\n", "1 is told")
	f("a.md", "All of them but\nfor one.\n\nIs Of\n\nis\n\nof\n", "1 but for", "4 is of")
	f("a.go", "package a\n\n// The sink is\n// told.\nvar x = 1 // anew\n", "3 is told", "5 anew")
	f("a.go", "package a\n\n/* brings\n   down */\n", "3 brings down")
	f("a.go", "package a\n\n// It is.\n\n// Of this.\n")
	f("a.go", "package a\n\nvar x = \"it is \" +\n\t\"tried again\"\n", "3 it is tried again")
	f("a.go", "package a\n\nvar x = \"is \" + y + \" of\"\n")
	f("a.go", "package a\n\nvar x = `1\nputs aside`\n", "4 puts aside")
	f("a.go", "package a\n\nvar x = \"1\\n\\nputs\\naside\"\n", "3 puts aside")
	f("a.go", "package a\n\nimport \"is of\"\n\ntype T struct {\n\tA int `is of`\n}\n")
	f("a.go", "// Code generated by x. DO NOT EDIT.\n\npackage a\n\n// anew\n")
	f("deploy/a.yaml", "# what\n#   is\na: >\n  goes\n  on\n", "1 what is", "4 goes on")
	f("a.sh", "echo 1 # so\n# far\necho so; echo far\n", "1 so far")
	f("Makefile", "all: ## looked  at\n", "1 looked at")
	for _, name := range []string{"a.yaml", "a.txt", "x/testdata/a.go", "testdata/a.txtar"} {
		if extractor(name) != nil {
			t.Errorf("%s is checked", name)
		}
	}
}

// A text is a piece of text, in which phrases are searched separately.
type text struct {
	body string
	line int // of the beginning of body
}

// A hit is an occurrence of a phrase.
type hit struct {
	line   int
	phrase string
}

// find returns the occurrences of phrases in texts.
func find(texts []text, phrases []phrase) (hits []hit) {
	for _, t := range texts {
		for _, p := range phrases {
			for _, at := range p.re.FindAllStringIndex(t.body, -1) {
				hits = append(hits, hit{t.line + strings.Count(t.body[:at[0]], "\n"), p.name})
			}
		}
	}
	return hits
}

// extractor returns the function that extracts the texts of a file, or nil if the
// file is not checked.
func extractor(file string) func(file string, src []byte) ([]text, error) {
	inTestdata := slices.Contains(strings.Split(file, "/"), "testdata")
	switch ext := path.Ext(file); {
	case ext == ".md":
		return whole
	case ext == ".sh", path.Base(file) == "Makefile", strings.HasPrefix(file, ".ci/"):
		return commented
	case inTestdata:
		return nil
	case ext == ".go":
		return goTexts
	case ext == ".yaml", ext == ".yml", ext == ".json":
		if strings.HasPrefix(file, "deploy/") || strings.HasPrefix(file, ".github/") || file == ".golangci.yml" {
			return commented
		}
	}
	return nil
}

// whole returns the file as one text.
func whole(_ string, src []byte) ([]text, error) { return []text{{string(src), 1}}, nil }

var commentMark = regexp.MustCompile(`(?m)^[ \t]*#+`)

// commented returns the file as one text, without the marks of comments, so that
// a phrase may continue on the next line of a comment.
func commented(_ string, src []byte) ([]text, error) {
	return []text{{commentMark.ReplaceAllString(string(src), ""), 1}}, nil
}

// goTexts returns the comments and the string literals of a Go file, and nothing
// for a generated file.
func goTexts(file string, src []byte) ([]text, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(f) {
		return nil, err
	}
	var texts []text
	line := func(n ast.Node) int { return fset.Position(n.Pos()).Line }
	for _, g := range f.Comments {
		var lines []string
		for _, c := range g.List {
			body := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(c.Text, "//"), "/*"), "*/")
			lines = append(lines, body)
		}
		texts = append(texts, text{strings.Join(lines, "\n"), line(g)})
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			n.Tag = nil // not words
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				texts = append(texts, text{literal(n), line(n)})
			}
		case *ast.BinaryExpr:
			if n.Op == token.ADD {
				var joined strings.Builder
				if join(&joined, n) {
					texts = append(texts, text{joined.String(), line(n)})
					return false
				}
			}
		}
		return true
	})
	return texts, nil
}

// join appends the value of a concatenation of string literals to b. It returns
// false if the expression has other operands.
func join(b *strings.Builder, e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return e.Op == token.ADD && join(b, e.X) && join(b, e.Y)
	case *ast.BasicLit:
		b.WriteString(literal(e))
		return e.Kind == token.STRING
	}
	return false
}

// literal returns the value of a string literal. Its line feeds are those of the
// source: an escaped one becomes a carriage return.
func literal(l *ast.BasicLit) string {
	value, err := strconv.Unquote(l.Value)
	if err != nil || strings.HasPrefix(l.Value, "`") {
		return strings.Trim(l.Value, "`")
	}
	return strings.ReplaceAll(value, "\n", "\r")
}
