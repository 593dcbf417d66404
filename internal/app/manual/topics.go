package manual

import (
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/urlfold/urlfold/docs"
)

// A Topic is a page of the documents.
type Topic struct {
	Name  string // the base name of the page, or an entry of renamed
	Path  string // path of the page, below the folder docs
	About string // one line, without a full stop
}

// index is the page that lists all other pages in tables. The second cell of a
// row becomes Topic.About.
const index = "README.md"

// renamed holds the topics that are not named after their page, because two
// pages have the same base name.
var renamed = map[string]string{"explanation/keys.md": "why-keys"}

// lazily returns a function that compiles an expression when it is called for
// the first time, because most runs of the program show no page.
func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

var indexRow = lazily(`^\| \[([^]]+)\]\(([^)]+\.md)\) \| (.+) \|$`)

// Topics returns all topics in the order of the index: guides, recipes,
// reference, explanations.
func Topics() []Topic {
	var all []Topic
	for line := range strings.Lines(page(index)) {
		if m := indexRow().FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			all = append(all, Topic{Name: topicName(m[2]), Path: m[2], About: plain(parseSpans(m[3]))})
		}
	}
	return all
}

// topicName returns the name of the topic of a page.
func topicName(page string) string {
	if name, ok := renamed[page]; ok {
		return name
	}
	return strings.TrimSuffix(path.Base(page), ".md")
}

// page returns the text of a page, or "" if it does not exist.
func page(name string) string {
	text, err := docs.Pages.ReadFile(name)
	if err != nil {
		return "" // a test checks that every topic has a page
	}
	return string(text)
}

// blocks returns the contents of the topic's page. The targets of its links are
// resolved.
func (t Topic) blocks() []block {
	l := linker{page: t.Path}
	return parse(page(t.Path), l.resolve)
}

// A linker translates the targets of the links in a page.
type linker struct{ page string }

// resolve returns what to show after the text of a link: the command that shows
// the target if it is another topic, or its path below the root of the
// repository, or its address. It returns "" for a link within the page.
func (l linker) resolve(target string) string {
	if strings.Contains(target, "://") {
		return target
	}
	file, _, _ := strings.Cut(target, "#")
	if file == "" {
		return ""
	}
	file = path.Join("docs", path.Dir(l.page), file)
	name, inDocs := strings.CutPrefix(file, "docs/")
	switch {
	case name == l.page:
		return ""
	case inDocs && name != index && page(name) != "":
		return "urlfold help " + topicName(name)
	}
	return file
}
