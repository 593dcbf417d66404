package arrow

import (
	"encoding/binary"
	"fmt"
)

// values are the values of a text column. They point into the body of a message.
type values struct {
	typ     byte
	n       int
	valid   []byte // a bit for each value; nil: all are valid
	offsets []byte // offsets, or the views
	data    []byte
	views   [][]byte // the buffers that views point into

	indexes *indexes // indexes of a column with a dictionary; the other members are then unused
}

// indexes select values of a dictionary.
type indexes struct {
	data   []byte
	width  int
	signed bool
	parts  []*values // the dictionary, and what deltas appended to it
}

// at returns value number i, which is less than v.n. ok is false if it is null.
func (v *values) at(i int) (text []byte, ok bool, err error) {
	if v.typ == typeNull || v.valid != nil && v.valid[i>>3]>>(i&7)&1 == 0 {
		return nil, false, nil
	}
	if v.indexes != nil {
		return v.indexes.at(i)
	}
	var from, to uint64
	data := v.data
	switch v.typ {
	case typeUtf8, typeBinary:
		from, to = uint64(binary.LittleEndian.Uint32(v.offsets[4*i:])), uint64(binary.LittleEndian.Uint32(v.offsets[4*i+4:]))
	case typeLargeUtf8, typeLargeBinary:
		from, to = binary.LittleEndian.Uint64(v.offsets[8*i:]), binary.LittleEndian.Uint64(v.offsets[8*i+8:])
	default:
		view := v.offsets[16*i : 16*i+16]
		size := uint64(binary.LittleEndian.Uint32(view))
		if size <= 12 {
			return view[4 : 4+size], true, nil
		}
		buffer := binary.LittleEndian.Uint32(view[8:])
		if uint64(buffer) >= uint64(len(v.views)) {
			return nil, false, outside(i)
		}
		data, from = v.views[buffer], uint64(binary.LittleEndian.Uint32(view[12:]))
		to = from + size
	}
	if from > to || to > uint64(len(data)) {
		return nil, false, outside(i)
	}
	return data[from:to:to], true, nil
}

// at returns the value that index number i selects.
func (x *indexes) at(i int) (text []byte, ok bool, err error) {
	var n int64
	switch cell := x.data[i*x.width:]; x.width {
	case 1:
		if n = int64(cell[0]); x.signed {
			n = int64(int8(cell[0]))
		}
	case 2:
		n = int64(binary.LittleEndian.Uint16(cell))
	case 4:
		n = int64(binary.LittleEndian.Uint32(cell))
	default:
		n = int64(binary.LittleEndian.Uint64(cell)) //nolint:gosec // a negative number is refused
	}
	for _, part := range x.parts {
		if n >= 0 && n < int64(part.n) {
			return part.at(int(n))
		}
		n -= int64(part.n)
	}
	return nil, false, outside(i)
}

// outside returns the error for a value that points outside its column.
func outside(i int) error {
	return fmt.Errorf("%w: row %d of a batch points outside of its column", ErrDamaged, i+1)
}

// A block is the header of a batch or of a dictionary, with its body.
type block struct {
	rows    int
	buffers []int64 // offset and length of each buffer
	nulls   []int64 // length and number of nulls of each node
	extra   []int64 // number of data buffers of each column of views
	body    []byte
}

// readBlock reads the header of a batch.
func readBlock(head flat, body []byte) (b block, err error) {
	defer guard(&err)
	if _, compressed := head.table(3); compressed {
		return b, fmt.Errorf("the batch is compressed: write the stream without compression")
	}
	rows := head.long(0)
	if rows < 0 || rows > maxRows {
		return b, fmt.Errorf("%w: batch of %d rows", ErrDamaged, rows)
	}
	return block{rows: int(rows), nulls: head.longs(1, 2), buffers: head.longs(2, 2), extra: head.longs(4, 1), body: body}, nil
}

// buffer returns buffer n, or an error if it is shorter than least bytes.
func (b *block) buffer(n int, least int64) ([]byte, error) {
	if 2*n+1 >= len(b.buffers) {
		return nil, fmt.Errorf("%w: a column lacks buffers", ErrDamaged)
	}
	from, length := b.buffers[2*n], b.buffers[2*n+1]
	if from < 0 || length < 0 || from > int64(len(b.body)) || length > int64(len(b.body))-from || length < least {
		return nil, fmt.Errorf("%w: buffer %d is outside of its batch, or too short", ErrDamaged, n+1)
	}
	return b.body[from : from+length], nil
}

// column returns the values of fields[at], without a dictionary if lone is set.
func (b *block) column(fields []field, at int, lone bool) (*values, error) {
	var before layout
	for i := range fields[:at] {
		before.add(fields[i].layout)
	}
	first, skipped := before.buffers, 0
	for k := range before.views {
		if k >= len(b.extra) || b.extra[k] < 0 || b.extra[k] > int64(len(b.buffers)) {
			return nil, fmt.Errorf("%w: invalid number of buffers of views", ErrDamaged)
		}
		first += int(b.extra[k])
		skipped++
	}
	if 2*before.nodes+1 >= len(b.nulls) {
		return nil, fmt.Errorf("%w: a batch lacks columns", ErrDamaged)
	}
	f := &fields[at]
	v := &values{typ: f.typ, n: b.rows}
	if v.typ == typeNull && (lone || !f.dictionary) {
		return v, nil
	}
	if b.nulls[2*before.nodes] != int64(b.rows) {
		return nil, fmt.Errorf("%w: a column of %d values in a batch of %d rows", ErrDamaged, b.nulls[2*before.nodes], b.rows)
	}
	var err error
	if b.nulls[2*before.nodes+1] != 0 {
		if v.valid, err = b.buffer(first, int64(b.rows+7)/8); err != nil {
			return nil, err
		}
	}
	if f.dictionary && !lone {
		v.indexes = &indexes{width: f.width, signed: f.signed}
		v.indexes.data, err = b.buffer(first+1, int64(b.rows)*int64(f.width))
		return v, err
	}
	return v, b.text(v, first, skipped)
}

// text sets the buffers of a text column. first is the index of its first
// buffer, and views the number of columns of views before it.
func (b *block) text(v *values, first, views int) (err error) {
	rows, least := int64(b.rows), int64(0)
	switch {
	case rows == 0:
	case v.typ == typeUtf8 || v.typ == typeBinary:
		least = 4 * (rows + 1)
	case v.typ == typeLargeUtf8 || v.typ == typeLargeBinary:
		least = 8 * (rows + 1)
	default:
		least = 16 * rows
	}
	if v.offsets, err = b.buffer(first+1, least); err != nil {
		return err
	}
	if v.typ != typeUtf8View && v.typ != typeBinaryView {
		v.data, err = b.buffer(first+2, 0)
		return err
	}
	if views >= len(b.extra) {
		return fmt.Errorf("%w: invalid number of buffers of views", ErrDamaged)
	}
	for k := range b.extra[views] {
		data, err := b.buffer(first+2+int(k), 0)
		if err != nil {
			return err
		}
		v.views = append(v.views, data)
	}
	return nil
}
