// Package tsv reads tab-separated tables of tests.
package tsv

import (
	"os"
	"strings"
	"testing"
)

// Read returns the rows of the file at path as maps keyed by the names in the
// first row. Lines that start with "# " are comments. Read stops the test if
// the file cannot be read, or if a row and the first row have different numbers
// of fields.
func Read(t *testing.T, path string) (rows []map[string]string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		fields := strings.Split(line, "\t")
		switch {
		case strings.HasPrefix(line, "# "):
		case names == nil:
			names = fields
		case len(fields) != len(names):
			t.Fatalf("%s: %d fields in %q, want %d", path, len(fields), line, len(names))
		default:
			row := map[string]string{}
			for i, f := range fields {
				row[names[i]] = f
			}
			rows = append(rows, row)
		}
	}
	return rows
}
