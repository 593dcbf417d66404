package cli

import (
	"bytes"
	"encoding/csv"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A textField is a field of the first record of a file.
type textField struct {
	path  string // as in --url-field
	name  string
	value string
}

// jsonFields returns the strings of the first JSON record.
func jsonFields(head []byte) (fields []textField) {
	for _, m := range jsonMembers(head) {
		fields = append(fields, textField(m))
	}
	return fields
}

// journalFields returns the fields of the first journal entry that are text and
// that the program has set. The names of all others begin with '_'.
func journalFields(head []byte) (fields []textField) {
	for line := range bytes.Lines(bytes.TrimLeft(head, "\r\n")) {
		name, value, text := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte("="))
		if !text {
			break // the end of the entry, or a value that is not text
		}
		if !bytes.HasPrefix(name, []byte("_")) {
			fields = append(fields, textField{string(name), string(name), string(value)})
		}
	}
	return fields
}

// columns returns the cells of the first row of a table. They have the names in
// the header, if there is one, and numbers otherwise.
func columns(head []byte, separator rune) (fields []textField) {
	c := csv.NewReader(bytes.NewReader(head))
	c.Comma, c.LazyQuotes, c.FieldsPerRecord = separator, true, -1
	header, err := c.Read()
	if err != nil {
		return nil
	}
	row, err := c.Read()
	if err != nil {
		row = header
	}
	named := !slices.ContainsFunc(header, func(cell string) bool { return cell == "" || urlRank("", cell) > 0 })
	for i, cell := range row {
		name := strconv.Itoa(i + 1)
		if named && i < len(header) {
			name = header[i]
		}
		fields = append(fields, textField{name, name, cell})
	}
	return fields
}

// urlField returns the path of the field that most likely holds the URL, or "".
func urlField(fields []textField) string {
	best, bestRank := "", 0
	for _, f := range fields {
		if rank := urlRank(f.name, f.value); rank > bestRank {
			best, bestRank = f.path, rank
		}
	}
	return best
}

// urlRank says how likely a field with this name and value holds the URL of its
// record: not at all if it is 0.
func urlRank(name, value string) int {
	rank := 0
	switch {
	case absoluteURL.MatchString(value):
		rank = 2
	case strings.HasPrefix(value, "/") && !strings.Contains(value, " "):
		rank = 1
	default:
		return 0
	}
	name = strings.ToLower(name)
	switch {
	case strings.Contains(name, "refer"):
		return rank
	case slices.ContainsFunc([]string{"url", "uri", "request", "target", "path", "link", "href"}, func(s string) bool { return strings.Contains(name, s) }):
		rank += 4
	}
	return rank + 2
}

var absoluteURL = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://[^ ]+$`)

var (
	hostName  = regexp.MustCompile(`(?i)^[a-z0-9_-]+(\.[a-z0-9_-]+)+(:\d+)?$`)
	hostWords = regexp.MustCompile(`(?i)(^|[^a-z])(v?host|hostname|domain|authority)($|[^a-z])`)
	otherHost = regexp.MustCompile(`(?i)remote|client|forward|upstream|backend|refer`) // not that of the URL
	queryWord = regexp.MustCompile(`(?i)(^|[^a-z])query`)
)

// urlParts returns the value of --url for records that hold a URL in several
// fields: a path, which is in the field path, a host, and perhaps a query. It
// returns "" if they hold it in one.
func urlParts(fields []textField, path string) string {
	if path == "" || strings.ContainsAny(path, ",=") {
		return ""
	}
	host, query := "", ""
	for _, f := range fields {
		switch {
		case f.path == path:
			if !strings.HasPrefix(f.value, "/") || strings.HasPrefix(f.value, "//") {
				return "" // a URL
			}
		case strings.ContainsAny(f.path, ",=") || otherHost.MatchString(f.path):
		case host == "" && hostWords.MatchString(f.name) && hostName.MatchString(f.value):
			host = f.path
		case query == "" && queryWord.MatchString(f.name) && (f.value == "" || f.value == "-" || strings.HasPrefix(f.value, "?") || strings.Contains(f.value, "=")):
			query = f.path
		}
	}
	if host == "" {
		return ""
	}
	parts := "host=" + host + ",path=" + path
	if query != "" {
		parts += ",query=" + query
	}
	return parts
}
