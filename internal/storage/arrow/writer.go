package arrow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/urlfold/urlfold/internal/record"
)

// A Writer writes rows of record.RenderArrow as the batches of an Arrow IPC stream
// or file. Strings are utf8, integers int64, decimals float64, times microseconds in UTC.
type Writer struct {
	w       io.Writer
	file    bool
	columns []record.Column
	arrays  []*array
	rows    int // rows of the current batch
	size    int // size of these rows in bytes, as they were given
	meta    *flatbuffers.Builder
	out     []byte
	off     int64   // bytes written
	blocks  []int64 // offset, length of the metadata and length of the body of each batch
}

// NewWriter returns a Writer of columns to w. If file is set, it writes a file,
// which ends with an index, else a stream. Nothing is written before the first
// call of Start, Append or Close.
func NewWriter(w io.Writer, columns []record.Column, file bool) *Writer {
	out := &Writer{w: w, file: file, columns: columns, meta: flatbuffers.NewBuilder(1024)}
	for i := range columns {
		out.arrays = append(out.arrays, newArray(&columns[i]))
	}
	return out
}

// Limits of a batch that Append writes.
const (
	batchRows  = 64 << 10
	batchBytes = 16 << 20
)

// magic begins and ends a file.
const magic = "ARROW1"

// Start writes the schema.
func (w *Writer) Start() error {
	if w.off > 0 {
		return nil
	}
	w.out = w.out[:0]
	if w.file {
		w.out = append(w.out, magic+"\x00\x00"...)
	}
	w.meta.Reset()
	w.meta.Finish(w.message(headSchema, w.schema(), 0))
	w.out = appendMessage(w.out, w.meta.FinishedBytes(), nil)
	return w.flush()
}

// flush writes out.
func (w *Writer) flush() error {
	n, err := w.w.Write(w.out)
	w.off += int64(n)
	if err != nil {
		return fmt.Errorf("arrow: %w", err)
	}
	return nil
}

