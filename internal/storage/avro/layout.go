package avro

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/twmb/avro"

	"github.com/urlfold/urlfold/internal/storage/table"
)

// maxDepth is the number of records inside each other that are searched for
// URLs, and maxNesting the number of values inside each other in a record.
// maxFields is the number of fields that the search visits: a schema in which
// each record has two fields of the next one has 2^n of them.
const (
	maxDepth   = 16
	maxNesting = 1000
	maxFields  = 100_000
)

// newLayout returns the layout of records of a schema, with the fields with the
// given names. The error is a *table.ColumnError if there are no such fields.
func newLayout(schema string, names []string) (*layout, error) {
	s, err := avro.Parse(schema)
	if err != nil {
		return nil, err
	}
	root := s.Root()
	c := compiler{defined: map[string]*avro.SchemaNode{}, plain: map[string]*kind{}}
	c.define(root, 0)
	c.textFields(root, "")
	if c.visited > maxFields {
		return nil, fmt.Errorf("the records of the schema have more than %d fields", maxFields)
	}
	chosen, err := table.Choose(c.texts, names)
	if err != nil {
		return nil, err
	}
	l := &layout{columns: len(chosen)}
	for _, i := range chosen {
		c.paths = append(c.paths, c.texts[i])
	}
	l.root = c.record(root, "")
	return l, c.err
}

// textFields adds the paths of all fields in n, and in the records inside n,
// whose type is string, bytes, or a union of one of these with null.
func (c *compiler) textFields(n *avro.SchemaNode, prefix string) {
	if n.Type != "record" || strings.Count(prefix, ".") > maxDepth {
		return
	}
	for i := range n.Fields {
		if c.visited++; c.visited > maxFields {
			return
		}
		f := &n.Fields[i]
		if path := prefix + f.Name; isText(&f.Type) {
			if !slices.Contains(c.texts, path) { // another branch of a union may have added the path
				c.texts = append(c.texts, path)
			}
			continue
		}
		for _, inner := range c.inner(&f.Type, space(n)) {
			c.textFields(inner, prefix+f.Name+".")
		}
	}
}

// inner returns the types that a value of n can have, in the namespace in: the branches
// of a union, such as null and a record, or n itself.
func (c *compiler) inner(n *avro.SchemaNode, in string) (types []*avro.SchemaNode) {
	if n.Type != "union" {
		return []*avro.SchemaNode{c.definition(n, in)}
	}
	for i := range n.Branches {
		types = append(types, c.definition(&n.Branches[i], in))
	}
	return types
}

// definition returns the type that n names in the namespace in, or n if it is not
// a name.
func (c *compiler) definition(n *avro.SchemaNode, in string) *avro.SchemaNode {
	for _, name := range []string{in + "." + n.Type, n.Type} {
		if d := c.defined[name]; d != nil && n.Name == "" && primitives[n.Type] == nil {
			return d
		}
	}
	return n
}

// isText reports whether values of n are strings or bytes, or null.
func isText(n *avro.SchemaNode) bool {
	switch n.Type {
	case "string", "bytes":
		return n.LogicalType == ""
	case "union":
		texts := 0
		for i := range n.Branches {
			b := &n.Branches[i]
			switch {
			case isText(b) && b.Type != "union":
				texts++
			case b.Type != "null":
				return false
			}
		}
		return texts > 0
	}
	return false
}

// A layout says how the records of a file are encoded, and where in them the
// URLs are.
type layout struct {
	root    *kind
	columns int
}

// encoding says how a value is written:
// https://avro.apache.org/docs/1.12.0/specification/#binary_encoding.
type encoding uint8

const (
	sized    encoding = iota // a number of bytes
	number                   // int, long, enum
	counted                  // string, bytes: a length, and as many bytes
	fields                   // the fields of a record, one after the other
	branches                 // a branch of a union: its index and its value
	items                    // the items of an array, in blocks
	entries                  // the entries of a map, in blocks: keys and values
)

// A kind is a type of a schema.
type kind struct {
	encoding encoding
	size     int     // if sized
	parts    []*kind // fields of a record, branches of a union
	item     *kind   // item of an array, values of a map
	column   int     // if counted: number of the column, from 1; 0: none
}

// A compiler makes kinds from a schema.
type compiler struct {
	defined map[string]*avro.SchemaNode // types with names
	plain   map[string]*kind            // kinds of these types, without columns
	paths   []string                    // paths of the columns
	texts   []string                    // paths of all fields that can be columns
	visited int                         // number of fields visited while texts is filled
	err     error
}

// define adds the types with names in n, by their full names.
func (c *compiler) define(n *avro.SchemaNode, depth int) {
	if n == nil || depth > maxNesting {
		return
	}
	if n.Name != "" {
		name := fullName(n)
		if c.defined[name] != nil {
			return
		}
		c.defined[name] = n
	}
	for i := range n.Fields {
		c.define(&n.Fields[i].Type, depth+1)
	}
	for i := range n.Branches {
		c.define(&n.Branches[i], depth+1)
	}
	c.define(n.Items, depth+1)
	c.define(n.Values, depth+1)
}

// fullName returns the name of n with its namespace.
func fullName(n *avro.SchemaNode) string {
	if n.Namespace == "" || strings.Contains(n.Name, ".") {
		return n.Name
	}
	return n.Namespace + "." + n.Name
}

