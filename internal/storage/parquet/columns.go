package parquet

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/urlfold/urlfold/internal/suggest"
)

// MaxColumns is the maximum number of columns with URLs.
const MaxColumns = 3

// usualNames are the names of columns that hold URLs, in lower case.
var usualNames = []string{"url", "uri", "href", "link", "request_url", "request_uri", "page_url", "target_uri"}

// A ColumnError says why the columns with the URLs cannot be chosen.
type ColumnError struct{ text string }

func (e *ColumnError) Error() string { return e.text }

// openFile opens a Parquet file. The library may panic on a damaged index.
func openFile(r io.ReaderAt, size int64) (f *parquet.File, err error) {
	defer catch(&err)
	if size < minSize {
		return nil, fmt.Errorf("the file has no index at its end: %w", io.ErrUnexpectedEOF)
	}
	var tail [4]byte
	if _, err := r.ReadAt(tail[:], size-4); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch string(tail[:]) {
	case "PAR1":
	case "PARE":
		return nil, errors.New("the file is encrypted, which is not supported")
	default:
		return nil, fmt.Errorf("the file has no index at its end: %w", io.ErrUnexpectedEOF)
	}
	f, err = parquet.OpenFile(r, size, parquet.SkipBloomFilters(true), parquet.SkipPageIndex(true), parquet.ReadBufferSize(readBuffer))
	if err != nil {
		return nil, fmt.Errorf("the index at the end of the file is damaged: %w", err)
	}
	return f, nil
}

// catch sets *err to the panic of the function that defers it. The library
// panics on some damaged files.
func catch(err *error) {
	if e := recover(); e != nil {
		*err = fmt.Errorf("cannot be decoded: %v", e)
	}
}

const (
	minSize    = 12        // two magic numbers and the length of the index
	readBuffer = 128 << 10 // of each column
)

// chooseColumns returns the leaf columns with the given names, which are paths
// such as request.url. Without names it returns the only column with a usual
// name.
func chooseColumns(f *parquet.File, names []string) ([]int, error) {
	texts := textColumns(f)
	if len(names) == 0 {
		return usualColumn(texts)
	}
	if len(names) > MaxColumns {
		return nil, &ColumnError{fmt.Sprintf("at most %d columns can be read", MaxColumns)}
	}
	var list []int
	for _, name := range names {
		at := slices.IndexFunc(texts, func(c textColumn) bool { return c.name == name })
		if at < 0 {
			return nil, missingColumn(name, texts)
		}
		if slices.Contains(list, texts[at].leaf) {
			return nil, &ColumnError{fmt.Sprintf("duplicate column %q", name)}
		}
		list = append(list, texts[at].leaf)
	}
	return list, nil
}

// missingColumn returns the error for a name that is not in texts.
func missingColumn(name string, texts []textColumn) error {
	text := fmt.Sprintf("no text column %q in the file", name)
	if near := suggest.Nearest(namesOf(texts), name); near != "" {
		text += fmt.Sprintf(" (did you mean %q?)", near)
	}
	return &ColumnError{text}
}

// usualColumn returns the only column of texts with a usual name.
func usualColumn(texts []textColumn) ([]int, error) {
	var list []int
	for _, c := range texts {
		last := c.name[strings.LastIndexByte(c.name, '.')+1:]
		if slices.Contains(usualNames, strings.ToLower(last)) {
			list = append(list, c.leaf)
		}
	}
	switch {
	case len(list) == 1:
		return list, nil
	case len(texts) == 0:
		return nil, &ColumnError{"the file has no text column"}
	}
	return nil, &ColumnError{fmt.Sprintf("missing: name the column with the URL; the text columns are %s", shortList(namesOf(texts)))}
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

// A textColumn is a leaf column of byte strings that is not repeated.
type textColumn struct {
	name string
	leaf int
}

// textColumns returns the columns that can hold URLs.
func textColumns(f *parquet.File) []textColumn {
	var list []textColumn
	for _, path := range f.Schema().Columns() {
		leaf, ok := f.Schema().Lookup(path...)
		if ok && leaf.MaxRepetitionLevel == 0 && leaf.Node.Type().Kind() == parquet.ByteArray {
			list = append(list, textColumn{strings.Join(path, "."), leaf.ColumnIndex})
		}
	}
	return list
}

func namesOf(texts []textColumn) []string {
	var names []string
	for _, c := range texts {
		names = append(names, c.name)
	}
	return names
}
