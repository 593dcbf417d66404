package parquet

import (
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
)

// This file describes columns of the type UNKNOWN, all of whose values are null:
// pyarrow and pandas write them. The library gives them a kind that it writes
// into the index as it is, so that no program can read the file.

// writableSchema returns the schema of f for a writer.
func writableSchema(f *parquet.File) *parquet.Schema {
	return parquet.NewSchema(f.Schema().Name(), writableNode{f.Root()})
}

// A writableNode is a node of a schema whose columns have a valid kind.
type writableNode struct{ parquet.Node }

// Type implements [parquet.Node].
func (n writableNode) Type() parquet.Type {
	if t := n.Node.Type(); n.Leaf() && t.Kind() < 0 {
		return nullColumn{t}
	}
	return n.Node.Type()
}

// Fields implements [parquet.Node].
func (n writableNode) Fields() []parquet.Field {
	var fields []parquet.Field
	for _, f := range n.Node.Fields() {
		fields = append(fields, writableField{f, writableNode{f}})
	}
	return fields
}

// A writableField is a field with the Type and the Fields of a writableNode.
type writableField struct {
	parquet.Field
	node writableNode
}

// Type implements [parquet.Node].
func (f writableField) Type() parquet.Type { return f.node.Type() }

// Fields implements [parquet.Node].
func (f writableField) Fields() []parquet.Field { return f.node.Fields() }

// Encoding implements [parquet.Node]. A dictionary would have the type again.
func (f writableField) Encoding() encoding.Encoding {
	if _, isNull := f.Type().(nullColumn); isNull {
		return &parquet.Plain
	}
	return f.Field.Encoding()
}

// A nullColumn is the type UNKNOWN with the kind that its schema element names.
type nullColumn struct{ parquet.Type }

// Kind implements [parquet.Type].
func (nullColumn) Kind() parquet.Kind { return parquet.Int32 }
