package avro

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/twmb/avro"
	"github.com/twmb/avro/ocf"

	"github.com/urlfold/urlfold/internal/storage/table"
)

type noCloser struct{}

func (noCloser) Close() error { return nil }

// rewrite copies files into one, with the lines that edit returns. A line
// without a line feed is dropped.
func rewrite(edit func(row int, line string) string, names []string, files ...[]byte) ([]byte, error) {
	var out bytes.Buffer
	open := func(name string) (table.Input, error) {
		file := files[name[0]-'0']
		return table.Input{ReaderAt: bytes.NewReader(file), Closer: noCloser{}, Size: int64(len(file))}, nil
	}
	w, err := NewRewriter(&out, open, "0", names)
	if err != nil {
		return nil, err
	}
	for n, file := range files {
		lines, err := text(file, names...)
		if err != nil && lines == "" {
			return nil, err
		}
		row := 0
		for line := range strings.Lines(lines) {
			if line = edit(row, line); strings.HasSuffix(line, "\n") {
				half := len(line) / 2
				if err := errors.Join(w.Add(fmt.Sprint(n), int64(row), []byte(line[:half])), w.Add(fmt.Sprint(n), int64(row), []byte(line[half:]))); err != nil {
					return nil, err
				}
			}
			if row++; row%77 == 0 {
				if err := w.Flush(); err != nil {
					return nil, err
				}
			}
		}
	}
	err = w.Close()
	return out.Bytes(), err
}

// records returns the values in a file, as the library reads them.
func records(t testing.TB, file []byte) (list []map[string]any, r *ocf.Reader) {
	t.Helper()
	r, err := ocf.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		var v any
		switch err := r.Decode(&v); err {
		case nil:
			list = append(list, v.(map[string]any))
		case io.EOF:
			return list, r
		default:
			t.Fatal(err)
		}
	}
}

var codecs = []ocf.Codec{nil, ocf.DeflateCodec(6), ocf.SnappyCodec(), ocf.MustZstdCodec(nil, nil)}

// TestRewriteNothing: a file in which nothing changes is the same file.
func TestRewriteNothing(t *testing.T) {
	for _, codec := range codecs {
		file := encode(t, 1050, codec)
		got, err := rewrite(func(_ int, line string) string { return line }, nil, file)
		if err != nil || !bytes.Equal(got, file) {
			t.Errorf("%d bytes of %d, %v", len(got), len(file), err)
		}
	}
}

// TestRewrite: values change in two fields, whose order is not that of the
// columns, some records are dropped, and all other fields stay.
func TestRewrite(t *testing.T) {
	for _, codec := range codecs {
		file := encode(t, 1050, codec)
		got, err := rewrite(func(row int, line string) string {
			switch {
			case row%10 == 3 || row >= 300 && row < 500:
				return ""
			case row < 700:
				return strings.ReplaceAll(strings.ReplaceAll(line, "http://r/", "https://longer.example/"), "HTTP", "http")
			}
			return line
		}, []string{"referrer", "request.url"}, file)
		if err != nil {
			t.Fatal(err)
		}
		list, r := records(t, got)
		before, r0 := records(t, file)
		if string(r.Metadata()["avro.codec"]) != string(r0.Metadata()["avro.codec"]) || string(r.Metadata()["avro.schema"]) != string(r0.Metadata()["avro.schema"]) {
			t.Error("the header differs")
		}
		if !bytes.Equal(got[len(got)-syncSize:], file[len(file)-syncSize:]) {
			t.Error("the mark differs")
		}
		for row, want := range before {
			if row%10 == 3 || row >= 300 && row < 500 {
				continue
			}
			if row < 700 {
				want["referrer"] = strings.Replace(want["referrer"].(string), "http://r/", "https://longer.example/", 1)
				request := want["request"].(map[string]any)
				if url, ok := request["url"].(string); ok {
					request["url"] = strings.Replace(url, "HTTP", "http", 1)
				}
			}
			if len(list) == 0 || fmt.Sprint(list[0]) != fmt.Sprint(want) {
				t.Fatalf("record %d: %v, want %v", row, list[0], want)
			}
			list = list[1:]
		}
		if len(list) > 0 {
			t.Errorf("%d records too many", len(list))
		}
	}
}

// TestRewriteSeveral: several inputs with one schema become one output, which is
// compressed like the first.
func TestRewriteSeveral(t *testing.T) {
	first, second := encode(t, 250, ocf.SnappyCodec()), encode(t, 130, nil)
	got, err := rewrite(func(_ int, line string) string { return line }, nil, first, second)
	if err != nil {
		t.Fatal(err)
	}
	if list, _ := records(t, got); len(list) != 380 || list[379]["id"] != int64(129) {
		t.Errorf("%d records", len(list))
	}
	other := strings.Replace(string(first), `"tags"`, `"togs"`, 1)
	if _, err := rewrite(func(_ int, line string) string { return line }, nil, first, []byte(other)); err == nil || !strings.Contains(err.Error(), "1: the schema differs from the schema of 0") {
		t.Errorf("%v", err)
	}
}

