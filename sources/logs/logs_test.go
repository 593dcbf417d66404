package logs_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/sources/logs"
)

const line = `192.0.2.1 - - [22/Nov/2026:10:00:%02d +0000] "GET /%%7e%d HTTP/1.1" 200 5 "-" "agent"` + "\n"

// log returns the text of an access log with n lines.
func log(n int) (text []byte) {
	for i := range n {
		text = fmt.Appendf(text, line, i%60, i)
	}
	return text
}

// zip returns text as a gzip member.
func zip(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// write creates a file and returns its path.
func write(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// read returns the normal forms and errors of all records.
func read(r *logs.Reader) (norms []string, errs []error) {
	for rec, err := range r.Records() {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for u := range rec.URLs() {
			norms = append(norms, cmp.Or(string(u.Norm()), string(u.Reason())))
		}
	}
	return norms, errs
}

func TestOpen(t *testing.T) {
	text := log(3)
	for name, data := range map[string][]byte{"a.log": text, "a.gz": zip(t, text), "members": append(zip(t, text[:100]), zip(t, text[100:])...)} {
		r, err := logs.Open(write(t, name, data), nil)
		if err != nil {
			t.Fatal(err)
		}
		norms, errs := read(r)
		if !slices.Equal(norms, []string{"/~0", "/~1", "/~2"}) || len(errs) > 0 || r.Guess() != (record.Guess{Format: "combined", Records: 3, Fit: 3}) {
			t.Errorf("%s: %q, %v, %+v", name, norms, errs, r.Guess())
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if norms, errs := read(logs.NewReader(bytes.NewReader(zip(t, text)), nil)); len(norms) != 3 || len(errs) > 0 {
		t.Errorf("a stream: %q, %v", norms, errs)
	}
	if _, err := logs.Open(filepath.Join(t.TempDir(), "none"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// TestDamage returns the records before damage, and says what is verified.
func TestDamage(t *testing.T) {
	text := log(2000)
	whole := zip(t, text)
	wrong := bytes.Clone(whole)
	wrong[len(wrong)-5] ^= 1 // the checksum
	unended := zip(t, bytes.TrimSuffix(text, []byte("\n")))
	unended[len(unended)-5] ^= 1
	for name, c := range map[string]struct {
		data []byte
		kind logs.DamageKind
	}{
		"cut":            {whole[:len(whole)/2], logs.Truncated},
		"cut after one":  {append(zip(t, text), whole[:len(whole)/2]...), logs.Truncated},
		"wrong checksum": {wrong, logs.BadCRC},
		"no line end":    {append(zip(t, text), unended...), logs.BadCRC},
		"UTF-16":         {[]byte("\xff\xfeh\x00"), logs.UnsupportedEncoding},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, "x", c.data)
			r, err := logs.Open(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			norms, errs := read(r)
			var damage *logs.DamageError
			if len(errs) != 1 || !errors.As(errs[0], &damage) || damage.Path != path || damage.Kind != c.kind {
				t.Fatalf("%d records, errors %v", len(norms), errs)
			}
			switch {
			case name == "no line end" && len(norms) != 4000, name == "wrong checksum" && len(norms) != 2000,
				name == "cut" && (len(norms) < 100 || len(norms) >= 2000 || damage.Verified != 0 || !damage.Checksums),
				name == "cut after one" && (len(norms) < 2100 || len(norms) >= 4000 || damage.Verified != int64(len(text))):
				t.Errorf("%d records before %+v", len(norms), damage)
			}
			for i, norm := range norms {
				if norm != fmt.Sprintf("/~%d", i%2000) {
					t.Fatalf("record %d has the URL %s: an incomplete one", i, norm)
				}
			}
		})
	}
}

// TestOpenAll goes on with the next file after one that fails.
func TestOpenAll(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string][]byte{
		"1.log": log(1), "2.log": zip(t, log(2))[:30], "3.log": []byte("\x01\x02\n"), "4.log": []byte("http://a/%7e\n"), "5.log": {},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := logs.OpenAll(nil, filepath.Join(dir, "*.log"), filepath.Join(dir, "none"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for rec, err := range r.Records() {
		name := filepath.Base(r.Path())
		if err != nil {
			if !strings.HasPrefix(err.Error(), r.Path()+": ") && name != "none" {
				t.Errorf("the error does not begin with the path: %v", err)
			}
			got = append(got, name+" error")
			continue
		}
		file, _ := rec.Field(record.FieldFile)
		norm, _ := rec.Field(record.FieldNorm)
		got = append(got, fmt.Sprintf("%s %s %s", filepath.Base(string(file)), r.Guess().Format, norm))
	}
	if want := []string{"1.log combined /~0", "2.log error", "3.log error", "4.log lines http://a/~", "none error"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := logs.OpenAll(nil, filepath.Join(dir, "*.gz")); err == nil || !strings.Contains(err.Error(), "no files match the pattern") {
		t.Errorf("got %v", err)
	}
}

// TestClose leaves a loop, closes, and finds nothing more.
func TestClose(t *testing.T) {
	r, err := logs.OpenAll(nil, write(t, "a", log(2)), write(t, "b", log(2)))
	if err != nil {
		t.Fatal(err)
	}
	for range r.Records() {
		break
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if norms, errs := read(r); len(norms)+len(errs) > 0 {
		t.Errorf("%q, %v", norms, errs)
	}
}

// TestRows reads the URLs of Parquet and Avro files.
func TestRows(t *testing.T) {
	const parquet = "../../internal/storage/parquet/testdata/arrow-v1-gzip-plain.parquet"
	r, err := logs.Open(parquet, &record.Job{URLField: "url"})
	if err != nil {
		t.Fatal(err)
	}
	norms, errs := read(r)
	if len(norms) < 10 || len(errs) > 0 || r.Guess().Format != "parquet-rows" {
		t.Errorf("%d URLs, %v, %+v", len(norms), errs, r.Guess())
	}
	r, err = logs.Open(write(t, "x.avro", avroFile("HTTP://A/\t%7e", "http://b/")), nil)
	if err != nil {
		t.Fatal(err)
	}
	if norms, errs = read(r); !slices.Equal(norms, []string{"http://a/~", "http://b/"}) || len(errs) > 0 {
		t.Errorf("%q, %v", norms, errs)
	}
	r, err = logs.Open(parquet, &record.Job{URLField: "uri"})
	if err != nil {
		t.Fatal(err)
	}
	if norms, errs = read(r); len(norms) > 0 || len(errs) != 1 || !strings.Contains(errs[0].Error(), `no text column "uri"`) {
		t.Errorf("%q, %v", norms, errs)
	}
}

// avroFile returns an Avro file with rows that have a field url.
func avroFile(urls ...string) []byte {
	text := func(dst []byte, s string) []byte { return append(binary.AppendVarint(dst, int64(len(s))), s...) }
	const sync = "0123456789abcdef"
	out := binary.AppendVarint([]byte("Obj\x01"), 1)
	out = text(text(out, "avro.schema"), `{"type":"record","name":"r","fields":[{"name":"url","type":"string"}]}`)
	out = append(append(out, 0), sync...)
	var rows []byte
	for _, url := range urls {
		rows = text(rows, url)
	}
	out = binary.AppendVarint(out, int64(len(urls)))
	return append(text(out, string(rows)), sync...)
}

// Task: the URL, the status and the time of each record of a compressed log.
func ExampleOpen() {
	r, err := logs.Open("testdata/access.log.gz", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	for rec, err := range r.Records() {
		if err != nil {
			fmt.Println(err) // a *logs.DamageError says where, and what is verified
			return
		}
		if url, ok := rec.Field(record.FieldNorm); ok {
			fmt.Printf("%s ", url)
			status, _ := rec.Field(record.FieldStatus)
			at, _ := rec.Time()
			fmt.Println(string(status), at)
		}
	}
	// Output:
	// /~a 200 2026-11-22 10:00:00 +0000 UTC
	// /b?c=d 404 2026-11-22 10:00:01 +0000 UTC
}

// TestDamageKinds: the kinds have the names of the verdicts.
func TestDamageKinds(t *testing.T) {
	for verdict, kind := range map[compress.Kind]logs.DamageKind{
		compress.Truncated: logs.Truncated, compress.BadCRC: logs.BadCRC, compress.Corrupt: logs.Corrupt, compress.Limit: logs.OverLimit,
		compress.UnsupportedEncoding: logs.UnsupportedEncoding, compress.UnsupportedFormat: logs.UnsupportedFormat, compress.Unreadable: logs.Unreadable,
	} {
		if verdict.String() != string(kind) {
			t.Errorf("%v is %v", verdict, kind)
		}
	}
}
