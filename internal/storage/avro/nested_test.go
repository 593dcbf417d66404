package avro

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/urlfold/urlfold/internal/storage/table"
)

// nested returns the schema of a record Ln that has two fields of the record Ln-1, and so
// on, down to a record with one field of the type leaf.
func nested(n int, leaf string) string {
	schema := fmt.Sprintf(`{"type": "record", "name": "L0", "fields": [{"name": "leaf", "type": %q}]}`, leaf)
	for i := 1; i <= n; i++ {
		schema = fmt.Sprintf(`{"type": "record", "name": "L%d", "fields": [{"name": "a", "type": %s}, {"name": "b", "type": "L%d"}]}`, i, schema, i-1)
	}
	return schema
}

// fileOf returns a file with one block of one record, whose first field is a URL.
func fileOf(deep string, record []byte) []byte {
	text := func(b []byte, s string) []byte { return append(binary.AppendVarint(b, int64(len(s))), s...) }
	mark := "0123456789abcdef"
	b := binary.AppendVarint([]byte("Obj\x01"), 1)
	b = text(text(b, "avro.schema"), `{"type": "record", "name": "R", "fields": [{"name": "url", "type": "string"}, {"name": "deep", "type": `+deep+`}]}`)
	b = append(append(b, 0), mark...)
	data := append(text(nil, "http://h/"), record...)
	b = append(binary.AppendVarint(binary.AppendVarint(b, 1), int64(len(data))), data...)
	return append(b, mark...)
}

func readFile(file []byte, names ...string) (string, error) {
	r, err := OpenText(bytes.NewReader(file), int64(len(file)), names)
	if err != nil {
		return "", err
	}
	defer r.Close()
	got, err := io.ReadAll(r)
	return string(got), err
}

// TestNestedSchemas checks that schemas of a few kilobytes whose values have 2^60 parts
// are refused, wherever these are, and that types which are named again are found.
func TestNestedSchemas(t *testing.T) {
	array := func(items string) string { return `{"type": "array", "items": ` + items + `}` }
	for _, leaf := range []string{"null", "string", "int"} {
		if got, err := readFile(fileOf(nested(60, leaf), nil), "url"); err == nil {
			t.Errorf("records of %s: %q", leaf, got)
		}
		if got, err := readFile(fileOf(array(nested(60, leaf)), []byte{2, 0}), "url"); err == nil {
			t.Errorf("array of records of %s: %q", leaf, got)
		}
	}
	if got, err := readFile(fileOf(array(nested(60, "null")), []byte{0}), "url"); err != nil || got != "http://h/\n" {
		t.Errorf("empty array: %q, %v", got, err)
	}
	leaves := []byte("\x02a\x02b\x02c\x02d")
	if got, err := readFile(fileOf(nested(2, "string"), leaves), "deep.b.a.leaf"); err != nil || got != "c\n" {
		t.Errorf("a type that is named again: %q, %v", got, err)
	}
	if _, err := readFile(fileOf(nested(2, "string"), leaves), "deep.b.c"); !errors.As(err, new(*table.ColumnError)) {
		t.Errorf("an unknown field: %v", err)
	}
	many := fileOf(nested(10, "null"), nil)
	if got, err := readFile(many, "url"); err != nil || got != "http://h/\n" {
		t.Errorf("1,024 values without bytes: %q, %v", got, err)
	}
}
