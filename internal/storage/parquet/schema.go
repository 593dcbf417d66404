package parquet

import (
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/compress/gzip"
	"github.com/parquet-go/parquet-go/compress/uncompressed"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/urlfold/urlfold/internal/record"
)

// codecOf returns the compression method called name; "" is the default.
func codecOf(name string) (compress.Codec, error) {
	switch name {
	case "", "zstd":
		return &zstd.Codec{Level: zstd.SpeedFastest}, nil
	case "gzip":
		return new(gzip.Codec), nil
	case "none":
		return new(uncompressed.Codec), nil
	}
	return nil, fmt.Errorf("parquet cannot be compressed with %q (must be one of: zstd, gzip, none)", name)
}

// An ordered is a group whose fields keep the order in which they are given. A
// parquet.Group sorts them by name.
type ordered struct {
	parquet.Group
	fields []parquet.Field
}

// Fields implements parquet.Node.
func (g ordered) Fields() []parquet.Field { return g.fields }

// groupOf returns a group with one field per column.
func groupOf(columns []record.Column, node func(c *record.Column) parquet.Node) parquet.Node {
	g := ordered{Group: parquet.Group{}}
	for i := range columns {
		g.Group[columns[i].Name] = node(&columns[i])
	}
	sorted := g.Group.Fields()
	for i := range columns {
		at := slices.IndexFunc(sorted, func(f parquet.Field) bool { return f.Name() == columns[i].Name })
		g.fields = append(g.fields, sorted[at])
	}
	return g
}

// nodeOf returns the type of a column.
func nodeOf(c *record.Column) parquet.Node {
	switch c.Kind {
	case record.ColumnInt:
		return parquet.Encoded(parquet.Int(64), &parquet.DeltaBinaryPacked)
	case record.ColumnDecimal:
		return parquet.Leaf(parquet.DoubleType)
	case record.ColumnTime:
		return parquet.Timestamp(parquet.Microsecond)
	case record.ColumnJSON:
		return parquet.JSON()
	case record.ColumnStrings:
		return parquet.List(leafOf(c))
	case record.ColumnDiagnostics:
		return parquet.List(groupOf(c.Members, memberOf))
	}
	return leafOf(c)
}

// memberOf returns the type of a member of a diagnostic. Only param may be
// absent.
func memberOf(c *record.Column) parquet.Node {
	switch {
	case c.Kind == record.ColumnInt:
		return parquet.Int(64)
	case c.Name == paramMember:
		return parquet.Optional(leafOf(c))
	}
	return leafOf(c)
}

// paramMember is the name of the only member of a diagnostic that may be
// absent.
const paramMember = "param"

// leafOf returns the type of a string column.
func leafOf(c *record.Column) parquet.Node {
	if c.Repeats {
		return parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
	}
	return parquet.String()
}
