package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"
	"github.com/rogpeppe/go-internal/testscript"
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