// TestDamagedBlock: the blocks after a damaged one are read and rewritten, and
// the error has the place of the damage.
func TestDamagedBlock(t *testing.T) {
	for _, codec := range codecs {
		file := encode(t, 1050, codec)
		mark := file[len(file)-syncSize:]
		var ends []int
		for at := 0; ; {
			i := bytes.Index(file[at:], mark)
			if i < 0 {
				break
			}
			at += i + syncSize
			ends = append(ends, at)
		}
		damaged := bytes.Clone(file)
		damaged[ends[3]+2]++ // in the size or the data of the fourth block
		damaged[ends[4]-1-syncSize]++
		damaged[ends[6]-1]++ // in the mark after the sixth
		got, err := text(damaged)
		want := fmt.Sprintf("bytes %d to %d, after record 300, are damaged: ", ends[3], ends[4])
		if codec == nil {
			if err == nil { // a change of a text is not seen without a checksum
				t.Error("no error")
			}
		} else if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(), "; another part of the file is damaged, too") {
			t.Errorf("%v, want %s", err, want)
		}
		rows := strings.Count(got, "\n")
		if codec != nil && rows != 1050-300 { // the block after a damaged mark is lost, too
			t.Errorf("%d records", rows)
		}
		out, err := rewrite(func(_ int, line string) string { return strings.Replace(line, "HTTP", "http", 1) }, nil, damaged)
		if err != nil {
			t.Fatal(err)
		}
		if list, _ := records(t, out); len(list) != rows {
			t.Errorf("%d records rewritten, %d read", len(list), rows)
		}
	}
}

// TestRewriteMutated checks that no damage causes a panic, and that what is
// written can be read.
func TestRewriteMutated(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	files := [][]byte{encode(t, 240, nil), encode(t, 240, ocf.DeflateCodec(6)), encode(t, 240, ocf.SnappyCodec())}
	written := 0
	for i := range 1500 {
		damaged := bytes.Clone(files[i%len(files)])
		for range 1 + rng.IntN(4) {
			damaged[rng.IntN(len(damaged))] = byte(rng.Uint32())
		}
		lines, _ := text(damaged, "request.url")
		out, err := rewrite(func(_ int, line string) string { return strings.Replace(line, "HTTP", "http", 1) }, []string{"request.url"}, damaged)
		if err != nil {
			continue
		}
		written++
		if got, err := text(out, "request.url"); err != nil || got != strings.ReplaceAll(lines, "HTTP", "http") {
			t.Fatalf("%v: %.200q, want %.200q", err, got, strings.ReplaceAll(lines, "HTTP", "http"))
		}
	}
	if written < 500 {
		t.Errorf("only %d of 1500 files are rewritten", written)
	}
}

// TestLongBlocks checks that a long block that changes is written as several ones,
// wherever the first change is, and that one without changes stays.
func TestLongBlocks(t *testing.T) {
	const n = 700
	schema, err := avro.Parse(`{"type": "record", "name": "R", "fields": [{"name": "url", "type": "string"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, codec := range []ocf.Codec{ocf.DeflateCodec(1), ocf.SnappyCodec(), nil} {
		var file bytes.Buffer
		opts := []ocf.WriterOpt{ocf.WithBlockCount(n), ocf.WithBlockBytes(64 << 20)}
		if codec != nil {
			opts = append(opts, ocf.WithCodec(codec))
		}
		w, err := ocf.NewWriter(&file, schema, opts...)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			err = errors.Join(err, w.Encode(map[string]any{"url": fmt.Sprintf("http://h/%d/%s", i, strings.Repeat("x", 10_000))}))
		}
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		lines, err := readFile(file.Bytes())
		if err != nil || strings.Count(lines, "\n") != n {
			t.Fatal(strings.Count(lines, "\n"), err)
		}
		for _, changed := range []int{0, 300, 600, n - 1, n} {
			for _, drop := range []bool{false, true} {
				edit := func(row int, line string) string {
					switch {
					case row != changed:
						return line
					case drop:
						return ""
					}
					return strings.Replace(line, "h/", "host/", 1)
				}
				out, err := rewrite(edit, nil, file.Bytes())
				if err != nil {
					t.Fatal(err)
				}
				var want strings.Builder
				row := 0
				for line := range strings.Lines(lines) {
					want.WriteString(edit(row, line))
					row++
				}
				if got, err := readFile(out); got != want.String() || err != nil {
					t.Errorf("record %d, dropped %t: %d lines, %v", changed, drop, strings.Count(got, "\n"), err)
				}
				c, err := openContainer(bytes.NewReader(out), int64(len(out)), nil)
				if err != nil {
					t.Fatal(err)
				}
				blocks := 0
				for ; err == nil; blocks++ {
					_, err = c.next()
				}
				c.close()
				if want := map[bool]int{true: 1, false: 2}[changed == n || drop && changed == n-1]; blocks-1 != want {
					t.Errorf("record %d, dropped %t: %d blocks, want %d", changed, drop, blocks-1, want)
				}
			}
		}
	}
}
