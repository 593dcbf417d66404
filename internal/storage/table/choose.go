package table

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/internal/ground/suggest"
)

// MaxColumns is the maximum number of columns with URLs.
const MaxColumns = 3

// usualNames are the names of columns that hold URLs, in lower case.
var usualNames = []string{"url", "uri", "href", "link", "request_url", "request_uri", "page_url", "target_uri"}

// A ColumnError says why the columns with the URLs cannot be chosen.
type ColumnError struct{ text string }

func (e *ColumnError) Error() string { return e.text }

// Choose returns the indexes of the columns listed in names. columns holds the
// paths of all text columns, such as request.url. If names is empty, Choose
// returns the index of the only column with a usual name. The error is a
// *ColumnError.
func Choose(columns, names []string) ([]int, error) {
	if len(names) == 0 {
		return usualColumn(columns)
	}
	if len(names) > MaxColumns {
		return nil, &ColumnError{fmt.Sprintf("at most %d columns can be read", MaxColumns)}
	}
	var list []int
	for _, name := range names {
		at := slices.Index(columns, name)
		if at < 0 {
			return nil, missingColumn(name, columns)
		}
		if slices.Contains(list, at) {
			return nil, &ColumnError{fmt.Sprintf("duplicate column %q", name)}
		}
		list = append(list, at)
	}
	return list, nil
}

// missingColumn returns the error for a name that is not in columns.
func missingColumn(name string, columns []string) error {
	text := fmt.Sprintf("no text column %q in the file", name)
	if near := suggest.Nearest(columns, name); near != "" {
		text += fmt.Sprintf(" (did you mean %q?)", near)
	}
	return &ColumnError{text}
}

// usualColumn returns the index of the only column with a usual name.
func usualColumn(columns []string) ([]int, error) {
	var list []int
	for i, name := range columns {
		last := name[strings.LastIndexByte(name, '.')+1:]
		if slices.Contains(usualNames, strings.ToLower(last)) {
			list = append(list, i)
		}
	}
	switch {
	case len(list) == 1:
		return list, nil
	case len(columns) == 0:
		return nil, &ColumnError{"the file has no text column"}
	}
	return nil, &ColumnError{"missing: name the column with the URL; the text columns are " + shortList(columns)}
}

// maxNames is the number of columns that an error lists.
const maxNames = 12

// shortList returns names for an error.
func shortList(names []string) string {
	if len(names) > maxNames {
		return strings.Join(names[:maxNames], ", ") + fmt.Sprintf(" and %d more", len(names)-maxNames)
	}
	return strings.Join(names, ", ")
}
