package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/record"
)

// TestDocsRows: the reference names each output field and each format.
func TestDocsRows(t *testing.T) {
	reference := filepath.Join("..", "..", "..", "docs", "reference")
	names := func(page, before, after string, names []string) {
		text, err := os.ReadFile(filepath.Join(reference, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if !strings.Contains(string(text), before+name+after) {
				t.Errorf("docs/reference/%s has no %s%s%s", page, before, name, after)
			}
		}
	}
	names("fields.md", "\n| `", "` |", record.FieldNames())
	names("formats.md", "`", "`", record.Formats())
}
