package parquet

import (
	"bytes"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// TestNullColumns checks that a column without a type, whose values are all
// null, has a physical type in the index of a rewritten file.
func TestNullColumns(t *testing.T) {
	none := parquet.Optional(parquet.Leaf(parquet.NullType))
	schema := parquet.NewSchema("schema", parquet.Group{
		"url": parquet.String(), "none": none, "in": parquet.Group{"none": none, "n": parquet.Encoded(parquet.Int(64), &parquet.DeltaBinaryPacked)},
	})
	var file bytes.Buffer
	w := parquet.NewGenericWriter[any](&file, schema)
	rows := []parquet.Row{{parquet.Int64Value(7).Level(0, 0, 0), parquet.NullValue().Level(0, 0, 1), parquet.NullValue().Level(0, 0, 2), parquet.ByteArrayValue([]byte("http://h/%7ea")).Level(0, 0, 3)}}
	if _, err := w.WriteRows(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := rewrite(map[string][]byte{"f": file.Bytes()}, []string{"url"}, func(add adder) error { return add("f", 0, "http://h/~a\n") })
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(out), int64(len(out)))
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Schema().String(); got != schema.String() {
		t.Errorf("schema is now\n%s, want\n%s", got, schema)
	}
	for _, c := range f.Metadata().RowGroups[0].Columns {
		if c.MetaData.Type < 0 {
			t.Errorf("column %v has the type %v", c.MetaData.PathInSchema, c.MetaData.Type)
		}
	}
	if got, err := text(out, "url"); got != "http://h/~a\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
