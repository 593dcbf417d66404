package avro

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
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

// manyOf returns a file with one block of n records of a URL or null, of which one in
// 1,000 is a URL.
func manyOf(n int) []byte {
	text := func(b []byte, s string) []byte { return append(binary.AppendVarint(b, int64(len(s))), s...) }
	const mark = "0123456789abcdef"
	b := binary.AppendVarint([]byte("Obj\x01"), 1)
	b = text(text(b, "avro.schema"), `{"type": "record", "name": "R", "fields": [{"name": "url", "type": ["null", "string"]}]}`)
	b = append(append(b, 0), mark...)
	var data []byte
	for i := range n {
		if i%1000 > 0 {
			data = append(data, 0)
		} else {
			data = text(append(data, 2), fmt.Sprintf("http://h/%d", i))
		}
	}
	b = append(binary.AppendVarint(binary.AppendVarint(b, int64(n)), int64(len(data))), data...)
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

// TestNullableRecords checks that the fields of a record in a union are found, listed and
// rewritten, whatever the other branches are.
func TestNullableRecords(t *testing.T) {
	page := `{"type": "record", "name": "Page", "fields": [{"name": "n", "type": "int"}, {"name": "link", "type": ["null", "string"]}]}`
	for _, c := range []struct{ deep, path, record, want string }{
		{`["null", ` + page + `]`, "deep.link", "\x02\x08\x02\x12http://g/", "http://g/\n"},
		{`["null", ` + page + `]`, "deep.link", "\x00", "\n"},
		{`["null", ` + page + `]`, "deep.link", "\x02\x08\x00", "\n"},
		{`[` + page + `, "null", "int"]`, "deep.link", "\x00\x08\x02\x12http://g/", "http://g/\n"},
		{`[` + page + `, "null", "int"]`, "deep.link", "\x04\x08", "\n"},
		{`["null", {"type": "record", "name": "A", "fields": [{"name": "p", "type": ["null", ` + page + `]}, {"name": "q", "type": ["Page", "null"]}]}]`, "deep.p.link", "\x02\x02\x08\x02\x12http://g/\x02", "http://g/\n"},
		{`["null", {"type": "record", "name": "A", "fields": [{"name": "p", "type": ["null", ` + page + `]}, {"name": "q", "type": ["Page", "null"]}]}]`, "deep.q.link", "\x02\x00\x00\x08\x02\x12http://g/", "http://g/\n"},
		{`["null", ` + page + `, {"type": "record", "name": "B", "fields": [{"name": "link", "type": "string"}]}]`, "deep.link", "\x04\x12http://g/", "http://g/\n"},
	} {
		file := fileOf(c.deep, []byte(c.record))
		if got, err := readFile(file, c.path); err != nil || got != c.want {
			t.Errorf("%s with %q: %q, %v; want %q", c.deep, c.record, got, err, c.want)
		}
		var out bytes.Buffer
		open := func(string) (table.Input, error) {
			return table.Input{ReaderAt: bytes.NewReader(file), Closer: io.NopCloser(nil), Size: int64(len(file))}, nil
		}
		r, err := NewRewriter(&out, open, "in", []string{c.path})
		if err != nil {
			t.Fatal(err)
		}
		if c.want != "\n" {
			err = r.Add("in", 0, []byte("http://changed/\n"))
		} else {
			err = r.Add("in", 0, []byte(c.want))
		}
		if err = errors.Join(err, r.Flush(), r.Close()); err != nil {
			t.Fatal(err)
		}
		want := strings.Replace(c.want, "http://g/", "http://changed/", 1)
		if got, err := readFile(out.Bytes(), c.path); err != nil || got != want {
			t.Errorf("%s with %q, rewritten: %q, %v; want %q", c.deep, c.record, got, err, want)
		}
	}
}

// TestManyRecords checks that the offsets of the records of a block do not take memory
// for all of them, since a record can be a single byte, and that such a block is read and
// rewritten as any other.
func TestManyRecords(t *testing.T) {
	const n = 2*maxPart + 1000
	file := manyOf(n)
	c, err := openContainer(bytes.NewReader(file), int64(len(file)), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	rows := 0
	for {
		b, err := c.next()
		if err == io.EOF {
			break
		}
		if err != nil || b.first != int64(rows) || len(b.ends) > maxPart || cap(b.cells) > 2*maxPart {
			t.Fatalf("records from %d: %d, room for %d cells, %v", b.first, len(b.ends), cap(b.cells), err)
		}
		rows += len(b.ends)
	}
	if rows != n {
		t.Errorf("%d records, want %d", rows, n)
	}
	lines, err := readFile(file)
	if want := n; strings.Count(lines, "\n") != want || !strings.Contains(lines, "\nhttp://h/132000\n") || err != nil {
		t.Errorf("%d lines, %v", strings.Count(lines, "\n"), err)
	}
	same, err := rewrite(func(_ int, line string) string { return line }, nil, file)
	if err != nil || !bytes.Equal(same, file) {
		t.Errorf("nothing changes: %d bytes of %d, %v", len(same), len(file), err)
	}
	less, err := rewrite(func(row int, line string) string {
		if row == maxPart+5 {
			return ""
		}
		return strings.Replace(line, "http://h/132000", "http://h/last", 1)
	}, nil, file)
	if err != nil {
		t.Fatal(err)
	}
	got, err := readFile(less)
	want := slices.Collect(strings.Lines(strings.Replace(lines, "http://h/132000", "http://h/last", 1)))
	if want = slices.Delete(want, maxPart+5, maxPart+6); got != strings.Join(want, "") || err != nil {
		t.Errorf("a record less: %d bytes, %v", len(got), err)
	}
	damaged := bytes.Replace(file, []byte("\x02\x1ehttp://h/132000"), []byte("\x02\xfehttp://h/132000"), 1)
	if got, err := readFile(damaged); got != "" || err == nil {
		t.Errorf("damage after the first part: %d bytes, %v", len(got), err)
	}
}
