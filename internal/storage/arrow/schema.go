package arrow

import (
	"fmt"

	"github.com/urlfold/urlfold/internal/storage/table"
)

// The types of a field, with the numbers of the format.
const (
	typeNull            = 1
	typeInt             = 2
	typeFloat           = 3
	typeBinary          = 4
	typeUtf8            = 5
	typeTimestamp       = 10
	typeList            = 12
	typeStruct          = 13
	typeUnion           = 14
	typeFixedList       = 16
	typeLargeBinary     = 19
	typeLargeUtf8       = 20
	typeRunEnds         = 22
	typeBinaryView      = 23
	typeUtf8View        = 24
	typeListView        = 25
	typeLargeListView   = 26
	denseUnion          = 1
	maxFields, maxDepth = 10_000, 64
)

// A field is the part of a field of the schema that is needed to find a column.
type field struct {
	name       string
	typ        byte
	dictionary bool
	id         int64 // id of the dictionary
	width      int   // size of the indexes of the dictionary, in bytes
	signed     bool
	layout     layout // layout of the column, with its children
	lone       layout // layout of the column without its dictionary
}

// A layout counts what a column has in a batch.
type layout struct {
	nodes, buffers int
	views          []int // indexes of the buffers of string views; a variable number of data buffers follows each
}

// add appends the layout of a child.
func (l *layout) add(child layout) {
	for _, at := range child.views {
		l.views = append(l.views, l.buffers+at)
	}
	l.nodes += child.nodes
	l.buffers += child.buffers
}

// readSchema returns the fields of a schema.
func readSchema(head flat) (list []field, err error) {
	defer guard(&err)
	if head.short(0) != 0 {
		return nil, fmt.Errorf("the stream is big-endian, which is not supported")
	}
	count := 0
	err = head.tables(1, func(t flat) error {
		f, err := readField(t, &count, 0)
		list = append(list, f)
		return err
	})
	return list, err
}

// readField returns a field with the layout of all fields below it.
func readField(t flat, count *int, depth int) (field, error) {
	if *count++; *count > maxFields || depth > maxDepth {
		return field{}, fmt.Errorf("%w: more than %d fields, or %d levels", ErrDamaged, maxFields, maxDepth)
	}
	f := field{name: t.text(0), typ: t.octet(2)}
	kind, _ := t.table(3)
	f.lone = ownLayout(f.typ, kind)
	err := t.tables(5, func(t flat) error {
		child, err := readField(t, count, depth+1)
		f.lone.add(child.layout)
		return err
	})
	f.layout = f.lone
	if d, ok := t.table(4); ok {
		f.dictionary, f.id, f.width, f.signed = true, d.long(0), 4, true
		if index, ok := d.table(1); ok {
			f.width, f.signed = index.int32(0)/8, index.octet(1) != 0
		}
		f.layout = layout{nodes: 1, buffers: 2}
	}
	return f, err
}

// ownLayout returns the layout of a type without its children.
func ownLayout(typ byte, kind flat) layout {
	switch typ {
	case typeNull, typeRunEnds:
		return layout{nodes: 1}
	case typeStruct, typeFixedList:
		return layout{nodes: 1, buffers: 1}
	case typeUnion:
		if kind.short(0) == denseUnion {
			return layout{nodes: 1, buffers: 2}
		}
		return layout{nodes: 1, buffers: 1}
	case typeBinary, typeUtf8, typeLargeBinary, typeLargeUtf8, typeListView, typeLargeListView:
		return layout{nodes: 1, buffers: 3}
	case typeBinaryView, typeUtf8View:
		return layout{nodes: 1, buffers: 2, views: []int{1}}
	}
	return layout{nodes: 1, buffers: 2}
}

// isText reports whether a column of the type can hold URLs. A column of type
// null is empty.
func (f *field) isText() bool {
	switch f.typ {
	case typeNull, typeBinary, typeUtf8, typeLargeBinary, typeLargeUtf8, typeBinaryView, typeUtf8View:
		return true
	}
	return false
}

// choose returns the index of the column called name. Without a name it returns
// the index of the only text column, or of the only text column with a usual name
// such as url.
func choose(list []field, name string) (int, error) {
	var names, wanted []string
	var at []int
	for i := range list {
		if list[i].isText() {
			names, at = append(names, list[i].name), append(at, i)
		}
	}
	if name != "" {
		wanted = []string{name}
	} else if len(at) == 1 {
		return at[0], nil
	}
	chosen, err := table.Choose(names, wanted)
	if err != nil {
		return 0, fmt.Errorf("column of the URL: %w", err)
	}
	return at[chosen[0]], nil
}
