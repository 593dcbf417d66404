package record

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// decodeRow decodes a row of RenderParquet by the description in columns.go,
// into the object that jsonl would have.
func decodeRow(t *testing.T, columns []Column, row []byte) (object map[string]any, rest []byte) {
	t.Helper()
	object = map[string]any{}
	for i := range columns {
		var v any
		if v, row = decodeColumn(t, &columns[i], row); v != nil {
			object[columns[i].Name] = v
		}
	}
	if len(row) == 0 || row[0] != '\n' {
		t.Fatalf("row does not end with a line feed: %q", row)
	}
	return object, row[1:]
}

// readNumber reads the number at the start of row. rest is nil if it is not valid.
func readNumber(row []byte) (n int, ok bool, rest []byte) {
	r := ColumnReader{In: row}
	n, ok = r.Number()
	return n, ok, r.In
}

func decodeColumn(t *testing.T, c *Column, row []byte) (v any, rest []byte) {
	t.Helper()
	n, ok, rest := readNumber(row)
	if rest == nil {
		t.Fatalf("%s: malformed number in %q", c.Name, row)
	}
	text := func(n int, rest []byte) (string, []byte) {
		if n > len(rest) || !utf8.Valid(rest[:n]) {
			t.Fatalf("%s: string of %d bytes is not valid in %q", c.Name, n, rest)
		}
		return string(rest[:n]), rest[n:]
	}
	switch {
	case !ok:
		return nil, rest
	case c.Kind == ColumnInt:
		return float64(n), rest
	case c.Kind == ColumnStrings:
		list := []any{}
		for range n {
			var s string
			k, _, more := readNumber(rest)
			s, rest = text(k, more)
			list = append(list, s)
		}
		return list, rest
	case c.Kind == ColumnDiagnostics:
		list := []any{}
		for range n {
			member := map[string]any{}
			for i := range c.Members {
				var v any
				if v, rest = decodeColumn(t, &c.Members[i], rest); v != nil {
					member[c.Members[i].Name] = v
				}
			}
			list = append(list, member)
		}
		return list, rest
	}
	s, rest := text(n, rest)
	if c.Kind == ColumnDecimal {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		return x, rest
	}
	if c.Kind == ColumnJSON {
		if err := json.Unmarshal([]byte(s), &v); err != nil {
			t.Fatalf("%s: %v in %q", c.Name, err, s)
		}
		return v, rest
	}
	return s, rest
}

// TestColumns checks that rows have the values of jsonl, on all formats and
// seeds.
func TestColumns(t *testing.T) {
	rows := 0
	each(func(c Config) {
		if c.Render != RenderParquet {
			return
		}
		c = allFields(c)
		j := newJob(t, c)
		out, _, st := runJob(t, j, []byte(strings.Join(seeds(), "\n")+"\n"))
		c.Render = RenderJSONL
		text, _, stJSON := runJob(t, newJob(t, c), []byte(strings.Join(seeds(), "\n")+"\n"))
		if st != stJSON {
			t.Errorf("%s: counts %+v, with jsonl %+v", c.Format, st, stJSON)
		}
		for line := range bytes.Lines(text) {
			var want map[string]any
			if err := json.Unmarshal(line, &want); err != nil {
				t.Fatal(err)
			}
			var got map[string]any
			got, out = decodeRow(t, j.Columns(), out)
			asJSON(got, want)
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: got\n%v\nwant\n%v", c.Format, got, want)
			}
			rows++
		}
		if len(out) > 0 {
			t.Errorf("%s: more rows than objects", c.Format)
		}
	})
	if rows < 1000 {
		t.Errorf("compared %d rows, want at least 1000", rows)
	}
}

// asJSON undoes the documented differences between a row and an object: two
// columns have other names, bytes that are not UTF-8 are percent-encoded in
// fields other than url and record, and the row of a rejected record has
// offset and the fields that are the same for every record.
func asJSON(row, object map[string]any) {
	for from, to := range map[string]string{"error_at": "at", "error_flag": "flag"} {
		if v, ok := row[from]; ok {
			row[to] = v
			delete(row, from)
		}
	}
	if _, ok := object["url"]; !ok && object["url_b64"] == nil {
		delete(row, "offset")
		for f := range numFields {
			if ofJob.has(f) {
				delete(row, fieldNames[f])
			}
		}
	}
	list, _ := object["diagnostics"].([]any)
	for _, d := range list {
		asText(d.(map[string]any))
	}
	asText(object)
}

// asText replaces the members of an object that are in base64 by the text that a
// row has for them.
func asText(object map[string]any) {
	for name, v := range object {
		bare, ok := strings.CutSuffix(name, "_b64")
		if !ok || bare == "url" || bare == "record" {
			continue
		}
		raw, _ := base64.StdEncoding.DecodeString(v.(string))
		delete(object, name)
		var text strings.Builder
		for i, r := range string(raw) {
			if r == utf8.RuneError && raw[i] != 0xef {
				fmt.Fprintf(&text, "%%%02X", raw[i])
				continue
			}
			text.WriteRune(r)
		}
		object[bare] = text.String()
	}
}

// TestColumnsWithoutError checks that rejected records are left out if no field
// tells why.
func TestColumnsWithoutError(t *testing.T) {
	j := newJob(t, Config{Format: "combined", Render: RenderParquet, Fields: []string{"line", "norm"}})
	out, _, st := runJob(t, j, []byte(`h - - [t] "GET /%7e HTTP/1.1" 200 1`+"\nx\n"+`h - - [t] "GET http://[/ HTTP/1.1" 200 1`+"\n"))
	row, rest := decodeRow(t, j.Columns(), out)
	if len(rest) > 0 || row["line"] != 1.0 || row["norm"] != "/~" || st.Dropped != 2 {
		t.Errorf("%v, then %q, %+v", row, rest, st)
	}
}

func TestColumnReader(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		ok   bool
		rest int // -1: not valid
	}{
		{"", -1, false, -1}, {"\x80", -1, false, -1}, {"\x00a", -1, false, 1}, {"\x01", 0, true, 0}, {"\x81\x01b", 128, true, 1},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", -1, false, -1},
	} {
		n, ok, rest := readNumber([]byte(c.in))
		if n != c.n || ok != c.ok || (rest == nil) != (c.rest < 0) || rest != nil && len(rest) != c.rest {
			t.Errorf("%q: %d, %v, %q", c.in, n, ok, rest)
		}
	}
}
