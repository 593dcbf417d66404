package parquet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record"
)

// A diagnostic is the struct of the column diagnostics, as other programs read
// it.
type diagnostic struct {
	Flag      string `parquet:"flag" json:"flag"`
	At        int64  `parquet:"at" json:"at"`
	Component string `parquet:"component" json:"component"`
	Action    string `parquet:"action" json:"action"`
}

// A row has the default columns.
type row struct {
	URL         *string      `parquet:"url" json:"url"`
	URLBase64   *string      `parquet:"url_b64" json:"url_b64"`
	Norm        *string      `parquet:"norm" json:"norm"`
	Key         *string      `parquet:"key" json:"key"`
	Flags       []string     `parquet:"flags,list" json:"flags"`
	Diagnostics []diagnostic `parquet:"diagnostics,list" json:"diagnostics"`
	Host        *string      `parquet:"host" json:"host"`
	Query       *string      `parquet:"query" json:"query"`
	Error       *string      `parquet:"error" json:"error"`
	ErrorAt     *int64       `parquet:"error_at" json:"at"`
}

// newJob returns a job that reads URLs.
func newJob(t testing.TB, render record.Render, fields ...string) *record.Job {
	t.Helper()
	p, _ := codec.Lookup("equiv")
	n, err := codec.New(p)
	if err != nil {
		t.Fatal(err)
	}
	job, err := record.New(record.Config{Format: "lines", Render: render, Fields: fields, Normalizer: n, Level: codec.LevelEquivalent})
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// render returns the output of the job for lines.
func render(job *record.Job, lines []string) []byte {
	w := job.NewWorker()
	var st record.Stats
	var out []byte
	for i, line := range lines {
		out, _ = w.Append(out, nil, []byte(line+"\n"), record.Position{Name: "f", Line: int64(i + 1)}, &st)
	}
	return out
}

// write writes rows in pieces of batch bytes at most, as a pipeline would.
func write(t testing.TB, job *record.Job, compression string, batches ...[]byte) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := NewWriter(&file, job.Columns(), compression)
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range batches {
		if err := w.Append(rows); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

var lines = []string{
	"http://example.com/", "HTTP://Example.COM:80/%7Euser/?q=%zz#f", "http://[x", "/caf\xe9", "https://example.org/?", "",
	"http://example.net/a b\x00c", "mailto:someone@example.com",
}

// TestWriterRoundTrip checks that a library reads back what jsonl holds.
func TestWriterRoundTrip(t *testing.T) {
	for _, compression := range []string{"", "zstd", "gzip", "none"} {
		job := newJob(t, record.RenderParquet)
		file := write(t, job, compression, render(job, lines), render(job, lines))
		rows, err := parquet.Read[row](bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		text := render(newJob(t, record.RenderJSONL), append(append([]string{}, lines...), lines...))
		for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
			var want row
			if err := json.Unmarshal([]byte(line), &want); err != nil {
				t.Fatal(err)
			}
			got := rows[i]
			if got.Flags == nil && want.Flags != nil { // the library reads an empty list as an absent one
				got.Flags = []string{}
			}
			if got.Diagnostics == nil && want.Diagnostics != nil {
				got.Diagnostics = []diagnostic{}
			}
			if !reflect.DeepEqual(got, want) {
				a, _ := json.Marshal(got)
				b, _ := json.Marshal(want)
				t.Errorf("row %d:\n got %s\nwant %s", i, a, b)
			}
		}
	}
}

// TestWriterSchema checks that columns keep the order of the fields and have
// the documented types.
func TestWriterSchema(t *testing.T) {
	job := newJob(t, record.RenderParquet, "line", "url", "flags", "campaign", "diagnostics", "record")
	file := write(t, job, "")
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	const want = `message urls {
	optional int64 line (INT(64,true));
	optional binary url (STRING);
	optional binary url_b64 (STRING);
	optional group flags (LIST) {
		repeated group list {
			required binary element (STRING);
		}
	}
	optional binary campaign (JSON);
	optional group diagnostics (LIST) {
		repeated group list {
			required group element {
				required binary flag (STRING);
				required int64 at (INT(64,true));
				required int64 record_at (INT(64,true));
				required binary component (STRING);
				required binary action (STRING);
			}
		}
	}
	optional binary record (STRING);
	optional binary record_b64 (STRING);
}`
	if got := f.Schema().String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if f.NumRows() != 0 {
		t.Errorf("%d rows", f.NumRows())
	}
}

// TestWriterTypes checks the types of the fields of a log line.
func TestWriterTypes(t *testing.T) {
	n, err := codec.New(codec.Profiles()[0])
	if err != nil {
		t.Fatal(err)
	}
	job, err := record.New(record.Config{
		Format: "combined", Render: record.RenderParquet, Normalizer: n,
		Fields: []string{"time", "status", "bytes", "duration", "agent"},
	})
	if err != nil {
		t.Fatal(err)
	}
	type request struct {
		Time     *time.Time `parquet:"time,timestamp(microsecond)"`
		Status   *int64     `parquet:"status"`
		Bytes    *int64     `parquet:"bytes"`
		Duration *float64   `parquet:"duration"`
		Agent    *string    `parquet:"agent"`
	}
	file := write(t, job, "", render(job, []string{
		`192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 2326 "-" "b\xe9"`,
		`192.0.2.1 - - [t] "GET / HTTP/1.1" 404 99999999999999999999 "-" "-"`,
	}), []byte("\x00\x00\x00\x060.012\x00\n"))
	rows, err := parquet.Read[request](bytes.NewReader(file), int64(len(file)))
	if err != nil || len(rows) != 3 {
		t.Fatal(rows, err)
	}
	if r := rows[0]; !r.Time.Equal(time.Date(2000, 10, 10, 20, 55, 36, 0, time.UTC)) || *r.Status != 200 || *r.Bytes != 2326 || r.Duration != nil || *r.Agent != "b%E9" {
		t.Errorf("%+v", r)
	}
	if r := rows[1]; r.Time != nil || *r.Status != 404 || r.Bytes != nil || r.Agent != nil {
		t.Errorf("%+v", r)
	}
	if r := rows[2]; *r.Duration != 0.012 {
		t.Errorf("%+v", r)
	}
}

// TestWriterRowGroups checks that row groups are bounded in rows and that none
// is lost between them.
func TestWriterRowGroups(t *testing.T) {
	job := newJob(t, record.RenderParquet, "url", "line")
	const n = 2*groupRows + 5
	var batches [][]byte
	var batch []string
	for i := range n {
		if batch = append(batch, fmt.Sprintf("http://h/%d", i)); len(batch) == 4000 || i == n-1 {
			batches = append(batches, render(job, batch))
			batch = batch[:0]
		}
	}
	file := write(t, job, "", batches...)
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	var sizes []int64
	for _, g := range f.RowGroups() {
		sizes = append(sizes, g.NumRows())
	}
	if !reflect.DeepEqual(sizes, []int64{groupRows, groupRows, 5}) {
		t.Errorf("row groups of %v rows", sizes)
	}
	rows, err := parquet.Read[row](bytes.NewReader(file), int64(len(file)))
	if err != nil || len(rows) != n {
		t.Fatal(len(rows), err)
	}
	for i, r := range rows {
		if *r.URL != fmt.Sprintf("http://h/%d", i) {
			t.Fatalf("row %d: %s", i, *r.URL)
		}
	}
}

// TestWriterLargeRows checks that row groups are bounded in bytes.
func TestWriterLargeRows(t *testing.T) {
	job := newJob(t, record.RenderParquet, "record")
	rows := render(job, []string{"http://h/" + strings.Repeat("a", 60<<10)})
	n := groupBytes/len(rows) + 2*chunkRows // the limit is checked after each chunk
	file := write(t, job, "", bytes.Repeat(rows, n))
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.RowGroups()) < 2 || f.NumRows() != int64(n) {
		t.Errorf("%d row groups, %d rows, want at least 2 and %d", len(f.RowGroups()), f.NumRows(), n)
	}
}

// TestWriterMutated checks that damaged rows are an error and never a panic.
func TestWriterMutated(t *testing.T) {
	job := newJob(t, record.RenderParquet)
	rows := render(job, lines)
	rng := rand.New(rand.NewPCG(1, 2))
	bad := 0
	for range 5000 {
		damaged := bytes.Clone(rows)
		for range 1 + rng.IntN(3) {
			damaged[rng.IntN(len(damaged))] = byte(rng.Uint32())
		}
		damaged = damaged[:rng.IntN(len(damaged)+1)]
		w, err := NewWriter(io.Discard, job.Columns(), "none")
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Append(damaged); err != nil {
			if !errors.Is(err, errRow) {
				t.Fatal(err)
			}
			bad++
		}
	}
	if bad < 1000 {
		t.Errorf("only %d of 5000 damaged inputs are an error", bad)
	}
}

func TestWriterErrors(t *testing.T) {
	job := newJob(t, record.RenderParquet)
	if _, err := NewWriter(io.Discard, job.Columns(), "lzo"); err == nil {
		t.Error("unknown compression accepted")
	}
	full := errors.New("no space")
	w, err := NewWriter(failingWriter{full}, job.Columns(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Append(render(job, lines)), w.Close()); !errors.Is(err, full) {
		t.Errorf("got %v, want %v", err, full)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }
