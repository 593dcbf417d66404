package avro

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/twmb/avro"

	"github.com/urlfold/urlfold/internal/ground/avroschema"
	"github.com/urlfold/urlfold/internal/storage/table"
)

// maxDepth is how deeply nested records are searched for URLs. maxFields is the
// number of fields that the search visits: if each of n records has two fields
// of the type of the next record, there are 2^n.
const (
	maxDepth  = 16
	maxFields = 100_000
)

// A layout says how the records of a file are encoded, and where the URLs are in
// these records. The type of a field with a URL has the number of its column, from
// 1, in Column.
type layout struct {
	root    *avroschema.Type
	columns int
}

// newLayout returns the layout of records of a schema, with the fields with the
// given names. The error is a *table.ColumnError if there are no such fields.
func newLayout(schema string, names []string) (*layout, error) {
	if _, err := avro.Parse(schema); err != nil { // checks more than avroschema
		return nil, err
	}
	root, err := avroschema.Parse([]string{schema})
	if err != nil {
		return nil, err
	}
	var f textFields
	f.add(root, "")
	if f.visited > maxFields {
		return nil, fmt.Errorf("the records of the schema have more than %d fields", maxFields)
	}
	chosen, err := table.Choose(f.paths, names)
	if err != nil {
		return nil, err
	}
	var c columns
	for _, i := range chosen {
		c = append(c, f.paths[i])
	}
	return &layout{c.record(root, ""), len(c)}, nil
}

// textFields has the paths of the fields that can be columns.
type textFields struct {
	paths   []string
	visited int // number of fields visited
}

// add adds the paths of all fields in t, and in the records inside t, whose type is
// string, bytes, or a union of one of these with null.
func (f *textFields) add(t *avroschema.Type, prefix string) {
	if t.Kind != avroschema.Record || strings.Count(prefix, ".") > maxDepth {
		return
	}
	for i, name := range t.Names {
		if f.visited++; f.visited > maxFields {
			return
		}
		if path := prefix + name; isText(t.Parts[i]) {
			if !slices.Contains(f.paths, path) { // another branch of a union may have added the path
				f.paths = append(f.paths, path)
			}
			continue
		}
		f.add(t.Parts[i], prefix+name+".")
		if t.Parts[i].Kind == avroschema.Union {
			for _, branch := range t.Parts[i].Parts {
				f.add(branch, prefix+name+".")
			}
		}
	}
}

// isText reports whether values of t are strings or bytes, or null.
func isText(t *avroschema.Type) bool {
	if t.Kind != avroschema.Union {
		return t.Kind == avroschema.Text && !t.Logical
	}
	texts := 0
	for _, branch := range t.Parts {
		switch {
		case branch.Kind == avroschema.Text && !branch.Logical:
			texts++
		case !branch.Null:
			return false
		}
	}
	return texts > 0
}

// columns has the paths of the columns.
type columns []string

// record returns the record t with its columns. prefix is the path of t.
func (c columns) record(t *avroschema.Type, prefix string) *avroschema.Type {
	return withParts(t, func(i int, part *avroschema.Type) *avroschema.Type {
		path := prefix + t.Names[i]
		inside := func(p string) bool { return strings.HasPrefix(p, path+".") }
		switch column := slices.Index(c, path) + 1; {
		case column > 0 && part.Kind == avroschema.Union:
			return withParts(part, func(_ int, branch *avroschema.Type) *avroschema.Type { return textColumn(branch, column) })
		case column > 0:
			return textColumn(part, column)
		case !slices.ContainsFunc(c, inside):
			return part
		case part.Kind == avroschema.Record:
			return c.record(part, path+".")
		}
		return withParts(part, func(_ int, branch *avroschema.Type) *avroschema.Type {
			if branch.Kind == avroschema.Record {
				return c.record(branch, path+".")
			}
			return branch
		})
	})
}

// textColumn returns t with a column if it is a string or bytes.
func textColumn(t *avroschema.Type, column int) *avroschema.Type {
	if t.Kind != avroschema.Text {
		return t
	}
	return &avroschema.Type{Kind: avroschema.Text, Column: column}
}

// withParts returns a copy of t, a record or a union, with other parts.
func withParts(t *avroschema.Type, other func(i int, part *avroschema.Type) *avroschema.Type) *avroschema.Type {
	own := *t
	own.Parts = nil
	for i, part := range t.Parts {
		own.Parts = append(own.Parts, other(i, part))
	}
	return &own
}

// errRecord is the error for data that does not have the layout.
var errRecord = errors.New("a record does not match the schema")

// maxEmpty is the number of records without bytes in a block. fuel is the
// number of values that a block may have per byte: a type may take no bytes, so
// a few bytes could announce any number of values.
const (
	maxEmpty = 4096
	fuel     = 16
)

// maxPart is the number of records in a part of a block: the offsets of the
// fields of a record can take more memory than the record.
const maxPart = 1 << 16

// split checks the count records in b.data and makes b their first part.
func (l *layout) split(b *block, count int64) error {
	b.columns, b.count, b.left = l.columns, count, 0
	if count > int64(len(b.data))+maxEmpty {
		return errRecord
	}
	w := walk{data: b.data, fuel: fuel * (int64(len(b.data)) + maxEmpty)}
	ok := l.part(b, &w, count)
	w.cells = make([]cell, l.columns)
	for i := int64(0); i < b.left && ok; i++ {
		ok = w.value(l.root, 0)
	}
	if !ok || w.pos != len(b.data) {
		b.left = 0
		return errRecord
	}
	return nil
}

// more makes b the next part.
func (l *layout) more(b *block) {
	l.part(b, &walk{data: b.data, pos: b.ends[len(b.ends)-1], fuel: math.MaxInt64}, b.left) // the record was checked
}

// part sets b to the part that begins at w.pos, where left records of the
// block remain. It reports whether they match the schema.
func (l *layout) part(b *block, w *walk, left int64) bool {
	b.from, b.ends, b.cells = w.pos, b.ends[:0], b.cells[:0]
	b.left = left - min(left, maxPart)
	for range left - b.left {
		n := len(b.cells)
		for range l.columns {
			b.cells = append(b.cells, cell{})
		}
		w.cells = b.cells[n:]
		if !w.value(l.root, 0) {
			return false
		}
		b.ends = append(b.ends, w.pos)
	}
	return true
}

// walk reads records. Its methods return false if the data does not match.
type walk struct {
	data  []byte
	pos   int
	fuel  int64 // number of values that may follow
	cells []cell
}

// value reads a value.
func (w *walk) value(t *avroschema.Type, depth int) bool {
	if w.fuel--; w.fuel < 0 || depth > avroschema.MaxNesting {
		return false
	}
	switch t.Kind {
	case avroschema.Fixed:
		w.pos += t.Size
		return w.pos <= len(w.data)
	case avroschema.Varint:
		_, ok := w.long()
		return ok
	case avroschema.Text:
		return w.text(t.Column)
	case avroschema.Record:
		for _, part := range t.Parts {
			if !w.value(part, depth+1) {
				return false
			}
		}
		return true
	case avroschema.Union:
		i, ok := w.long()
		return ok && i >= 0 && i < int64(len(t.Parts)) && w.value(t.Parts[i], depth+1)
	}
	return w.blocks(t, depth) // the items of an array, or the entries of a map
}

// long reads a number.
func (w *walk) long() (int64, bool) {
	n, size := binary.Varint(w.data[w.pos:])
	w.pos += max(size, 0)
	return n, size > 0
}

// text reads a string or bytes. column is the number of its column, or 0.
func (w *walk) text(column int) bool {
	start := w.pos
	n, ok := w.long()
	if !ok || n < 0 || n > int64(len(w.data)-w.pos) {
		return false
	}
	begin := w.pos
	w.pos += int(n)
	if column > 0 {
		w.cells[column-1] = cell{start, begin, w.pos}
	}
	return true
}

// blocks reads an array or a map.
func (w *walk) blocks(t *avroschema.Type, depth int) bool {
	for {
		n, ok := w.long()
		if n < 0 && ok {
			n = -n
			_, ok = w.long() // the size of the block
		}
		if !ok || n < 0 {
			return false
		}
		if n == 0 {
			return true
		}
		for ; n > 0; n-- {
			before := w.pos
			if t.Kind == avroschema.Map && !w.text(0) || !w.value(t.Item, depth+1) {
				return false
			}
			if w.pos == before {
				break // items of zero bytes: a block may claim any number of them
			}
		}
	}
}
