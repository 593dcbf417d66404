package arrow

import (
	"encoding/binary"
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/urlfold/urlfold/internal/record"
)

// An array holds the values of a column of the batch that is being written.
type array struct {
	kind    record.ColumnKind
	n       int
	nulls   int
	valid   []byte
	offsets []byte // offsets of texts and of lists
	data    []byte // text, or values of 8 bytes
	items   *array // items of a list
	members []*array
}

// isItem is the kind of the structs in a list of diagnostics.
const isItem record.ColumnKind = math.MaxUint8

// newArray returns an array for a column.
func newArray(c *record.Column) *array {
	a := &array{kind: c.Kind}
	switch c.Kind {
	case record.ColumnStrings:
		a.items = &array{kind: record.ColumnString}
	case record.ColumnDiagnostics:
		a.items = &array{kind: isItem}
		for i := range c.Members {
			a.items.members = append(a.items.members, newArray(&c.Members[i]))
		}
	}
	a.reset()
	return a
}

// hasOffsets reports whether the values of the array differ in length.
func (a *array) hasOffsets() bool {
	switch a.kind {
	case record.ColumnInt, record.ColumnDecimal, record.ColumnTime, isItem:
		return false
	}
	return true
}

// below returns the arrays that are part of a.
func (a *array) below() []*array {
	if a.items != nil {
		return []*array{a.items}
	}
	return a.members
}

// reset removes all values.
func (a *array) reset() {
	a.n, a.nulls, a.valid, a.offsets, a.data = 0, 0, a.valid[:0], a.offsets[:0], a.data[:0]
	if a.hasOffsets() {
		a.offsets = append(a.offsets, 0, 0, 0, 0)
	}
	for _, b := range a.below() {
		b.reset()
	}
}

// end completes a value whose data or items were appended, or a null.
func (a *array) end(ok bool) {
	if a.n&7 == 0 {
		a.valid = append(a.valid, 0)
	}
	if ok {
		a.valid[a.n>>3] |= 1 << (a.n & 7)
	} else {
		a.nulls++
	}
	a.n++
	switch {
	case a.items != nil:
		a.offsets = binary.LittleEndian.AppendUint32(a.offsets, uint32(a.items.n)) //nolint:gosec // Writer.Add limits it
	case a.hasOffsets():
		a.offsets = binary.LittleEndian.AppendUint32(a.offsets, uint32(len(a.data))) //nolint:gosec // Writer.Add limits it
	}
}

// eight adds a value of 8 bytes.
func (a *array) eight(v uint64, ok bool) {
	a.data = binary.LittleEndian.AppendUint64(a.data, v)
	a.end(ok)
}

// read adds the next value of a row.
func (a *array) read(r *record.ColumnReader) {
	if a.kind == isItem {
		for _, m := range a.members {
			m.read(r)
		}
		a.end(true)
		return
	}
	n, ok := r.Number()
	switch {
	case a.items != nil:
		for range n {
			if a.items.read(r); r.Bad {
				return
			}
		}
		a.end(ok)
	case a.kind == record.ColumnInt:
		a.eight(uint64(max(n, 0)), ok) //nolint:gosec // not negative
	case a.kind == record.ColumnDecimal:
		x, err := strconv.ParseFloat(string(r.Bytes(max(n, 0))), 64)
		a.eight(math.Float64bits(x), ok && err == nil)
	case a.kind == record.ColumnTime:
		t, err := time.Parse(time.RFC3339, string(r.Bytes(max(n, 0))))
		if ok = ok && err == nil; !ok { // this type has no value for a leap second
			t = time.Unix(0, 0)
		}
		a.eight(uint64(t.UnixMicro()), ok) //nolint:gosec // the bits of an int64
	default:
		if ok {
			a.data = append(a.data, r.Bytes(n)...)
		}
		a.end(ok)
	}
}

// errRow reports rows that record.RenderArrow did not write.
var errRow = errors.New("arrow: malformed row")
