package parquet

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/urlfold/urlfold/internal/storage/table"
)

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
	if err := setCodecs(f); err != nil {
		return nil, err
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

// chooseColumns returns the leaf columns that table.Choose selects for names.
func chooseColumns(f *parquet.File, names []string) ([]int, error) {
	texts := textColumns(f)
	chosen, err := table.Choose(namesOf(texts), names)
	if err != nil {
		return nil, err
	}
	var list []int
	for _, at := range chosen {
		list = append(list, texts[at].leaf)
	}
	return list, nil
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
