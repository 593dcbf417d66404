package parquet

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

type hashedPage struct {
	ID   int64  `parquet:"id,dict"`
	URL  string `parquet:"url"`
	Hash string `parquet:"hash,dict"`
}

// lz4File returns a Parquet file of rows that LZ4 compresses only a little.
func lz4File(t *testing.T, version, n int) (file []byte, rows []hashedPage) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		rows = append(rows, hashedPage{int64(i), fmt.Sprintf("http://h/%%7e%x", r.Uint64()), fmt.Sprintf("%x", r.Uint64())})
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[hashedPage](&b, parquet.Compression(&parquet.Lz4Raw), parquet.DataPageVersion(version), parquet.PageBufferSize(9000), parquet.MaxRowsPerRowGroup(int64(n/2)))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), rows
}

// TestLZ4 reads and rewrites pages for which the codec of the library returns
// another slice than it was given.
func TestLZ4(t *testing.T) {
	for _, version := range []int{1, 2} {
		file, rows := lz4File(t, version, 2000)
		got, err := text(file, "url")
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(strings.TrimSuffix(got, "\n"), "\n") {
			if line != rows[i].URL {
				t.Fatalf("version %d: row %d is %q, want %q", version, i, line, rows[i].URL)
			}
		}
		out, err := rewrite(map[string][]byte{"f": file}, []string{"url"}, func(add adder) error {
			for i := range rows {
				rows[i].URL = strings.Replace(rows[i].URL, "%7e", "~", 1)
				if err := add("f", int64(i), rows[i].URL+"\n"); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err = text(out, "url")
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(strings.TrimSuffix(got, "\n"), "\n") {
			if line != rows[i].URL {
				t.Fatalf("version %d: row %d is rewritten to %q, want %q", version, i, line, rows[i].URL)
			}
		}
		f, err := parquet.OpenFile(bytes.NewReader(out), int64(len(out)))
		if err != nil {
			t.Fatal(err)
		}
		if c := f.Metadata().RowGroups[0].Columns[1].MetaData.Codec; c != parquet.Lz4Raw.CompressionCodec() {
			t.Errorf("compression is now %v", c)
		}
	}
}

// TestLZ4Damage checks that a damaged page is an error.
func TestLZ4Damage(t *testing.T) {
	file, _ := lz4File(t, 1, 2000)
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	chunk := f.Metadata().RowGroups[1].Columns[1].MetaData
	for i := range int64(8) {
		file[chunk.DataPageOffset+chunk.TotalCompressedSize/2+i] = 0xff
	}
	if _, err := text(file, "url"); err == nil || !strings.Contains(err.Error(), "row group 2 of 2, column url") {
		t.Errorf("error %v", err)
	}
}
