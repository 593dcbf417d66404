package words

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// limits are the most occurrences of a phrase per 10,000 words that the
// comments, and the pages, may have: three times the rate in the comments of
// Go's standard library, but at least 0.6, or 0 for phrases that a sentence
// never needs. If the test fails, rewrite sentences; a limit may only fall.
var limits = []struct {
	phrase string
	most   float64
}{
	{"that of", 0.69}, {"those of", 0.6}, {"those that", 0.6}, {"its end", 0.6}, {"before it", 1.05}, {"after it", 0.96},
	{"such a", 1.8}, {"of its own", 0.6}, {"begins with", 0.75}, {"keeps the", 0.6}, {"comes again", 0.6}, {"stands", 0.6},
	{"goes on", 0.6}, {"has no", 4.5}, {"has none", 0.6}, {"is left", 0.6}, {"at once", 0.6}, {"one of them", 0.6}, {"each of them", 0.6},
	{"is that of", 0}, {"are those of", 0}, {"there is none", 0}, {"put aside", 0}, {"the own", 0},
}

// TestRates checks the limits, in the files that git tracks. Tests, test data
// and generated files do not count.
func TestRates(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		t.Skip("no checkout of git")
	}
	list, err := exec.Command("git", "-C", root, "ls-files", "-z", "*.go", "*.md").Output()
	if err != nil {
		t.Fatal(err)
	}
	var comments, pages []source
	for name := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		if strings.Contains("/"+name, "/testdata/") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		src, err := os.ReadFile(filepath.Join(root, name))
		switch {
		case os.IsNotExist(err): // removed, but not yet from the index
		case err != nil:
			t.Fatal(err)
		case strings.HasSuffix(name, ".md"):
			pages = append(pages, source{name, paragraphs(string(src))})
		default:
			texts, err := commentsOf(name, src)
			if err != nil {
				t.Fatal(err)
			}
			comments = append(comments, source{name, texts})
		}
	}
	if n := countWords(comments); n < 100_000 {
		t.Errorf("only %d words of comments", n)
	}
	if n := countWords(pages); n < 30_000 {
		t.Errorf("only %d words of pages", n)
	}
	for _, l := range limits {
		for _, excess := range []string{exceeds(comments, l.phrase, l.most), exceeds(pages, l.phrase, l.most)} {
			if excess != "" {
				t.Error(excess)
			}
		}
	}
}

// TestExceeds shows that TestRates can fail.
func TestExceeds(t *testing.T) {
	texts, err := commentsOf("a.go", []byte("package a\n\nvar x = 1 // it has\n\n// The size is that\n// of x.\nvar y = \"that of\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	page := paragraphs("# that of\n\nA page has\nno code:\n\n    that of\n```\nthat of\n```\n| that of |\n")
	all := []source{{"a.go", texts}, {"a.md", page}}
	if n := countWords(all); n != 13 {
		t.Errorf("%d words", n)
	}
	const rate = 1e4 / 13
	for phrase, want := range map[string]string{"that of": "\na.go:5\n", "has no": "\na.md:3\n", "it is": ""} {
		got := exceeds(all, phrase, rate-1)
		if (got == "") != (want == "") || !strings.HasPrefix(got, want) || exceeds(all, phrase, rate) != "" {
			t.Errorf("%q: %q, want %q", phrase, got, want)
		}
	}
}

// A source is the words of a file.
type source struct {
	name  string
	texts []text
}

// exceeds returns the places of a phrase if there are more than most per
// 10,000 words, and otherwise "".
func exceeds(sources []source, phrase string, most float64) string {
	wanted := phrases(phrase)
	var places []string
	for _, s := range sources {
		for _, h := range find(s.texts, wanted) {
			places = append(places, fmt.Sprintf("\n%s:%d", s.name, h.line))
		}
	}
	rate := 1e4 * float64(len(places)) / float64(countWords(sources))
	if rate <= most {
		return ""
	}
	return fmt.Sprintf("%s\n%.2f of %q per 10,000 words, more than %.2f", strings.Join(places, ""), rate, phrase, most)
}

func countWords(sources []source) (n int) {
	for _, s := range sources {
		for _, t := range s.texts {
			n += len(strings.Fields(t.body))
		}
	}
	return n
}

// commentsOf returns the comments of a Go file, and nothing for a generated one.
func commentsOf(name string, src []byte) (texts []text, err error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(f) {
		return nil, err
	}
	for _, g := range f.Comments {
		texts = append(texts, text{g.Text(), fset.Position(g.Pos()).Line})
	}
	return texts, nil
}

// noProse matches the lines of a page that are headings, code or parts of tables.
var noProse = regexp.MustCompile("^( {4}|\\s*([#|]|```|~~~))")

// paragraphs returns the paragraphs and list items of a page.
func paragraphs(page string) (texts []text) {
	fenced, before := false, false
	for i, line := range strings.Split(page, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		prose := !fenced && strings.TrimSpace(line) != "" && !noProse.MatchString(line)
		switch {
		case prose && before:
			texts[len(texts)-1].body += "\n" + line
		case prose:
			texts = append(texts, text{line, i + 1})
		}
		before = prose
	}
	return texts
}
