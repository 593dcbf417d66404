package arrow

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record"
)

// rows returns the columns of fields, and their rows for text in a format.
func rows(t testing.TB, format, text string, fields ...string) ([]record.Column, []byte) {
	t.Helper()
	j, err := record.New(record.Config{Format: format, Render: record.RenderArrow, Fields: fields, Normalizer: codec.MustNamed("equiv")})
	if err != nil {
		t.Fatal(err)
	}
	w, st := j.NewWorker(), record.Stats{}
	var out []byte
	for i, line := range strings.SplitAfter(text, "\n") {
		if line != "" {
			out, _ = w.Append(out, nil, []byte(line), record.Position{Line: int64(i + 1)}, &st)
		}
	}
	return j.Columns(), out
}

// sample has every kind of column, with values, nulls and empty lists.
const sample = `192.0.2.1 - - [10/Oct/2026:13:55:36 +0000] "GET /%7e?q=a\xb HTTP/1.1" 200 2326 "http://Example.com/" "agent"
192.0.2.1 - - [10/Oct/2026:13:55:60 +0000] "GET http://example.com/ HTTP/1.1" 304 - "-" "-"
no record
`

var sampleFields = []string{"url", "norm", "flags", "diagnostics", "error", "line", "time", "duration", "status", "bytes"}

// TestWriter: a text column of what was written can be read.
func TestWriter(t *testing.T) {
	columns, data := rows(t, "combined", sample, sampleFields...)
	var stream bytes.Buffer
	w := NewWriter(&stream, columns, false)
	for range 2 {
		if err := w.Append(data); err != nil {
			t.Fatal(err)
		}
		w.AddNull()
		if err := w.Batch(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"norm":  `[/~?q=a\xb http://example.com/ null null /~?q=a\xb http://example.com/ null null]`,
		"error": "[null null unparsed null null null unparsed null]",
	} {
		if got, batches, err := readAll(bytes.NewReader(stream.Bytes()), name); err != nil || batches != 2 || fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s; %d batches, %v", name, got, want, batches, err)
		}
	}
	if err := w.Append([]byte{1}); err == nil {
		t.Error("a malformed row was written")
	}
}

// TestBatches: Append writes batches of bounded size.
func TestBatches(t *testing.T) {
	columns, row := rows(t, "lines", "http://example.com/"+strings.Repeat("x", 1000)+"\n", "norm")
	var stream bytes.Buffer
	w := NewWriter(&stream, columns, false)
	const n = 100_000
	for range n {
		if err := w.Append(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, batches, err := readAll(&stream, ""); err != nil || len(got) != n || batches < 6 || batches > 8 {
		t.Errorf("%d values in %d batches, %v", len(got), batches, err)
	}
}

// TestPyarrow: pyarrow finds streams and files valid.
func TestPyarrow(t *testing.T) {
	python := os.Getenv("URLFOLD_PYARROW")
	if python == "" {
		python = "python3"
	}
	if exec.Command(python, "-c", "import pyarrow").Run() != nil {
		t.Skip("no Python with pyarrow: set URLFOLD_PYARROW")
	}
	columns, data := rows(t, "combined", sample, sampleFields...)
	for _, file := range []bool{false, true} {
		for _, filled := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "out.arrow")
			f, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			w := NewWriter(f, columns, file)
			for i := 0; filled && i < 3; i++ {
				if err := w.Append(data); err != nil {
					t.Fatal(err)
				}
				if err := w.Batch(); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			_ = f.Close() // what was written is checked below
			open := map[bool]string{false: "open_stream", true: "open_file"}[file]
			out, err := exec.Command(python, "-c", `import sys, pyarrow
t = getattr(pyarrow.ipc, sys.argv[1])(pyarrow.OSFile(sys.argv[2])).read_all()
t.validate(full=True)
print(t.num_rows, *[v for name in t.column_names for v in t[name].to_pylist()[:2]], sep="|")`, open, path).CombinedOutput()
			want := "0\n"
			if filled {
				want = "9|" + `/%7e?q=a\xb|http://example.com/|` // the rest depends on the table of flags
			}
			if err != nil || !strings.HasPrefix(string(out), want) {
				t.Errorf("file %v: %v\n%s", file, err, out)
			}
		}
	}
}
