package table

import (
	"bytes"
	"strings"
	"unicode"
)

// MaxHeader is the length in bytes of the longest header of a table without
// rows.
const MaxHeader = 64 << 10

// OnlyHeader returns the names of the columns of a table without rows, or nil if text
// is anything else.
func (t Format) OnlyHeader(text []byte) []string {
	r := t.Unlined().(*Reader)
	n := r.Next(text)
	if len(bytes.TrimSpace(text[n:])) > 0 {
		return nil
	}
	names := r.columnNames(text[:n])
	if !isHeader(names) {
		return nil
	}
	return names
}

// isHeader reports whether the cells of a record look like the names of columns.
// Names may contain dots, as in request.url, but if every cell contains a dot, the
// cells may be hosts.
func isHeader(cells []string) bool {
	dotted, seen := true, make(map[string]bool, len(cells))
	for _, c := range cells {
		if seen[c] || !isColumnName(c) {
			return false
		}
		seen[c] = true
		dotted = dotted && strings.Contains(c, ".")
	}
	return !dotted
}

// maxNameLen and maxNameWords bound what looks like the name of a column.
const (
	maxNameLen   = 64
	maxNameWords = 4
)

// isColumnName reports whether a cell looks like the name of a column: a few words
// that begin with a letter.
func isColumnName(cell string) bool {
	if cell == "" || len(cell) > maxNameLen || len(strings.Fields(cell)) > maxNameWords || strings.TrimSpace(cell) != cell {
		return false
	}
	for i, c := range cell {
		if !unicode.IsLetter(c) && c != '_' && (i == 0 || !unicode.IsDigit(c) && !strings.ContainsRune("-. ()", c)) {
			return false
		}
	}
	return true
}
