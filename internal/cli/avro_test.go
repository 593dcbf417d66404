package cli

import (
	"bytes"
	"errors"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/twmb/avro"
	"github.com/twmb/avro/ocf"
)

// cmdAvro writes the lines of a file to an Avro file, as records with the field
// url, or null for an empty line: avro FROM TO.
func cmdAvro(ts *testscript.TestScript, _ bool, args []string) {
	schema, err := avro.Parse(`{"type": "record", "name": "Page", "fields": [
		{"name": "id", "type": "long"}, {"name": "url", "type": ["null", "string"]}]}`)
	ts.Check(err)
	var file bytes.Buffer
	w, err := ocf.NewWriter(&file, schema, ocf.WithBlockCount(100))
	ts.Check(err)
	for i, line := range strings.Split(strings.TrimSuffix(ts.ReadFile(args[0]), "\n"), "\n") {
		page := map[string]any{"id": int64(i), "url": nil}
		if line != "" {
			page["url"] = line
		}
		ts.Check(w.Encode(page))
	}
	ts.Check(errors.Join(w.Close(), os.WriteFile(ts.MkAbs(args[1]), file.Bytes(), 0o666)))
}
