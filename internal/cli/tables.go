package cli

import (
	"errors"
	"os"
	"strings"
	"sync"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/parquet"
)

// tables opens the inputs that are Parquet files, and remembers which they are.
// It is safe for concurrent use.
type tables struct {
	columns []string // of the URLs; empty: the column called url or similar
	format  string   // --format

	mu     sync.Mutex
	byPath map[string]error // nil, or why the columns cannot be chosen
	order  []string         // the keys of byPath, in the order in which they were opened
}

// newTables returns tables for the columns that --url-field names.
func newTables(urlField, format string) *tables {
	t := &tables{format: format, byPath: map[string]error{}}
	if urlField != "" {
		t.columns = strings.Split(urlField, ",")
	}
	return t
}

// open opens the Parquet file at path as text.
func (t *tables) open(path string) (compress.Table, error) {
	if t.format != "" && t.format != parquet.FormatName {
		return nil, errors.New("this is a Parquet file: remove --format")
	}
	in, err := openInput(path)
	if err != nil {
		return nil, err
	}
	text, err := parquet.OpenText(in, in.Size, t.columns)
	var columns *parquet.ColumnError
	if errors.As(err, &columns) || err == nil {
		t.note(path, err)
	}
	if err != nil {
		_ = in.Close() // err is the error to report
		return nil, err
	}
	return table{text, in}, nil
}

// note remembers that the file at path is a Parquet file.
func (t *tables) note(path string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, known := t.byPath[path]; !known {
		t.order = append(t.order, path)
	}
	t.byPath[path] = err
}

// first returns the path of the first Parquet file.
func (t *tables) first() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.order) == 0 {
		return ""
	}
	return t.order[0]
}

// has reports whether the input at path is a Parquet file with an intact index,
// and why its columns cannot be chosen.
func (t *tables) has(path string) (is bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	err, is = t.byPath[path]
	return is, err
}

// found returns how many inputs of f are Parquet files and how many are others.
func (t *tables) found(f *formats) (tables, others int) {
	for path := range f.byPath {
		if is, _ := t.has(path); is {
			tables++
		} else {
			others++
		}
	}
	return tables, others
}

// A table is a parquet.Text that closes its file.
type table struct {
	*parquet.Text
	in parquet.Input
}

// Close implements [compress.Table].
func (t table) Close() {
	t.Text.Close()
	_ = t.in.Close() // it was only read
}

// openInput opens a Parquet file.
func openInput(path string) (parquet.Input, error) {
	f, err := os.Open(path)
	if err != nil {
		return parquet.Input{}, err
	}
	fi, err := f.Stat()
	if err != nil {
		return parquet.Input{}, errors.Join(err, f.Close())
	}
	return parquet.Input{ReaderAt: f, Closer: f, Size: fi.Size()}, nil
}
