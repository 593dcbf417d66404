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

	"github.com/urlfold/urlfold/internal/ground/tsv"
	"github.com/urlfold/urlfold/internal/storage/table"
)

// visitSchema has URLs at several depths and fields of many types around them.
const visitSchema = `{"type": "record", "name": "Visit", "namespace": "example", "fields": [
	{"name": "id", "type": "long"},
	{"name": "request", "type": {"type": "record", "name": "Request", "fields": [
		{"name": "headers", "type": {"type": "map", "values": "string"}},
		{"name": "url", "type": ["null", "string"]},
		{"name": "raw", "type": "bytes"}
	]}},
	{"name": "tags", "type": {"type": "array", "items": "string"}},
	{"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
	{"name": "price", "type": ["null", "double"]},
	{"name": "referrer", "type": "string"}
]}`

// encode returns an Avro file of n records.
func encode(t testing.TB, n int, codec ocf.Codec) []byte {
	t.Helper()
	s, err := avro.Parse(visitSchema)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	w, err := ocf.NewWriter(&file, s, ocf.WithCodec(codec), ocf.WithBlockCount(100))
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		var url any
		if i%4 != 3 {
			url = urlOf(i)
		}
		v := map[string]any{
			"id": int64(i), "tags": []any{"x", "y"}, "kind": "A", "price": nil, "referrer": fmt.Sprint("http://r/", i),
			"request": map[string]any{"headers": map[string]any{"a": "b"}, "url": url, "raw": []byte{0xff, byte(i)}},
		}
		if err := w.Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func urlOf(i int) string { return fmt.Sprintf("HTTP://h/%d\ta\\b\nc", i) }

// text returns the Text of a file.
func text(file []byte, names ...string) (string, error) {
	t, err := OpenText(bytes.NewReader(file), int64(len(file)), names)
	if err != nil {
		return "", err
	}
	defer t.Close()
	out, err := io.ReadAll(t)
	return string(out), err
}

func TestText(t *testing.T) {
	for _, codec := range []ocf.Codec{nil, ocf.DeflateCodec(6), ocf.SnappyCodec(), ocf.MustZstdCodec(nil, nil)} {
		file := encode(t, 2500, codec)
		got, err := text(file)
		if err != nil {
			t.Fatal(err)
		}
		both, err := text(file, "referrer", "request.url")
		if err != nil {
			t.Fatal(err)
		}
		var want, wantBoth strings.Builder
		for i := range 2500 {
			cell := ""
			if i%4 != 3 {
				cell = string(tsv.AppendEscaped(nil, []byte(urlOf(i))))
			}
			want.WriteString(cell + "\n")
			fmt.Fprintf(&wantBoth, "http://r/%d\t%s\n", i, cell)
		}
		if got != want.String() || both != wantBoth.String() {
			t.Error("text differs")
		}
	}
	if got, err := text(encode(t, 2, nil), "request.raw"); got != "\xff\x00\n\xff\x01\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestTextColumns(t *testing.T) {
	file := encode(t, 1, nil)
	for name, want := range map[string]string{
		"request.ulr": `no text column "request.ulr" in the file (did you mean "request.url"?)`,
		"id":          `no text column "id" in the file`,
		"tags":        `no text column "tags" in the file`,
	} {
		_, err := text(file, name)
		var e *table.ColumnError
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
	}
}

// TestTextSharedType checks a type that two fields share, of which one is kept.
func TestTextSharedType(t *testing.T) {
	s, err := avro.Parse(`{"type": "record", "name": "Link", "fields": [
		{"name": "from", "type": {"type": "record", "name": "Page", "fields": [{"name": "url", "type": "string"}, {"name": "title", "type": "string"}]}},
		{"name": "to", "type": "Page"}
	]}`)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	w, err := ocf.NewWriter(&file, s)
	if err != nil {
		t.Fatal(err)
	}
	page := func(url string) any { return map[string]any{"url": url, "title": "t" + url} }
	if err := errors.Join(w.Encode(map[string]any{"from": page("a"), "to": page("b")}), w.Close()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"to.url"}, "b\n"},
		{[]string{"from.url"}, "a\n"},
		{[]string{"from.url", "to.title"}, "a\ttb\n"},
		{[]string{"to.url", "from.url"}, "b\ta\n"},
	} {
		if got, err := text(file.Bytes(), c.names...); got != c.want || err != nil {
			t.Errorf("%v: %q, %v", c.names, got, err)
		}
	}
}

// TestTextDamaged checks that the records before damage are read, and that the
// error has its place.
func TestTextDamaged(t *testing.T) {
	file := encode(t, 2500, nil)
	whole, err := text(file)
	if err != nil {
		t.Fatal(err)
	}
	got, err := text(file[:len(file)/2])
	rows := strings.Count(got, "\n")
	if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.HasPrefix(err.Error(), fmt.Sprintf("record %d: ", rows+1)) {
		t.Errorf("after %d records: %v", rows, err)
	}
	if !strings.HasPrefix(whole, got) || rows < 1000 || rows > 1300 {
		t.Errorf("%d records read", rows)
	}
	if _, err := text(file[:20]); err == nil || !strings.Contains(err.Error(), "the header of the file is damaged") {
		t.Errorf("%v", err)
	}
}

// TestMutated checks that no damage causes a panic.
func TestMutated(t *testing.T) {
	file := encode(t, 40, ocf.DeflateCodec(6))
	rng := rand.New(rand.NewPCG(5, 6))
	failed := 0
	for range 3000 {
		damaged := bytes.Clone(file)
		for range 1 + rng.IntN(4) {
			damaged[rng.IntN(len(damaged))] = byte(rng.Uint32())
		}
		if _, err := text(damaged, "request.url"); err != nil {
			failed++
		}
	}
	if failed < 1000 {
		t.Errorf("only %d of 3000 damaged files are an error", failed)
	}
}
