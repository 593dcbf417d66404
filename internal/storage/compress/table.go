package compress

import (
	"errors"
	"io"
	"io/fs"
)

// A Table reads a Parquet or Avro file as text. The caller of NewReader supplies
// it in Options.Table, because it needs the whole file and the fields to read.
type Table interface {
	// Read returns text. An error other than io.EOF describes damage. It wraps
	// io.ErrUnexpectedEOF if the file is truncated, a *LimitError if a limit
	// was exceeded, an *UnsupportedError if the file is intact but not
	// supported, and an *fs.PathError if the file cannot be read.
	io.Reader
	// Consumed returns the approximate number of bytes of the file that were
	// read.
	Consumed() int64
	Close()
}

// A tableDecoder reads a Table.
type tableDecoder struct {
	in    *input
	open  func() (Table, error)
	table Table // nil: not open yet
}

// Read implements decoder.
func (d *tableDecoder) Read(p []byte) (n int, err error) {
	if d.table == nil {
		if d.table, err = d.open(); err != nil {
			d.table = nil
			return 0, d.verdict(err)
		}
	}
	n, err = d.table.Read(p)
	d.in.raw.n.Store(d.table.Consumed() + int64(d.in.br.Buffered())) // so that offset returns Consumed
	if err != nil && err != io.EOF {
		err = d.verdict(err)
	}
	return n, err
}

// verdict returns the finding for an error of a Table.
func (d *tableDecoder) verdict(err error) error {
	v := Verdict{Kind: Corrupt, Offset: -1, Cut: true, Detail: err.Error()}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		v.Kind = Truncated
	case is[*LimitError](err):
		v.Kind = Limit
	case is[*UnsupportedError](err):
		v.Kind = UnsupportedFormat
	case is[*fs.PathError](err):
		v.Kind = Unreadable
	}
	return &finding{v}
}

// is reports whether err wraps an error of type T.
func is[T error](err error) bool {
	var e T
	return errors.As(err, &e)
}

// Close implements decoder.
func (d *tableDecoder) Close() {
	if d.table != nil {
		d.table.Close()
	}
}

// isTable reports whether files of the format are read as a Table.
func (f Format) isTable() bool { return f == Parquet || f == Avro }

// title returns the name of the format of a Table in messages.
func (f Format) title() string {
	if f == Avro {
		return "Avro"
	}
	return "Parquet"
}