// Append adds rows, and writes the batches that are full.
func (w *Writer) Append(rows []byte) error {
	if err := w.Start(); err != nil {
		return err
	}
	for len(rows) > 0 {
		rest, err := w.Add(rows)
		if err != nil {
			return err
		}
		rows = rest
		if w.rows >= batchRows || w.size >= batchBytes {
			if err := w.Batch(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Add adds the first row of rows to the current batch, and returns the other
// rows.
func (w *Writer) Add(rows []byte) (rest []byte, err error) {
	r := record.ColumnReader{In: rows}
	for _, a := range w.arrays {
		a.read(&r)
	}
	w.size += len(rows) - len(r.In)
	switch {
	case r.Bad || len(r.In) == 0 || r.In[0] != '\n':
		return nil, errRow
	case w.size > math.MaxInt32:
		return nil, errors.New("the answers to a batch are larger than 2 GiB: write smaller batches")
	}
	w.rows++
	return r.In[1:], nil
}

// AddNull adds a row of nulls to the current batch.
func (w *Writer) AddNull() {
	for _, a := range w.arrays {
		if a.kind == record.ColumnInt || a.kind == record.ColumnDecimal || a.kind == record.ColumnTime {
			a.eight(0, false)
		} else {
			a.end(false)
		}
	}
	w.rows++
}

// Batch writes the current batch, which may be empty, and begins a new one.
func (w *Writer) Batch() error {
	var nodes, buffers []int64
	var body []byte
	for _, a := range w.arrays {
		nodes, buffers, body = a.appendTo(nodes, buffers, body)
	}
	b := w.meta
	b.Reset()
	vectors := [2]flatbuffers.UOffsetT{pairs(b, nodes), pairs(b, buffers)}
	b.StartObject(5)
	b.PrependInt64Slot(0, int64(w.rows), 0)
	b.PrependUOffsetTSlot(1, vectors[0], 0)
	b.PrependUOffsetTSlot(2, vectors[1], 0)
	b.Finish(w.message(headBatch, b.EndObject(), len(body)))
	w.out = appendMessage(w.out[:0], b.FinishedBytes(), body)
	w.blocks = append(w.blocks, w.off, int64(len(w.out)-len(body)), int64(len(body)))
	for _, a := range w.arrays {
		a.reset()
	}
	w.rows, w.size = 0, 0
	return w.flush()
}

// appendTo appends the nodes, the buffers and the body of the array.
func (a *array) appendTo(nodes, buffers []int64, body []byte) ([]int64, []int64, []byte) {
	nodes = append(nodes, int64(a.n), int64(a.nulls))
	add := func(b []byte) {
		buffers = append(buffers, int64(len(body)), int64(len(b)))
		body = append(body, b...)
		body = append(body, zeros[:padded(len(b))-len(b)]...)
	}
	if a.nulls == 0 {
		add(nil)
	} else {
		add(a.valid)
	}
	if a.hasOffsets() {
		add(a.offsets)
	}
	if a.items == nil && a.members == nil {
		add(a.data)
	}
	for _, b := range a.below() {
		nodes, buffers, body = b.appendTo(nodes, buffers, body)
	}
	return nodes, buffers, body
}

// Close writes the rest, and the index of a file. It does not close the writer below.
func (w *Writer) Close() error {
	if err := w.Start(); err != nil {
		return err
	}
	if w.rows > 0 {
		if err := w.Batch(); err != nil {
			return err
		}
	}
	w.out = append(w.out[:0], endOfStream...)
	if w.file {
		index := w.index()
		w.out = append(w.out, index...)
		w.out = binary.LittleEndian.AppendUint32(w.out, uint32(len(index))) //nolint:gosec // an index is small
		w.out = append(w.out, magic...)
	}
	return w.flush()
}

// index returns the footer of a file: the schema, and where the batches are.
func (w *Writer) index() []byte {
	b := w.meta
	b.Reset()
	n := len(w.blocks) / 3
	b.StartVector(24, n, 8)
	for i := n - 1; i >= 0; i-- {
		b.Prep(8, 24)
		b.PrependInt64(w.blocks[3*i+2])
		b.Pad(4)
		b.PrependInt32(int32(w.blocks[3*i+1])) //nolint:gosec // metadata is small
		b.PrependInt64(w.blocks[3*i])
	}
	blocks := b.EndVector(n)
	schema := w.schema()
	b.StartObject(5)
	b.PrependInt16Slot(0, metadataV5, 0)
	b.PrependUOffsetTSlot(1, schema, 0)
	b.PrependUOffsetTSlot(3, blocks, 0)
	b.Finish(b.EndObject())
	return b.FinishedBytes()
}

// message adds a message with a header and the length of its body.
func (w *Writer) message(typ byte, head flatbuffers.UOffsetT, body int) flatbuffers.UOffsetT {
	b := w.meta
	b.StartObject(5)
	b.PrependInt16Slot(0, metadataV5, 0)
	b.PrependByteSlot(1, typ, 0)
	b.PrependUOffsetTSlot(2, head, 0)
	b.PrependInt64Slot(3, int64(body), 0)
	return b.EndObject()
}

// schema adds the schema.
func (w *Writer) schema() flatbuffers.UOffsetT {
	var fields []flatbuffers.UOffsetT
	for i, a := range w.arrays {
		fields = append(fields, w.field(w.columns[i].Name, a, w.columns[i].Members))
	}
	list := offsets(w.meta, fields)
	w.meta.StartObject(4)
	w.meta.PrependUOffsetTSlot(1, list, 0)
	return w.meta.EndObject()
}

// field adds a field. Members are the columns of a list of diagnostics.
func (w *Writer) field(name string, a *array, members []record.Column) flatbuffers.UOffsetT {
	b := w.meta
	var below []flatbuffers.UOffsetT
	for i, child := range a.below() {
		if a.items != nil {
			below = append(below, w.field("item", child, members))
		} else {
			below = append(below, w.field(members[i].Name, child, nil))
		}
	}
	children, text := offsets(b, below), b.CreateString(name)
	typ, kind := a.typeTable(b)
	b.StartObject(7)
	b.PrependUOffsetTSlot(0, text, 0)
	b.PrependBoolSlot(1, true, false)
	b.PrependByteSlot(2, typ, 0)
	b.PrependUOffsetTSlot(3, kind, 0)
	b.PrependUOffsetTSlot(5, children, 0)
	return b.EndObject()
}

// typeTable adds the table of the type of the array.
func (a *array) typeTable(b *flatbuffers.Builder) (typ byte, _ flatbuffers.UOffsetT) {
	const double, microsecond = 2, 2
	var zone flatbuffers.UOffsetT
	if a.kind == record.ColumnTime {
		zone = b.CreateString("UTC")
	}
	b.StartObject(2)
	switch {
	case a.kind == isItem:
		typ = typeStruct
	case a.items != nil:
		typ = typeList
	case a.kind == record.ColumnInt:
		typ = typeInt
		b.PrependInt32Slot(0, 64, 0)
		b.PrependBoolSlot(1, true, false)
	case a.kind == record.ColumnDecimal:
		typ = typeFloat
		b.PrependInt16Slot(0, double, 0)
	case a.kind == record.ColumnTime:
		typ = typeTimestamp
		b.PrependInt16Slot(0, microsecond, 0)
		b.PrependUOffsetTSlot(1, zone, 0)
	default:
		typ = typeUtf8
	}
	return typ, b.EndObject()
}

// offsets adds a vector of tables.
func offsets(b *flatbuffers.Builder, list []flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	b.StartVector(4, len(list), 4)
	for i := len(list) - 1; i >= 0; i-- {
		b.PrependUOffsetT(list[i])
	}
	return b.EndVector(len(list))
}

// pairs adds a vector of structs of two integers.
func pairs(b *flatbuffers.Builder, list []int64) flatbuffers.UOffsetT {
	b.StartVector(16, len(list)/2, 8)
	for i := len(list) - 1; i >= 0; i-- {
		b.PrependInt64(list[i])
	}
	return b.EndVector(len(list) / 2)
}
