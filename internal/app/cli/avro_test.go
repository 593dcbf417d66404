package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
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

// cmdUnavro writes the records of an Avro file as JSON objects: unavro FROM TO.
func cmdUnavro(ts *testscript.TestScript, _ bool, args []string) {
	r, err := ocf.NewReader(strings.NewReader(ts.ReadFile(args[0])))
	ts.Check(err)
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	for {
		var v any
		err := r.Decode(&v)
		if errors.Is(err, io.EOF) {
			break
		}
		ts.Check(err)
		ts.Check(enc.Encode(v))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), text.Bytes(), 0o666))
}

// page is a record of the files of TestRewriteWhere.
type page struct {
	ID  int64  `parquet:"id"`
	URL string `parquet:"url"`
}

// TestRewriteWhere: when a condition drops rows of Parquet and Avro files, the
// other columns stay beside the URL of their row, over several batches, row
// groups and blocks.
func TestRewriteWhere(t *testing.T) {
	const rows = 60_000
	dir := t.TempDir()
	schema, err := avro.Parse(`{"type": "record", "name": "Page", "fields": [{"name": "id", "type": "long"}, {"name": "url", "type": "string"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	var avroFile, parquetFile bytes.Buffer
	a, err := ocf.NewWriter(&avroFile, schema, ocf.WithBlockCount(1000), ocf.WithCodec(ocf.DeflateCodec(1)))
	if err != nil {
		t.Fatal(err)
	}
	p := parquet.NewGenericWriter[page](&parquetFile, parquet.MaxRowsPerRowGroup(7000))
	for i := range int64(rows) {
		url := fmt.Sprintf("HTTP://h/%d/%%7e", i)
		if i%11 == 0 {
			url = ""
		}
		if err := a.Encode(map[string]any{"id": i, "url": url}); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Write([]page{{i, url}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(a.Close(), p.Close(), os.WriteFile(filepath.Join(dir, "in.avro"), avroFile.Bytes(), 0o666), os.WriteFile(filepath.Join(dir, "in.parquet"), parquetFile.Bytes(), 0o666)); err != nil {
		t.Fatal(err)
	}
	var want []string
	for i := range rows {
		switch {
		case i%11 == 0: // a blank line is not a record
			want = append(want, fmt.Sprint(i, " "))
		case slices.Contains([]int{1, 4, 7}, i%10) && (i < 20_000 || i >= 35_000):
			want = append(want, fmt.Sprintf("%d http://h/%d/~", i, i))
		}
	}
	for _, name := range []string{"in.avro", "in.parquet"} {
		out := filepath.Join(dir, "out"+filepath.Ext(name))
		runIn(t, dir, name, "-o", out, "--where", `(line <= 20000 || line > 35000) && path matches "[147]/"`)
		file, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if got := readPages(t, file); !slices.Equal(got, want) {
			t.Errorf("%s: %d rows, want %d", name, len(got), len(want))
		}
	}
}

// readPages returns the id and the URL of each record of an Avro or Parquet
// file.
func readPages(t *testing.T, file []byte) (list []string) {
	t.Helper()
	if bytes.HasPrefix(file, []byte("PAR1")) {
		r := parquet.NewGenericReader[page](bytes.NewReader(file))
		pages := make([]page, r.NumRows())
		if n, err := r.Read(pages); n < len(pages) {
			t.Fatal(err)
		}
		for _, p := range pages {
			list = append(list, fmt.Sprint(p.ID, " ", p.URL))
		}
		return list
	}
	r, err := ocf.NewReader(bytes.NewReader(file))
	for err == nil {
		var v map[string]any
		if err = r.Decode(&v); err == nil {
			list = append(list, fmt.Sprint(v["id"], " ", v["url"]))
		}
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return list
}
