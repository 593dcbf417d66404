package parquet

import (
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/urlfold/urlfold/internal/record"
)

// Limits of a row group. The compressed pages of a row group stay in memory
// until the group is complete, and readers divide their work by row groups:
// 122,880 rows is the size that DuckDB itself writes.
const (
	groupRows  = 122880
	groupBytes = 64 << 20 // size of the rows of a row group before compression
)

// chunkRows is the number of rows that are decoded before their values are
// appended to the columns.
const chunkRows = 512

// dictionaryBytes is the size from which a column of a row group is written
// without a dictionary.
const dictionaryBytes = 1 << 20

// A Writer writes the rows of record.RenderParquet to a Parquet file, in row
// groups of bounded size:
//
//	rows ──▶ values, one slice per leaf ──▶ pages, compressed ──▶ row group ──▶ file
//
// Columns are encoded concurrently. A Writer itself is not safe for concurrent
// use.
type Writer struct {
	out     *parquet.GenericWriter[any]
	columns []record.Column
	values  [][]parquet.Value // values of each leaf, for the rows of one chunk
	rows    int               // number of rows in the row group
	bytes   int               // size of these rows before compression
	workers int
}

// NewWriter returns a Writer to w for rows of columns. compression is "zstd",
// "gzip", "none", or "" for zstd.
func NewWriter(w io.Writer, columns []record.Column, compression string) (*Writer, error) {
	codec, err := codecOf(compression)
	if err != nil {
		return nil, err
	}
	out := parquet.NewGenericWriter[any](w, parquet.NewSchema("urls", groupOf(columns, func(c *record.Column) parquet.Node {
		return parquet.Optional(nodeOf(c))
	})), parquet.Compression(codec), parquet.CreatedBy("urlfold", "", ""),
		parquet.DataPageVersion(1), parquet.DataPageStatistics(false), parquet.DictionaryMaxBytes(dictionaryBytes), parquet.MaxRowsPerRowGroup(math.MaxInt64))
	return &Writer{
		out: out, columns: columns, values: make([][]parquet.Value, len(out.ColumnWriters())),
		workers: min(runtime.GOMAXPROCS(0), maxWorkers),
	}, nil
}

// maxWorkers is the maximum number of goroutines that encode columns. More do
// not help, because the longest column takes a fifth of the time.
const maxWorkers = 4

// errRow reports rows that record.RenderParquet did not write.
var errRow = errors.New("parquet: malformed row")

// Append appends rows, which it does not retain. After an error the file cannot
// be completed.
func (w *Writer) Append(rows []byte) error {
	for len(rows) > 0 {
		rest, n, err := w.decode(rows)
		if err != nil {
			return err
		}
		if err := w.flushValues(); err != nil {
			return err
		}
		w.rows += n
		w.bytes += len(rows) - len(rest)
		rows = rest
		if w.rows >= groupRows || w.bytes >= groupBytes {
			w.rows, w.bytes = 0, 0
			if err := w.out.Flush(); err != nil {
				return fmt.Errorf("parquet: write row group: %w", err)
			}
		}
	}
	return nil
}

// Close writes the last row group and the index of the file. It does not close
// the underlying writer.
func (w *Writer) Close() error {
	if err := w.out.Close(); err != nil {
		return fmt.Errorf("parquet: write the last row group and the footer: %w", err)
	}
	return nil
}

// decode adds the first rows to values, and returns the others and how many it
// has added.
func (w *Writer) decode(rows []byte) (rest []byte, n int, err error) {
	for i := range w.values {
		w.values[i] = w.values[i][:0]
	}
	limit := min(chunkRows, groupRows-w.rows)
	for n < limit && len(rows) > 0 {
		r := record.ColumnReader{In: rows}
		leaf := 0
		for i := range w.columns {
			leaf = w.value(&r, &w.columns[i], leaf)
		}
		if r.Bad || len(r.In) == 0 || r.In[0] != '\n' {
			return nil, 0, errRow
		}
		rows = r.In[1:]
		n++
	}
	return rows, n, nil
}

// value adds the value of a column, whose first leaf is given, and returns the
// next leaf.
func (w *Writer) value(r *record.ColumnReader, c *record.Column, leaf int) int {
	n, ok := r.Number()
	switch {
	case c.Kind == record.ColumnDiagnostics:
		w.diagnostics(r, c, leaf, n, ok)
		return leaf + len(c.Members)
	case c.Kind == record.ColumnStrings:
		w.strings(r, leaf, n, ok)
	case !ok:
		w.add(leaf, parquet.Value{}, 0, 0)
	case c.Kind == record.ColumnInt:
		w.add(leaf, parquet.Int64Value(int64(n)), 0, 1)
	case c.Kind == record.ColumnDecimal:
		x, err := strconv.ParseFloat(string(r.Bytes(n)), 64)
		w.add(leaf, parquet.DoubleValue(x), 0, b2i(err == nil))
	case c.Kind == record.ColumnTime:
		t, err := time.Parse(time.RFC3339, string(r.Bytes(n)))
		w.add(leaf, parquet.Int64Value(t.UnixMicro()), 0, b2i(err == nil)) // null if the type cannot hold the time, such as a leap second
	default:
		w.add(leaf, parquet.ByteArrayValue(r.Bytes(n)), 0, 1)
	}
	return leaf + 1
}

// add adds a value with its repetition and definition levels to a leaf. If
// definition is below the highest level of the leaf, the value is null whatever
// v is.
func (w *Writer) add(leaf int, v parquet.Value, repetition, definition int) {
	v.SetRepetitionLevel(repetition) // not v.Level, which copies v
	v.SetDefinitionLevel(definition)
	w.values[leaf] = append(w.values[leaf], v)
}

// strings adds a list of n strings, or an absent list. The levels of a list
// correspond to optional group (LIST) { repeated group list { required element
// } }.
func (w *Writer) strings(r *record.ColumnReader, leaf, n int, ok bool) {
	if !ok || n == 0 {
		w.add(leaf, parquet.Value{}, 0, b2i(ok))
	}
	for i := 0; i < n && !r.Bad; i++ {
		w.add(leaf, parquet.ByteArrayValue(r.Text()), min(i, 1), 2)
	}
}

// diagnostics adds a list of n structs, or an absent list.
func (w *Writer) diagnostics(r *record.ColumnReader, c *record.Column, leaf, n int, ok bool) {
	if !ok || n == 0 {
		for i := range c.Members {
			w.add(leaf+i, parquet.Value{}, 0, b2i(ok))
		}
	}
	for k := 0; k < n && !r.Bad; k++ {
		for i := range c.Members {
			n, ok := r.Number()
			var v parquet.Value
			if c.Members[i].Kind == record.ColumnInt {
				v = parquet.Int64Value(int64(n))
			} else if ok {
				v = parquet.ByteArrayValue(r.Bytes(n))
			}
			w.add(leaf+i, v, min(k, 1), 2+b2i(ok && c.Members[i].Name == paramMember))
		}
	}
}

// flushValues appends the values to the columns, in as many goroutines as workers.
func (w *Writer) flushValues() error {
	leaves := w.out.ColumnWriters()
	var next atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, w.workers)
	for k := range errs {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(leaves) && errs[k] == nil; i = int(next.Add(1)) - 1 {
				_, errs[k] = leaves[i].WriteRowValues(w.values[i])
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("parquet: encode column: %w", err)
	}
	return nil
}
