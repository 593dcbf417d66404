package manual

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urlfold/urlfold/docs"
	"github.com/urlfold/urlfold/internal/ground/terminal"
)

// TestTopics checks that each page has one topic, that is, that the index lists
// it, and that topics have different names.
func TestTopics(t *testing.T) {
	pages, names := map[string]bool{}, map[string]bool{}
	for _, topic := range Topics() {
		if pages[topic.Path] || names[topic.Name] {
			t.Errorf("two topics for %s or named %s", topic.Path, topic.Name)
		}
		pages[topic.Path], names[topic.Name] = true, true
		if n := utf8.RuneCountInString(topic.About); n == 0 || n > 90 || strings.HasSuffix(topic.About, ".") {
			t.Errorf("%s: want one line without a full stop, of 90 columns at most, in docs/README.md, got %q", topic.Path, topic.About)
		}
		if !strings.HasPrefix(page(topic.Path), "# ") {
			t.Errorf("docs/%s does not exist or has no title", topic.Path)
		}
	}
	for _, name := range []string{"first-log", "first-daemon", "formats", "keys", "why-keys", "profiles", "flags", "guarantees", "exit-codes", "operations"} {
		if !names[name] {
			t.Errorf("no topic %s", name)
		}
	}
	err := fs.WalkDir(docs.Pages, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path != index && !pages[path] {
			t.Errorf("docs/%s is not in the tables of docs/README.md, so it has no topic", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

var (
	maskedFence = regexp.MustCompile("(?ms)^```[^\n]*\n.*?^```$")
	maskedLines = regexp.MustCompile("(?m)^    .*$")
	maskedCode  = regexp.MustCompile("`[^`\n]+`")
	leftover    = regexp.MustCompile("`|\\]\\(|\\*\\*|!\\[|<http|\\|---|<!--|&[a-z]+;|(?m:^ *(#+ |\\||> ))|\\\\[^ ]|(?:^|\\s)\\*\\w")
)

// TestLeftovers checks that no page has Markdown that package manual does not
// know, and that lines are wrapped. Code may contain anything and have any
// length, so it is replaced first.
func TestLeftovers(t *testing.T) {
	for _, topic := range Topics() {
		text := maskedFence.ReplaceAllString(page(topic.Path), "```text\ncode\n```")
		text = maskedLines.ReplaceAllString(text, "    code")
		text = strings.NewReplacer(`\*`, "x", "&amp;amp;", "x").Replace(text)
		text = maskedCode.ReplaceAllString(text, "`code`")
		blocks := parse(text, linker{page: topic.Path}.resolve)
		for _, width := range []int{40, 80, 120} {
			for line := range strings.Lines(render(blocks, terminal.Style{Width: width})) {
				line = strings.TrimSuffix(line, "\n")
				if m := leftover.FindString(line); m != "" {
					t.Errorf("docs/%s: %q in %q", topic.Path, m, line)
				}
				long := utf8.RuneCountInString(line) > min(width, maxWidth)
				if words := strings.Fields(line); long && len(words) > 2 && width > 40 {
					t.Errorf("docs/%s: the line is longer than %d columns: %q", topic.Path, width, line)
				}
			}
		}
	}
}

// TestLeftoversCanFail checks that leftover matches Markdown.
func TestLeftoversCanFail(t *testing.T) {
	for _, text := range []string{"a `b", "[a](b)", "**a**", "# a", "| a |", "|---|", "> a", `a\_b`, "&lt;", "<https://h/>", "<!-- a -->", "*a*"} {
		if !leftover.MatchString(text) {
			t.Errorf("%q passes", text)
		}
	}
	for _, text := range []string{"a | b", "2 * 3", "C:\\ d", "a#b", "- a", "1. a", "'%2F'"} {
		if leftover.MatchString(text) {
			t.Errorf("%q fails", text)
		}
	}
}

// TestResolve checks what is shown for the target of a link.
func TestResolve(t *testing.T) {
	l := linker{page: "guide/first-log.md"}
	for target, want := range map[string]string{
		"#section":                          "",
		"first-log.md#section":              "",
		"../reference/formats.md":           "urlfold help formats",
		"../reference/keys.md#notation":     "urlfold help keys",
		"../explanation/keys.md":            "urlfold help why-keys",
		"../operations.md#alerts":           "urlfold help operations",
		"../README.md":                      "docs/README.md",
		"../../deploy/systemd/urlfold.unit": "deploy/systemd/urlfold.unit",
		"https://example.com/a#b":           "https://example.com/a#b",
	} {
		if got := l.resolve(target); got != want {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
	}
}
