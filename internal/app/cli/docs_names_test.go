package cli

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	codeInLine = regexp.MustCompile("`([^`\n]+)`")
	makeTarget = regexp.MustCompile(`(?m)^([a-z-]+):`)
	testName   = regexp.MustCompile(`-run '?\^?(\w+)`)
)

// pageCommands returns the commands of a page: the lines of its blocks, and code
// within a line that begins like a command.
func pageCommands(page string, lines []string) (commands []string) {
	for _, f := range fences(page, lines) {
		if f.lang == "sh" {
			commands = append(commands, f.lines...)
		}
	}
	for _, m := range codeInLine.FindAllStringSubmatch(strings.Join(lines, "\n"), -1) {
		first, _, _ := strings.Cut(m[1], " ")
		if slices.Contains([]string{"go", "make"}, first) || strings.HasPrefix(first, "./") || strings.HasPrefix(first, ".ci/") {
			commands = append(commands, m[1])
		}
	}
	return commands
}

// missing returns what a command of a page names and does not exist, or "".
// Scripts and packages are looked for at the root and in the folder of the page.
func missing(page, command string) string {
	root := filepath.Join("..", "..", "..")
	words := strings.Fields(command)
	for len(words) > 0 && strings.Contains(words[0], "=") { // variables
		words = words[1:]
	}
	find := func(name string) string {
		for _, dir := range []string{"", path.Dir(page)} {
			file := filepath.Join(root, filepath.FromSlash(dir), filepath.FromSlash(strings.TrimSuffix(name, "...")))
			if _, err := os.Stat(file); err == nil {
				return file
			}
		}
		return ""
	}
	switch {
	case len(words) == 0:
		return ""
	case words[0] == "make":
		text, err := os.ReadFile(filepath.Join(root, "Makefile"))
		targets := makeTarget.FindAllString(string(text), -1)
		if len(words) > 1 && (err != nil || !slices.Contains(targets, words[1]+":")) {
			return "target " + words[1]
		}
	case words[0] == "go":
		return missingOfGo(command, find)
	case strings.Contains(words[0], "/") && find(words[0]) == "":
		return words[0]
	}
	return ""
}

// missingOfGo returns the package, the file or the test that a go command names
// and that does not exist, or "".
func missingOfGo(command string, find func(string) string) string {
	var files []string
	for word := range strings.FieldsSeq(command) {
		if !strings.HasPrefix(word, "./") {
			continue
		}
		dir := find(word)
		if dir == "" {
			return word
		}
		for _, pattern := range []string{"*_test.go", "*/*_test.go"} {
			found, _ := filepath.Glob(filepath.Join(dir, pattern)) // the pattern is valid
			files = append(files, found...)
		}
	}
	m := testName.FindStringSubmatch(command)
	if m == nil {
		return ""
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), "\nfunc "+m[1]) {
			return ""
		}
	}
	return "test " + m[1]
}

// TestDocsNames checks that what the commands of the developers' pages name
// exists: scripts, packages, tests and targets of make.
func TestDocsNames(t *testing.T) {
	n := 0
	for _, page := range developerPages {
		for _, command := range pageCommands(page, readPage(t, page)) {
			n++
			if what := missing(page, command); what != "" {
				t.Errorf("%s: %q: there is no %s", page, command, what)
			}
		}
	}
	if n < 20 {
		t.Errorf("%d commands", n)
	}
	for command, want := range map[string]string{
		"make nothing": "target nothing", "make help": "", ".ci/nothing": ".ci/nothing", ".ci/run": "", "./run.sh": "",
		"go run ./cmd/nothing": "./cmd/nothing", "go test ./codec/... -run TestNothing": "test TestNothing",
		"X=1 go test ./codec -run '^TestWPT$'": "", "go generate ./...": "",
	} {
		if got := missing("bench/README.md", command); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}
