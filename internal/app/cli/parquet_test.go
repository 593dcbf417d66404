package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/urlfold/urlfold/internal/app/cli/command"
)

// cmdParquet writes the rows of a Parquet file as JSON objects without nulls:
// parquet FROM TO.
func cmdParquet(ts *testscript.TestScript, _ bool, args []string) {
	file := []byte(ts.ReadFile(args[0]))
	r := parquet.NewGenericReader[any](bytes.NewReader(file))
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	for {
		var rows [16]any
		n, err := r.Read(rows[:])
		for _, row := range rows[:n] {
			ts.Check(enc.Encode(withoutNulls(row)))
		}
		if errors.Is(err, io.EOF) {
			break
		}
		ts.Check(err)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), text.Bytes(), 0o666))
}

// withoutNulls returns v without members that are null, and with bytes as text.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if v[name] = withoutNulls(member); v[name] == nil {
				delete(v, name)
			}
		}
	case []any:
		for i := range v {
			v[i] = withoutNulls(v[i])
		}
	case []byte:
		return string(v)
	}
	return v
}

// TestParquetDamage checks that a damaged page gives the same verdict in every
// column of a file that is rewritten, and that check gives it too.
func TestParquetDamage(t *testing.T) {
	const file = "../../storage/parquet/testdata/arrow-v1-gzip-plain.parquet" // row groups of 100 rows
	for _, c := range []struct {
		column string
		at     int // in its page of the second row group
		args   []string
	}{
		{"url", 5600, nil},
		{"i32", 4560, nil},
		{"i32", 4560, []string{"--where", `url contains "a"`}},
		{"i32", 4560, []string{"--dedupe"}},
		{"map.key_value.key", 8020, nil},
	} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		b[c.at] ^= 4
		dir := t.TempDir()
		in := filepath.Join(dir, "in.parquet")
		if err := os.WriteFile(in, b, 0o666); err != nil {
			t.Fatal(err)
		}
		want := "row group 2 of 3, column " + c.column + ", row 101: damaged page: "
		for _, args := range [][]string{{"check"}, append([]string{"-o", filepath.Join(dir, "out.parquet"), "--summary", "-"}, c.args...)} {
			cmd, stderr := program(t, append(args, "--url-field", "url", in)...)
			out, err := cmd.Output()
			if exit := code(t, err); exit != command.ExitFailOn || !strings.Contains(string(out), want) {
				t.Errorf("%v: exit code %d, want %q in\n%s%s", args, exit, want, out, stderr)
			}
		}
		out, err := os.ReadFile(filepath.Join(dir, "out.parquet"))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := parquet.Read[struct {
			ID int64 `parquet:"id"`
		}](bytes.NewReader(out), int64(len(out)))
		if err != nil || len(rows) == 0 || rows[len(rows)-1].ID > 199 {
			t.Errorf("%s: %d rows, %v", c.column, len(rows), err)
		}
	}
}
