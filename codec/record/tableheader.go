package record

import (
	"bytes"
	"strings"
	"unicode"
)

// maxHeader is the length of the longest header of a table without rows.
const maxHeader = 64 << 10

// DetectHeader guesses the format of a table without rows. text is the whole
// stream: a header with the names of at least two columns. ok is false if text is
// anything else. Detect does not guess such a table, because other text can look
// like it: a single line of words with a separator between them.
func DetectHeader(text []byte) (format string, ok bool) {
	if len(text) > maxHeader {
		return "", false
	}
	most := 1
	for _, f := range builtin {
		t, isTable := f.(tableFormat)
		if !isTable {
			continue
		}
		names := t.onlyHeader(text)
		if len(names) > most {
			format, most = t.name, len(names)
		}
	}
	return format, most > 1
}

// onlyHeader returns the names of the columns of a table without rows, or nil if text
// is anything else.
func (t tableFormat) onlyHeader(text []byte) []string {
	r := t.unlined().(*tableReader)
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
// Names may contain dots, as in request.url, but cells that all contain them may be
// hosts.
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
