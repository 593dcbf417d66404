package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// messageCell matches the first cell of a row that begins with the text of a message.
var messageCell = regexp.MustCompile("^\\| (`[^|]*`) \\|")

// TestDocsTroubleshooting checks that the program has each message that the page on
// troubleshooting explains.
func TestDocsTroubleshooting(t *testing.T) {
	var source strings.Builder
	for _, dir := range []string{"codec", "config", "internal", "pipeline", "sinks", "sources"} {
		err := filepath.WalkDir(filepath.Join("..", "..", "..", dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			source.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	n, inMessages := 0, false
	for _, line := range readPage(t, "docs/troubleshooting.md") {
		if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| `") { // the head of a table
			inMessages = strings.HasPrefix(line, "| the message contains") || strings.HasPrefix(line, "| the log says")
		}
		m := messageCell.FindStringSubmatch(line)
		if m == nil || !inMessages {
			continue
		}
		for _, code := range codeInLine.FindAllStringSubmatch(m[1], -1) {
			n++
			if !strings.Contains(source.String(), code[1]) {
				t.Errorf("docs/troubleshooting.md explains %q, which no code prints", code[1])
			}
		}
	}
	if n < 20 {
		t.Errorf("%d messages", n)
	}
}
