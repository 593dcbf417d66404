package cli

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/app/manual"
)

var (
	mdLink  = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	mdCodes = regexp.MustCompile("`[^`]*`")
	docPath = regexp.MustCompile(`\bdocs/[A-Za-z0-9_./-]+\.(?:md|svg)(?:#[A-Za-z0-9_-]+)?`)
)

// anchors returns the anchors of a page, as GitHub makes them of its headings.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	inFence := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			inFence = !inFence
		}
		title := strings.TrimLeft(line, "#")
		if inFence || title == line || !strings.HasPrefix(title, " ") {
			continue
		}
		slug := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(title))
		found[slug] = true
	}
	return found
}

// A linkChecker checks links, and remembers the anchors of each page.
type linkChecker struct {
	t     *testing.T
	pages map[string]map[string]bool
}

// check checks a link: a path below the root of the repository, and an anchor.
func (c *linkChecker) check(where, target, anchor string) {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", filepath.FromSlash(target)))
	if err != nil {
		if info, statErr := os.Stat(filepath.Join("..", "..", "..", filepath.FromSlash(target))); statErr != nil || !info.IsDir() {
			c.t.Errorf("%s: there is no %s", where, target)
		}
		return
	}
	if anchor == "" {
		return
	}
	if c.pages[target] == nil {
		c.pages[target] = anchors(string(text))
	}
	if !c.pages[target][anchor] {
		c.t.Errorf("%s: %s has no heading for #%s", where, target, anchor)
	}
}

// markdown checks the links of a page.
func (c *linkChecker) markdown(page, text string) {
	inFence := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			inFence = !inFence
		}
		if inFence || strings.HasPrefix(line, "    ") {
			continue
		}
		for _, m := range mdLink.FindAllStringSubmatch(mdCodes.ReplaceAllString(line, ""), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			switch {
			case strings.Contains(target, "://"):
			case target == "":
				c.check(page, page, anchor)
			default:
				c.check(page, path.Join(path.Dir(page), target), anchor)
			}
		}
	}
}

// TestDocsLinks checks the relative links and anchors of all Markdown files, and
// each path of a page that code, messages, alerts, the dashboard and the schema name.
func TestDocsLinks(t *testing.T) {
	c := &linkChecker{t: t, pages: map[string]map[string]bool{}}
	root := filepath.Join("..", "..", "..")
	seen := 0
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, file)
		name = filepath.ToSlash(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == ".git" || d.Name() == "data" || strings.HasPrefix(name, "testdata/")):
			return fs.SkipDir
		case d.IsDir() || name == "CHANGELOG.md": // it speaks of pages as they were
			return nil
		}
		switch path.Ext(name) {
		case ".md", ".go", ".yaml", ".json", ".service", ".txtar", ".conf", ".sh", "":
		default:
			return nil
		}
		data, err := os.ReadFile(file)
		if err != nil || !utf8.Valid(data) {
			return err
		}
		text := string(data)
		if path.Ext(name) == ".md" {
			c.markdown(name, text)
		}
		if path.Ext(name) == ".md" && strings.Contains(name, "/") {
			return nil // its links are relative
		}
		for _, link := range docPath.FindAllString(text, -1) {
			seen++
			target, anchor, _ := strings.Cut(link, "#")
			c.check(name, target, anchor)
		}
		return nil
	})
	if err != nil || seen < 20 {
		t.Errorf("%d names of pages, %v", seen, err)
	}
	schema, err := config.Schema(testCatalog(t).Types())
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range docPath.FindAllString(string(schema), -1) {
		target, anchor, _ := strings.Cut(link, "#")
		c.check("the schema", target, anchor)
	}
}

// TestDocsTopics checks that each page has a topic, which makes "urlfold help"
// list it, and that no name of a topic hides a page. The parts of the design are
// for those who have the source, and the page design links them.
func TestDocsTopics(t *testing.T) {
	topics, names := map[string]string{}, map[string]bool{}
	for _, topic := range manual.Topics() {
		if names[topic.Name] {
			t.Errorf("two pages have the topic %s: rename one in package manual", topic.Name)
		}
		names[topic.Name] = true
		topics["docs/"+topic.Path] = topic.Name
	}
	for _, page := range docPages(t) {
		if strings.HasPrefix(page, "docs/") && !strings.HasPrefix(page, "docs/design/") && page != "docs/README.md" && topics[page] == "" {
			t.Errorf("%s has no topic: add it to a table in docs/README.md", page)
		}
	}
}

// docColumns is where the lines of a page end. Tables, headings, code and generated
// pages may be longer.
const docColumns = 100

// TestDocsWidth checks that the pages are wrapped.
func TestDocsWidth(t *testing.T) {
	for _, page := range docPages(t) {
		lines := readPage(t, page)
		if strings.Contains(strings.Join(lines, "\n"), "<!-- Made from") {
			continue
		}
		inFence := false
		for i, line := range lines {
			if strings.HasPrefix(line, "```") {
				inFence = !inFence
			}
			if inFence || strings.HasPrefix(line, "    ") || strings.HasPrefix(strings.TrimSpace(line), "|") || strings.HasPrefix(line, "#") {
				continue
			}
			// A link cannot be broken.
			if n := utf8.RuneCountInString(mdLink.ReplaceAllString(line, "]")); n > docColumns {
				t.Errorf("%s:%d: %d columns; wrap at %d", page, i+1, n, docColumns)
			}
		}
	}
}
