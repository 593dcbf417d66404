package arrow

import (
	"fmt"
	"io"
	"slices"
)

// A Reader reads one text column of an Arrow IPC stream, batch by batch. Its
// errors contain no value of the stream.
type Reader struct {
	in     io.Reader
	name   string
	fields []field
	at     int       // index of the column in fields
	parts  []*values // dictionary of the column
	buf    []byte    // memory for bodies
	batch  *values
}

// NewReader returns a Reader of the column called name. If name is empty, it is
// the only text column, or the only text column with a usual name such as url.
func NewReader(in io.Reader, name string) *Reader { return &Reader{in: in, name: name} }

// Next reads the next batch and returns its number of rows. It returns io.EOF at the
// end of the stream, even if the stream ends without the end-of-stream marker.
func (r *Reader) Next() (rows int, err error) {
	for {
		m, buf, err := readMessage(r.in, r.buf)
		r.buf = buf
		switch {
		case err == io.EOF && r.fields == nil:
			return 0, io.EOF
		case err != nil:
			return 0, err
		case m.typ == headSchema && r.fields == nil:
			if err := r.schema(m); err != nil {
				return 0, err
			}
		case r.fields == nil || m.typ != headBatch && m.typ != headDictionary:
			return 0, fmt.Errorf("%w: unexpected message of type %d", ErrDamaged, m.typ)
		case m.typ == headDictionary:
			if err := r.dictionary(m); err != nil {
				return 0, err
			}
		default:
			return r.rows(m)
		}
	}
}

// schema reads the schema.
func (r *Reader) schema(m message) (err error) {
	if r.fields, err = readSchema(m.head); err != nil {
		return err
	}
	if r.at, err = choose(r.fields, r.name); err != nil {
		return err
	}
	if f := &r.fields[r.at]; f.dictionary && !slices.Contains([]int{1, 2, 4, 8}, f.width) {
		return fmt.Errorf("%w: indexes of a dictionary have %d bytes", ErrDamaged, f.width)
	}
	return nil
}

// dictionary reads a dictionary, and keeps it if it belongs to the column.
func (r *Reader) dictionary(m message) (err error) {
	defer guard(&err)
	f := r.fields[r.at]
	data, ok := m.head.table(1)
	if !f.dictionary || m.head.long(0) != f.id || !ok {
		return nil
	}
	b, err := readBlock(data, m.body)
	if err != nil {
		return err
	}
	v, err := b.column([]field{f}, 0, true)
	if err != nil {
		return err
	}
	if m.head.octet(2) == 0 {
		r.parts = nil
	}
	r.parts = append(r.parts, v)
	r.buf = nil // the dictionary still uses the memory, so the next message needs a new buffer
	return nil
}

// rows reads a batch.
func (r *Reader) rows(m message) (int, error) {
	b, err := readBlock(m.head, m.body)
	if err != nil {
		return 0, err
	}
	if r.batch, err = b.column(r.fields, r.at, false); err != nil {
		return 0, err
	}
	if r.batch.indexes != nil {
		r.batch.indexes.parts = r.parts
	}
	return r.batch.n, nil
}

// Value returns a value of the current batch, whose rows count from 0. ok is false if
// it is null. The value is valid until the next call of Next.
func (r *Reader) Value(row int) (text []byte, ok bool, err error) { return r.batch.at(row) }