// record returns the kind of a record that can have columns. prefix is its path.
func (c *compiler) record(n *avro.SchemaNode, prefix string) *kind {
	k := &kind{encoding: fields}
	for i := range n.Fields {
		f := &n.Fields[i]
		path := prefix + f.Name
		column := slices.Index(c.paths, path) + 1
		inside := slices.ContainsFunc(c.paths, func(p string) bool { return strings.HasPrefix(p, path+".") })
		var part *kind
		switch {
		case column > 0:
			part = c.column(&f.Type, column, space(n))
		case inside:
			part = c.around(&f.Type, path+".", space(n))
		default:
			part = c.kind(&f.Type, space(n))
		}
		k.parts = append(k.parts, part)
	}
	return k
}

// around returns the kind of n, around fields whose paths begin with prefix.
func (c *compiler) around(n *avro.SchemaNode, prefix, in string) *kind {
	k := &kind{encoding: branches}
	for _, inner := range c.inner(n, in) {
		if inner.Type == "record" {
			k.parts = append(k.parts, c.record(inner, prefix))
		} else {
			k.parts = append(k.parts, c.kind(inner, in))
		}
	}
	if n.Type != "union" {
		return k.parts[0]
	}
	return k
}

// space returns the namespace of the types in n.
func space(n *avro.SchemaNode) string {
	name := fullName(n)
	return name[:max(0, strings.LastIndexByte(name, '.'))]
}

// column returns the kind of a column, whose type is a text or a union that
// contains a text.
func (c *compiler) column(n *avro.SchemaNode, column int, space string) *kind {
	k := *c.kind(n, space) // primitive kinds are shared
	if k.encoding == counted {
		k.column = column
		return &k
	}
	for i, part := range k.parts {
		if part.encoding == counted {
			k.parts[i] = &kind{encoding: counted, column: column}
		}
	}
	return &k
}

// primitives are the kinds of types without a name.
var primitives = map[string]*kind{
	"null": {}, "boolean": {size: 1}, "int": {encoding: number}, "long": {encoding: number},
	"float": {size: 4}, "double": {size: 8}, "bytes": {encoding: counted}, "string": {encoding: counted},
}

// kind returns the kind of n without columns. space is the namespace around it.
func (c *compiler) kind(n *avro.SchemaNode, in string) *kind {
	switch n.Type {
	case "enum":
		return primitives["int"]
	case "fixed":
		return &kind{size: n.Size}
	case "array":
		return &kind{encoding: items, item: c.kind(n.Items, in)}
	case "map":
		return &kind{encoding: entries, item: c.kind(n.Values, in)}
	case "union":
		k := &kind{encoding: branches}
		for i := range n.Branches {
			k.parts = append(k.parts, c.kind(&n.Branches[i], in))
		}
		return k
	case "record", "error":
		return c.named(fullName(n), n)
	}
	if k := primitives[n.Type]; k != nil {
		return k
	}
	if d := c.definition(n, in); d != n {
		return c.named(fullName(d), d)
	}
	c.err = errors.New("unknown type in the schema: " + n.Type)
	return primitives["null"]
}

// named returns the kind of the type with a full name, which can contain itself.
func (c *compiler) named(name string, n *avro.SchemaNode) *kind {
	if n.Type != "record" && n.Type != "error" {
		return c.kind(n, space(n))
	}
	if k := c.plain[name]; k != nil {
		return k
	}
	k := &kind{encoding: fields}
	c.plain[name] = k
	for i := range n.Fields {
		k.parts = append(k.parts, c.kind(&n.Fields[i].Type, space(n)))
	}
	return k
}

// errRecord is the error for data that does not have the layout.
var errRecord = errors.New("a record does not match the schema")

// maxEmpty is the number of records without bytes in a block, and fuel the number of
// values for each byte of it: types without bytes can make a value of few bytes large.
const (
	maxEmpty = 4096
	fuel     = 16
)

// maxPart is the number of records in a part of a block: the offsets of a record take
// more memory than its bytes can.
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
func (w *walk) value(k *kind, depth int) bool {
	if w.fuel--; w.fuel < 0 || depth > maxNesting {
		return false
	}
	switch k.encoding {
	case sized:
		w.pos += k.size
		return w.pos <= len(w.data)
	case number:
		_, ok := w.long()
		return ok
	case counted:
		return w.text(k)
	case fields:
		for _, part := range k.parts {
			if !w.value(part, depth+1) {
				return false
			}
		}
		return true
	case branches:
		i, ok := w.long()
		return ok && i >= 0 && i < int64(len(k.parts)) && w.value(k.parts[i], depth+1)
	}
	return w.blocks(k, depth) // the items of an array, or the entries of a map
}

// long reads a number.
func (w *walk) long() (int64, bool) {
	n, size := binary.Varint(w.data[w.pos:])
	w.pos += max(size, 0)
	return n, size > 0
}

// text reads a string or bytes.
func (w *walk) text(k *kind) bool {
	start := w.pos
	n, ok := w.long()
	if !ok || n < 0 || n > int64(len(w.data)-w.pos) {
		return false
	}
	begin := w.pos
	w.pos += int(n)
	if k.column > 0 {
		w.cells[k.column-1] = cell{start, begin, w.pos}
	}
	return true
}

// blocks reads an array or a map.
func (w *walk) blocks(k *kind, depth int) bool {
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
			if k.encoding == entries && !w.text(primitives["string"]) || !w.value(k.item, depth+1) {
				return false
			}
			if w.pos == before {
				break // items of zero bytes: a block may claim any number of them
			}
		}
	}
}
