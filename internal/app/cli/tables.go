package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/urlfold/urlfold/internal/storage/avro"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/parquet"
	"github.com/urlfold/urlfold/internal/storage/table"
)

// tables opens the inputs that are Parquet and Avro files, and remembers which
// they are.
// It is safe for concurrent use.
type tables struct {
	columns []string // of the URLs; empty: the column called url or similar
	format  string   // --format
	limits  parquet.Limits

	mu     sync.Mutex
	byPath map[string]tableFile
	order  []string // the keys of byPath, in the order in which they were opened
}

// A tableFile is an input with an intact schema.
type tableFile struct {
	format string // of package table
	err    error  // nil, or why the columns cannot be chosen
}

// newTables returns tables for the columns that --url-field names.
func newTables(urlField, format string) *tables {
	t := &tables{format: format, byPath: map[string]tableFile{}}
	t.limits.Expands = true
	if urlField != "" {
		t.columns = strings.Split(urlField, ",")
	}
	return t
}

// open opens the file at path as text.
func (t *tables) open(path string, f compress.Format) (compress.Table, error) {
	format := f.String()
	if t.format != "" && t.format != format {
		return nil, fmt.Errorf("this is a file of the format %s: remove --format", format)
	}
	in, err := openInput(path)
	if err != nil {
		return nil, err
	}
	var text compress.Table
	if f == compress.Avro {
		text, err = avro.OpenText(in, in.Size, t.columns)
	} else {
		text, err = parquet.OpenText(in, in.Size, t.columns, t.limits)
	}
	var columns *table.ColumnError
	if errors.As(err, &columns) || err == nil {
		t.note(path, tableFile{format, err})
	}
	if err != nil {
		_ = in.Close() // err is the error to report
		return nil, err
	}
	return openTable{text, in}, nil
}

// note remembers what the file at path is.
func (t *tables) note(path string, file tableFile) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, known := t.byPath[path]; !known {
		t.order = append(t.order, path)
	}
	t.byPath[path] = file
}

// first returns the path of the first of these files.
func (t *tables) first() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.order) == 0 {
		return ""
	}
	return t.order[0]
}

// find returns the file at path, and whether it is one of these files.
func (t *tables) find(path string) (file tableFile, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	file, ok = t.byPath[path]
	return file, ok
}

// count returns how many inputs of f are Parquet files, Avro files and others.
func (t *tables) count(f *formats) (tables, avros, others int) {
	for path := range f.byPath {
		switch file, _ := t.find(path); file.format {
		case table.Parquet:
			tables++
		case table.Avro:
			avros++
		default:
			others++
		}
	}
	return tables, avros, others
}

// An openTable is a Table that closes its file.
type openTable struct {
	compress.Table
	in table.Input
}

// Close implements [compress.Table].
func (t openTable) Close() {
	t.Table.Close()
	_ = t.in.Close() // it was only read
}

// openInput opens a file.
func openInput(path string) (table.Input, error) {
	f, err := os.Open(path)
	if err != nil {
		return table.Input{}, err
	}
	fi, err := f.Stat()
	if err != nil {
		return table.Input{}, errors.Join(err, f.Close())
	}
	return table.Input{ReaderAt: f, Closer: f, Size: fi.Size()}, nil
}
