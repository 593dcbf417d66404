package arrow

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// readAll returns the values of the column called name in all batches of a stream.
func readAll(in io.Reader, name string) (list []string, batches int, err error) {
	r := NewReader(in, name)
	for {
		rows, err := r.Next()
		if err == io.EOF {
			return list, batches, nil
		}
		if err != nil {
			return list, batches, err
		}
		batches++
		for row := range rows {
			v, ok, err := r.Value(row)
			if err != nil {
				return list, batches, err
			}
			if !ok {
				v = []byte("null")
			}
			list = append(list, string(v))
		}
	}
}

// streams returns the streams of testdata, by name.
func streams(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.arrows")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	list := map[string][]byte{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		list[strings.TrimSuffix(filepath.Base(path), ".arrows")] = data
	}
	return list
}

// TestReader reads what pyarrow wrote: see testdata/gen.py.
func TestReader(t *testing.T) {
	values := []string{"HTTP://Example.com/%7euser", "null", "", "short", "http://example.com/xxxxxxxxxxxxxxxxxxxx", "short"}
	reversed := slices.Clone(values)
	slices.Reverse(reversed)
	for name, data := range streams(t) {
		want, batches := slices.Concat(values, reversed), 2
		switch name {
		case "deltas":
			want = []string{"a", "b", "a"}
		case "compressed":
			if _, _, err := readAll(bytes.NewReader(data), ""); err == nil || !strings.Contains(err.Error(), "is compressed") {
				t.Errorf("compressed: %v", err)
			}
			continue
		}
		for _, in := range []io.Reader{bytes.NewReader(data), iotest.OneByteReader(bytes.NewReader(data)), bytes.NewReader(bytes.TrimSuffix(data, endOfStream))} {
			if got, n, err := readAll(in, ""); err != nil || n != batches || !slices.Equal(got, want) {
				t.Errorf("%s: %d batches, %v\n%q, want\n%q", name, n, err, got, want)
			}
		}
	}
}

// TestColumns: which column is read.
func TestColumns(t *testing.T) {
	data := streams(t)["string"]
	for name, want := range map[string]string{"views": "a view of more than twelve bytes", "words": "w", "nothing": "null", "url": "HTTP://Example.com/%7euser"} {
		if got, _, err := readAll(bytes.NewReader(data), name); err != nil || got[0] != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for name, want := range map[string]string{"ulr": `no text column "ulr" in the file (did you mean "url"?)`, "numbers": "no text column"} {
		if _, _, err := readAll(bytes.NewReader(data), name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDamaged: a stream that ends early or has other bytes gives values or an
// error, without a value in the text, and no panic.
func TestDamaged(t *testing.T) {
	for name, data := range streams(t) {
		_, batches, _ := readAll(bytes.NewReader(data), "url")
		failed := 0
		check := func(what string, damaged []byte) {
			_, n, err := readAll(bytes.NewReader(damaged), "url")
			if err == nil {
				return
			}
			failed++
			if strings.Contains(err.Error(), "xample") || n > batches {
				t.Errorf("%s: %s: %d batches, %v", name, what, n, err)
			}
		}
		for i := range data {
			check(fmt.Sprint("cut at ", i), data[:i])
			for _, change := range []byte{0x01, 0x80, 0xff} {
				damaged := bytes.Clone(data)
				damaged[i] ^= change
				check(fmt.Sprintf("byte %d ^ %#x", i, change), damaged)
			}
		}
		if failed < len(data) {
			t.Errorf("%s: only %d errors", name, failed)
		}
	}
	if _, _, err := readAll(strings.NewReader("\xff\xff\xff\xff\xff\xff\xff\x7f"), ""); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
}

func FuzzReader(f *testing.F) {
	for _, data := range streams(f) {
		f.Add(data)
	}
	f.Fuzz(func(_ *testing.T, data []byte) { _, _, _ = readAll(bytes.NewReader(data), "url") })
}
